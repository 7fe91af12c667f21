"""Salience less that of another topic's arguments, worked by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipelines.data.procon import Topic
from pipelines.errors import InputError
from pipelines.npov.example import NpovExample
from pipelines.npov.similarity import Use
from pipelines.npov.synthesis import less_other_topic, with_other_arguments

EXAMPLE = NpovExample(
    question="Should the dam stay?", topic="dams", pro=("Water.", "Floods."), con=("Salmon.",),
    response="It holds water.",
)  # fmt: skip
TOPICS = [
    Topic(topic="dams", question=EXAMPLE.question, pro=("Water.", "Floods."), con=("Salmon.",)),
    Topic(topic="trains", question="Trains?", pro=("Speed.",), con=("Noise.", "Cost.", "Land.")),
]


def test_arguments_are_of_another_topic_and_as_many_as_it_has() -> None:
    found = with_other_arguments(EXAMPLE, TOPICS, 0)
    assert found.pro == ("Speed.",), "it has no more"
    assert len(found.con) == 1 and set(found.con) <= set(TOPICS[1].con)
    rest = {"pro", "con"}
    assert found.model_dump(exclude=rest) == EXAMPLE.model_dump(exclude=rest)
    taken = EXAMPLE.model_copy(update={"pro": ("Water.",)})
    assert with_other_arguments(taken, TOPICS, 0).con == found.con, "an error is beside the same"
    with pytest.raises(InputError, match="needs two topics"):
        with_other_arguments(EXAMPLE, TOPICS[:1], 0)


def test_what_a_word_takes_from_any_argument_is_taken_off() -> None:
    # The second word takes 0.3 from strangers, and no more from the arguments.
    own, other = np.array([[0.6, 0.2], [0.1, 0.3]]), np.array([[0.0, 0.3], [0.1, 0.1], [0.1, 0.0]])
    less = less_other_topic(own, other)
    assert less == pytest.approx(np.array([[0.5, -0.1], [0.0, 0.0]]))
    errors = Use(("pro", "con"), less, less).errors("mean")
    assert errors.hallucination == pytest.approx(1 - (0.5 + 0) / 2)
    assert errors.coverage == pytest.approx(1 - min(0.5, 0))


maps = arrays(float, (3, 4), elements=st.floats(0, 1, width=16))


@given(maps, maps)
def test_a_column_keeps_its_order_and_nothing_is_left_of_itself(
    own: np.ndarray, other: np.ndarray
) -> None:
    less = less_other_topic(own, other)
    assert (less.argmax(axis=0) == own.argmax(axis=0)).all() or np.allclose(
        less.max(axis=0), less[own.argmax(axis=0), range(4)]
    )
    assert (less <= own).all()
    assert less_other_topic(own, own).max() <= 0
    assert (less_other_topic(own, own[:0]) == own).all(), "no arguments take nothing"
