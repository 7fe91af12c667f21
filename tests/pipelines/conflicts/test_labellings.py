"""What people can label of a CONFLICTS run, and what they see of it."""

from pipelines.conflicts.data import Query, Source
from pipelines.conflicts.experiment import EXPERIMENT
from pipelines.conflicts.result import (
    Adherence,
    Answer,
    Grounding,
    Grounds,
    Outcome,
    QueryResult,
    Sentence,
    SentenceGrounding,
    Verdicts,
)
from pipelines.conflicts.taxonomy import ConflictType, Prediction

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
    },
    outcomes={
        "vanilla": Outcome(
            answer=Answer(text="Three."),
            judged=Verdicts(adherence=Adherence(adheres=False, type=OPINIONS, reason="why")),
        ),
        "oracle": Outcome(
            answer=Answer(
                text="Three [2]. So it is said.",
                sentences=(Sentence(text="Three.", cites=(2,)), Sentence(text="So it is said.")),
            ),
            judged=Verdicts(
                grounding=Grounding(
                    sentences=(
                        SentenceGrounding(grounds=Grounds.SUPPORTED, sources=(2,), reason="why"),
                        SentenceGrounding(grounds=None, problem="no JSON"),
                    )
                )
            ),
        ),
    },
)


def test_the_behaviour_of_answers_that_were_judged() -> None:
    behaviour = EXPERIMENT.labellings["behaviour"]
    (one,) = behaviour.given(RESULT)
    assert [heading for heading, _ in one.shown] == ["Question", "Expected", "Answer"]
    assert one.label == list(behaviour.labels)[1]
    assert one.groups["strategy"] == "vanilla"
    assert all("why" not in text for _, text in one.shown)


def test_the_grounding_of_each_sentence_by_the_sources_that_it_was_judged_by() -> None:
    grounding = EXPERIMENT.labellings["grounding"]
    first, second = grounding.given(RESULT)
    assert first.shown == (
        ("Question", "How many moons?"),
        ("Sentence", "Three."),
        ("The whole answer", "Three [2]. So it is said."),
        ("Source 2", "Three."),
    )
    assert (first.label, first.part) == ("supported", ("oracle", 1))
    assert first.label in grounding.labels
    assert second.shown[-1] == ("Sources", "It cites none.")
    assert second.label is None
