"""Tables I, IV and IX, and Figures 2, 4 and 6 of ConRAG, by hand."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pipelines.conrag.data import ResponseSentence
from pipelines.conrag.evidence import Stance, TaggedPassage
from pipelines.conrag.methods import ABLATIONS, METHODS
from pipelines.conrag.mistakes import category, error_table, telling_sentence
from pipelines.conrag.result import ClaimResult
from pipelines.conrag.tables import citations, data_summary, stances
from pipelines.conrag.view import citation_plots, rate_by_score, score_counts
from pipelines.data.records import Document
from pipelines.judge.judgement import Relation
from pipelines.metrics.estimate import proportion
from pipelines.report.table import own_rows, shown

S, C, I, _ = Relation  # noqa: E741
SUPPORT, REFUTE, NEI = Stance
Said = tuple[str, Relation, Relation | None]
"""Text, tag, and the true relation of the passage."""
CLAIM = "The Rowle bridge was opened in 1932."
RIGHT: Said = (CLAIM, C, C)
OPENED: Said = ("The bridge was opened in 1932.", S, S)
STONE = "The bridge, of stone, was opened to traffic."


def result(
    passages: Sequence[Said],
    statements: Sequence[dict[str, Any]] = (),
    says: Stance = SUPPORT,
    **own: Any,
) -> ClaimResult:
    """A claim on which every method gives the same outcome; passages are called "0", "1", ..."""
    tagged = [
        TaggedPassage(Document(id=str(n), text=text), 1, tag, 0.9)
        for n, (text, tag, _) in enumerate(passages)
    ]
    outcome = {"stance": says, "packet": [], "statements": statements}
    return ClaimResult.model_validate(
        {
            "id": "r", "claim": CLAIM, "status": "answered", "stance": None, "disputed": None,
            "passages": tagged,
            "truth": {str(n): truth for n, (*_, truth) in enumerate(passages) if truth},
            "outcomes": dict.fromkeys((*METHODS, *ABLATIONS), outcome),
            **own,
        }
    )  # fmt: skip


def says(text: str, *cites: int, about: str = "support") -> dict[str, Any]:
    return {"text": text, "about": about, "cites": [str(n) for n in cites]}


# Table IV


def test_without_labels_of_passages_nothing_is_counted_by_them() -> None:
    said = [says("So.", 0)]
    unlabelled = [result([("a", S, None)], said, id=str(n), stance=REFUTE) for n in range(3)]
    unlabelled.append(result([], id="3", stance=SUPPORT))
    table = stances({"ragtruth": unlabelled})
    rows = own_rows(table)
    assert "Oracle" not in {row["method"] for row in rows}
    assert {row["contradiction_rate"] for row in rows} == {None}
    assert {shown(row["accuracy"]) for row in rows} == {shown(proportion(1, 4))}
    always = f"Always answering REFUTE has an accuracy of {shown(proportion(3, 4))} on ragtruth."
    assert always in table.notes
    assert any("1 of 4 claims had no passage" in note for note in table.notes)
    rows = own_rows(stances({"own": [result([("a", S, C)], said, stance=REFUTE)]}))
    assert "Oracle" in {row["method"] for row in rows}
    assert None not in {row["contradiction_rate"] for row in rows}


# Figures 2, 4 and 6


def test_claims_and_contradictions_by_fifths_of_the_conflict_score() -> None:
    """Five claims with score 0.5 make a point of Figure 6; a single claim with score 1 does not."""
    balanced = [result([("a", S, C)], [says("So.", 0)], kappa=0.5)] * 5
    claims = [*balanced, result([], kappa=1.0)]
    assert [*score_counts(claims).values()] == [0, 0, 5, 0, 1]
    ((middle, rate),) = rate_by_score(claims, "ConRAG")
    assert (middle, rate) == (0.5, 0)


def test_precision_against_recall_beside_the_papers_points() -> None:
    """One of ConRAG's two citations is correct; in the paper ConRAG has 0.439 and 0.601 on ASQA."""
    said = [says("So.", 0, 1), says("And so.")]
    own = result([("a", S, S), ("b", S, None)], said)
    (drawn,) = citation_plots(citations({"alce-asqa": [own]}))
    assert "ConRAG, paper" in drawn
    assert "Citations, alce-asqa" in drawn
    assert not [*citation_plots(citations({"none": [result([("a", S, None)], said)]}))]


