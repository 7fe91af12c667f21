"""What soft prompts learn: template responses, annotated ones, and errors of both kinds."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pipelines.data.procon import Topic
from pipelines.errors import InputError
from pipelines.npov.example import AnnotatedExample, NpovExample
from pipelines.npov.generator import Lesson, lessons, pairs_of, tuned_on
from pipelines.npov.soft_prompt import TunedOn
from pipelines.npov.topics import Subject, by_topic

TOPIC = Topic(
    topic="Golf",
    question="Is golf a sport?",
    pro=("It takes practice.", "It is in the Olympics.", "People compete."),
    con=("Nobody runs.", "Carts are allowed."),
)
RESPONSE = "Some say that it takes practice and is Olympic, others that nobody runs."


def annotated(name: str = "g", **changed: Any) -> AnnotatedExample:
    example = NpovExample(
        question="Is golf a sport ?", pro=TOPIC.pro[:2], con=TOPIC.con[:1], response=RESPONSE
    )
    return AnnotatedExample(id=name, source=name, example=example, **changed)


ORGANIC = [
    annotated("right"),
    annotated("left", coverage="full"),
    annotated("added", hallucination="full"),
    annotated("vague", coverage="ambiguous"),
    annotated("left, vaguely added", coverage="full", hallucination="ambiguous"),
]


def taught(task: Any, **options: Any) -> list[Lesson]:
    found = by_topic(ORGANIC, [TOPIC])
    how: Any = {"per_topic": 0, "seed": 0, **options}
    return lessons([TOPIC], task, annotated=found, **how)


@pytest.mark.parametrize(
    ("task", "organic", "origins", "wrong"),
    [
        # "+Synth": error-free, and errors put into it.
        ("coverage", False, {"annotated": 1, "synthetic errors": 3}, 2),
        # "+Org": full errors that people found besides; not what is ambiguous for the task.
        ("coverage", True, {"annotated": 1, "synthetic errors": 3, "organic errors": 3}, 4),
        ("hallucination", True, {"annotated": 1, "synthetic errors": 3, "organic errors": 2}, 3),
        ("response", True, {"annotated": 1}, 0),
    ],
)
def test_the_columns_of_table_2(
    task: Any, organic: bool, origins: dict[str, int], wrong: int
) -> None:
    found = taught(task, organic_errors=organic)
    assert Counter(each.origin for each in found) == origins
    targets = [target for _, target in pairs_of(found, task)]
    if task == "response":
        assert targets[0].endswith(f"Neutral response core: {{{RESPONSE}}}")
    else:
        assert Counter(targets) == {"NO}": wrong, "YES}": len(found) - wrong}
    about = tuned_on(found, found)
    assert about.examples == origins
    assert about.learned == about.watched == (Subject(question=TOPIC.question, topic="Golf"),)


def test_arguments_are_paraphrased_and_responses_stay() -> None:
    """ "+Para" (section 4.1): of examples without error, and of errors put into them."""
    words = {each: f"In other words {n}." for n, each in enumerate((*TOPIC.pro, *TOPIC.con))}
    bare, found = taught("coverage"), taught("coverage", paraphrase=words.get)
    more = [each for each in found if each.paraphrased]
    assert [each for each in found if not each.paraphrased] == bare
    assert Counter(each.origin for each in more) == {"annotated": 1, "synthetic errors": 3}
    for each in more:
        example = each.annotated.example
        assert example.response == RESPONSE
        assert all(one.startswith("In other words") for one in (*example.pro, *example.con))
    del words[TOPIC.pro[0]]
    fewer = taught("coverage", paraphrase=words.get)
    assert all(TOPIC.pro[0] not in each.annotated.example.pro for each in fewer if each.paraphrased)
    assert tuned_on(found, []).examples["paraphrased"] == 4


def test_a_response_of_no_topic_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"'g' matches no topic in --data: its question is 'Is golf"
    ):
        by_topic([annotated()], [TOPIC.model_copy(update={"question": "Is chess a sport?"})])
    other = annotated().example.model_copy(update={"question": "Sport?", "topic": "GOLF"})
    named = AnnotatedExample(id="n", source="n", example=other)
    assert by_topic([named], [TOPIC]) == {"Golf": [named]}, "by its name"


def test_topics_are_the_same_by_name_or_question() -> None:
    about = TunedOn(
        learned=(Subject(question="Should guns be carried?", topic="Concealed Handguns"),),
        watched=(Subject(question="Is golf a sport?"),),
    )
    asked = [
        Subject(question="Other?", topic="concealed guns"),
        Subject(question="is golf a sport"),
        Subject(question="Is chess a sport?", topic="Chess"),
    ]
    named = r"p\.st was tuned on topics that are measured \('concealed guns', 'is golf a sport'\)"
    with pytest.raises(InputError, match=named):
        about.refuse_shared([*asked, *asked], Path("p.st"))
    about.refuse_shared(asked[2:], Path("p.st"))
    many = about.model_copy(
        update={"watched": tuple(Subject(question=f"Is {n} odd?") for n in range(5))}
    )
    with pytest.raises(InputError, match=r"'Is 2 odd\?' and 2 more\); measure others"):
        many.refuse_shared(many.watched, Path("p.st"))
