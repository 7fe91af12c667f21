"""ConflictBench: its sources, built from released files, and counted beside the paper's Table 1."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.conflictscore.detection import sources
from pipelines.conflictscore.detection.posed import Asked, Posed, as_released, constructed
from pipelines.data import (
    ambigdocs,
    climate_fever,
    conflictingqa,
    conflictqa,
    contraqa,
    macnoise,
    ramdocs,
)
from pipelines.data.released import Part, in_part
from pipelines.errors import InputError
from pipelines.evidence.examples import ContestedClaim
from pipelines.report.table import Column, Row, Table

HARD = "ramdocs-hard"
"""RAMDocs with its own noise documents in place of random ones; see `build`."""

TABLE_1 = {
    "contraqa": ("ContraQA", 424, 374),
    "macnoise-nq": ("MacNoise-NQ", 94, 105),
    "macnoise-tqa": ("MacNoise-TQA", 116, 95),
    "ambigdocs": ("AmbigDocs", 291, 360),
    "conflictingqa": ("ConflictingQA", 355, 79),
}
"""Source -> name, examples with and without conflict (ConflictScore, Table 1)."""


@dataclass(frozen=True)
class Source:
    """How a source is read.

    Attributes:
        read: Released files -> questions with their documents.
        files: What the files are, for messages.
        built: Whether examples are constructed, or taken as they are.
    """

    read: Callable[[Sequence[Path]], list[Posed]]
    files: tuple[str, ...]
    built: bool = True


SOURCES: dict[str, Source] = {
    "ambigdocs": Source(lambda f: sources.ambigdocs(ambigdocs.read(f[0])), ("a file",)),
    "contraqa": Source(
        lambda f: sources.contraqa(contraqa.read(f[0], f[1])), ("queries.json", "corpus.json")
    ),
    "macnoise-nq": Source(lambda f: sources.macnoise(macnoise.read(f[0])), ("a file",)),
    "macnoise-tqa": Source(lambda f: sources.macnoise(macnoise.read(f[0])), ("a file",)),
    "conflictingqa": Source(
        lambda f: sources.conflictingqa(conflictingqa.read(f[0])), ("a file",), built=False
    ),
    "ramdocs": Source(lambda f: sources.ramdocs(ramdocs.read(f[0])), ("a file",)),
    "conflictqa": Source(lambda f: sources.conflictqa(conflictqa.read(f[0])), ("a file",)),
    "climate-fever": Source(
        lambda f: sources.climate_fever(climate_fever.read(f[0])), ("a file",), built=False
    ),
}


def pose(files: Mapping[str, Sequence[Path]]) -> dict[str, list[Posed]]:
    """Read the released files of some sources.

    Args:
        files: Source -> its files; see `SOURCES`.

    Raises:
        InputError: There is no such source, a file is missing or of another format.
    """
    if not files:
        raise InputError("no source is named; name the released file of at least one, see --help")
    posed = {}
    for name, paths in files.items():
        source = SOURCES.get(name)
        if source is None:
            raise InputError(f"there is no source '{name}'; there are {', '.join(SOURCES)}")
        if len(paths) != len(source.files):
            raise InputError(f"{name} is read from {' and '.join(source.files)}; name them")
        posed[name] = source.read(paths)
    return posed


def build(
    posed: Mapping[str, Sequence[Posed]],
    *,
    part: Part,
    seed: int = 0,
    questions: int | None = None,
    claims: Mapping[Asked, str] | None = None,
) -> list[ContestedClaim]:
    """The examples of all sources, in their order.

    RAMDocs gives a second source, `ramdocs-hard`: the same examples with conflict, and examples
    without whose irrelevant documents are the question's own noise, that is on its topic.

    Args:
        posed: From `pose`.
        part: "train", "test" or "all"; random documents come from the half of their question.
        seed: Decides random documents, order of documents, and which questions are drawn.
        questions: Take at most so many questions of each source, drawn at random; random documents
            still come from all of its half.
        claims: Claims made by a model; rules make those that are missing.

    Raises:
        InputError: A source is too small, or its half is empty.
    """
    made = claims or {}
    found: list[ContestedClaim] = []
    for name, every in posed.items():
        chosen = drawn(every, part, seed, questions)
        if SOURCES[name].built:
            examples = constructed(name, chosen, every, seed, made)
            if name == "ramdocs":
                examples += constructed(HARD, chosen, every, seed, made, own_irrelevant=True)
        else:
            examples = as_released(name, chosen, made)
        if not examples:
            raise InputError(
                f"{name} makes no example"
                + (" here" if part == "all" else f" in the half '{part}'")
                + "; name a larger file"
                + ("" if part == "all" else ", or --half all")
            )
        found += examples
    return found


def drawn(
    questions: Sequence[Posed], part: Part, seed: int, most: int | None = None
) -> list[Posed]:
    """The questions of a part, at most so many of them, in the order of the release."""
    own = in_part(questions, part, lambda posed: posed.key)
    if most is None or len(own) <= most:
        return own
    draw = random.Random(seed)  # noqa: S311 - a sample that anybody can draw again
    places = sorted(draw.sample(range(len(own)), most))
    return [own[place] for place in places]


def asked(
    posed: Mapping[str, Sequence[Posed]], part: Part, seed: int, most: int | None
) -> list[Asked]:
    """Every question and answer that a claim is to be made from, once."""
    return list(
        dict.fromkeys(
            each.asked
            for every in posed.values()
            for each in drawn(every, part, seed, most)
            if each.asked is not None
        )
    )


def counts(examples: Sequence[ContestedClaim]) -> Table:
    """Examples with and without conflict per source, with the paper's Table 1 beside them."""
    rows: list[Row] = []
    names = list(dict.fromkeys(example.source for example in examples))
    for name in names:
        own = [example for example in examples if example.source == name]
        conflicts = sum(example.conflict for example in own)
        documents = sum(len(example.documents) for example in own)
        rows.append((name, "this build", conflicts, len(own) - conflicts, len(own), documents))
    quoted: list[Row] = [
        (title, "paper, Table 1", conflicts, none, conflicts + none, None)
        for title, conflicts, none in TABLE_1.values()
    ]
    conflicts, none = (
        sum(column) for column in zip(*((c, n) for _, c, n in TABLE_1.values()), strict=True)
    )
    quoted.append(("Overall", "paper, Table 1", conflicts, none, conflicts + none, None))
    return Table(
        name="conflictbench",
        title="ConflictBench",
        caption="Examples of Conflict Detection per source.",
        columns=(
            Column("source", "Source"),
            Column("figures", "Figures"),
            Column("conflict", "Conflict"),
            Column("no_conflict", "No conflict"),
            Column("total", "Total"),
            Column("documents", "Documents"),
        ),
        rows=tuple(rows),
        quoted=tuple(quoted),
        notes=(
            "The paper does not say which questions of each source it took; its counts stand here "
            "for orientation.",
        ),
    )
