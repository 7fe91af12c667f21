"""What a knowledge base holds on a query."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.data.procon import Topic, read
from pipelines.errors import InputError
from pipelines.npov.settings import SAMPLE_TOPICS
from pipelines.npov.topics import retrieve, topic_of


def topic(name: str, question: str, pro: int = 3, con: int = 4) -> Topic:
    return Topic(
        topic=name,
        question=question,
        pro=tuple(f"Argument {number} for {name}." for number in range(pro)),
        con=tuple(f"Argument {number} against {name}." for number in range(con)),
    )


TOPICS = [
    topic("abortion", "Should abortion be legal?"),
    topic("marijuana", "Should recreational marijuana be legal?"),
    topic("golf", "Is golf a sport?"),
    topic("e-cigarettes", "Is vaping with e-cigarettes safe?"),
]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Should recreational marijuana be legal?", "marijuana"),
        ("  should ABORTION\tbe legal", "abortion"),
        ("Is golf a sport", "golf"),
        # Not the same question: by the words that are shared, whatever their endings.
        ("Legalising marijuana for recreation: good or bad?", "marijuana"),
        ("Are golfers athletes, and is golfing a sport?", "golf"),
        ("Is it safe to vape?", "e-cigarettes"),
        # Two topics are about what is legal, one about golf.
        ("Is golf legal?", "golf"),
        # Of equals the first.
        ("What is legal?", "abortion"),
    ],
)
def test_a_query_finds_its_topic(query: str, found: str) -> None:
    assert topic_of(TOPICS, query).topic == found


def test_the_question_itself_comes_before_shared_words() -> None:
    topics = [topic("legal drugs", "Should legal drugs be banned, drugs?"), topic("a", "Drugs?")]
    assert topic_of(topics, "drugs").topic == "a"
    assert topic_of(topics, "ban legal drugs").topic == "legal drugs"


@pytest.mark.parametrize("query", ["Should unicorns vote?", "is it?", "???", ""])
def test_a_query_without_topic_names_the_nearest(query: str) -> None:
    with pytest.raises(InputError, match=r"the nearest are '.+', '.+', '.+'; ask one of their"):
        topic_of(TOPICS, query)
    with pytest.raises(InputError, match="the nearest are 'golf'"):
        topic_of(TOPICS[2:], "Is gulf a spurt?")


def test_the_first_arguments_are_taken_unless_they_are_drawn() -> None:
    found = retrieve(TOPICS, "golf", per_side=2)
    assert found.question == "Is golf a sport?"
    assert found.pro == TOPICS[2].pro[:2]
    assert found.con == TOPICS[2].con[:2]


@given(st.integers(), st.integers(1, 3))
def test_what_is_drawn_depends_on_seed_and_topic_alone(seed: int, per_side: int) -> None:
    found = retrieve(TOPICS, "golf", per_side=per_side, seed=seed)
    assert found == retrieve(TOPICS[2:], "Is golf a sport?", per_side=per_side, seed=seed)
    assert len(found.pro) == len(found.con) == per_side
    assert set(found.pro) <= set(TOPICS[2].pro)
    assert set(found.con) <= set(TOPICS[2].con)
    assert len({*found.pro, *found.con}) == 2 * per_side


@pytest.mark.parametrize("per_side", [0, -1, 4])
def test_more_arguments_than_both_sides_have_are_refused(per_side: int) -> None:
    with pytest.raises(InputError, match=r"3 arguments for and 4 against; take 1 to 3"):
        retrieve(TOPICS, "golf", per_side=per_side)


def test_every_bundled_topic_is_found_by_its_question_and_its_name() -> None:
    topics = read(SAMPLE_TOPICS)
    for each in topics:
        assert topic_of(topics, each.question) is each
        assert topic_of(topics, f"{each.topic}, {each.question}") is each
