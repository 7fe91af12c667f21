"""ConflictScore, section 3: CS-C and CS-R worked by hand, and their invariants."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.conflictscore.scores import (
    Unevidenced,
    both_sides,
    conflict_score_count,
    conflict_score_ratio,
    contradiction_ratio,
    determined,
    evidence_share,
    supported_share,
)
from pipelines.judge.judgement import RELATIONS, Judgement, Relation, conflicting, in_conflict

S, C, N, X = Relation.SUPPORTS, Relation.CONTRADICTS, Relation.IRRELEVANT, Relation.INVALID


def test_a_report_of_six_claims_four_of_them_in_conflict() -> None:
    """The counts of the paper's Figure 2: four of six claims conflict, so CS-C is 0.67."""
    claims = [[S, C, C], [S, C, C], [S, C, C], [S, C, N], [S, S, N], [S, N, N]]
    assert conflict_score_count(claims) == pytest.approx(4 / 6)
    # Ratios 2/3, 2/3, 2/3, 1/2, 0, 0 sum to 2.5.
    assert conflict_score_ratio(claims) == pytest.approx(2.5 / 6)


def test_a_claim_that_any_document_supports_counts_as_supported() -> None:
    """A claim without support but with an unreadable judgement is left open."""
    assert supported_share([[S, C], [C, N], [N, N], [S, X], [C, X]]) == 2 / 4
    assert supported_share([[X]]) is None


@pytest.mark.parametrize("documents", [2, 3, 9])
def test_the_three_figures_of_figure_2_exclude_each_other(documents: int) -> None:
    """All six claims supported, four in conflict, CS-R 0.71: by section 3 CS-R stays below CS-C.

    A supported claim without a conflict has no D-, so its ratio is 0; the ratio of a claim in
    conflict is at most (n - 1) / n. Four of six at the maximum thus average below 4 / 6.
    """
    claims = [[S, *[C] * (documents - 1)]] * 4 + [[S] * documents] * 2
    assert supported_share(claims) == 1.0
    assert conflict_score_count(claims) == pytest.approx(0.67, abs=0.005)
    ratio = conflict_score_ratio(claims)
    assert ratio == pytest.approx(4 / 6 * (documents - 1) / documents)
    assert ratio is not None
    assert ratio < 0.67


def test_one_to_one_and_nine_to_one_differ_in_ratio_but_not_in_count() -> None:
    even, uneven = [S, C], [S, *[C] * 9]
    assert conflict_score_count([even]) == conflict_score_count([uneven]) == 1.0
    assert contradiction_ratio(even) == 0.5
    assert contradiction_ratio(uneven) == 0.9


def test_a_claim_that_every_document_contradicts_is_no_conflict_but_has_ratio_one() -> None:
    assert conflict_score_count([[C, C]]) == 0.0
    assert conflict_score_ratio([[C, C]]) == 1.0


def test_claims_without_evidence_count_as_zero() -> None:
    claims = [[S, C], [N, N]]
    assert contradiction_ratio([N, N]) is None
    assert conflict_score_count(claims) == 0.5
    assert conflict_score_ratio(claims) == 0.25


@pytest.mark.parametrize(("unevidenced", "scores"), [("beside", (None,) * 2), ("zero", (0, 0))])
def test_a_response_without_evidence_has_no_score(
    unevidenced: Unevidenced, scores: tuple[float | None, ...]
) -> None:
    claims = [[N, N], [N, N]]
    count = conflict_score_count(claims, unevidenced=unevidenced)
    assert (count, conflict_score_ratio(claims, unevidenced=unevidenced)) == scores


def test_evidence_is_the_share_of_claims_on_which_a_document_takes_a_side() -> None:
    """A claim that may have evidence, but whose judgement is unreadable, is left open."""
    assert evidence_share([[S, N], [N, C], [N, N], [S, X], [N, X]]) == 3 / 4
    assert evidence_share([[N, X]]) is None


