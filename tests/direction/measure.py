"""How often a tagger is right about everyday records: `python tests/direction/measure.py [FOLDER]`.

Without a folder the tagger that comes with the program is measured. Each record has a question, two
or three documents that disagree, agree or are silent (`agreement`), four responses and claims to
ask. `sure` takes one side, `hedged` tells the views, `off_topic` says what no document speaks of,
`wrong` what is denied. `hedges_*.jsonl` have a document and a claim that reports two views, in the
many forms of such claims. All texts are ours and all names in them invented. Look at the seen half
as you like. Never look at cases of the unseen one while a tagger or its rules are tuned: its shares
tell whether those of the other half were learned by heart.
"""

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from pipelines.conflictscore.pipeline import Scorer, conflict_score, prepare
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.settings import Settings
from pipelines.conrag.answer import Answer
from pipelines.conrag.evidence import Stance
from pipelines.conrag.pipeline import conrag
from pipelines.conrag.settings import AnswerOptions
from pipelines.data.records import Document, Example, Record
from pipelines.inspection.ask import QueryAsked, retrieve
from pipelines.judge.tagger import TaggerFolder, shipped_tagger, tagger_folder

HALVES: Final = ("seen", "unseen")

SIDES: Final = {
    Stance.SUPPORT: "for",
    Stance.REFUTE: "against",
    Stance.NOT_ENOUGH_INFO: "silent",
}

ASK: Final = AnswerOptions(method="bm25")


class Verdict(NamedTuple):
    """Whether a tagger is right in one case of a measure."""

    measure: str
    case: str
    right: bool


def records(half: str) -> list[Record]:
    """The records of a half."""
    lines = Path(__file__).with_name(f"{half}.jsonl").read_text("utf-8").splitlines()
    return [Record.model_validate_json(line) for line in lines]


def hedges(half: str) -> list[dict[str, str]]:
    """The documents and claims of two views of a half."""
    lines = Path(__file__).with_name(f"hedges_{half}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def measured(folder: TaggerFolder, half: str) -> list[Verdict]:
    """The verdicts on all records of a half, as `contested score` and `ask` have them."""
    scorer = prepare(Settings(judge="tagger", claims="sentences"), tagger=folder)

    async def judged() -> list[list[Verdict]]:
        # Side by side, so that the tagger reads the pairs of many records in a batch.
        return await asyncio.gather(
            *(_verdicts(record, scorer) for record in records(half)),
            *(_of_hedge(str(number), row, scorer) for number, row in enumerate(hedges(half), 1)),
        )

    return [verdict for verdicts in asyncio.run(judged()) for verdict in verdicts]


def shares(verdicts: Sequence[Verdict]) -> dict[str, tuple[float, int]]:
    """Measure -> the share of cases in which the tagger is right, and how many there are."""
    rights: dict[str, list[bool]] = defaultdict(list)
    for verdict in verdicts:
        rights[verdict.measure].append(verdict.right)
    return {measure: (sum(right) / len(right), len(right)) for measure, right in rights.items()}


async def _verdicts(record: Record, scorer: Scorer) -> list[Verdict]:
    names = [*(record.responses or {})]
    results = await asyncio.gather(*(_scored(record, name, scorer) for name in names))
    claims = record.metadata["ask"]
    said = await asyncio.gather(*(_asked(record, claim, scorer) for claim in claims))
    verdicts = _of_responses(record, dict(zip(names, results, strict=True)))
    asked = zip(claims, said, strict=True)
    return [*verdicts, *(Verdict("ask", claim, side == claims[claim]) for claim, side in asked)]


async def _of_hedge(case: str, row: dict[str, str], scorer: Scorer) -> list[Verdict]:
    told = await scorer.judge.label([row["claim"]], [Document(id=case, text=row["document"])])
    return [Verdict("two views", case, told.judgements[0].relation == row["relation"])]


def _of_responses(record: Record, scored: dict[str, Result]) -> Iterator[Verdict]:
    """Verdicts on the scores of a record's responses; a score that is missing is wrong."""
    sure, hedged, wrong = scored["sure"], scored["hedged"], scored["wrong"]
    if record.metadata["agreement"] == "disagree":
        yield Verdict("order", record.id, _above(sure.cs_c, hedged.cs_c))
        yield Verdict("both sides", record.id, _above(hedged.both_sides, sure.both_sides))
    if record.metadata["agreement"] == "agree":
        yield Verdict("agreed", record.id, sure.cs_c == 0 and sure.supported == 1)
    yield Verdict("off topic", record.id, scored["off_topic"].evidence == 0)
    yield Verdict("wrong", record.id, wrong.evidence == 1 and wrong.supported == 0)


def _above(higher: float | None, lower: float | None) -> bool:
    return higher is not None and lower is not None and higher > lower


async def _scored(record: Record, response: str, scorer: Scorer) -> Result:
    example = Example(
        id=f"{record.id}/{response}",
        group=record.id,
        question=record.question,
        response=(record.responses or {})[response],
        documents=record.documents,
    )
    return await conflict_score(example, scorer)


async def _asked(record: Record, claim: str, scorer: Scorer) -> str:
    asked = QueryAsked(query=claim, documents=record.documents)
    retrieved = retrieve(asked, claim, ASK, lambda _: None)
    judge = scorer.judge.label
    return side_of(await conrag(claim, retrieved, judge=judge, settings=ASK.settings))


def side_of(answer: Answer) -> str:
    """The side that documents are said to take: "for", "against", "divided" or "silent"."""
    return "divided" if answer.disputed else SIDES[answer.stance]


if __name__ == "__main__":
    tagger = tagger_folder(Path(sys.argv[1])) if len(sys.argv) > 1 else shipped_tagger()
    for half in HALVES:
        for measure, (share, cases) in shares(measured(tagger, half)).items():
            print(f"{half:<8}{measure:<12}{share:.2f} of {cases}")
