"""Small files in the formats of WikiContradict."""

from typing import Any

CONTRADICTION: dict[str, Any] = {
    "question": "When was the mill opened?",
    "context1": "In 1902.",
    "context2": "In 1936.",
    "context1_info": "The mill. In 1902.",
    "context2_info": "The mill. In 1936.",
    "answer1": "1902",
    "answer2": "1936",
    "contradiction_type": "Explicit",
    "context1_self_contained": "The mill was opened in 1902.",
    "answer1_self_contained": "The opening of the mill was in 1902.",
    "context2_self_contained": "The mill was opened in 1936.",
    "answer2_self_contained": "The opening of the mill was in 1936.",
}
JUDGED: dict[str, Any] = {
    "question": "When was the mill opened?",
    "context1_self_contained": "The mill was opened in 1902.",
    "context2_self_contained": "The mill was opened in 1936.",
    "gt_answer_1": "1902",
    "gt_answer_2": "1936",
    "answer0": "Long ago.",
    "answer1": "In 1902.",
    "answer2": "In 1936.",
    "answer3": "The mill was opened in 1902.",
    "answer4": "It was 1902 by one passage, whereas the other says 1936.",
    "label0": "Incorrect",
    "label1": "Correct",
    "label2": "Correct",
    "label3": "Partially correct",
    "label4": "Correct",
    "model": "model-a",
}


def contradiction(name: str, **other: str) -> dict[str, Any]:
    """A row like `CONTRADICTION`, about something other than a mill."""
    return {key: str(value).replace("mill", name) for key, value in CONTRADICTION.items()} | other


def judged(name: str, model: str, **other: str) -> dict[str, Any]:
    """A row like `JUDGED`, about something other than a mill, by another model."""
    own = {key: str(value).replace("mill", name) for key, value in JUDGED.items()}
    return own | {"model": model} | other