def test_both_sides_is_the_least_backing_of_a_document_that_takes_a_side() -> None:
    """The guide backs at most 0.9, the study 0.3; the leaflet takes no side and does not count.

    With 0.6 for, 0.2 against and the rest on neither side, the backing is 0.6 / 0.8 = 0.75. Without
    probabilities a label counts as 1 or 0. An unreadable judgement is skipped.
    """

    def judged(document: str, *given: tuple[Relation, float | None]) -> list[Judgement]:
        return [
            Judgement(
                claim=f"c{place}",
                document=document,
                relation=relation,
                probabilities=None if share is None else {S: share, C: 1 - share, N: 0},
                source="tagger",
            )
            for place, (relation, share) in enumerate(given)
        ]

    guide = judged("guide", (S, 0.9), (N, 0.2))
    study, leaflet = judged("study", (C, 0.1), (C, 0.3)), judged("leaflet", (N, 0.0), (N, 0.1))
    assert both_sides([*guide, *study, *leaflet]) == 0.3
    assert both_sides([*guide, *leaflet]) is None
    assert both_sides([*guide, *judged("study", (C, None), (S, None))]) == 0.9
    assert both_sides([*guide, *judged("study", (C, 0.1), (X, None))]) == 0.1
    assert both_sides([]) is None
    shares = {S: 0.6, C: 0.2, N: 0.2}
    unsure = Judgement(
        claim="c", document="study", relation=S, probabilities=shares, source="tagger"
    )
    assert both_sides([*guide, unsure]) == pytest.approx(0.75)


def test_a_claim_that_an_unreadable_judgement_leaves_open_is_left_out_of_both() -> None:
    claims = [[S, C], [S, X], [S, S]]
    assert conflict_score_count(claims) == 0.5
    assert conflict_score_ratio(claims) == 0.25


def test_a_conflict_that_was_seen_counts_whatever_could_not_be_read() -> None:
    """CS-R needs every label, CS-C only the decisive ones."""
    ten = [S, C, *[N] * 7, X]
    assert conflict_score_count([ten]) == 1.0
    assert conflict_score_ratio([ten]) is None
    # In conflict, open, no conflict: one document cannot be on both sides. The ratio is the
    # first's.
    claims = [[S, C, N], [C, X, N], [N, X, N]]
    assert conflict_score_count(claims) == 0.5
    assert conflict_score_ratio(claims) == 0.5


def test_nothing_to_average_gives_no_score() -> None:
    assert conflict_score_count([]) is None
    assert conflict_score_ratio([]) is None
    assert conflict_score_count([[X, S]]) is None
    assert conflict_score_ratio([[N]]) is None


Claims = list[list[Relation]]

any_relations = st.lists(st.sampled_from(list(Relation)), min_size=1, max_size=8)
policies = st.sampled_from(["beside", "zero"])


# If nothing is readable, an irrelevant document is the first readable judgement.
@given(st.lists(any_relations.filter(lambda own: set(own) != {X})), policies, st.integers(1, 5))
def test_irrelevant_documents_change_nothing(
    claims: Claims, policy: Unevidenced, extra: int
) -> None:
    padded = [[*relations, *[N] * extra] for relations in claims]
    assert conflict_score_count(padded) == conflict_score_count(claims)
    assert conflict_score_ratio(padded, unevidenced=policy) == conflict_score_ratio(
        claims, unevidenced=policy
    )


@given(st.lists(st.sampled_from(list(Relation)), min_size=1, max_size=5))
def test_what_is_decided_is_what_every_reading_agrees_on(relations: list[Relation]) -> None:
    """Replace every unreadable label by every possible one: all must give the same answer."""
    choices = [RELATIONS if each is X else (each,) for each in relations]
    readings = {conflicting(each) for each in product(*choices)}
    found = in_conflict(relations)
    if set(relations) == {X}:
        assert found is None
    else:
        assert found == (readings.pop() if len(readings) == 1 else None)


@given(any_relations)
def test_a_conflict_needs_a_ratio_strictly_between_zero_and_one(relations: list[Relation]) -> None:
    ratio = contradiction_ratio(relations)
    assert conflicting(relations) == (ratio is not None and 0.0 < ratio < 1.0)
    assert determined(relations) == (X not in relations)
