"""Conflict Detection: decisions, baselines, tables, mistakes."""

from collections.abc import Sequence

import pytest

from pipelines.conflictscore.detection import tables
from pipelines.conflictscore.detection.detect import (
    DetectionResult,
    by_overlap,
    content_word_recall,
    detect,
    detectors,
    mistakes,
    overlap_relation,
    verdicts,
)
from pipelines.data.records import Document
from pipelines.judge.examples import ContestedClaim
from pipelines.judge.judgement import Judgement, Judgements, Relation, Truncation
from pipelines.report.table import records
from pipelines.text.words import content_words

S, C, I, X = Relation  # noqa: E741
LETTERS = {"s": S, "c": C, "i": I, "x": X}


class Letters:
    """A judge that reads the label off a document's first letter."""

    identity = "letters"

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        (claim,) = claims
        judgements = tuple(
            Judgement(
                claim=claim,
                document=document.id,
                relation=LETTERS[document.text[0]],
                probabilities=_shares(document),
                snippet=document.text[2:] or None,
                raw="gibberish" if document.text[0] == "x" else None,
                source="letters",
            )
            for document in documents
        )
        long = (each.id for each in documents if each.text.endswith("long"))
        cut = tuple(Truncation(text=f"document {name}", tokens=9, kept=4) for name in long)
        return Judgements(judgements, cut)


def _shares(document: Document) -> dict[Relation, float] | None:
    label, sure = LETTERS[document.text[0]], 0.9 if document.text.endswith("sure") else 0.6
    if label is X:
        return None
    return {each: sure if each is label else (1 - sure) / 2 for each in (S, C, I)}


def example(
    name: str, letters: str, truth: str | None = None, *, conflict: bool, source: str = "made"
) -> ContestedClaim:
    words = letters.split()
    return ContestedClaim(
        id=name,
        source=source,
        claim=f"Claim {name}.",
        documents=tuple(Document(id=f"d{n}", text=text) for n, text in enumerate(words, 1)),
        relations=tuple(LETTERS[letter] for letter in truth) if truth else None,
        conflict=conflict,
    )


EXAMPLES = (
    example("found", "s c i", "sci", conflict=True),
    example("missed", "s i-sure", "sc", conflict=True),
    example("invented", "s c", "si", conflict=False),
    example("quiet", "s i", "si", conflict=False),
    example("unreadable", "s i x", "sic", conflict=True),
    example("unknown", "s-long c", None, conflict=True, source="other"),
)


# Baselines


def test_shared_words_by_hand() -> None:
    claim = "The mill in Aldham was built in 1,902."
    assert content_words(claim) == {"mill", "aldham", "built", "1902"}
    text = "Aldham mill, 1902: a landmark."
    assert content_word_recall(claim, Document(id="d", text=text)) == 0.75
    assert content_word_recall("It was.", Document(id="d", text="It was.")) == 1
    assert content_word_recall("...", Document(id="d", text="It was.")) == 0
    found = [overlap_relation(recall) for recall in (0.65, 0.64, 0.2, 0.19)]
    assert found == [S, C, C, I]
    texts = (claim, "The mill in Aldham is from 1850.", "Ferns grow in shade.")
    documents = tuple(Document(id=f"d{n}", text=text) for n, text in enumerate(texts))
    one = ContestedClaim(id="1", source="s", claim=claim, documents=documents, conflict=True)
    assert by_overlap(one) == (S, C, I)


# Tables


Results = dict[str, list[DetectionResult]]


@pytest.fixture
async def results() -> Results:
    return {"letters": [await detect(one, Letters()) for one in EXAMPLES]}


def row(table: object, **wanted: str) -> dict[str, object]:
    (found,) = (
        each
        for each in records(table)  # type: ignore[arg-type]
        if all(each[key] == value for key, value in wanted.items())
    )
    return dict(found)


async def test_table_2_by_hand(results: Results) -> None:
    table = tables.detection(detectors(results), "bench.jsonl")
    made = row(table, source="made", detector="letters")
    # One found, one missed, one invented, one quiet; "unreadable" is in no figure.
    assert [made[key] for key in ("precision", "recall", "f1", "accuracy")] == [0.5] * 4
    assert (made["examples"], made["conflicts"], made["undetermined"]) == (5, 3, 1)
    # 12 documents with known relations, one label unreadable; two of eleven are wrong.
    assert made["documents"] == pytest.approx(9 / 11)
    other = row(table, source="other", detector="letters")
    assert (other["recall"], other["accuracy_no_conflict"], other["truncated"]) == (1, None, 1)
    assert row(table, source="overall", detector="letters")["examples"] == 6
    always = row(table, source="made", detector="always conflict")
    assert (always["recall"], always["precision"]) == (1, 0.6)
    assert always["accuracy_no_conflict"] == 0
    paper = row(table, source="AmbigDocs")
    assert (paper["detector"], paper["f1"], paper["examples"]) == ("GPT-4.1", 0.942, 651)


async def test_the_surest_mistakes_come_first(results: Results) -> None:
    found = mistakes(results)
    errors = records(tables.errors(found))
    assert [(row["example"], row["confidence"], row["outcome"]) for row in errors] == [
        ("missed", 0.9, "conflict missed"),
        ("invented", 0.6, "conflict invented"),
        ("unreadable", None, "undetermined"),
    ]
    assert (errors[0]["truth"], errors[0]["prediction"]) == (C.value, I.value)
    assert errors[0]["rationale"] == "sure"
    assert len(verdicts(detectors(results)["letters"])) == 5
