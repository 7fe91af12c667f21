"""Scores of answers to a question, worked by hand with a judge that knows facts."""

from collections.abc import Sequence

import pytest

from pipelines.conrag.answer import About, Outcome, Statement
from pipelines.conrag.answer_worth import RecordingJudge, answer_worth, hypotheses, supporting
from pipelines.conrag.data import GoldAnswer
from pipelines.conrag.evidence import Stance
from pipelines.conrag.result import AnswerWorth
from pipelines.data.records import Document
from pipelines.judge.judgement import Judgement, Judgements, Relation, Truncation

PASSAGES = [
    Document(id=name, text=text)
    for name, text in {"p": "a b", "q": "b", "r": "c", "n": "not-a"}.items()
]


class Facts:
    """Texts are lists of facts: a passage has all facts of a sentence, or denies one of them."""

    identity = "facts"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        pairs = [(claim, document) for claim in claims for document in documents]
        self.asked += [(claim, document.text) for claim, document in pairs]
        return Judgements(tuple(self._judged(*pair) for pair in pairs), ())

    def _judged(self, claim: str, document: Document) -> Judgement:
        wanted, said = set(claim.split()), set(document.text.split())
        denied = any(f"not-{fact}" in said for fact in wanted)
        relation = Relation.CONTRADICTS if denied else Relation.IRRELEVANT
        relation = Relation.SUPPORTS if wanted <= said else relation
        return Judgement(claim=claim, document=document.id, relation=relation, source="f")


def says(
    text: str, *cites: str, about: About = "answer", dropped: tuple[str, ...] = ()
) -> Statement:
    return Statement(text=text, about=about, cites=cites, dropped=dropped)


def answer(*statements: Statement) -> Outcome:
    return Outcome(
        stance=Stance.NOT_ENOUGH_INFO, packet=("p", "q", "r", "n"), statements=statements
    )


async def worth(*statements: Statement, gold: GoldAnswer | None = None) -> AnswerWorth:
    said = {"it": answer(*statements)}
    return (await answer_worth("x", said, PASSAGES, gold or GoldAnswer(), Facts()))["it"]


# statements -> sentences, supported, citations, precise; contradicting: undisclosed, all
CASES = {
    "one that is borne out": ([says("b", "q")], (1, 1, 1, 1), (0, 0)),
    "two that are needed together": ([says("a b c", "p", "r")], (1, 1, 2, 2), (1, 1)),
    "one too many": ([says("b", "q", "r")], (1, 1, 2, 1), (0, 0)),
    "one that was dropped": ([says("b", "q", dropped=("r",))], (1, 1, 2, 1), (0, 0)),
    "nothing cited": ([says("b")], (1, 0, 0, 0), (0, 0)),
    "an answer that says nothing": ([says("Nothing.", about="none")], (1, 0, 0, 0), (0, 0)),
    "no answer": ([], (0, 0, 0, 0), (0, 0)),
    "contradicted": ([says("a", "p")], (1, 1, 1, 1), (1, 1)),
    "contradicted, and the other version given": (
        [says("a", "p"), says("not-a", "n")], (2, 2, 2, 2), (0, 1),
    ),
    "the other version given, without its passage": (
        [says("a", "p"), says("not-a", "q")], (2, 1, 2, 1), (1, 1),
    ),
    "contradicted, and the conflict spoken of": (
        [says("a", "p"), says("They differ.", "p", "n", about="conflict")], (2, 1, 3, 1), (0, 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
async def test_one_answer(name: str) -> None:
    statements, counts, contradicting = CASES[name]
    found = await worth(*statements)
    cited = found.citations
    assert (cited.sentences, cited.supported, cited.citations, cited.needed) == counts
    assert (found.contradicting, found.contradicting_strict) == contradicting
    assert found.statements == sum(said.about == "answer" for said in statements)


async def test_short_answers_are_named_and_claims_entailed() -> None:
    said = [says("a b", "p"), says("c", "r")]
    assert (await worth(*said, gold=GoldAnswer(answers=(("c",), ("d", "b"))))).recall == 1
    assert (await worth(*said, gold=GoldAnswer(claims=("a c", "d")))).recall == 0.5
    assert (await worth(gold=GoldAnswer(claims=("a",)))).recall == 0
    assert (await worth(*said)).recall is None


async def test_what_methods_share_is_asked_once() -> None:
    judge = Facts()
    one = answer(says("b", "q", "r"))
    gold = GoldAnswer(claims=("a c",))
    await answer_worth("x", {"one": one, "other": one}, PASSAGES, gold, judge)
    assert len(judge.asked) == len(set(judge.asked)) == len(PASSAGES) + 2


async def test_what_could_not_be_read_whole_is_kept() -> None:
    class Trouble(Facts):
        async def __call__(
            self, claims: Sequence[str], documents: Sequence[Document]
        ) -> Judgements:
            labelled = await super().__call__(claims, documents)
            unread = labelled.judgements[0].model_copy(update={"relation": Relation.INVALID})
            cut = Truncation(text="group 0", kept=1, tokens=2)
            return Judgements((unread, *labelled.judgements[1:]), (cut,))

    judge = RecordingJudge(Trouble())
    await answer_worth("x", {"it": answer(says("b", "q"))}, PASSAGES, GoldAnswer(), judge)
    assert judge.unreadable == 1
    assert [cut.text for cut in judge.truncations] == ["group 0"]


async def test_passages_that_support_one_of_the_gold_claims() -> None:
    found = await supporting(["b", "c"], PASSAGES, Facts())
    assert found == dict.fromkeys(["p", "q", "r"], Relation.SUPPORTS)
    assert await supporting([], PASSAGES, Facts()) == {}


def test_gold_answers_in_statements() -> None:
    found = [Document(id="d", text="Built in 1911, or was it 1954?")]
    gold = GoldAnswer(answers=(("1911", "in 1911"), ("1888",), ("1954",)))
    assert gold.statements("When was the dam built?", found) == (
        "The dam was built in 1911.",
        "The dam was built in 1954.",
    )
    assert GoldAnswer(claims=("Steel grows.",)).statements("Why?", []) == ("Steel grows.",)


# Lists

LIST = GoldAnswer((("u", "x"), ("b",), ("c",), ("d",)), listed=True)


def test_each_item_stands_behind_the_question_with_the_citations_of_its_sentence() -> None:
    given = answer(says("u, b.", "p"), says("They differ.", "q", about="conflict"), says("..."))
    put = hypotheses("Which?", given).statements
    assert [(each.text, each.cites) for each in put] == [
        ("Which? u", ("p",)),
        ("Which? b", ("p",)),
        ("They differ.", ("q",)),
        ("...", ()),
    ]


async def test_a_list_by_hand() -> None:
    """Two of three items are correct; two of four answers are given."""
    found = await worth(says("The X", "p"), says("b, e", "q"), gold=LIST)
    assert (found.list_precision, found.recall, found.str_em) == (2 / 3, 1 / 2, None)


async def test_an_item_is_judged_with_its_question() -> None:
    """Passage p has "b?" from the question and the item "u"; q lacks the item."""
    passages = [Document(id="p", text="b? u"), Document(id="q", text="b?")]
    one = answer(says("u", "p"), says("u, c", "q")).model_copy(update={"packet": ("p", "q")})
    judge = Facts()
    found = await answer_worth("b?", {"it": one}, passages, LIST, judge)
    cited = found["it"].citations
    assert (cited.sentences, cited.supported, cited.citations, cited.needed) == (3, 1, 3, 1)
    assert {claim for claim, _ in judge.asked} == {"b? u", "b? c"}