# Table IX: claims, answers, sentences of responses

CLAIMS: dict[str | None, list[Said]] = {
    "evidence sparsity": [("It is of stone.", S, None)],
    "negation or quantifier": [("The Rowle bridge was never opened in 1932.", S, C)],
    "temporal mismatch": [("The Rowle bridge was opened in 1936.", S, C)],
    "multi-hop evidence": [RIGHT, RIGHT],
    "entity disambiguation": [RIGHT, ("The Aldham bridge was opened in 1932.", S, None)],
    "citation leakage": [RIGHT, ("The Rowle bridge, opened in 1932, is of stone.", I, None)],
    "none of these": [RIGHT],
}


@pytest.mark.parametrize("expected", CLAIMS)
def test_errors_on_claims(expected: str) -> None:
    passages = CLAIMS[expected]
    gold = [str(n) for n, (*_, truth) in enumerate(passages) if truth]
    said = [says("So.", *range(len(passages)))]
    stance, evidence = (REFUTE, [gold]) if gold else (NEI, [])
    assert category(result(passages, said, stance=stance, evidence=evidence), "ConRAG") == expected


def answer(
    statements: Sequence[dict[str, Any]],
    passages: Sequence[Said],
    *,
    supported: int = 0,
    recall: float | None = 1.0,
    problem: str | None = None,
) -> ClaimResult:
    """An answer to a question, with `supported` sentences supported by their citations."""
    count = len(statements)
    cited = {
        "sentences": count, "supported": supported, "citations": count, "needed": supported,
    }  # fmt: skip
    worth = {"citations": cited, "statements": count, "recall": recall}
    worth |= {"contradicting": 0, "contradicting_strict": 0}
    question = {"first_answer": ["So."], "worth": dict.fromkeys((*METHODS, *ABLATIONS), worth)}
    made = result(passages, statements, question=question)
    unread = {
        name: one.model_copy(update={"problem": problem}) for name, one in made.outcomes.items()
    }
    return made.model_copy(update={"outcomes": unread})


def states(text: str, *cites: int) -> list[dict[str, Any]]:
    return [says(text, *cites, about="answer")]


