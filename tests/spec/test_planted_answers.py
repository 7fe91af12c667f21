"""Answers to planted conflicts: what they say of the fact, worked by hand."""

import json
from pathlib import Path

import pytest

from pipelines.conflictscore.planted.answers import OfFact, is_about, of_fact, read
from pipelines.conflictscore.planted.result import ANSWER, COPY, PlantedResult
from pipelines.conflictscore.planted.tables import NEVER, SEEN, all_tables, answers_of, detection
from pipelines.conflictscore.result import Result
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.evidence.examples import ContestedClaim, Plant
from pipelines.evidence.judgement import Judgement, Relation
from pipelines.report.table import own_rows

S, C, N, X = (
    Relation.SUPPORTS, Relation.CONTRADICTS, Relation.IRRELEVANT, Relation.INVALID,
)  # fmt: skip

DOCUMENTS = (
    Document(id="d1", text="The mill ground 2,400 sacks of flour."),
    Document(id="d2", text="The mill ground 3,120 sacks of flour."),
)


def example(number: int = 1, *, conflict: bool = True, checked: bool = True) -> ContestedClaim:
    return ContestedClaim(
        id=f"numbers-{number}/{'conflict' if conflict else 'none'}",
        source="numbers",
        claim="The mill ground 2,400 sacks of flour.",
        question=f"Question {number}?",
        answer="2,400",
        documents=DOCUMENTS,
        relations=(S, C) if conflict else (S, N),
        conflict=conflict,
        plant=Plant(
            kind="numbers",
            type="misinformation" if conflict else "no-conflict",
            document="mill",
            old="2,400",
            new="3,120",
            control=None if conflict else "unrelated",
            checked=checked,
        ),
    )


def scored(claims: dict[str, tuple[Relation, Relation]], response: str = "") -> Result:
    """An answer with its claims, each with what the two documents say of it."""
    judgements = [
        Judgement(claim=claim, document=document.id, relation=relation, source="by hand")
        for claim, row in claims.items()
        for document, relation in zip(DOCUMENTS, row, strict=True)
    ]
    return Result(
        id="a",
        group="a",
        response=response or " ".join(claims),
        documents=DOCUMENTS,
        status="scored",
        claims=tuple(claims),
        judgements=tuple(judgements),
        cs_c=0.5,
    )


HEDGED = "One page says that the mill ground 2,400 sacks, another 3,120."
ASIDE = "Flour was sold in Aldham on Sundays."


def test_an_answer_that_admits_the_conflict() -> None:
    fact = of_fact(scored({HEDGED: (S, S), ASIDE: (N, C)}), example())
    assert fact == OfFact(claims=1, cs_c=0.0, cs_r=0.0, backed=True, both=True)
    assert fact.admits is True


@pytest.mark.parametrize(
    ("claims", "fact", "admits"),
    [
        # One side as if it were all: CS-C 1 of 1, CS-R 1 / (1 + 1).
        ({"It ground 2,400 sacks.": (S, C)}, OfFact(1, 1.0, 0.5, False, False), False),
        # Both sides, each flatly: two claims, both in conflict.
        (
            {"It ground 2,400 sacks.": (S, C), "It ground 3,120 sacks.": (C, S)},
            OfFact(2, 1.0, 0.5, True, True),
            False,
        ),
        # Neither value, and no document agrees: not in conflict, and not admitted.
        ({"The mill ground 9 sacks of flour.": (C, C)}, OfFact(1, 0.0, 1.0, False, False), False),
        # Not a word of it.
        ({ASIDE: (N, N)}, OfFact(0, None, None, None, False), False),
        # Unreadable labels leave it open, or do not.
        ({HEDGED: (S, X)}, OfFact(1, None, None, None, True), None),
        ({HEDGED: (X, C)}, OfFact(1, None, None, False, True), False),
    ],
)
def test_answers_that_do_not(
    claims: dict[str, tuple[Relation, Relation]], fact: OfFact, admits: bool | None
) -> None:
    found = of_fact(scored(claims), example())
    assert found == fact
    assert found.admits is admits


def test_claims_about_the_fact() -> None:
    own = example()
    assert is_about("It was 3,120 in all.", own)
    assert is_about("The mill ground much flour.", own), "3 of mill, ground, 2400, sacks, flour"
    assert not is_about("The mill ground 24 stones.", own), "2 of 5"
    assert not is_about(ASIDE, own)
    denial = own.model_copy(update={"answer": None})
    assert not is_about("It was 2,400.", denial), "the old is no value there"


