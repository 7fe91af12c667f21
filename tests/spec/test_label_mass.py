"""Probability that fell on no label is told of by every pipeline that reads labels so."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pipelines.conflicts import tables as conflicts
from pipelines.conflicts.data import Query
from pipelines.conflicts.data import Source as SearchResult
from pipelines.conflicts.metrics import Part
from pipelines.conflicts.result import Adherence, Answer, QueryResult, Verdicts
from pipelines.conflicts.result import Outcome as Answered
from pipelines.conflicts.taxonomy import ConflictType, Prediction
from pipelines.conflictscore import tables as conflictscore
from pipelines.conflictscore.detection import tables as detection
from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.conflictscore.result import Result, Score
from pipelines.conflictscore.truthfulqa import tables as truthfulqa
from pipelines.conflictscore.truthfulqa.result import CONDITIONS, Outcome, TruthResult
from pipelines.conflictscore.view import cell
from pipelines.conrag import tables as conrag
from pipelines.conrag.answer import Outcome as Stanced
from pipelines.conrag.evidence import Stance, TaggedPassage
from pipelines.conrag.methods import ABLATIONS, METHODS
from pipelines.conrag.result import ClaimResult
from pipelines.data.records import Document
from pipelines.judge.examples import ContestedClaim
from pipelines.judge.judgement import Judgement, Relation
from pipelines.metrics.calibration import LOW, is_low, low_label_mass, mean_label_mass
from pipelines.report.table import Table

DOCUMENT = Document(id="d", text="A text.")
TYPE = ConflictType.NO_CONFLICT


def judgement(mass: float | None) -> Judgement:
    return Judgement(
        claim="c", document="d", relation=Relation.SUPPORTS, label_mass=mass, source="model-choice"
    )


def scored(mass: float) -> list[Table]:
    result = Result(
        id="r",
        group="r",
        response="c",
        documents=(DOCUMENT,),
        status="scored",
        judgements=(judgement(mass),),
    )
    return [conflictscore.scores([result], "judge", "data")]


def detected(mass: float) -> list[Table]:
    claim = ContestedClaim(id="e", source="s", claim="c", documents=(DOCUMENT,), conflict=False)
    result = DetectionResult(
        id="e", example=claim, status="labelled", judgements=(judgement(mass),), conflict=False
    )
    return detection.all_tables({"model-choice: m": [result]}, "d")


def asked(mass: float) -> list[Table]:
    outcome = Outcome(response="c", reply="c", score=Score(judgements=(judgement(mass),)))
    result = TruthResult(
        id="q/free-form",
        group="q",
        setting="free-form",
        question="?",
        status="answered",
        outcomes=dict.fromkeys(CONDITIONS, outcome),
    )
    config = {
        "writer": {"name": "w"},
        "model": {"name": "s"},
        "judge": {"name": "j"},
        "asked": {"truth": "model"},
    }
    return [*truthfulqa.all_tables({"r": [result]}, {"r": config})]


def tagged(mass: float) -> list[Table]:
    passage = TaggedPassage(DOCUMENT, 1.0, Relation.SUPPORTS, 0.9, label_mass=mass)
    result = ClaimResult(
        id="c",
        claim="c",
        status="answered",
        stance=Stance.SUPPORT,
        disputed=None,
        passages=(passage,),
        outcomes=dict.fromkeys(
            (*METHODS, *ABLATIONS), Stanced(stance=Stance.SUPPORT, packet=("d",))
        ),
    )
    return conrag.all_tables({"d": [result]}, {})


def query_result(**more: Any) -> QueryResult:
    query = Query(id="q", query="When?", sources=(SearchResult(text="A."),), conflict_type=TYPE)
    return QueryResult(id="q", asked=query, status="answered", **more)


def typed(mass: float) -> list[Table]:
    said = Prediction(type=TYPE, by="choice", probabilities={TYPE: 1.0}, mass=mass)
    return conflicts.all_tables([Part("r", [query_result(predictions={"choice": said})])])


def behaved(mass: float) -> list[Table]:
    verdicts = Verdicts(adherence=Adherence(adheres=True, type=TYPE, probability=0.9, mass=mass))
    outcome = Answered(answer=Answer(text="So."), judged=verdicts)
    return conflicts.all_tables([Part("r", [query_result(outcomes={"vanilla": outcome})])])


PIPELINES = [scored, detected, asked, tagged, typed, behaved]


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_a_low_mass_is_told_under_a_table_and_a_high_one_is_not(
    pipeline: Callable[[float], Sequence[Table]],
) -> None:
    def warned(mass: float) -> list[str]:
        notes = [note for table in pipeline(mass) for note in table.notes]
        return [
            note for note in notes if "probability" in note and "fell on the labels. Left" in note
        ]

    assert warned(LOW) == []
    told = warned(0.204)
    assert told
    assert all("On average 20 % of" in note for note in told)


def test_the_mean_is_over_choices_that_have_one() -> None:
    assert mean_label_mass([0.2, None, 0.4]) == pytest.approx(0.3)
    assert mean_label_mass([None]) is None
    assert low_label_mass([None]) == ()
    assert low_label_mass([0.49, 0.5], "its") == (
        "On average 50 % of its probability fell on the labels. "
        "Left to itself, it would mostly have written something else.",
    )
    assert (is_low(None), is_low(0.0), is_low(0.5)) == (False, True, False)


def test_a_cell_of_the_page_shows_a_low_one_alone() -> None:
    assert cell(judgement(0.49), DOCUMENT).mass == 0.49  # type: ignore[union-attr]
    assert cell(judgement(0.5), DOCUMENT).mass is None  # type: ignore[union-attr]
