"""A claim to be checked or a question to be answered, lists (QAMPARI) included."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import BaseModel, Field

from pipelines.conrag.answer import Outcome, Statement
from pipelines.conrag.evidence import Stance
from pipelines.conrag.generation import MOST, Generator
from pipelines.conrag.hallucination import ResponseSentence
from pipelines.data.records import Document
from pipelines.data.released import Half
from pipelines.judge.judgement import Relation
from pipelines.metrics.alce import (
    ENOUGH,
    as_scored,
    list_f1,
    list_items,
    list_precision,
    list_recall,
    named_answers,
)
from pipelines.retrieval.index import Retrieved
from pipelines.text.declarative import as_claim


@dataclass(frozen=True)
class GoldAnswer:
    """What is known of a question's answer.

    Attributes:
        answers: Aliases of each short answer that is to be named.
        claims: What the answer is to entail.
        listed: Whether the answer is a list, of short answers.
    """

    answers: tuple[tuple[str, ...], ...] = ()
    claims: tuple[str, ...] = ()
    listed: bool = False

    def statements(self, question: str, found: Sequence[Retrieved]) -> tuple[str, ...]:
        """The answer in statements, as `pipelines.conrag.generation` makes them.

        Of short answers, the first ones that the passages found name are taken.
        """
        text = " ".join(each.passage.as_read() for each in found)
        named = [
            as_claim(question, aliases[0])
            for aliases, there in zip(self.answers, named_answers(self.answers, text), strict=True)
            if there
        ]
        return tuple(dict.fromkeys((*named, *self.claims)))[:MOST]


@dataclass(frozen=True)
class Query:
    """A claim to be checked, or a question to be answered.

    Attributes:
        id: Unique within its source, the data set.
        passages: What there is to retrieve from for this claim.
        stance: The gold stance; None where the data have none.
        disputed: Whether its evidence is known to disagree; None where the data do not say.
        evidence: Alternative sets of passage ids, each enough by itself.
        relations: Passage id -> what it says of the claim, as far as the data say.
        response: Where the claim stands, if it is a sentence of a response.
        split: The part of the release that it is in, where the release says so.
        gold_answer: What is known of the answer, if it is a question; then relations are to that.
    """

    id: str
    source: str
    claim: str
    passages: tuple[Document, ...]
    stance: Stance | None = None
    disputed: bool | None = None
    evidence: tuple[frozenset[str], ...] = ()
    relations: Mapping[str, Relation] = field(default_factory=dict)
    response: ResponseSentence | None = None
    split: Half | None = None
    gold_answer: GoldAnswer | None = None


IN_LISTS = {
    "question": "list",
    "plain_question": "plain_list",
    "cite_question": "cite_list",
}
"""The prompt for an answer in sentences -> the one for a list."""


class ListWorth(BaseModel, frozen=True):
    """What a list is worth by ALCE's rules, every share in [0, 1].

    Attributes:
        items: How many it has.
        precision: Share of them that are an alias of a gold answer.
        recall: Share of the gold answers that are among them; `recall_5` takes five for all.
    """

    items: int = Field(ge=0)
    precision: float
    recall: float
    recall_5: float

    @property
    def f1_5(self) -> float:
        """F1 with recall-5."""
        return list_f1(self.precision, self.recall_5)


def in_lists(generator: Generator) -> Generator:
    """The generator, answering questions in lists."""
    prompts = generator.prompts
    return replace(generator, prompts={**prompts, **{a: prompts[b] for a, b in IN_LISTS.items()}})


def items_of(statement: Statement) -> list[str]:
    """The items of a sentence; none where it is on the conflict, or says that nothing was found."""
    return [] if statement.about in ("conflict", "none") else list_items(as_scored(statement.text))


def hypotheses(question: str, outcome: Outcome) -> Outcome:
    """The answer with each item behind the question, as ALCE puts items to its entailment model.

    Items of one sentence have its citations; sentences without an item stay as they are.
    """

    def put(statement: Statement) -> list[Statement]:
        items = items_of(statement)
        texts = [f"{question} {item}" for item in items] or [statement.text]
        return [statement.model_copy(update={"text": text}) for text in texts]

    put_so = tuple(each for statement in outcome.statements for each in put(statement))
    return outcome.model_copy(update={"statements": put_so})


def list_worth(outcome: Outcome, gold: GoldAnswer) -> ListWorth:
    """What the items of an answer are worth."""
    items = [item for statement in outcome.statements for item in items_of(statement)]
    return ListWorth(
        items=len(items),
        precision=list_precision(items, gold.answers),
        recall=list_recall(items, gold.answers),
        recall_5=list_recall(items, gold.answers, most=ENOUGH),
    )
