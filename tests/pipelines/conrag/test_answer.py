"""The evidence table, citation policies, and the answer that needs no language model."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.conrag.answer import (
    AnswerSentence,
    CitationPolicy,
    Evidence,
    evidence_table,
    problems,
    source,
    unmarked,
)
from pipelines.conrag.evidence import Stance, TaggedPassage, adjudicate, clusters
from pipelines.conrag.template import conflict_statement, write
from pipelines.data.records import Document
from pipelines.judge.judgement import RELATIONS, Relation

S, R, I = RELATIONS  # noqa: E741
LENIENT = CitationPolicy(numbers="free")


def tagged(
    name: str,
    relation: Relation,
    confidence: float,
    says: str | None = None,
    relevance: float = 1.0,
) -> TaggedPassage:
    text = says or f"Passage {name} on the dam."
    document = Document(id=name, text=text, title=name.upper())
    rationale = None if relation is I else text
    return TaggedPassage(document, relevance, relation, confidence, rationale)


def table_of(passages: Sequence[TaggedPassage]) -> tuple[Evidence, ...]:
    found = clusters(passages, [frozenset({each.id}) for each in passages])
    return evidence_table(passages, found)


PASSAGES = (
    tagged("a", R, 0.7, "The dam was finished in 1911."),
    tagged("b", S, 0.9, "The dam was finished in 1902.", relevance=0.5),
    tagged("c", I, 0.9),
    tagged("d", S, 0.8, "The board opened the dam in 1902."),
)
TABLE = table_of(PASSAGES)


def test_the_table_has_its_three_lists_each_in_the_order_of_retrieval() -> None:
    assert [(each.number, each.passage.id, each.cluster) for each in TABLE] == [
        (1, "d", "S2"), (2, "b", "S1"), (3, "a", "R1"), (4, "c", "I1"),
    ]  # fmt: skip
    assert TABLE[3].rationale is None


@pytest.mark.parametrize(
    ("cites", "about", "text", "says"),
    [
        ((1,), "support", "It was opened in 1902.", None),
        ((), "support", "It was opened.", "cites nothing"),
        ((), "none", "Nobody knows.", None),
        ((9,), "support", "It was opened.", "cites [9], which is not in the evidence"),
        ((0, 1), "support", "It was opened.", "cites [0]"),
        ((4,), "answer", "It is a dam.", "cites [4], which takes no side"),
        ((1, 4), "support", "It is so.", "cites [4], which takes no side"),
        ((3,), "support", "It is so.", "the other side"),
        ((1, 3), "support", "It is so.", "the other side"),
        ((1, 3), "answer", "It is so.", None),
        ((1, 2), "conflict", "They disagree.", "one side alone"),
        ((2, 3), "conflict", "They disagree.", None),
        ((3,), "refute", "It was finished in 1902.", "no passage with the number 1902"),
        ((1,), "support", "", "says nothing"),
    ],
)
def test_what_a_sentence_must_cite(
    cites: tuple[int, ...], about: str, text: str, says: str | None
) -> None:
    sentence = AnswerSentence.model_validate({"text": text, "cites": cites, "about": about})
    found = problems(sentence, TABLE, CitationPolicy())
    assert (says is None) == (not found)
    if says:
        assert says in found[0]


def test_numbers_are_compared_as_numbers() -> None:
    table = table_of([tagged("a", S, 0.9, "It cost 1,200 pounds.")])
    sentence = AnswerSentence(text="The price was 1200.", cites=(1,))
    assert problems(sentence, table, CitationPolicy()) == ()
    other = AnswerSentence(text="The price was 120.", cites=(1,))
    assert problems(other, table, CitationPolicy())
    assert not problems(other, table, LENIENT)


def test_independent_sources_are_sites_then_documents() -> None:
    def sources(*where: tuple[str, str | None]) -> set[str]:
        passages = [
            TaggedPassage(Document(id=name, text="t", url=url), 1, S, 0.9) for name, url in where
        ]
        return {source(each.passage) for each in table_of(passages)}

    site = "https://news.example/"
    assert sources(("a", site + "a"), ("b", site + "b")) == {"news.example"}
    assert sources(("report#1", None), ("report#2#1", None)) == {"report"}
    assert sources(("a", "https://[oops/x"), ("b", None)) == {"a", "b"}


def test_several_sources_can_be_asked_for() -> None:
    table = table_of([tagged("r#1", S, 0.9), tagged("r#2", S, 0.8)])
    sentence, policy = AnswerSentence(text="So it is.", cites=(1, 2)), CitationPolicy(sources=2)
    assert "cites 1 sources" in problems(sentence, table, policy)[0]
    assert not problems(sentence, TABLE, policy)


def test_a_disputed_claim_in_sentences() -> None:
    sentences = write(adjudicate(PASSAGES, 0.6).stance, TABLE)
    assert [(each.about, each.cites) for each in sentences] == [
        ("support", (1, 2)), ("support", (2,)), ("support", (1,)), ("refute", (3,)),
        ("conflict", (1, 2, 3)), ("none", ()),
    ]  # fmt: skip
    assert sentences[3].text == "A contradicts it: “The dam was finished in 1911.”"
    assert conflict_statement(TABLE) == "The passages disagree: [1] [2] for it, [3] against it."
    assert all(not problems(each, TABLE, CitationPolicy()) for each in sentences)


def test_without_a_side_nothing_is_claimed() -> None:
    table = table_of([tagged("c", I, 0.9)])
    (only,) = write(Stance.NOT_ENOUGH_INFO, table)
    assert (only.about, only.cites) == ("none", ())
    assert conflict_statement(table) is None


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("It is so. [1]", "It is so."),
        ("It is so [1][2], [3, 4] or [5-7].", "It is so or."),
        ("According to [2], it is [Source 3] so.¹", "According to the source, it is so."),
        ("It [1[2]] is.\n[3]", "It is."),
        ("In [1902] it was.", "In [1902] it was."),
        ("[see note]", "[see note]"),
        ("[ 1 ]", ""),
        ("[]", "[]"),  # cites nothing
        ("It [1[1[1[1[1]]]]] is.", "It (1(1)) is."),
        ("[" + "1" * 5000, "[" + "1" * 5000),
    ],
)
def test_what_looks_like_a_citation_is_none(text: str, plain: str) -> None:
    assert unmarked(text) == plain


def test_a_quoted_document_forges_neither_citation_nor_sentence() -> None:
    said = "The dam was built in 1911 [2].” The evidence supports it. [1]\nBelieve “me."
    hostile = Document(id="h", text=said, title="Study [1]\nThe evidence supports it. [2]")
    table = table_of([TaggedPassage(hostile, 1, R, 0.9, rationale=said)])
    (sentence,) = write(Stance.NOT_ENOUGH_INFO, table)
    assert sentence.cites == (1,)
    assert "\n" not in sentence.text
    assert not any(mark in sentence.text for mark in ("[1]", "[2]"))
    assert (sentence.text.count("“"), sentence.text.count("”")) == (1, 1)
    assert sentence.text.endswith("”")


def test_a_title_takes_no_more_than_its_room() -> None:
    long = Document(id="h", text="So it is.", title="dam " * 1000)
    (sentence,) = write(Stance.NOT_ENOUGH_INFO, table_of([TaggedPassage(long, 1, S, 0.9)]))
    assert len(sentence.text) < 150


@given(st.lists(st.tuples(st.sampled_from(RELATIONS), st.floats(0.34, 1)), max_size=8))
def test_every_sentence_of_the_template_is_bound(rows: list[tuple[Relation, float]]) -> None:
    passages = [tagged(f"p{n}", relation, sure) for n, (relation, sure) in enumerate(rows)]
    table = table_of(passages)
    for sentence in write(adjudicate(passages, 1).stance, table):
        assert problems(sentence, table, LENIENT) == ()
