"""How often a tagger is right about everyday records: `python tests/direction/measure.py [FOLDER]`.

Without a folder the tagger that comes with the program is measured. With `--pairs FILE`, labelled
pairs as `nli.pairs` reads them, it is measured on claims made of two claims about one of FEVER's
texts instead. Each record has a question, two
or three documents that disagree, agree or are silent (`agreement`), four responses and claims to
ask. `sure` takes one side, `hedged` tells the views, `off_topic` says what no document speaks of,
`wrong` what is denied. `hedges_*.jsonl` have a document and a claim that reports two views, in the
many forms of such claims. All texts are ours and all names in them invented. Look at the seen half
as you like. Never look at cases of the unseen one while a tagger or its rules are tuned: its shares
tell whether those of the other half were learned by heart.
"""

import argparse
import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from nli.labels import Label
from nli.pairs import read_pairs
from pipelines.conflictscore.pipeline import Scorer, conflict_score, prepare
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.settings import Settings
from pipelines.conrag.answer import Answer
from pipelines.conrag.evidence import Stance
from pipelines.conrag.pipeline import conrag
from pipelines.conrag.settings import AnswerOptions
from pipelines.data.records import Document, Example, Record
from pipelines.inspection.ask import QueryAsked, retrieve
from pipelines.judge.judgement import Relation
from pipelines.judge.tagger import TaggerFolder, shipped_tagger, tagger_folder

HALVES: Final = ("seen", "unseen")

SIDES: Final = {
    Stance.SUPPORT: "for",
    Stance.REFUTE: "against",
    Stance.NOT_ENOUGH_INFO: "silent",
}

ASK: Final = AnswerOptions(method="bm25")

FORMS: Final = {
    "differ": "Sources differ: some hold that {}, others that {}.",
    "while": "While one report claims that {}, another maintains that {}.",
    "whereas": "The guide says {}, whereas the study says {}.",
    "sentences": "According to one account, {}. Another account says that {}.",
    "disputed": "It is disputed whether {} or {}.",
    "and": "{}, and {}.",
}
"""Claims that report two others, in forms that no tagger was trained on."""


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
            *(_of_hedge(row, scorer) for row in hedges(half)),
        )

    return [verdict for verdicts in asyncio.run(judged()) for verdict in verdicts]


def measured_in_forms(folder: TaggerFolder, pairs: Path) -> list[Verdict]:
    """The verdicts on claims made of two: the first supported and denied ones about each text.

    "plain" are the two alone. "one right" reports both, "both wrong" the first two denied ones.
    """
    by_text: dict[str, dict[Label, list[str]]] = defaultdict(lambda: defaultdict(list))
    for pair in read_pairs(pairs):
        if pair.source == "fever":
            by_text[pair.premise][pair.label].append(pair.hypothesis.rstrip("."))
    rows: list[tuple[str, str, str, Relation]] = []
    for text, claims in by_text.items():
        right, wrong = claims[Label.SUPPORT], claims[Label.REFUTE]
        if right and wrong:
            one, other = right[0], wrong[0]
            rows.append(("plain, supported", text, f"{one}.", Relation.SUPPORTS))
            rows.append(("plain, denied", text, f"{other}.", Relation.CONTRADICTS))
            rows += [
                (f"{name}, one right", text, form.format(*views), Relation.SUPPORTS)
                for name, form in FORMS.items()
                for views in ((one, other), (other, one))
            ]
        if len(wrong) > 1:
            rows += [
                (f"{name}, both wrong", text, form.format(*wrong[:2]), Relation.CONTRADICTS)
                for name, form in FORMS.items()
            ]
    scorer = prepare(Settings(judge="tagger", claims="sentences"), tagger=folder)

    async def judged() -> list[Verdict]:
        return await asyncio.gather(*(_labelled(*row, scorer) for row in rows))

    return asyncio.run(judged())


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


async def _of_hedge(row: dict[str, str], scorer: Scorer) -> list[Verdict]:
    relation = Relation(row["relation"])
    return [await _labelled("two views", row["document"], row["claim"], relation, scorer)]


async def _labelled(
    measure: str, text: str, claim: str, relation: Relation, scorer: Scorer
) -> Verdict:
    told = await scorer.judge.label([claim], [Document(id="text", text=text)])
    return Verdict(measure, claim, told.judgements[0].relation == relation)


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


def told(of: str, verdicts: Sequence[Verdict]) -> None:
    """Print the share of every measure."""
    for measure, (share, cases) in shares(verdicts).items():
        print(f"{of:<8}{measure:<24}{share:.2f} of {cases}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--pairs", type=Path)
    given = parser.parse_args()
    tagger = tagger_folder(given.folder) if given.folder else shipped_tagger()
    if given.pairs:
        told("FEVER", measured_in_forms(tagger, given.pairs))
    else:
        for half in HALVES:
            told(half, measured(tagger, half))
