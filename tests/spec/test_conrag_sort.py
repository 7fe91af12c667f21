"""The sort step by a language model: from three lists to the evidence table, by hand."""

from hypothesis import given
from hypothesis import strategies as st

from pipelines.conrag.evidence import TaggedPassage
from pipelines.conrag.generation import SortReply, sorted_table
from pipelines.data.records import Document
from pipelines.judge.judgement import RELATIONS, Relation

S, C, I, _ = Relation  # noqa: E741


def row(number: int, relation: Relation, relevance: float = 0.5) -> TaggedPassage:
    text = f"Passage {number}."
    return TaggedPassage(
        Document(id=f"p{number}", text=text), relevance, relation, 0.9,
        rationale=None if relation is I else text, number=number, cluster="S1",
    )  # fmt: skip


def reply(**lists: list[int]) -> SortReply:
    return SortReply.model_validate(
        {
            name: [{"number": n, "reason": f"Because of {n}. [1]"} for n in lists.get(name, [])]
            for name in ("support", "refute", "irrelevant")
        }
    )


TABLE = (row(1, S, 0.9), row(2, S, 0.4), row(3, C), row(4, I, 0.8))


def test_passages_go_where_the_model_puts_them_and_are_numbered_anew() -> None:
    made = sorted_table(TABLE, reply(support=[4, 2], refute=[1], irrelevant=[3]))
    assert [(r.number, r.id, r.relation, r.tag) for r in made] == [
        (1, "p4", S, I),
        (2, "p2", S, S),
        (3, "p1", C, S),
        (4, "p3", I, C),
    ]
    assert [r.reason for r in made] == [f"Because of {n}." for n in (4, 2, 1, 3)]
    # The sentence behind the tagger's support is no rationale for the model's label.
    assert [r.rationale for r in made] == [None, "Passage 2.", None, None]


def test_what_is_left_out_or_put_into_two_lists_stays_as_tagged() -> None:
    made = sorted_table(TABLE, reply(support=[1, 1, 3, 9], refute=[3]))
    assert [(r.id, r.relation, r.reason) for r in made] == [
        ("p1", S, "Because of 1."),
        ("p2", S, None),
        ("p3", C, None),
        ("p4", I, None),
    ]
    assert [r.tag for r in made] == [S, S, C, I]


NUMBERS = st.lists(st.integers(0, 6), max_size=8)


@given(st.lists(st.sampled_from(RELATIONS), max_size=6), NUMBERS, NUMBERS, NUMBERS)
def test_no_reply_loses_or_adds_a_passage(
    relations: list[Relation], support: list[int], refute: list[int], irrelevant: list[int]
) -> None:
    table = [row(number, relation) for number, relation in enumerate(relations, 1)]
    made = sorted_table(table, reply(support=support, refute=refute, irrelevant=irrelevant))
    assert {r.id for r in made} == {r.id for r in table}
    assert [r.number for r in made] == list(range(1, len(table) + 1))
    assert [RELATIONS.index(r.relation) for r in made] == sorted(
        RELATIONS.index(r.relation) for r in made
    )
    assert all(r.tag is r.relation for r in made if r.reason is None)
