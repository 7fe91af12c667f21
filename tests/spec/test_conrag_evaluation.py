"""What ConRAG's evaluation counts, by hand and as properties."""

from hypothesis import given
from hypothesis import strategies as st

from pipelines.conrag.outcome import Outcome, Statement
from pipelines.conrag.stance import Stance
from pipelines.conrag.tables.measures import (
    citation_leakage,
    citation_worth,
    contradictions,
)
from pipelines.evidence.judgement import Relation

S, C, I, _ = Relation  # noqa: E741
TRUTH = {"s1": S, "s2": S, "c1": C, "i1": I}


def says(about: str, *cites: str) -> Statement:
    return Statement.model_validate({"text": "It says so.", "about": about, "cites": cites})


def outcome(*statements: Statement, packet: tuple[str, ...] = ("s1", "s2", "c1", "i1")) -> Outcome:
    return Outcome(stance=Stance.SUPPORT, packet=packet, statements=statements)


def counted(found: Outcome, *, disclosure: bool = True) -> tuple[int, int]:
    counts = contradictions(found, TRUTH, disclosure=disclosure)
    return counts.statements, counts.contradicting


def test_a_side_against_which_the_packet_has_nothing_contradicts_nothing() -> None:
    assert counted(outcome(says("support", "s1"), packet=("s1", "i1"))) == (1, 0)


def test_a_side_that_hides_the_other_contradicts_the_packet() -> None:
    assert counted(outcome(says("support", "s1"), says("support", "s2"))) == (2, 2)


def test_a_side_beside_which_the_other_is_shown_does_not() -> None:
    assert counted(outcome(says("support", "s1"), says("refute", "c1"))) == (2, 1)
    # ... the refuting statement hides s2, which no statement shows
    assert counted(outcome(says("support", "s1", "s2"), says("refute", "c1"))) == (2, 0)
    assert counted(outcome(says("support", "s1"), says("conflict", "s1", "c1"))) == (1, 0)


def test_whatever_is_shown_counts_where_disclosure_does_not() -> None:
    both = outcome(says("support", "s1", "s2"), says("refute", "c1"), says("conflict", "s1", "c1"))
    assert counted(both, disclosure=False) == (2, 2)


def test_a_passage_shown_on_the_wrong_side_is_not_disclosed() -> None:
    assert counted(outcome(says("support", "s1", "c1"))) == (1, 1)


def test_passages_of_which_nothing_is_known_contradict_nothing() -> None:
    assert counted(outcome(says("support", "u1"), packet=("u1", "u2"))) == (1, 0)


def test_statements_about_nothing_and_about_the_conflict_take_no_side() -> None:
    assert counted(outcome(says("none"), says("conflict", "c1"))) == (0, 0)
    assert contradictions(outcome(says("none")), TRUTH).share == 0


NAMES = st.sampled_from(sorted(TRUTH))
STATEMENTS = st.lists(
    st.builds(
        says,
        st.sampled_from(["support", "refute", "conflict", "none"]),
        NAMES,
        NAMES,
    ),
    max_size=5,
)


@given(STATEMENTS, st.lists(NAMES, unique=True))
def test_disclosure_only_ever_lowers_the_count(
    statements: list[Statement], packet: list[str]
) -> None:
    found = outcome(*statements, packet=tuple(packet))
    shown, hidden = counted(found), counted(found, disclosure=False)
    assert shown[0] == hidden[0]
    assert 0 <= shown[1] <= hidden[1] <= hidden[0]


@given(STATEMENTS)
def test_an_answer_that_shows_both_sides_whole_contradicts_nothing(
    statements: list[Statement],
) -> None:
    everything = says("conflict", *TRUTH)
    assert counted(outcome(*statements, everything))[1] == 0


def worth(*statements: Statement) -> tuple[int, int, int, int]:
    counts = citation_worth(outcome(*statements), TRUTH)
    return counts.sentences, counts.supported, counts.citations, counts.needed


def test_citations_on_the_statements_side_bear_it_out() -> None:
    assert worth(says("support", "s1")) == (1, 1, 1, 1)
    assert worth(says("refute", "c1")) == (1, 1, 1, 1)


def test_citations_of_the_other_side_of_none_and_of_nothing_do_not() -> None:
    assert worth(says("support", "c1")) == (1, 0, 1, 0)
    assert worth(says("support", "i1")) == (1, 0, 1, 0)
    assert worth(says("support")) == (1, 0, 0, 0)


def test_what_does_not_bear_it_out_beside_what_does_is_superfluous() -> None:
    assert worth(says("support", "s1", "i1")) == (1, 1, 2, 1)


def test_a_conflict_needs_both_sides_and_then_both_citations() -> None:
    assert worth(says("conflict", "s1", "c1")) == (1, 1, 2, 2)
    assert worth(says("conflict", "s1", "s2")) == (1, 0, 2, 0)


def test_a_statement_about_nothing_needs_no_citation() -> None:
    assert worth(says("none"), says("support", "s1")) == (1, 1, 1, 1)


def test_leakage_counts_citations_of_what_the_tagger_calls_irrelevant() -> None:
    found = outcome(says("support", "s1", "i1"), says("conflict", "i1"))
    assert citation_leakage(found, TRUTH) == (2, 3)
    assert citation_leakage(outcome(says("none")), TRUTH) == (0, 0)
