"""The tables of a ConflictScore run, against counts made by hand from the made-up results."""

import pytest

from pipelines.conflictscore.result import Result
from pipelines.conflictscore.tables import differences, scores
from pipelines.report.table import Table, records


def row(table: Table, name: str) -> dict[str, str | int | float | None]:
    return next(record for record in records(table) if name in record.values())


def test_scores_of_a_variant(results: list[Result]) -> None:
    found = row(scores(results, "judge-7b", "samples"), "overconfident")
    # Coffee: + - + o / o - o o / o o o -; bridge: + - + o / o o ? + / o o + o; ferry failed.
    assert found["model"] == "judge-7b"
    assert found["data"] == "samples"
    assert found["responses"] == 3
    assert found["claims"] == 6
    assert found["cs_c"] == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert found["cs_r"] == pytest.approx(((1 / 3 + 1 + 1) / 3 + (1 / 3 + 0) / 2) / 2)
    assert found["conflicting_claims"] == pytest.approx(2 / 5)
    assert found["invalid_judgements"] == 1
    assert found["undetermined_claims"] == 1
    assert found["invalid_responses"] == 0
    assert found["failed_responses"] == 1
    assert found["truncated_texts"] == 1


def test_scores_of_all_are_clustered_by_record(results: list[Result]) -> None:
    # CS-C: coffee 1/3 and 0, bridge 1/2, ferry 0 as the paper counts; mean 5/24. Residual sums:
    # coffee -1/12, bridge 7/24, ferry -5/24. CR1 = sum of squares / 16 * 3/2; t(2) = 4.302653.
    as_in_paper = [
        each.model_copy(update={"cs_c": 0.0}) if each.evidence == 0 else each for each in results
    ]
    found = row(scores(as_in_paper, "m", "d"), "all")
    squares = (1 / 12) ** 2 + (7 / 24) ** 2 + (5 / 24) ** 2
    half = 4.302653 * (squares / 16 * 1.5) ** 0.5
    assert found["cs_c"] == pytest.approx(5 / 24)
    assert found["cs_c_low"] == 0
    assert found["cs_c_high"] == pytest.approx(5 / 24 + half, abs=1e-6)
    assert (found["responses"], found["invalid_responses"], found["failed_responses"]) == (6, 1, 1)


def test_differences_are_paired_by_record(results: list[Result]) -> None:
    # Only coffee has a score for both: 1/3 - 0, 7/9 - 0, 1 - 3/4. Both sides: the column denies
    # with 0.95, 0.025 / 0.975; the cohort supports with 0.5, 0.5 / 0.75.
    (found,) = records(differences(results))
    assert (found["first"], found["second"]) == ("overconfident", "hedged")
    expected = {"cs_c": 1 / 3, "cs_r": 7 / 9, "evidence": 1 / 4, "both_sides": 1 / 39 - 2 / 3}
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert [found[f"{name}_records"] for name in (*expected, "supported")] == [1, 1, 1, 1, 0]
    assert (found["cs_c_low"], found["cs_c_p"], found["supported"]) == (None, 1, None)
