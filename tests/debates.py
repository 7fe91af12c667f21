"""Debates at a scripted endpoint: agents and an aggregator with known replies."""

import json
import re
from collections.abc import Sequence
from typing import Any

from scripted import fenced_text, prompt_of, schema_of

from pipelines.data.records import Document
from pipelines.madam_rag.data import GivenDocument, Kind, Question


def documents(*texts: str) -> list[Document]:
    """Documents "d1", "d2" and so on."""
    return [Document(id=f"d{n}", text=text) for n, text in enumerate(texts, start=1)]


def question(
    name: str,
    kinds: Sequence[Kind | None],
    gold: tuple[str, ...] = (),
    wrong: tuple[str, ...] = (),
    level: int | None = None,
) -> Question:
    """A question with documents of these kinds."""
    texts = documents(*["A text."] * len(kinds))
    return Question(
        id=name,
        question="Which one?",
        documents=tuple(
            GivenDocument(document=each, kind=kind) for each, kind in zip(texts, kinds, strict=True)
        ),
        gold=tuple((answer,) for answer in gold),
        wrong=wrong,
        level=level,
    )


def agent(answer: str, explanation: str = "So it says.") -> str:
    return json.dumps({"explanation": explanation, "answer": answer})


def conclusion(*answers: str, explanation: str = "So they say.") -> str:
    return json.dumps({"explanation": explanation, "answers": list(answers)})


def answers_heard(request: dict[str, Any]) -> list[str]:
    """The agents' answers in an aggregator's prompt, in order."""
    prompt = prompt_of(request)
    speakers = re.findall(r"^<<(AGENT \d+) ", prompt, re.MULTILINE)
    return [
        fenced_text(request, speaker).partition("\n")[0].removeprefix("Answer: ")
        for speaker in speakers
    ]


def readers(request: dict[str, Any]) -> str:
    """Agents answer the year in their document, or "unknown"; the aggregator gives all answers.

    So every answer comes from a document.
    """
    match schema_of(request):
        case "AgentJson":
            found = re.search(r"\b\d{4}\b", fenced_text(request, "DOCUMENT"))
            return agent(found.group() if found else "unknown")
        case "ConclusionJson" if "<<AGENT 1 " in prompt_of(request):
            return conclusion(*answers_heard(request))
        case "ConclusionJson":
            # Fence markers may also have four digits.
            shown = re.sub(r"<<[A-Z0-9 ]+ \w+|[A-Z0-9 ]+ \w+>>", "", prompt_of(request))
            return conclusion(*re.findall(r"\b\d{4}\b", shown))
        case "PassagesJson":
            return json.dumps({"passages": ["It was built in 1777.", "I don't know the rest."]})
        case "ContextJson":
            made = {"text": "Built in 1777.", "source": "both", "documents": [1, 2, 99]}
            return json.dumps({"documents": [made]})
        case "FinalJson":
            group = {"answer": "1777", "confidence": 0.9, "documents": [1, 99]}
            return json.dumps({"groups": [group], "answers": ["1777"], "explanation": "Known."})
        case other:
            raise AssertionError(other)
