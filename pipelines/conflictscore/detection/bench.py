"""ConflictBench: its sources, built from released files, and counts next to the paper's Table 1."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel

from pipelines import prompts
from pipelines.conflictscore.detection import questions as sources
from pipelines.conflictscore.detection.questions import (
    RANDOM_DOCUMENTS,
    Question,
    QuestionAnswer,
    as_released,
    constructed,
)
from pipelines.data import (
    ambigdocs,
    climate_fever,
    conflictingqa,
    conflictqa,
    contraqa,
    macnoise,
    ramdocs,
    wikicontradict,
)
from pipelines.data.released import Part, in_part, sample
from pipelines.errors import InputError
from pipelines.judge.examples import ContestedClaim
from pipelines.prompts import Prompt
from pipelines.report.table import Column, Table, quote
from pipelines.text.declarative import NO, YES
from serving.calls import Sampling
from serving.client import Client
from serving.schemas import told

REPLY_TOKENS = 256

HARD = "ramdocs-hard"
"""RAMDocs with the question's noise documents in place of random ones; see `build`."""

TABLE_1: Final = quote(
    "source conflict no_conflict total",
    ("ContraQA", 424, 374, 798),
    ("MacNoise-NQ", 94, 105, 199),
    ("MacNoise-TQA", 116, 95, 211),
    ("AmbigDocs", 291, 360, 651),
    ("ConflictingQA", 355, 79, 434),
    ("Overall", 1280, 1013, 2293),
    figures="paper, Table 1",
)
"""Figures of the paper."""


@dataclass(frozen=True)
class Source:
    """How to read a source: its records from released files, and a record's question, if any.

    `files` describes the files in messages. If `built`, examples are constructed, with `random`
    random documents in those without conflict; otherwise they are taken as released. If `halved`,
    the source has a training half.
    """

    records: Callable[..., Sequence[Any]]
    question: Callable[[Any], Question | None]
    files: tuple[str, ...] = ("a file",)
    built: bool = True
    random: int = RANDOM_DOCUMENTS
    halved: bool = False

    def read(self, files: Sequence[Path]) -> list[Question]:
        """The questions of released files; those without a name are named by their number."""
        questions = enumerate(map(self.question, self.records(*files)), start=1)
        return [
            replace(question, name=question.name or str(number))
            for number, question in questions
            if question
        ]


SOURCES: dict[str, Source] = {
    "ambigdocs": Source(ambigdocs.read, sources.ambigdocs),
    "contraqa": Source(contraqa.read, sources.contraqa, ("queries.json", "corpus.json")),
    "macnoise-nq": Source(macnoise.read, sources.macnoise),
    "macnoise-tqa": Source(macnoise.read, sources.macnoise),
    "conflictingqa": Source(conflictingqa.read, sources.conflictingqa, built=False),
    "ramdocs": Source(ramdocs.read, sources.ramdocs, halved=True),
    "conflictqa": Source(conflictqa.read, sources.conflictqa, halved=True),
    "climate-fever": Source(climate_fever.read, sources.climate_fever, built=False, halved=True),
    # One random document replaces the contradicting one, so that their number reveals nothing.
    "wikicontradict": Source(wikicontradict.sides, sources.wikicontradict, random=1, halved=True),
}


def read(files: Mapping[str, Sequence[Path]]) -> dict[str, list[Question]]:
    """Read the released files of some sources, by the names of `SOURCES`."""
    if not files:
        raise InputError("no source is named; name the released file of at least one, see --help")
    questions = {}
    for name, paths in files.items():
        source = SOURCES.get(name)
        if source is None:
            raise InputError(f"there is no source '{name}'; choose from {', '.join(SOURCES)}")
        if len(paths) != len(source.files):
            raise InputError(f"{name} is read from {' and '.join(source.files)}; name them")
        questions[name] = source.read(paths)
    return questions


def part_of(name: str, part: Part | None) -> Part:
    """The part of a source to use: by default the test half if it is `halved`, otherwise all."""
    return part or ("test" if SOURCES[name].halved else "all")


