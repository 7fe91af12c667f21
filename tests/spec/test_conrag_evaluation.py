"""Counts in ConRAG's evaluation, by hand."""

from dataclasses import astuple

import pytest

from pipelines.conrag.answer import Outcome, Statement
from pipelines.conrag.evidence import Stance
from pipelines.conrag.metrics import citation_leakage, citation_worth, worth_by_labels
from pipelines.judge.judgement import Relation

S, C, I, _ = Relation  # noqa: E741
TRUTH = {"s1": S, "s2": S, "c1": C, "i1": I}
PACKET = tuple(TRUTH)


def says(about: str, *cites: str, dropped: tuple[str, ...] = ()) -> Statement:
    return Statement.model_validate(
        {"text": "It says so.", "about": about, "cites": cites, "dropped": dropped}
    )


def outcome(*statements: Statement, packet: tuple[str, ...] = PACKET) -> Outcome:
    return Outcome(stance=Stance.SUPPORT, packet=packet, statements=statements)


BOTH = [says("support", "s1", "s2"), says("refute", "c1")]

# statements, packet -> statements on a side, those that contradict it, undisclosed ones
CONTRADICTING = {
    "the packet has nothing against it": ([says("support", "s1")], ("s1", "i1"), (1, 0, 0)),
    "it hides the other side": ([says("support", "s1"), says("support", "s2")], PACKET, (2, 2, 2)),
    "the refuting one hides s2": ([says("support", "s1"), says("refute", "c1")], PACKET, (2, 2, 1)),
    "the other is shown beside it": (BOTH, PACKET, (2, 2, 0)),
    "as is the conflict": (
        [says("support", "s1"), says("conflict", "s1", "c1")], PACKET, (1, 1, 0),
    ),
    "shown on the wrong side": ([says("support", "s1", "c1")], PACKET, (1, 1, 1)),
    "nothing is known of the packet": ([says("support", "u1")], ("u1", "u2"), (1, 0, 0)),
    "no side is taken": ([says("none"), says("conflict", "c1")], PACKET, (0, 0, 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTRADICTING)
def test_the_papers_rate_counts_a_contradiction_that_the_answer_discloses(name: str) -> None:
    """Section 3: the proportion of generated statements that contradict the packet."""
    statements, packet, counts = CONTRADICTING[name]
    worth = worth_by_labels(outcome(*statements, packet=packet), TRUTH)
    assert (worth.statements, worth.contradicting_strict, worth.contradicting) == counts


# statements -> sentences, supported, citations, precise
CITED = {
    "a side by its own": ([says("support", "s1")], (1, 1, 1, 1)),
    "the other side by its own": ([says("refute", "c1")], (1, 1, 1, 1)),
    "a side by the other": ([says("support", "c1")], (1, 0, 1, 0)),
    "a side by what takes none": ([says("support", "i1")], (1, 0, 1, 0)),
    "a side by nothing": ([says("support")], (1, 0, 0, 0)),
    "what bears nothing out is superfluous": ([says("support", "s1", "i1")], (1, 1, 2, 1)),
    "a conflict needs both sides and citations": ([says("conflict", "s1", "c1")], (1, 1, 2, 2)),
    "a conflict by one side": ([says("conflict", "s1", "s2")], (1, 0, 2, 0)),
    "a dropped citation is one": ([says("support", "s1", dropped=("c1",))], (1, 1, 2, 1)),
    "all of them dropped": ([says("support", dropped=("s1", "c1"))], (1, 0, 2, 0)),
    "nothing said needs none": ([says("none"), says("support", "s1")], (1, 1, 1, 1)),
}


@pytest.mark.parametrize("name", CITED)
def test_what_bears_statements_out(name: str) -> None:
    statements, counts = CITED[name]
    assert astuple(citation_worth(outcome(*statements), TRUTH)) == counts


def test_leakage_counts_citations_of_what_the_tagger_calls_irrelevant() -> None:
    found = outcome(says("support", "s1", "i1"), says("conflict", "i1"))
    assert citation_leakage(found, TRUTH) == (2, 3)
    assert citation_leakage(outcome(says("none")), TRUTH) == (0, 0)
    dropped = outcome(says("support", "s1", dropped=("i1", "s2")))
    assert citation_leakage(dropped, TRUTH) == (1, 3)
