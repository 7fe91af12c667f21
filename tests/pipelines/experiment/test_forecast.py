"""Bounds by formula and hours by a probe, worked by hand."""

from pipelines.experiment.cost import Cost, judging
from pipelines.experiment.forecast import Pace
from pipelines.judge.settings import JudgeSettings


def test_claims_are_judged_by_each_document() -> None:
    """One or two claims, by two documents."""

    def cost(**settings: object) -> Cost:
        return judging(JudgeSettings.model_validate(settings), 2, claims=2, least=1)

    assert cost(judge="tagger") == Cost(pairs=4)
    assert cost(judge="model") == Cost((2, 4))
    assert cost(judge="cascade") == Cost((0, 4), pairs=4)
    assert cost(judge="model", evidence="together") == Cost((1, 2))


def test_hours_are_of_items_side_by_side() -> None:
    """Items of two and four seconds took four together: one and a half at a time."""
    told = Pace((2.0, 4.0), wall=4.0, in_flight=2, read=100, written=2.5).lines(3600)
    # t(1) = 12.71 times a standard error of 1.
    assert told == [
        "hours: 2 (0 to 10), with 2 at once as in the probe",
        "tokens: about 360,000 read, 9,000 written, by the probe",
    ]
    alone = Pace((3.0,), wall=3.0, in_flight=8, known=5).lines(3600)
    assert alone == [
        "hours: 3, with 1 at once as in the probe; a run has up to 8, which is faster if "
        "the server batches; 5 answers were already stored and took no time"
    ]
