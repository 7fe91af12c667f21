"""A server that finds words of a response less likely if their argument is left out."""

from pathlib import Path
from typing import Any

from scripted import Scripted
from tiny_words import word_counting

EXAMPLE: dict[str, Any] = {
    "question": "Should it stay?",
    "pro": ["The dam holds water.", "It stops floods."],
    "con": ["Salmon cannot pass."],
    "response": "It holds water. So it is. Salmon suffer. Lakes warm.",
}

LOST = {"holds": ("dam", 2.0), "water": ("dam", 4.0), "Salmon": ("cannot", 3.0)}
LOST |= {"suffer": ("stops", -0.5)}
"""Word of the response -> a word of its argument, and the nats it loses without that argument."""

DROPS = [[2, 4, 0, 0, 0, 0], [0, 0, 0, -0.5, 0, 0], [0, 0, 3, 0, 0, 0]]
"""Loss of each content word of the response, in nats, one row per argument."""


_TEXTS = (EXAMPLE["question"], *EXAMPLE["pro"], *EXAMPLE["con"], EXAMPLE["response"])
WORDS = ["[UNK]", *dict.fromkeys(" ".join(_TEXTS).replace(".", " .").split()), "core"]


def likelihood(ids: list[int]) -> list[float]:
    """Every token costs one nat; words of the response cost more if their argument is missing."""
    words = [WORDS[each] for each in ids]
    begins = words.index("core")

    def cost(place: int, word: str) -> float:
        argument, lost = LOST.get(word, ("", 0.0))
        return lost if place > begins and argument not in words[:begins] else 0.0

    return [-1 - cost(place, word) for place, word in enumerate(words)][1:]


def serve(endpoint: Scripted, folder: Path) -> None:
    """Let the endpoint serve this model, with one token per word."""
    endpoint.root = str(word_counting(folder, *WORDS[1:]).absolute())
    endpoint.likelihood = likelihood
