"""Questions that ask for lists (QAMPARI's): how they are answered, and what that is worth.

A list is written in the same form as other answers. Each of its sentences is an item, or several
with commas between them that rest on the same passages; a sentence on a conflict is no item.
"""

from dataclasses import replace

from pydantic import BaseModel, Field

from pipelines.conrag.generator import Generator
from pipelines.conrag.outcome import Outcome, Statement
from pipelines.conrag.query import GoldAnswer
from pipelines.metrics.alce_output import as_scored
from pipelines.metrics.list_f1 import list_f1
from pipelines.metrics.list_items import list_items
from pipelines.metrics.list_precision import list_precision
from pipelines.metrics.list_recall import ENOUGH, list_recall

IN_LISTS = {"question": "list", "plain_question": "plain_list", "repair": "list_repair"}
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
    def f1(self) -> float:
        """F1 with recall."""
        return list_f1(self.precision, self.recall)

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
