"""Table I, Figure 4, and Table IX of answers and responses, by hand."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.conrag.evidence import Stance
from pipelines.conrag.hallucination import ResponseSentence
from pipelines.conrag.methods import ALL_METHODS
from pipelines.conrag.result import ClaimResult
from pipelines.conrag.tables.all import conflict_auc, stances
from pipelines.conrag.tables.data import data_summary
from pipelines.conrag.tables.errors import (
    category,
    error_table,
    errors_to_sort,
    faults,
    telling_sentence,
)
from pipelines.conrag.tables.tradeoff import THRESHOLDS, points
from pipelines.evidence.judgement import Relation
from pipelines.metrics.estimate import Estimate, proportion
from pipelines.report.table import own_rows, shown

S, C, I, _ = Relation  # noqa: E741
Said = tuple[str, Relation, float, Relation | None]
"""Text, tag, its confidence, and what the passage really says."""


def result(
    passages: Sequence[Said], statements: Sequence[dict[str, Any]] = (), **own: Any
) -> ClaimResult:
    """A claim on which every method says the same; passages are called "0", "1", ..."""
    outcome = {
        "stance": own.pop("says", Stance.SUPPORT), "packet": [], "statements": list(statements),
    }  # fmt: skip
    return ClaimResult.model_validate(
        {
            "id": "r", "claim": "The Rowle bridge was opened in 1932.", "status": "answered",
            "stance": None, "disputed": None,
            "passages": [
                {"id": str(n), "title": None, "text": text, "relevance": 1, "tag": tag,
                 "confidence": sure, "truth": truth}
                for n, (text, tag, sure, truth) in enumerate(passages)
            ],
            "outcomes": dict.fromkeys(ALL_METHODS, outcome),
            **own,
        }
    )  # fmt: skip


def says(text: str, *cites: int, about: str = "support") -> dict[str, Any]:
    return {"text": text, "about": about, "cites": [str(n) for n in cites]}


# Table IV


def test_without_labels_of_passages_nothing_is_counted_by_them() -> None:
    said = [says("So.", 0)]
    refuted = {"stance": Stance.REFUTE}
    unlabelled = [result([("a", S, 0.9, None)], said, id=str(n), **refuted) for n in range(3)]
    unlabelled.append(result([], id="3", stance=Stance.SUPPORT))
    table = stances({"averitec": unlabelled})
    rows = own_rows(table)
    assert "Oracle" not in {row["method"] for row in rows}
    assert {row["contradiction_rate"] for row in rows} == {None}
    assert {shown(row["accuracy"]) for row in rows} == {shown(proportion(1, 4))}
    always = f"Always saying REFUTE has an accuracy of {shown(proportion(3, 4))} on averitec."
    assert always in table.notes
    rows = own_rows(stances({"own": [result([("a", S, 0.9, C)], said, **refuted)]}))
    assert "Oracle" in {row["method"] for row in rows}
    assert None not in {row["contradiction_rate"] for row in rows}


# Figure 4

CITED = result(
    [("a", S, 0.95, S), ("b", S, 0.55, None), ("c", I, 0.99, None)],
    [says("So.", 0, 1, 2), says("And so.", 1)],
)


TAKEN: list[Said] = [("b", S, 0.55, None), ("c", I, 0.99, None)]


def test_less_sure_citations_are_given_up_one_after_another() -> None:
    found = {
        point.least: (point.worth.precision, point.worth.recall, point.kept)
        for point in points("own", [CITED], "ConRAG")
    }
    shares = {
        least: (precision.value if precision else None, recall.value if recall else None, kept)
        for least, (precision, recall, kept) in found.items()
    }
    # Only passage 0 bears anything out. As it is: 1 of 4 citations needed, 1 of 2 sentences borne
    # out. Passage 2 is on no side and goes first, then 1 with 0.55: 1 of 1, and still 1 of 2.
    assert tuple(shares) == THRESHOLDS
    assert [shares[least] for least in (0.0, 0.5, 0.6, 0.9)] == [
        (1 / 4, 1 / 2, 4), (1 / 3, 1 / 2, 3), (1, 1 / 2, 1), (1, 1 / 2, 1),
    ]  # fmt: skip


def test_what_a_policy_took_away_counts_as_wrong_until_it_is_given_up() -> None:
    said = says("So.", 0) | {"dropped": ["1", "2"]}
    found = list(points("own", [result([("a", S, 0.95, S), *TAKEN], [said])], "ConRAG"))
    shares = [each.worth.precision.value if each.worth.precision else None for each in found]
    assert shares == [1 / 3, 1 / 2, 1, 1, 1, 1]


SURE = st.floats(0, 1)


@given(st.lists(SURE, min_size=1, max_size=5), st.lists(st.integers(0, 4), max_size=6))
def test_recall_and_citations_never_rise_with_the_threshold(
    sure: list[float], cites: list[int]
) -> None:
    passages: list[Said] = [(str(n), S, each, S) for n, each in enumerate(sure)]
    said = [says("So.", *(n for n in cites if n < len(sure)))]
    found = list(points("own", [result(passages, said)], "ConRAG"))
    kept = [each.kept for each in found]
    recalls = [each.worth.recall.value for each in found if each.worth.recall]
    assert kept == sorted(kept, reverse=True)
    assert recalls == sorted(recalls, reverse=True)
    assert found[0].kept == len(said[0]["cites"])


def answer(
    statements: Sequence[dict[str, Any]],
    passages: Sequence[Said],
    *,
    supported: int = 0,
    contradicting: int = 0,
    recall: float | None = 1.0,
) -> ClaimResult:
    """An answer to a question, of `supported` sentences that are borne out."""
    count = len(statements)
    worth = {
        "citations": {
            "sentences": count, "supported": supported, "citations": count, "needed": supported,
        },
        "statements": count, "contradicting": contradicting, "contradicting_strict": 0,
        "recall": recall,
    }  # fmt: skip
    return result(
        passages,
        statements,
        question={
            "first_answer": ["So."], "problem": None, "raw": None,
            "worth": dict.fromkeys(ALL_METHODS, worth),
        },
    )  # fmt: skip


BRIDGE: Said = ("The bridge was opened in 1932.", S, 0.9, S)
BARE = answer([says("It was opened in 1932.", 0, about="answer")], [BRIDGE], supported=1)


# Table IX

ONE = "The bridge, of stone, was opened to traffic."
# statements, passages, how many are borne out, share said -> category
ANSWERS: dict[str, tuple[list[dict[str, Any]], list[Said], int, float, str | None]] = {
    "all right": ([says(ONE, 0, about="answer")], [BRIDGE], 1, 1.0, None),
    "no passage has the answer": (
        [says(ONE, 0, about="answer")], [(ONE, I, 0.9, None)], 0, 0.0, "evidence sparsity",
    ),
    "nothing is said, and no passage has it": (
        [says("Nothing was found.", about="none")], [(ONE, I, 0.9, None)], 0, 0.0, "none of these",
    ),
    "a denial of its own": (
        [says("It was never opened in 1932.", 0, about="answer")], [BRIDGE], 0, 1.0,
        "negation or quantifier",
    ),
    "a year of its own": (
        [says("It was opened in 1936.", 0, about="answer")], [BRIDGE], 0, 1.0, "temporal mismatch",
    ),
    "a part of the answer": (
        [says("It was opened in 1932.", 0, about="answer")], [BRIDGE], 1, 0.5,
        "multi-hop evidence",
    ),
    "a name of its own": (
        [says("It is the bridge at Aldham.", 0, about="answer")], [BRIDGE], 0, 1.0,
        "entity disambiguation",
    ),
    "an irrelevant passage": (
        [says("The bridge was opened.", 1, about="answer")], [BRIDGE, (ONE, I, 0.9, None)], 0, 1.0,
        "citation leakage",
    ),
    "nothing is cited": (
        [says("The bridge was opened.", about="answer")], [BRIDGE], 0, 1.0, "none of these",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_errors_of_answers(name: str) -> None:
    statements, passages, supported, recall, expected = ANSWERS[name]
    found = answer(statements, passages, supported=supported, recall=recall)
    assert category(found, "ConRAG") == expected


def test_what_is_wrong_with_an_answer_is_said() -> None:
    statements = [says(ONE, 0, about="answer"), says("So.", 0, about="answer")]
    wrong = answer(statements, [BRIDGE], supported=1, contradicting=1, recall=0.5)
    assert faults(wrong, "ConRAG") == (
        "1 of 2 sentences not borne out", "1 contradict the packet, undisclosed",
        "says 0.50 of what is to be said",
    )  # fmt: skip
    assert faults(answer([], [BRIDGE], recall=None), "ConRAG") == ()
    (row,) = own_rows(errors_to_sort({"alce-asqa": [BARE, wrong]}))
    assert (row["gold"], row["stance"], row["answer"]) == ("", "", f"{ONE} [1]\nSo. [1]")


def test_an_answer_that_nobody_can_read_is_no_error() -> None:
    unread = BARE.outcomes["ConRAG"].model_copy(update={"problem": "answer: no JSON"})
    wrong = answer([says(ONE, 0)], [BRIDGE], recall=0.0)
    found = wrong.model_copy(update={"outcomes": {**wrong.outcomes, "ConRAG": unread}})
    assert category(found, "ConRAG") is None


def sentence(passages: Sequence[Said], gold: Stance, took: Stance, *cites: int) -> ClaimResult:
    where = ResponseSentence(response="1", source="s", tokens=7, hallucinated=0)
    statements = [says("So.", *cites)] if cites else []
    return result(passages, statements, stance=gold, says=took, response=where.model_dump())


RESPONSE = sentence([(*BRIDGE[:3], None)], Stance.SUPPORT, Stance.SUPPORT)
SAME = "The Rowle bridge was opened in 1932."
SUPPORT, REFUTE, NEI = Stance
# passages, gold, what is found, cited -> category
SENTENCES: dict[str, tuple[list[Said], Stance, Stance, list[int], str | None]] = {
    "right": ([(SAME, S, 0.9, None)], SUPPORT, SUPPORT, [], None),
    "the source says nothing": ([(SAME, S, 0.9, None)], NEI, SUPPORT, [], "evidence sparsity"),
    "a denial": (
        [("The Rowle bridge was not opened in 1932.", S, 0.9, None)], REFUTE, SUPPORT, [],
        "negation or quantifier",
    ),
    "another year": (
        [("The Rowle bridge was opened in 1936.", S, 0.9, None)], REFUTE, SUPPORT, [],
        "temporal mismatch",
    ),
    "no passage by itself": (
        [("In 1932.", I, 0.9, None), ("The Rowle bridge.", I, 0.9, None)], SUPPORT, NEI, [],
        "multi-hop evidence",
    ),
    "another bridge": (
        [("The Aldham bridge was opened in 1932.", S, 0.9, None)], REFUTE, SUPPORT, [],
        "entity disambiguation",
    ),
    "an irrelevant passage": (
        [(SAME, S, 0.9, None), (SAME, I, 0.9, None)], REFUTE, SUPPORT, [1], "citation leakage",
    ),
    "nothing to see": ([(SAME, S, 0.9, None)], REFUTE, SUPPORT, [], "none of these"),
}  # fmt: skip


@pytest.mark.parametrize("name", SENTENCES)
def test_errors_on_sentences_of_responses(name: str) -> None:
    passages, gold, took, cites, expected = SENTENCES[name]
    assert category(sentence(passages, gold, took, *cites), "ConRAG") == expected


def test_the_sentence_that_decided_speaks_for_a_passage() -> None:
    claim = "The Rowle bridge was opened in 1932."
    text = "Ferries cross here. The bridge was opened in 1936. It is of stone."
    assert telling_sentence(claim, text, "It is of stone.") == "It is of stone."
    assert telling_sentence(claim, text, None) == "The bridge was opened in 1936."
    assert telling_sentence(claim, "", None) == ""


def test_table_ix_says_what_its_errors_are_of() -> None:
    wrong = {
        "alce-asqa": [answer([says(ONE, 0)], [BRIDGE], recall=0.0), BARE],
        "ragtruth": [sentence([BRIDGE], NEI, SUPPORT), RESPONSE],
        "fever": [result([BRIDGE], stance=REFUTE), result([BRIDGE], stance=SUPPORT)],
    }
    table = error_table(wrong)
    assert {(row["dataset"], row["unit"]) for row in own_rows(table)} == {
        ("alce-asqa", "answers"), ("ragtruth", "sentences"), ("fever", "stances"),
    }  # fmt: skip
    assert sum(int(str(row["errors"])) for row in own_rows(table)) == 3


# Table I


def test_the_data_of_a_run_stand_beside_the_papers() -> None:
    claims = [
        result([BRIDGE, ("No.", C, 0.9, C)], stance=NEI, disputed=True, evidence=[["0", "1"]]),
        result([("So.", I, 0.9, None)], stance=SUPPORT, disputed=False),
    ]
    made = data_summary(
        {"climate-fever": claims, "ragtruth": [RESPONSE, RESPONSE], "alce-asqa": [BARE]},
        {"climate-fever": "test", "ragtruth": "all"},
        {"ragtruth": 3},
    )
    rows = {row["dataset"]: row for row in own_rows(made)}
    sizes = {name: row["size"] for name, row in rows.items()}
    assert sizes == {
        "climate-fever": "2 claims, test half",
        "ragtruth": "1 response of 2 sentences",
        "alce-asqa": "1 question",
    }
    assert [row["skipped"] for row in rows.values()] == [0, 3, 0]
    own = rows["climate-fever"]
    counts = ("passages", "with_evidence", "stances", "disputed", "both_sides")
    assert [own[key] for key in counts] == [1.5, 1, "support 1, NEI 1", 1, 1]
    assert rows["alce-asqa"]["stances"] == "–"
    assert rows["alce-asqa"]["disputed"] is None, "unknown is not none"
    assert [row[0] for row in made.quoted] == [
        "FEVER", "SciFact", "ALCE-ASQA", "ALCE-QAMPARI", "ALCE-ELI5", "RAGTruth",
    ]  # fmt: skip


# Repeats


def test_a_sign_is_measured_on_claims_that_have_it() -> None:
    """0.8 of a disputed claim is above 0.1 of another; older lines have no such probability."""
    said = [("It was.", S, 0.9, None)]
    own = [
        result(said, disputed=True, kappa=0.0, both_sides=0.8),
        result(said, disputed=False, kappa=0.5, both_sides=0.1),
        result(said, disputed=False, kappa=0.5),
    ]
    rows = {row["sign"]: row for row in own_rows(conflict_auc({"CLIMATE-FEVER": own}))}
    by_chance, by_kappa = rows["probability of both sides"], rows["κ over passages"]
    areas = [each["auc"] for each in (by_chance, by_kappa)]
    assert [isinstance(area, Estimate) and area.value for area in areas] == [1, 0]
    assert [(each["disputed"], each["claims"]) for each in (by_chance, by_kappa)] == [
        (1, 2),
        (1, 3),
    ]
    older = [each.model_copy(update={"both_sides": None}) for each in own]
    signs = {row["sign"] for row in own_rows(conflict_auc({"CLIMATE-FEVER": older}))}
    assert "probability of both sides" not in signs