def build(
    questions: Mapping[str, Sequence[Question]],
    *,
    part: Part | None = None,
    seed: int = 0,
    most: int | None = None,
    claims: Mapping[QuestionAnswer, str] | None = None,
) -> list[ContestedClaim]:
    """The examples of all sources, in their order.

    RAMDocs gives a second source, `ramdocs-hard`: the same examples with conflict, and examples
    without conflict whose irrelevant documents are the question's own noise, and thus on topic.

    The seed decides random documents, their order, and which questions are drawn if a source's part
    (`part_of`) has more than `most`. Random documents come from the whole half of their question.
    Rules make the claims that are missing from `claims`.
    """
    claims = claims or {}
    built: list[ContestedClaim] = []
    for name, pool in questions.items():
        chosen = part_of(name, part)
        picked = drawn(pool, chosen, seed, most)
        if SOURCES[name].built:
            random = SOURCES[name].random
            examples = constructed(name, picked, pool, seed, claims, random_documents=random)
            if name == "ramdocs":
                examples += constructed(HARD, picked, pool, seed, claims, own_irrelevant=True)
        else:
            examples = as_released(name, picked, claims)
        if not examples:
            where, other = (
                ("here", "") if chosen == "all" else (f"in the half '{chosen}'", ", or --half all")
            )
            raise InputError(f"{name} makes no example {where}; name a larger file{other}")
        built += examples
    return built


def drawn(
    questions: Sequence[Question], part: Part, seed: int, most: int | None = None
) -> list[Question]:
    """The questions of a part, at most `most` of them, in the order of the release."""
    available = in_part(questions, part, lambda question: question.key)
    return sample(available, most, seed)


def asked(
    questions: Mapping[str, Sequence[Question]], part: Part | None, seed: int, most: int | None
) -> list[QuestionAnswer]:
    """Every distinct question and answer that needs a claim."""
    chosen = (
        question
        for name, pool in questions.items()
        for question in drawn(pool, part_of(name, part), seed, most)
    )
    return list(dict.fromkeys(question.asked for question in chosen if question.asked is not None))


def counts(examples: Sequence[ContestedClaim]) -> Table:
    """Examples with and without conflict per source and overall, next to Table 1."""
    sources: dict[str, list[ContestedClaim]] = {}
    for example in examples:
        sources.setdefault(example.source, []).append(example)
    rows = list(sources.items())
    if len(sources.keys() - {HARD}) > 1:
        rows.append(("Overall", [claim for claim in examples if claim.source != HARD]))
    return Table.of(
        rows,
        name="conflictbench",
        title="ConflictBench",
        caption="Examples of Conflict Detection per source.",
        columns=[
            Column("source", "Source", lambda row: row[0]),
            Column("figures", "Figures", lambda _: "this build"),
            Column("conflict", "Conflict", lambda row: sum(claim.conflict for claim in row[1])),
            Column("no_conflict", "No conflict", lambda row: sum(not e.conflict for e in row[1])),
            Column("total", "Total", lambda row: len(row[1])),
            Column("documents", "Documents", lambda row: sum(len(e.documents) for e in row[1])),
        ],
        quoted=TABLE_1,
        notes=(
            "The paper does not say which questions of each source it took; its counts are only "
            "for orientation.",
            f"Overall leaves {HARD} out: its conflicts are those of ramdocs.",
        ),
    )


class Claim(BaseModel):
    """The JSON reply of a model that makes a claim."""

    claim: Annotated[str, told(minLength=1, maxLength=600)]


def claim_prompt(overrides: Path | None = None) -> Prompt:
    """The prompt for claims, or the user's replacement."""
    return prompts.load("conflictscore/claim", {"question", "answer"}, overrides)


async def claims_by_model(
    asked: Sequence[QuestionAnswer], client: Client, prompt: Prompt
) -> dict[QuestionAnswer, str]:
    """Have a model state each question and answer as a claim, with `claim_prompt`.

    The paper uses GPT-4 for this (appendix A). Pairs for which a local model's reply is unreadable
    or leaves the answer out are missing; rules make their claims.
    """

    async def claim_of(question: str, answer: str) -> str | None:
        reply = await client.structured(
            prompt.messages(question=question, answer=answer),
            Claim,
            Sampling(max_tokens=REPLY_TOKENS),
        )
        if reply.value is None:
            return None
        claim = " ".join(reply.value.claim.split())
        said = answer.strip().lower()
        return claim if said in YES | NO or said in claim.lower() else None

    replies = await asyncio.gather(*(claim_of(*pair) for pair in asked))
    return {pair: claim for pair, claim in zip(asked, replies, strict=True) if claim}
