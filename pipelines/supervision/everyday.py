"""Pairs from our own everyday records: documents that disagree or agree, and claims about them.

`everyday.jsonl` has one record a line: `documents`, and for each claim one letter per document, in
their order: S where the document supports the claim, R where it denies it, I where it settles
nothing. Names are invented. No record is from `tests/direction`, which measures on records of
the same kind.
"""

import random
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, model_validator

from nli.labels import Label
from pipelines.data.released import Split, read_records
from pipelines.supervision.context import labelled_pair
from pipelines.supervision.official import TrainingPairs

LETTERS: Final = {"S": Label.SUPPORT, "R": Label.REFUTE, "I": Label.IRRELEVANT}

HELD_OUT: Final = 8
"""One in this many records is held out for development and calibration."""


class EverydayRecord(BaseModel):
    """Documents, and claims with what each document says of them."""

    model_config = ConfigDict(frozen=True)

    documents: tuple[str, ...]
    claims: dict[str, str]

    @model_validator(mode="after")
    def _a_letter_each(self) -> "EverydayRecord":
        for claim, letters in self.claims.items():
            if len(letters) != len(self.documents) or not set(letters) <= set(LETTERS):
                raise ValueError(
                    f"the claim '{claim}' has the letters {letters}; give one of S, R, I for each"
                    f" of {len(self.documents)} documents"
                )
        return self


def from_everyday(path: Path, part: Split, _: random.Random) -> TrainingPairs:
    """Every claim of a record with every document; every eighth record is held out as `dev`."""
    pairs = []
    for number, record in enumerate(read_records(path, EverydayRecord, "everyday records"), 1):
        if part in ("all", "train" if number % HELD_OUT else "dev"):
            pairs += [
                labelled_pair("everyday", document, claim, LETTERS[letter], str(number))
                for claim, letters in record.claims.items()
                for document, letter in zip(record.documents, letters, strict=True)
            ]
    return TrainingPairs(tuple(pairs))
