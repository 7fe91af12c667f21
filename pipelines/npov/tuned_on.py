"""What a soft prompt was tuned on, as its header tells; nothing is measured on the same topics."""

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel

from pipelines.errors import InputError
from pipelines.npov.changes import Design
from pipelines.npov.knowledge_base import in_words
from pipelines.npov.splits import topic_key

NAMED = 3
"""Shared topics that an error names."""


class Subject(BaseModel, frozen=True):
    """A controversial topic: what a user asks of it, and its name where that is known."""

    question: str
    topic: str | None = None

    @property
    def keys(self) -> set[str]:
        """What no other topic has: its question and its name, by any of the site's names."""
        found = {f"question {in_words(self.question)}"}
        return found if self.topic is None else found | {f"topic {topic_key(self.topic)}"}


class TunedOn(BaseModel, frozen=True):
    """Topics and examples that a soft prompt was tuned on.

    Attributes:
        learned: Topics of the examples that it learned from.
        watched: Topics of those by which its best step was chosen.
        template: Responses without error, written by a template, that it learned from.
        annotated: Others without error, which people have annotated.
        synthetic: Examples with an error put into them.
        organic: Examples with an error that people have found.
        paraphrased: How many of all these are in other words than their arguments.
        design: How arguments and synthetic errors were drawn; None of files from before they told
            it, which is the paper's way.
    """

    learned: tuple[Subject, ...]
    watched: tuple[Subject, ...]
    template: int = 0
    annotated: int = 0
    synthetic: int = 0
    organic: int = 0
    paraphrased: int = 0
    design: Design | None = None

    @property
    def told(self) -> str:
        """In a line: "topics 9, responses by template 72, synthetic errors 216, design matched"."""
        counts = (
            ("topics", len(self.learned)),
            ("responses by template", self.template),
            ("annotated responses without error", self.annotated),
            ("synthetic errors", self.synthetic),
            ("organic errors", self.organic),
            ("paraphrased", self.paraphrased),
        )
        found = [f"{what} {count:,}" for what, count in counts if count]
        return ", ".join(found + ([f"design {self.design}"] if self.design else []))

    def shared(self, measured: Iterable[Subject]) -> list[str]:
        """Topics among those measured that it was tuned on or chosen by, by their names."""
        known = {key for each in (*self.learned, *self.watched) for key in each.keys}
        found = (each.topic or each.question for each in measured if known & each.keys)
        return list(dict.fromkeys(found))


def refuse_shared(tuned_on: TunedOn | None, measured: Iterable[Subject], file: Path) -> None:
    """Refuse to measure with a soft prompt, of a file, on topics that it was tuned on.

    None is known of prompts that were tuned before their files told it; they pass.

    Raises:
        InputError: There are such topics.
    """
    shared = tuned_on.shared(measured) if tuned_on else []
    if shared:
        named = ", ".join(f"'{each}'" for each in shared[:NAMED])
        more = f" and {len(shared) - NAMED:,} more" if len(shared) > NAMED else ""
        raise InputError(
            f"{file} was tuned on topics that are measured ({named}{more}); measure others "
            "(--split, --data, --organic), or tune a prompt on others"
        )
