"""Arguments in other words, from a file, so that responses need not copy them (NPOV, section 4.1).

Lines with `paraphrase` and either `argument`, the text, or `sha1`, the first twelve hexadecimal
digits of its digest. The bundled file has digests: it holds our paraphrases of arguments of
ProCon.org, and not the arguments, which have their own owners.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pipelines.data.records import Text
from pipelines.data.released import read_records
from pipelines.npov.synthesis import Reword

SAMPLES = Path(__file__).parent / "samples" / "procon_paraphrases.jsonl"

DIGITS = 12


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    paraphrase: Text
    argument: Text | None = None
    sha1: Annotated[str, Field(pattern=rf"^[0-9a-f]{{{DIGITS}}}$")] | None = None

    @model_validator(mode="after")
    def _one_name(self) -> Self:
        if (self.argument is None) == (self.sha1 is None):
            raise ValueError("either 'argument' or 'sha1' must be given")
        return self


def digest(argument: str) -> str:
    """What names an argument in a file: the beginning of its SHA-1, white space made even."""
    plain = " ".join(argument.split())
    return hashlib.sha1(plain.encode("utf-8"), usedforsecurity=False).hexdigest()[:DIGITS]


def bundled() -> Mapping[str, str]:
    """Those that come with contested: of arguments of ProCon.org, and of the bundled topics."""
    return {**read(SAMPLES), **read(SAMPLES.with_name("topics_paraphrases.jsonl"))}


def read(path: Path = SAMPLES) -> Mapping[str, str]:
    """Digest of an argument -> its paraphrase.

    Raises:
        InputError: The file cannot be read, or a line is of another format.
    """
    lines = read_records(path, _Line, "paraphrases")
    return {line.sha1 or digest(line.argument or ""): line.paraphrase for line in lines}


def rewording(paraphrases: Mapping[str, str]) -> Reword:
    """Puts arguments in the other words of `read`; those without a paraphrase are not used."""
    return lambda argument: paraphrases.get(digest(argument))
