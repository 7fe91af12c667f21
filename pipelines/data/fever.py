"""Reads FEVER (Thorne et al. 2018): claims, and the Wikipedia pages that their evidence points to.

Format of the release on fever.ai. `train.jsonl` and `shared_task_dev.jsonl` have one claim per line
with `id`, `verifiable`, `label`, `claim` and `evidence`: a list of evidence sets, each a list of
[annotation id, evidence id, page, sentence number], where page and number are null for claims
without evidence. `wiki-pages/wiki-001.jsonl` to `wiki-109.jsonl` have one page per line with `id`
(the title, with underscores and with brackets written as -LRB- and -RRB-), `text` and `lines`: a
line per sentence, its number, the sentence and its links, separated by tabs.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Annotated, Any, Literal, NamedTuple
from unicodedata import normalize

from pydantic import AfterValidator, BaseModel, BeforeValidator

from pipelines.data.records import Text
from pipelines.data.released import read_records, record, stream
from pipelines.errors import InputError

NAME = "FEVER"

_ESCAPES = ["-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-", "-COLON-", "``", "''"]
_SIGNS = dict(zip(_ESCAPES, '()[]{}:""', strict=True))
_SIGN = re.compile("|".join(map(re.escape, _SIGNS)))
_SPACE_BEFORE = re.compile(r"\s+(?=(?:[,.;:!?)\]}%]|'s)(?:[\s,.;:!?)\]}\"']|$))")
_SPACE_AFTER = re.compile(r"(?<=[(\[{])\s+")


class Pointer(NamedTuple):
    """Location of an evidence sentence: the page's id in `wiki-pages`, and its number from 0."""

    page: str
    sentence: int


def _evidence_sets(value: Any) -> Any:
    """The non-empty sets, as tuples of (page, sentence)."""
    if not isinstance(value, list):
        raise ValueError("should be a list of evidence sets")
    sets = []
    for entry in value:
        # Some claims without evidence have a bare pointer in place of a set.
        pointers = (
            [entry]
            if isinstance(entry, list) and entry and not isinstance(entry[0], list)
            else entry
        )
        if not isinstance(pointers, list) or not all(
            isinstance(pointer, list) and len(pointer) == 4 for pointer in pointers
        ):
            raise ValueError("an evidence set has entries that are not [id, id, page, sentence]")
        # Pages are null without evidence, and if annotators of a repeated claim disagreed.
        if pointers and all(pointer[2] is not None for pointer in pointers):
            sets.append(tuple((pointer[2], pointer[3]) for pointer in pointers))
    return sets


class FeverClaim(BaseModel, frozen=True):
    """One claim, with alternative evidence sets; each is enough by itself.

    Evidence is empty for claims labelled as not enough information.
    """

    id: int
    claim: Text
    label: Literal["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]
    evidence: Annotated[
        tuple[tuple[Pointer, ...], ...],
        BeforeValidator(_evidence_sets),
        AfterValidator(lambda sets: tuple(dict.fromkeys(sets))),
    ]


class WikiPage(BaseModel, frozen=True):
    """One page of the dump: its escaped title, and the `lines` of its sentences."""

    id: str
    lines: str

    def sentences(self) -> dict[int, str]:
        """Sentence number -> sentence with its escapes undone; empty ones are left out."""
        sentences: dict[int, str] = {}
        for line in self.lines.split("\n"):
            number, _, rest = line.partition("\t")
            # The rest of a sentence after a line feed has no number and is lost.
            if number.isdecimal() and (sentence := readable(rest.partition("\t")[0])):
                sentences.setdefault(int(number), sentence)
        return sentences


@dataclass(frozen=True)
class Wikipedia:
    """`page_key` of a title -> sentence number -> sentence; and sentences of random pages."""

    pages: Mapping[str, Mapping[int, str]]
    sampled: tuple[str, ...]


def read(path: Path) -> list[FeverClaim]:
    """The claims of a labelled FEVER file, in its order; raises as `read_records`."""
    return read_records(path, FeverClaim, NAME)


def read_wikipedia(folder: Path, wanted: Collection[str], sampled: int, rng: Random) -> Wikipedia:
    """The pages that claims point to, and random sentences of others, in one pass over the dump.

    The dump (5.4 million pages) is read line by line and not kept. Random sentences are drawn as by
    the data set's authors: first a page with text, uniformly, then one of its sentences. `wanted`
    holds page titles; fewer pages than `sampled` give fewer sentences.

    Raises:
        InputError: There are no such files, or one has a line of another format.
    """
    keys = {page_key(title) for title in wanted}
    pages: dict[str, dict[int, str]] = {}
    drawn: list[str] = []
    seen = 0
    for page in wiki_pages(folder):
        if (key := page_key(page.id)) in keys:
            pages[key] = page.sentences()
        if not page.lines:
            continue
        # Vitter's algorithm R: after each page, every page so far is kept with equal probability.
        seen += 1
        place = rng.randrange(seen)
        if (place < sampled or len(drawn) < sampled) and (sentences := page.sentences()):
            sentence = rng.choice(list(sentences.values()))
            if len(drawn) < sampled:
                drawn.append(sentence)
            else:
                drawn[place] = sentence
    rng.shuffle(drawn)
    return Wikipedia(pages, tuple(drawn))


def page_key(title: str) -> str:
    """A page's title in one Unicode normal form.

    Evidence and dump do not always agree on how accents are encoded.
    """
    return normalize("NFC", title)


def page_title(page: str) -> str:
    """A page's title as people write it: "Gladiator (2000 film)"."""
    return readable(page.replace("_", " "))


def readable(text: str) -> str:
    """A sentence of the dump as people write it: no escaped brackets, no spaces before commas."""
    text = _SIGN.sub(lambda match: _SIGNS[match.group()], text)
    return " ".join(_SPACE_AFTER.sub("", _SPACE_BEFORE.sub("", text)).split())


def wiki_pages(folder: Path) -> Iterator[WikiPage]:
    """All pages of the dump, one at a time.

    Raises:
        InputError: There are no files, or one has a line of another format.
    """
    files = sorted(folder.glob("wiki-*.jsonl"))
    if not files:
        raise InputError(
            f"{folder} has no wiki-*.jsonl; unpack wiki-pages.zip of the FEVER release there"
        )
    for path in files:
        yield from (record(entry, WikiPage, NAME) for entry in stream(path))
