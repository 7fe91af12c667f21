"""Reads FActScore (Min et al. 2023): sentences of biographies, split into atomic facts by people.

Format of its labelled data (`ChatGPT.jsonl`, `InstructGPT.jsonl`, `PerplexityAI.jsonl`): one object
per line with `topic` and `annotations` (null where the model gave no biography), a list of
sentences, each with `text`, `is-relevant`, `model-atomic-facts` (InstructGPT's) and
`human-atomic-facts`, which people made of these, or null.
"""

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, Field

from pipelines.data.records import Text
from pipelines.data.released import entries, record


class AtomicFact(BaseModel, frozen=True):
    """One fact; who says whether it is true does not matter here."""

    text: Text


class AnnotatedSentence(BaseModel, frozen=True):
    """A sentence with the facts that people and a model see in it; None where there are none."""

    text: Text
    people: tuple[AtomicFact, ...] | None = Field(alias="human-atomic-facts")
    model: tuple[AtomicFact, ...] | None = Field(alias="model-atomic-facts")


class Biography(BaseModel, frozen=True):
    """A biography that a model wrote of somebody."""

    topic: Text
    annotations: tuple[AnnotatedSentence, ...] | None


class SplitSentence(BaseModel, frozen=True):
    """A sentence with its facts by people, at least one, and by the release's model.

    Attributes:
        id: Name of the file, number of the biography in it, and of the sentence, from 1.
        topic: Whom it is about; sentences on one person are not independent.
    """

    id: str
    topic: str
    sentence: str
    people: tuple[str, ...]
    model: tuple[str, ...]


def sentences(path: Path) -> Iterator[SplitSentence]:
    """The sentences that people split, in the file's order.

    Raises:
        InputError: The file cannot be read, or an entry is not of this format.
    """
    for number, entry in enumerate(entries(path), start=1):
        about = record(entry, Biography, "FActScore")
        for place, each in enumerate(about.annotations or (), start=1):
            if each.people:
                yield SplitSentence(
                    id=f"{path.name.partition('.')[0]}/{number}/{place}",
                    topic=about.topic,
                    sentence=each.text,
                    people=tuple(one.text for one in each.people),
                    model=tuple(one.text for one in each.model or ()),
                )