BARE = answer(states("It was opened in 1932.", 0), [OPENED], supported=1)
# answer, category
ANSWERS: dict[str, tuple[ClaimResult, str | None]] = {
    "all right": (answer(states(STONE, 0), [OPENED], supported=1), None),
    "no passage has the answer": (
        answer(states(STONE, 0), [(STONE, I, None)], recall=0.0), "evidence sparsity",
    ),
    "nothing is said, and no passage has it": (
        answer([says("Nothing was found.", about="none")], [(STONE, I, None)], recall=0.0),
        "none of these",
    ),
    "a denial of its own": (
        answer(states("It was never opened in 1932.", 0), [OPENED]), "negation or quantifier",
    ),
    "a year of its own": (
        answer(states("It was opened in 1936.", 0), [OPENED]), "temporal mismatch",
    ),
    "a part of the answer": (
        answer(states("It was opened in 1932.", 0), [OPENED], supported=1, recall=0.5),
        "multi-hop evidence",
    ),
    "a name of its own": (
        answer(states("It is the bridge at Aldham.", 0), [OPENED]), "entity disambiguation",
    ),
    "an irrelevant passage": (
        answer(states("The bridge was opened.", 1), [OPENED, (STONE, I, None)]),
        "citation leakage",
    ),
    "nothing is cited": (answer(states("The bridge was opened."), [OPENED]), "none of these"),
    "nobody can read it": (
        answer(states(STONE, 0), [OPENED], recall=0.0, problem="answer: no JSON"), None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_errors_of_answers(name: str) -> None:
    found, expected = ANSWERS[name]
    assert category(found, "ConRAG") == expected


def sentence(
    passages: Sequence[tuple[str, Relation]], gold: Stance, took: Stance, *cites: int
) -> ClaimResult:
    where = ResponseSentence(response="1", source="s", tokens=7, hallucinated=0)
    statements = [says("So.", *cites)] if cites else []
    tagged = [(text, tag, None) for text, tag in passages]
    return result(tagged, statements, took, stance=gold, response=where.model_dump())


NOT_OPENED = "The Rowle bridge was not opened in 1932."
# sentence, category
SENTENCES: dict[str, tuple[ClaimResult, str | None]] = {
    "right": (sentence([(CLAIM, S)], SUPPORT, SUPPORT), None),
    "the source says nothing": (sentence([(CLAIM, S)], NEI, SUPPORT), "evidence sparsity"),
    "a denial": (sentence([(NOT_OPENED, S)], REFUTE, SUPPORT), "negation or quantifier"),
    "another year": (
        sentence([("The Rowle bridge was opened in 1936.", S)], REFUTE, SUPPORT),
        "temporal mismatch",
    ),
    "no passage by itself": (
        sentence([("In 1932.", I), ("The Rowle bridge.", I)], SUPPORT, NEI), "multi-hop evidence",
    ),
    "another bridge": (
        sentence([("The Aldham bridge was opened in 1932.", S)], REFUTE, SUPPORT),
        "entity disambiguation",
    ),
    "an irrelevant passage": (
        sentence([(CLAIM, S), (CLAIM, I)], REFUTE, SUPPORT, 1), "citation leakage",
    ),
    "nothing to see": (sentence([(CLAIM, S)], REFUTE, SUPPORT), "none of these"),
}  # fmt: skip


@pytest.mark.parametrize("name", SENTENCES)
def test_errors_on_sentences_of_responses(name: str) -> None:
    found, expected = SENTENCES[name]
    assert category(found, "ConRAG") == expected


def test_the_sentence_that_decided_speaks_for_a_passage() -> None:
    text = "Ferries cross here. The bridge was opened in 1936. It is of stone."
    tagged = TaggedPassage(Document(id="0", text=text), 1, C, 0.9)
    assert telling_sentence(CLAIM, tagged) == "The bridge was opened in 1936."
    tagged = replace(tagged, rationale="It is of stone.")
    assert telling_sentence(CLAIM, tagged) == "It is of stone."


def test_table_ix_says_what_its_errors_are_of() -> None:
    wrong = {
        "alce-asqa": [answer([says(STONE, 0)], [OPENED], recall=0.0), BARE],
        "ragtruth": [SENTENCES["the source says nothing"][0], SENTENCES["right"][0]],
        "fever": [result([OPENED], stance=REFUTE), result([OPENED], stance=SUPPORT)],
    }
    rows = own_rows(error_table(wrong))
    assert {(row["dataset"], row["unit"]) for row in rows} == {
        ("alce-asqa", "answers"), ("ragtruth", "sentences"), ("fever", "stances"),
    }  # fmt: skip
    assert sum(int(str(row["errors"])) for row in rows) == 3


# Table I


def test_the_data_of_a_run_stand_beside_the_papers() -> None:
    claims = [result([OPENED], stance=NEI), result([("So.", I, None)], stance=SUPPORT)]
    made = data_summary(
        {"fool-me-twice": claims, "ragtruth": [SENTENCES["right"][0]] * 2, "alce-asqa": [BARE]},
        {"fool-me-twice": {"half": "test"}, "ragtruth": {"half": "all", "skipped": 3}},
    )
    assert [(row["dataset"], row["size"], row["skipped"]) for row in own_rows(made)] == [
        ("fool-me-twice", "2 claims, test half", 0),
        ("ragtruth", "1 response of 2 sentences", 3),
        ("alce-asqa", "1 question", 0),
    ]
    assert len(made.quoted) == 6
