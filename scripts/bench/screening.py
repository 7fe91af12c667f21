"""How well `contested screen` detects passages that contradict each other, and how long it takes.

Passage pairs come from a test half of WikiContradict. Every row gives three: two passages that
editors marked as contradictory; the first with a passage of another article; and the first with the
rest of its own paragraph. The tagger is compared with two baselines without a model: shared words,
and a number or denial that only one sentence has.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import common
import psutil
import typer
from pydantic import BaseModel

from nli.tagger import Tagger, shipped
from pipelines.data.records import Document
from pipelines.data.released import Part, in_part, read_records
from pipelines.metrics.ranks import roc_auc
from pipelines.screening import THRESHOLD, Statement, candidates, screen, statements
from pipelines.text.words import content_words

FALSE_ALARMS: Final = 0.02
DENIAL: Final = re.compile(
    r"\b(?:not?|never|neither|nor|without|\w+n't)\b|\d[\d.,]*", re.IGNORECASE
)
KINDS: Final = ("contradict", "other article", "same paragraph")

Passages = tuple[Document, Document]
Scored = Callable[[Sequence[Passages]], list[float]]


class Row(BaseModel, frozen=True):
    """The fields read from a line of `wiki_contradict_refined.jsonl`."""

    question: str
    context1: str
    context1_info: str
    context1_self_contained: str
    context2_self_contained: str


class PassagePair(NamedTuple):
    """Two passages, and their kind, one of `KINDS`."""

    kind: str
    passages: Passages


def main(
    data: Annotated[Path, typer.Argument(help="wiki_contradict_refined.jsonl")],
    *,
    model: Annotated[Path | None, typer.Option(help="Folder; the shipped tagger if none.")] = None,
    part: Annotated[Part, typer.Option(help="Half of the questions.")] = "test",
    documents: Annotated[int, typer.Option(min=2, help="Documents that are timed.")] = 50,
) -> None:
    """Measure areas, what is found, and the seconds of one screening.

    Example:
        .venv/bin/python scripts/bench/screening.py wiki_contradict_refined.jsonl
    """
    load = psutil.getloadavg()[0]
    rows = in_part(read_records(data, Row, "WikiContradict"), part, lambda row: row.question)
    pairs = list(pairs_of(rows))
    folder = model or shipped()
    tagger = Tagger.load(folder)

    def by_tagger(passages: Sequence[Passages]) -> list[float]:
        found = screen(passages, tagger, 0.0)
        return [found.likeliest(first.id, second.id) or 0.0 for first, second in passages]

    arms: dict[str, Scored] = {
        folder.name: by_tagger,
        "words shared": lambda passages: [likeliest(pair, shared) for pair in passages],
        "number or denial": lambda passages: [likeliest(pair, at_odds) for pair in passages],
    }
    print(f"{common.machine_line(load)}\n- model: {folder.name}, {tagger.digest}")
    print(f"{common.date_line()}\n\n{quality(pairs, arms)}\n")
    some = [document for pair in pairs for document in pair.passages][:documents]
    start = time.perf_counter()
    found = screen([some], tagger, THRESHOLD)
    print(
        f"{len(some)} documents, {found.statements} statements, {found.compared} pairs compared: "
        f"{time.perf_counter() - start:.1f} s"
    )


def pairs_of(rows: Sequence[Row]) -> Iterator[PassagePair]:
    """Per row, its passage with the other side, a distant row's, and the rest of its paragraph."""
    # Adjacent rows may be from one article.
    half = len(rows) // 2
    for number, (row, other) in enumerate(zip(rows, [*rows[half:], *rows[:half]], strict=True), 1):
        first = row.context1_self_contained
        rest = row.context1_info.replace(row.context1, " ").strip()
        texts = (row.context2_self_contained, other.context2_self_contained, rest)
        for kind, text in zip(KINDS, texts, strict=True):
            if text and text != first:
                passages = (
                    Document(id=f"{number}, {kind}, 1", text=first),
                    Document(id=f"{number}, {kind}, 2", text=text),
                )
                yield PassagePair(kind, passages)


def likeliest(passages: Passages, score: Callable[[Statement, Statement], float]) -> float:
    """The highest score of two sentences, one per passage, that share a word."""
    stated = [one for passage in passages for one in statements(passage)]
    return max((score(*pair) for pair in candidates(stated)), default=0.0)


def shared(one: Statement, other: Statement) -> float:
    """Jaccard similarity of the content words of two sentences."""
    first, second = content_words(one.text), content_words(other.text)
    return len(first & second) / len(first | second)


def at_odds(one: Statement, other: Statement) -> float:
    """`shared` if only one of the sentences has some number or denial, otherwise 0."""
    marks = [set(map(str.lower, DENIAL.findall(statement.text))) for statement in (one, other)]
    return shared(one, other) if marks[0] != marks[1] else 0.0


def quality(pairs: Sequence[PassagePair], arms: dict[str, Scored]) -> str:
    """AUCs, and detections at 2 % false alarms and at the default threshold."""
    lines = []
    for name, score in arms.items():
        scores = score([pair.passages for pair in pairs])
        of = {
            kind: [value for value, pair in zip(scores, pairs, strict=True) if pair.kind == kind]
            for kind in KINDS
        }
        right, wrong = of[KINDS[0]], [*of[KINDS[1]], *of[KINDS[2]]]
        limit = sorted(wrong)[-1 - int(FALSE_ALARMS * len(wrong))]
        told, alarms = (sum(value >= THRESHOLD for value in values) for values in (right, wrong))
        areas = [area(right, of[kind]) for kind in KINDS[1:]]
        lines.append(
            (
                name,
                *areas,
                f"{sum(value > limit for value in right) / len(right):.0%}",
                f"{told} of {len(right)}",
                f"{alarms} of {len(wrong)}",
            )
        )
    heading = ("by", *(f"AUC, {kind}" for kind in KINDS[1:]), "found at 2 % false alarms")
    return common.markdown((*heading, f"told from {THRESHOLD}", "told wrongly"), lines)


def area(right: Sequence[float], wrong: Sequence[float]) -> str:
    """The AUC with its interval."""
    found = roc_auc([*right, *wrong], [True] * len(right) + [False] * len(wrong))
    return "–" if found is None else f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


if __name__ == "__main__":
    common.run(main)
