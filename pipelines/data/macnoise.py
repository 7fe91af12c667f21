"""Reads MacNoise (Hong et al. 2024, "Why So Gullible?"), for Natural Questions and TriviaQA.

Format of the files behind github.com/wjdghks950/Discern-and-Answer, inferred from its sample in
`DATA/GPT` and its reader in `codes/FiD_contra/src/data.py` (the Fusion-in-Decoder format): one list
(`.json`) or one object per line (`.jsonl`) with `question`, `answers`, `ctxs` and lists of 0 and 1,
one number per context: `pert_lbls` (1: the context has an answer, so a language model rewrote it to
hide or change it) and `pert_lbls_15`, `_25`, `_35`, ... (which contexts are replaced at that
share).
A context has `id`, `title`, `text` as retrieved and `text_pert` as rewritten; both texts begin with
"title: ... context: ...". The evaluation files may have `pert_lbls_100` in place of `pert_lbls`.
"""

import re
from pathlib import Path
from typing import Literal, Self

from pydantic import AliasChoices, BaseModel, Field, model_validator

from pipelines.data.records import NonEmpty, Text
from pipelines.data.released import read_records

_PREFIX = re.compile(r"\s*title:\s*(?P<title>.*?)\s*context:\s*", re.IGNORECASE | re.DOTALL)


class Context(BaseModel, frozen=True):
    """A retrieved passage and its rewriting; the two are equal if nothing was rewritten.

    The rewritten text may begin with another title.
    """

    title: str = ""
    text: Text
    text_pert: Text


class NoisyQuestion(BaseModel, frozen=True):
    """A question, aliases of its answer, and retrieved passages, best first.

    Passages with a 1 in `pert_lbls` have an answer and, in most cases, a counterfactual twin.
    """

    question: Text
    answers: NonEmpty[Text]
    ctxs: NonEmpty[Context]
    pert_lbls: tuple[Literal[0, 1], ...] = Field(
        validation_alias=AliasChoices("pert_lbls", "pert_lbls_100")
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(self.pert_lbls) < len(self.ctxs):
            raise ValueError(
                f"'pert_lbls' has {len(self.pert_lbls)} numbers for {len(self.ctxs)} 'ctxs'"
            )
        return self

    @property
    def contexts(self) -> list[tuple[Context, bool]]:
        """The passages, each with whether it has an answer according to the release."""
        return [
            (context, label == 1) for context, label in zip(self.ctxs, self.pert_lbls, strict=False)
        ]


def read(path: Path) -> list[NoisyQuestion]:
    """The questions of a MacNoise file, in its order; raises as `read_records`."""
    return read_records(path, NoisyQuestion, "MacNoise")


def passage(text: str) -> tuple[str | None, str]:
    """Title and text of a passage: "title: T context: C" -> (T, C); (None, text) without them."""
    match = _PREFIX.match(text)
    return (match["title"] or None, text[match.end() :]) if match else (None, text)
