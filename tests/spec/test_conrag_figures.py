"""Table I, Figures 2, 4 and 6, and Table IX of answers and responses, by hand."""

from collections.abc import Sequence
from typing import Any

import pytest

from pipelines.conrag.errors import (
    category,
    error_table,
    telling_sentence,
)
from pipelines.conrag.evidence import Stance
from pipelines.conrag.hallucination import ResponseSentence
from pipelines.conrag.methods import ALL_METHODS
from pipelines.conrag.result import ClaimResult
from pipelines.conrag.tables import citations, data_summary, stances
from pipelines.conrag.view import citation_plots, rate_by_score, score_counts
from pipelines.judge.judgement import Relation
from pipelines.metrics.estimate import proportion
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


# Figures 2 and 6


def test_claims_and_contradictions_by_fifths_of_the_conflict_score() -> None:
    """Five claims of score 0.5 are a point of Figure 6, one of score 1 is none."""
    balanced = [result([("a", S, 0.9, C)], [says("So.", 0)], kappa=0.5)] * 5
    claims = [*balanced, result([], kappa=1.0)]
    assert [*score_counts(claims).values()] == [0, 0, 5, 0, 1]
    ((middle, rate),) = rate_by_score(claims, "ConRAG")
    assert (middle, rate) == (0.5, 0)


# Figure 4


def test_precision_against_recall_beside_the_papers_points() -> None:
    """ConRAG cites one passage of two rightly; the paper's ConRAG has 0.439 and 0.601 on ASQA."""
    said = [says("So.", 0, 1), says("And so.")]
    own = result([("a", S, 0.9, S), ("b", S, 0.6, None)], said)
    (drawn,) = citation_plots(citations({"alce-asqa": [own]}))
    assert "ConRAG, paper" in drawn
    assert "Citations, alce-asqa" in drawn
    assert not [*citation_plots(citations({"none": [result([("a", S, 0.9, None)], said)]}))]


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
        {"climate-fever": {"half": "test"}, "ragtruth": {"half": "all", "skipped": 3}},
    )
    rows = {row["dataset"]: row for row in own_rows(made)}
    sizes = {name: row["size"] for name, row in rows.items()}
    assert sizes == {
        "climate-fever": "2 claims, test half",
        "ragtruth": "1 response of 2 sentences",
        "alce-asqa": "1 question",
    }
    assert [row["skipped"] for row in rows.values()] == [0, 3, 0]
    assert [row[0] for row in made.quoted] == [
        "FEVER", "SciFact", "ALCE-ASQA", "ALCE-QAMPARI", "ALCE-ELI5", "RAGTruth",
    ]  # fmt: skip
