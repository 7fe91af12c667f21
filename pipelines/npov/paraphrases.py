"""Arguments in other words, so that responses need not copy them (NPOV, section 4.1).

Lightly, with some common words replaced: between verbatim copies, which shared words tell without
fail, and paraphrases, which they do not. Or as paraphrases from a file: lines with `paraphrase` and
either `argument`, the text, or `sha1`, the first twelve hexadecimal digits of its digest. The
bundled file has digests: it holds our paraphrases of arguments of ProCon.org, and not the
arguments, which have their own owners.
"""

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, Field, model_validator

from pipelines.data.records import Text
from pipelines.data.released import read_records
from pipelines.npov.synthesis import Reword

SAMPLES = Path(__file__).parent / "samples" / "procon_paraphrases.jsonl"

DIGITS = 12

_SWAPS = """
    ability: capacity; available: on offer; banning: forbidding; benefits: advantages;
    better: superior; caused: brought about; causes: brings about; change: shift; changes: shifts;
    children: kids; citizens: nationals; companies: firms; create: make; creates: makes;
    crime: lawbreaking; criminals: offenders; current: present; cut: trim; deaths: fatalities;
    eating: consuming; government: state; guns: firearms; harmful: damaging; health: well-being;
    help: aid; helps: aids; high: elevated; improve: better; improves: betters; increase: raise;
    increases: raises; jobs: positions; kill: slay; laws: statutes; lead: give rise;
    leads: gives rise; legal: lawful; life: existence; lower: smaller; make: render;
    makes: renders; many: numerous; money: funds; needed: required; people: persons; prevent: stop;
    prevents: stops; primarily: mainly; private: non-public; protect: guard; protects: guards;
    provide: supply; provides: supplies; rate: share; rates: shares; reduce: lessen;
    reduces: lessens; restrict: curb; results: outcomes; rise: climb; safer: less risky;
    safety: freedom from danger; students: pupils; support: backing; use: employ; women: females;
    world: globe; would: might
"""

SWAPS = dict(pair.split(": ") for pair in re.split(r";\s+", _SWAPS.strip()))
"""Common words of arguments -> what stands for them. Nobody would call the result a paraphrase."""


class _Line(BaseModel, frozen=True, extra="forbid"):
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


def lightly(argument: str) -> str:
    """An argument with its common words replaced, those in a capital by such; always the same."""
    return _common().sub(_swapped, argument)


def _swapped(found: re.Match[str]) -> str:
    word = found[0]
    put = SWAPS[word.lower()]
    return put.capitalize() if word[0].isupper() else put


@cache
def _common() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(SWAPS)})\b", re.IGNORECASE)
