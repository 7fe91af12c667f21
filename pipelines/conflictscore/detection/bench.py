"""ConflictBench: its sources, built from released files, and counted beside the paper's Table 1."""

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
"""RAMDocs with its own noise documents in place of random ones; see `build`."""

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
    """How a source is read: its records from released files, and of each a question, if any.

    `files` says in messages what the files are, and `also` what may be given beside them. Examples
    are constructed, with so many `random` documents where there is no conflict, or, unless `built`,
    taken as they are. The training half of sources that are `halved` is there to learn from.
    """

    records: Callable[..., Sequence[Any]]
    question: Callable[[Any], Question | None]
    files: tuple[str, ...] = ("a file",)
    also: tuple[str, ...] = ()
    built: bool = True
    random: int = RANDOM_DOCUMENTS
    halved: bool = False

    def read(self, files: Sequence[Path]) -> list[Question]:
        """The questions of released files; those without a name are called by their number."""
        questions = enumerate(map(self.question, self.records(*files)), start=1)
        return [replace(each, name=each.name or str(number)) for number, each in questions if each]


SOURCES: dict[str, Source] = {
    "ambigdocs": Source(ambigdocs.read, sources.ambigdocs),
    "contraqa": Source(
        contraqa.read, sources.contraqa, ("queries.json", "corpus.json"), ("q_rel_dev.tsv",)
    ),
    "macnoise-nq": Source(macnoise.read, sources.macnoise),
    "macnoise-tqa": Source(macnoise.read, sources.macnoise),
    "conflictingqa": Source(conflictingqa.read, sources.conflictingqa, built=False),
    "ramdocs": Source(ramdocs.read, sources.ramdocs, halved=True),
    "conflictqa": Source(conflictqa.read, sources.conflictqa, halved=True),
    "climate-fever": Source(climate_fever.read, sources.climate_fever, built=False, halved=True),
    # One document in place of the contradicting one: their number then tells nothing.
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
            raise InputError(f"there is no source '{name}'; there are {', '.join(SOURCES)}")
        if not 0 <= len(paths) - len(source.files) <= len(source.also):
            raise InputError(f"{name} is read from {' and '.join(source.files)}; name them")
        questions[name] = source.read(paths)
    return questions


def part_of(name: str, part: Part | None) -> Part:
    """What is taken of a source: the part that is named.

    Where none is, the test half of sources that are `halved`, and all of the others.
    """
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
    without whose irrelevant documents are the question's own noise, that is on its topic.

    The seed decides random documents, their order, and which questions are drawn where there are
    more than `most` in the part of a source (`part_of`). Random documents come from all of the half
    of their question. Rules make the claims that a model did not (`claims`).
    """
    claims = claims or {}
    found: list[ContestedClaim] = []
    for name, every in questions.items():
        chosen = part_of(name, part)
        own = drawn(every, chosen, seed, most)
        if SOURCES[name].built:
            random = SOURCES[name].random
            examples = constructed(name, own, every, seed, claims, random_documents=random)
            if name == "ramdocs":
                examples += constructed(HARD, own, every, seed, claims, own_irrelevant=True)
        else:
            examples = as_released(name, own, claims)
        if not examples:
            where, other = (
                ("here", "") if chosen == "all" else (f"in the half '{chosen}'", ", or --half all")
            )
            raise InputError(f"{name} makes no example {where}; name a larger file{other}")
        found += examples
    return found


def drawn(
    questions: Sequence[Question], part: Part, seed: int, most: int | None = None
) -> list[Question]:
    """The questions of a part, at most so many of them, in the order of the release."""
    own = in_part(questions, part, lambda question: question.key)
    return sample(own, most, seed)


def asked(
    questions: Mapping[str, Sequence[Question]], part: Part | None, seed: int, most: int | None
) -> list[QuestionAnswer]:
    """Every question and answer that a claim is to be made from, once."""
    own = (
        each
        for name, every in questions.items()
        for each in drawn(every, part_of(name, part), seed, most)
    )
    return list(dict.fromkeys(each.asked for each in own if each.asked is not None))


def counts(examples: Sequence[ContestedClaim]) -> Table:
    """Examples with and without conflict per source and overall, beside Table 1."""
    sources: dict[str, list[ContestedClaim]] = {}
    for example in examples:
        sources.setdefault(example.source, []).append(example)
    rows = list(sources.items())
    if len(sources.keys() - {HARD}) > 1:
        rows.append(("Overall", [each for each in examples if each.source != HARD]))
    return Table.of(
        rows,
        name="conflictbench",
        title="ConflictBench",
        caption="Examples of Conflict Detection per source.",
        columns=[
            Column("source", "Source", lambda row: row[0]),
            Column("figures", "Figures", lambda _: "this build"),
            Column("conflict", "Conflict", lambda row: sum(each.conflict for each in row[1])),
            Column("no_conflict", "No conflict", lambda row: sum(not e.conflict for e in row[1])),
            Column("total", "Total", lambda row: len(row[1])),
            Column("documents", "Documents", lambda row: sum(len(e.documents) for e in row[1])),
        ],
        quoted=TABLE_1,
        notes=(
            "The paper does not say which questions of each source it took; its counts stand here "
            "for orientation.",
            f"Overall leaves {HARD} out: its conflicts are those of ramdocs.",
        ),
    )


class Claim(BaseModel):
    """The JSON reply of a model that makes a claim."""

    claim: Annotated[str, told(minLength=1, maxLength=600)]


def claim_prompt(overrides: Path | None = None) -> Prompt:
    """The prompt, the user's own where there is one."""
    return prompts.load("conflictscore/claim", {"question", "answer"}, overrides)


async def claims_by_model(
    asked: Sequence[QuestionAnswer], client: Client, prompt: Prompt
) -> dict[QuestionAnswer, str]:
    """Have a model put each question and answer as one statement, by `claim_prompt`.

    The paper has GPT-4 do it (appendix A). Where a local model's reply is unreadable or leaves the
    answer out there is none; rules make these.
    """

    async def one(question: str, answer: str) -> str | None:
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

    replies = await asyncio.gather(*(one(*each) for each in asked))
    return {each: claim for each, claim in zip(asked, replies, strict=True) if claim}
