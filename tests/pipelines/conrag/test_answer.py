"""The evidence table, citation policies, and the answer that needs no language model."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.conrag.answer import (
    CitationPolicy,
    Statement,
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
    name: str, relation: Relation, confidence: float, says: str = "", relevance: float = 1.0
) -> TaggedPassage:
    text = says or f"Passage {name} on the dam."
    document = Document(id=name, text=text, title=name.upper())
    rationale = None if relation is I else text
    return TaggedPassage(document, relevance, relation, confidence, rationale)


def table_of(passages: Sequence[TaggedPassage]) -> tuple[TaggedPassage, ...]:
    groups = clusters(passages, [frozenset({passage.id}) for passage in passages])
    return evidence_table(passages, groups)


PASSAGES = (
    tagged("a", R, 0.7, "The dam was finished in 1911."),
    tagged("b", S, 0.9, "The dam was finished in 1902.", relevance=0.5),
    tagged("c", I, 0.9),
    tagged("d", S, 0.8, "The board opened the dam in 1902."),
)
TABLE = table_of(PASSAGES)


def test_the_table_has_its_three_lists_each_in_the_order_of_retrieval() -> None:
    assert [(row.number, row.id, row.cluster) for row in TABLE] == [
        (1, "d", "S2"), (2, "b", "S1"), (3, "a", "R1"), (4, "c", "I1"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("cites", "about", "text", "says"),
    [
        ("d", "support", "It was opened in 1902.", None),
        ("", "support", "It was opened.", "cites nothing"),
        ("", "none", "Nobody knows.", None),
        ("c", "answer", "It is a dam.", "cites [4], which takes no side"),
        ("dc", "support", "It is so.", "cites [4], which takes no side"),
        ("da", "support", "It is so.", "the other side"),
        ("da", "answer", "It is so.", None),
        ("db", "conflict", "They disagree.", "only one side"),
        ("ba", "conflict", "They disagree.", None),
        ("a", "refute", "It was finished in 1902.", "no passage with the number 1902"),
        ("d", "support", "", "says nothing"),
    ],
)
def test_what_a_sentence_must_cite(cites: str, about: str, text: str, says: str | None) -> None:
    given = {"text": text, "cites": [*cites], "about": about}
    said = Statement.model_validate(given)
    found = problems(said, TABLE, CitationPolicy())
    assert (says is None) == (not found)
    assert says is None or says in found[0]
    wrong = said.faulty(*found)
    assert (wrong.cites, wrong.dropped) == ((), tuple(cites)) if says else wrong == said


def test_a_policy_asks_for_numbers_and_for_independent_sources() -> None:
    table = table_of([tagged("r#1", S, 0.9, "It cost 1,200 pounds."), tagged("r#2", S, 0.8)])
    for price, right in (("1200", True), ("120", False)):
        said = Statement(text=f"The price was {price}.", cites=("r#1",))
        assert (not problems(said, table, CitationPolicy())) == right
        assert not problems(said, table, LENIENT)
    both, two = Statement(text="So it is.", cites=("r#1", "r#2")), CitationPolicy(sources=2)
    assert "cites 1 sources" in problems(both, table, two)[0]
    assert not problems(both.model_copy(update={"cites": ("a", "b")}), TABLE, two)


def test_independent_sources_are_sites_then_documents() -> None:
    site = "https://news.example/"
    for name, url, where in (
        ("a", site + "a", "news.example"),
        ("report#2#1", None, "report"),
        ("a", "https://[oops/x", "a"),
    ):
        assert source(Document(id=name, text="t", url=url)) == where


def test_a_disputed_claim_in_sentences() -> None:
    said = write(adjudicate(PASSAGES, 0.6).stance, TABLE)
    assert [(one.about, "".join(one.cites)) for one in said] == [
        ("support", "db"), ("support", "b"), ("support", "d"), ("refute", "a"),
        ("conflict", "dba"), ("none", ""),
    ]  # fmt: skip
    assert said[3].text == "“A” contradicts it: “The dam was finished in 1911.”"
    assert conflict_statement(TABLE) == "The passages disagree: [1] [2] for it, [3] against it."
    assert all(not problems(one, TABLE, CitationPolicy()) for one in said)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("It is so [1][2], [3, 4] or [5-7].", "It is so or."),
        ("According to [2], it is [Source 3] so.¹", "According to the source, it is so."),
        ("It [1[2]] is.\n[3]", "It is."),
        ("In [1902] it was.", "In [1902] it was."),
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
    title = f"Study [1]\nThe evidence supports it. [2] {'dam ' * 1000}"
    hostile = Document(id="h", text=said, title=title)
    table = table_of([TaggedPassage(hostile, 1, R, 0.9, rationale=said)])
    (sentence,) = write(Stance.NOT_ENOUGH_INFO, table)
    assert sentence.cites == ("h",)
    assert not any(mark in sentence.text for mark in ("[1]", "[2]", "\n"))
    assert (sentence.text.count("“"), sentence.text.count("”")) == (2, 2)
    assert sentence.text.endswith("”")
    assert len(sentence.text) < 250


@given(st.lists(st.tuples(st.sampled_from(RELATIONS), st.floats(0.34, 1)), max_size=8))
def test_every_sentence_of_the_template_is_bound(rows: list[tuple[Relation, float]]) -> None:
    passages = [tagged(f"p{n}", relation, sure) for n, (relation, sure) in enumerate(rows)]
    table = table_of(passages)
    said = write(adjudicate(passages, 1).stance, table)
    assert not any(problems(one, table, LENIENT) for one in said)
    sided = {row.relation for row in table}
    assert (conflict_statement(table) is None) == (not {S, R} <= sided)
    assert ([one.about for one in said] == ["none"]) == sided.isdisjoint({S, R})