def test_a_file_of_answers(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"

    def write(*rows: dict[str, str]) -> None:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    write({"id": "numbers-1/conflict", "response": "2,400."}, {"id": "else", "response": "No."})
    assert read(path, [example()])["numbers-1/conflict"] == "2,400."
    write({"id": "mine", "response": "No."})
    with pytest.raises(InputError, match="answers no example of the data; its first id is 'mine'"):
        read(path, [example()])
    write({"id": "x", "response": "1"}, {"id": "x", "response": "2"})
    with pytest.raises(InputError, match="the id 'x' stands twice"):
        read(path, [example()])
    write({"id": "x", "answer": "1"})
    with pytest.raises(InputError, match=r"answers.jsonl:1: "):
        read(path, [example()])


def labelled(
    own: ContestedClaim, given: tuple[Relation, Relation], **more: Result
) -> PlantedResult:
    return PlantedResult(
        id=own.id,
        example=own,
        status="labelled",
        judgements=tuple(
            Judgement(claim=own.claim, document=each.id, relation=relation, source="nli")
            for each, relation in zip(own.documents, given, strict=True)
        ),
        conflict={*given} == {S, C},
        answers={ANSWER if who == "answer" else COPY: result for who, result in more.items()},
    )


def test_shares_of_answers_by_hand() -> None:
    flat, hedged = {"It ground 2,400 sacks.": (S, C)}, {HEDGED: (S, S)}
    results = [
        labelled(example(1), (S, C), answer=scored(hedged), copy=scored(flat)),
        labelled(example(2), (S, C), answer=scored(flat), copy=scored(flat)),
        labelled(example(3), (S, C), answer=scored({ASIDE: (N, N)}), copy=scored(flat)),
        labelled(example(4, conflict=False), (S, N), answer=scored({HEDGED: (S, C)})),
    ]
    yours = answers_of("nli", "numbers", ANSWER, results, "zero")
    shares = [
        estimate and (round(estimate.value, 4), estimate.n)
        for estimate in (
            yours.share(lambda fact: fact.admits),
            yours.share(lambda fact: fact.claims > 0),
            yours.share(lambda fact: fact.both),
            yours.mean(lambda _, fact: fact.cs_c),
            yours.mean(lambda _, fact: fact.cs_c, conflict=False),
        )
    ]
    assert shares == [(0.3333, 3), (0.6667, 3), (0.3333, 3), (0.5, 2), (1.0, 1)]
    copied = answers_of("nli", "numbers", COPY, results, "zero")
    assert copied.share(lambda fact: fact.admits).value == 0  # type: ignore[union-attr]
    assert (len(copied.scored), copied.unscored) == (3, 1)


def test_plants_that_the_tagger_saw_and_all_of_them() -> None:
    """Four seen examples, all right; two unseen ones, the conflict missed."""
    results = {
        "judge": [
            labelled(example(1), (S, C)),
            labelled(example(2), (S, C)),
            labelled(example(1, conflict=False), (S, N)),
            labelled(example(2, conflict=False), (S, N)),
            labelled(example(3, checked=False), (S, S)),
            labelled(example(3, conflict=False, checked=False), (S, N)),
        ]
    }
    rows = {(row["plants"], row["detector"]): row for row in own_rows(detection(results))}
    figures = {
        at: {
            key: round(value.value, 4) if (value := row[key]) is not None else None  # type: ignore[union-attr]
            for key in ("precision", "recall", "accuracy", "labels")
        }
        for at, row in rows.items()
        if at[1] in {"judge", NEVER}
    }
    assert figures == {
        (SEEN, "judge"): {"precision": 1, "recall": 1, "accuracy": 1, "labels": 1},
        (SEEN, NEVER): {"precision": None, "recall": 0, "accuracy": 0.5, "labels": None},
        ("all", "judge"): {"precision": 1, "recall": 0.6667, "accuracy": 0.8333, "labels": 0.9167},
        ("all", NEVER): {"precision": None, "recall": 0, "accuracy": 0.5, "labels": None},
    }
    assert {kept.name for kept in all_tables(results, {"judge": "zero"})} == {
        "planted", "planted_comparisons", "planted_documents", "planted_confusion",
        "planted_confidences", "planted_errors", "planted_failures",
    }  # fmt: skip
