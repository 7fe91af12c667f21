"""Which claim a writer is told about, worked by hand."""

from pipelines.conflictscore.regeneration import worst_claim
from pipelines.judge.judgement import Relation

S, C, N, X = Relation


def test_the_worst_claim_is_the_most_contradicted_of_those_in_conflict() -> None:
    one_against_two = [S, S, C]  # ratio 1/3
    two_against_two = [S, C, C, S]  # ratio 1/2, two documents
    one_against_one = [C, N, S]  # ratio 1/2, one document
    denied_by_all = [C, C, C]  # no document supports it: no conflict
    assert worst_claim([one_against_two, one_against_one, denied_by_all, two_against_two]) == 3
    assert worst_claim([one_against_two, one_against_one]) == 1
    assert worst_claim([one_against_one, one_against_one]) == 0
    assert worst_claim([denied_by_all, [S, S], [N]]) is None
    assert worst_claim([]) is None


def test_an_unreadable_judgement_hides_no_conflict() -> None:
    assert worst_claim([[N, S], [S, X, C]]) == 1
