"""Queries with search results at a scripted endpoint: a writer with known replies."""

import json
import re
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Literal

import clients
from scripted import Reply, fenced_text, prompt_of

from pipelines.conflicts.data import Query, Source
from pipelines.conflicts.taxonomy import TAXONOMY, ConflictType
from serving.client import Client

Call = Literal["answer", "taxonomy-aware", "classify", "choice"]

WEIGHTS = [0.05, 0.1, 0.05, 0.5, 0.1]
"""Weights of the five numbers, for `asking`: "outdated" wins with 0.625 of their sum.

A fifth of the probability mass falls elsewhere.
"""


def weigh(request: dict[str, Any]) -> list[float]:
    """The first `WEIGHTS`, for as many labels as are asked for."""
    return WEIGHTS[: len(request["logprob_token_ids"])]


def query(*texts: str, gold: ConflictType | None = None, **fields: Any) -> Query:
    """A query about a tower, with these texts as its sources."""
    sources = tuple(Source(text=text) for text in texts or ("It opened in 1889.", "In 1902."))
    known = {"id": "tower", "query": "When did the tower open?"} | fields
    return Query(sources=sources, conflict_type=gold, **known)


def call_of(request: dict[str, Any]) -> Call:
    """Which of the writer's calls a request is."""
    if "logprob_token_ids" in request:
        return "choice"
    if "response_format" not in request:
        return "answer"
    name = request["response_format"]["json_schema"]["name"]
    return "classify" if name == "CategoryJson" else "taxonomy-aware"


def category(number: object, explanation: str = "The dates differ.", **more: object) -> str:
    """A JSON reply that names a category; with `answer`, a taxonomy-aware reply."""
    return json.dumps({"explanation": explanation, "category": number} | more)


def writes(request: dict[str, Any]) -> str:
    """Answers are the first line of the first source; the type is always "outdated"."""
    said = fenced_text(request, "RESULT 1").partition("\n")[0]
    match call_of(request):
        case "answer" if "How these results relate to each other" in prompt_of(request):
            return f"As told: {said} [1]"
        case "answer":
            return f"{said} [1]"
        case "classify":
            return category(4)
        case _:
            return category(4, answer=f"{said} [1] It moved. [2][9]")


def speaks(request: dict[str, Any]) -> str:
    """A writer and judges that compare words, so that answers can be scored by hand.

    S1 and S2 are the last lines of the first two sources.

    - Vanilla: "S1 [1] Is it known?"
    - Told a type: "As told: LABEL. S2 [2] S1 [2]"
    - With the taxonomy: "S1 [1] It moved. [2][9]"; the type is always "outdated".

    An answer adheres if it names the label of the judge's type. It includes the gold answer if it
    contains its words. A source supports a sentence if it contains it verbatim. A sentence without
    a source states no fact.
    """
    schema = request.get("response_format", {}).get("json_schema", {})
    if schema.get("name") in _VERDICTS:
        return json.dumps(_VERDICTS[schema["name"]](request))
    first, second = (fenced_text(request, f"RESULT {n}").splitlines()[-1] for n in (1, 2))
    match call_of(request):
        case "classify":
            return category(4)
        case "taxonomy-aware":
            return category(4, answer=f"{first} [1] It moved. [2][9]")
        case _ if "How these results relate to each other" in prompt_of(request):
            told = next(each for each in TAXONOMY if each.definition in prompt_of(request))
            return f"As told: {told.label}. {second} [2] {first} [2]"
        case _:
            return f"{first} [1] Is it known?"


def _behaves(request: dict[str, Any]) -> dict[str, object]:
    (wanted,) = [each.label for each in TAXONOMY if each.definition in prompt_of(request)]
    holds = f"As told: {wanted}." in fenced_text(request, "ANSWER")
    return {"reason": f"Looked for {wanted}.", "adheres": holds}


def _includes(request: dict[str, Any]) -> dict[str, object]:
    holds = fenced_text(request, "RIGHT ANSWER") in fenced_text(request, "ANSWER")
    return {"reason": "Word for word.", "included": holds}


def _grounded(request: dict[str, Any]) -> dict[str, object]:
    numbers = re.findall(r"^<<SOURCE (\d+) ", prompt_of(request), re.MULTILINE)
    sentence = fenced_text(request, "SENTENCE")
    holds = any(sentence in fenced_text(request, f"SOURCE {each}") for each in numbers)
    verdict = "supported" if holds else "unsupported"
    return {"quote": sentence if holds else "", "reason": "Word for word.", "verdict": verdict}


def _without_source(_: dict[str, Any]) -> dict[str, object]:
    return {"reason": "It cites nothing.", "verdict": "no factual information"}


_VERDICTS = {
    "AdherenceJson": _behaves,
    "InclusionJson": _includes,
    "GroundingJson": _grounded,
    "UncitedJson": _without_source,
}


def asking(
    folder: Path, reply: Reply = writes, weights: list[float] = WEIGHTS
) -> AbstractAsyncContextManager[tuple[Client, list[dict[str, Any]]]]:
    """A client of a scripted endpoint with an empty cache, and the requests received so far."""
    return clients.asking(folder, reply, lambda _: weights)
