"""What people can label of a CONFLICTS run, and what they see of it."""

from pipelines.conflicts.experiment import EXPERIMENT
from pipelines.conflicts.judges.verdicts import Adherence, Verdicts
from pipelines.conflicts.prediction import Prediction
from pipelines.conflicts.question import Query, Source
from pipelines.conflicts.result import Answer, Outcome, QueryResult
from pipelines.conflicts.taxonomy import ConflictType

OUTDATED, OPINIONS = ConflictType.OUTDATED, ConflictType.OPINIONS
SHARES = dict.fromkeys(ConflictType, 0.1) | {OUTDATED: 0.6}

RESULT = QueryResult(
    id="q",
    asked=Query(
        id="q",
        query="How many moons?",
        sources=(Source(text="Two.", title="Old"), Source(text="Three.")),
        conflict_type=OPINIONS,
    ),
    status="answered",
    predictions={
        "choice": Prediction(type=OUTDATED, by="choice", probabilities=SHARES),
        "json": Prediction(type=None, by="json", problem="no JSON", raw="?"),
        "yes-no": Prediction(type=None, by="yes-no", abstained=True),
    },
    outcomes={
        "vanilla": Outcome(
            answer=Answer(text="Three."),
            judged=Verdicts(
                adherence=Adherence(adheres=False, type=OPINIONS, probability=0.2, reason="why")
            ),
        ),
        "oracle": Outcome(answer=Answer(text="It depends.")),
    },
)


def test_the_types_of_each_classifier() -> None:
    (one,) = EXPERIMENT.labellings["type-choice"].given(RESULT)
    *shown, (heading, meanings) = one.shown
    assert shown == [
        ("Question", "How many moons?"),
        ("Source 1", "Title: Old\nTwo."),
        ("Source 2", "Three."),
    ]
    assert heading == "What the types mean"
    assert meanings.count("\n") == 4
    assert (one.label, one.confidence) == ("outdated", 0.6)
    assert one.label in EXPERIMENT.labellings["type-choice"].labels
    (unread,) = EXPERIMENT.labellings["type-json"].given(RESULT)
    assert (unread.label, unread.confidence) == (None, None)
    assert not list(EXPERIMENT.labellings["type-yes-no"].given(RESULT)), "it abstained"


def test_the_behaviour_of_answers_that_were_judged() -> None:
    behaviour = EXPERIMENT.labellings["behaviour"]
    (one,) = behaviour.given(RESULT)
    assert [heading for heading, _ in one.shown] == ["Question", "Expected", "Answer"]
    assert one.label == list(behaviour.labels)[1]
    assert one.confidence == 0.8
    assert one.groups["strategy"] == "vanilla"
    assert all("why" not in text for _, text in one.shown)
