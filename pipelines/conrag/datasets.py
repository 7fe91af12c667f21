"""The data sets by name: which files each needs, and its claims as queries."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal

from pipelines.conrag.corpora import (
    fever_passages,
    from_fever,
    from_ragtruth,
    from_scifact,
    scifact_passages,
)
from pipelines.conrag.query import Query
from pipelines.conrag.releases import (
    from_alce,
    from_averitec,
    from_claims,
    from_climate_fever,
    from_fool_me_twice,
    from_wice,
)
from pipelines.data import (
    alce,
    averitec,
    climate_fever,
    fever,
    fool_me_twice,
    ragtruth,
    scifact,
    wice,
)
from pipelines.data.records import Document
from pipelines.data.released import Part, half
from pipelines.errors import InputError
from pipelines.evidence import examples
from pipelines.files import read_bytes

DatasetName = Literal[
    "claims",
    "fool-me-twice",
    "climate-fever",
    "averitec",
    "wice",
    "scifact",
    "fever",
    "ragtruth",
    "alce",
]


@dataclass(frozen=True)
class Dataset:
    """Claims to be checked or questions to be answered, and what by.

    Attributes:
        file: Name of the file; the digest is the SHA-256 of its bytes.
        queries: The claims of the half that is asked for, in the file's order.
        corpus: Its passages, each id once: those of files of their own, or those of the claims.
        skipped: Why rows of the file are not among the claims, in a line each.
    """

    name: str
    file: str
    digest: str
    part: Part
    queries: tuple[Query, ...]
    corpus: tuple[Document, ...]
    skipped: tuple[str, ...] = ()


Read = tuple[Iterable[Query], list[Document] | None, tuple[str, ...]]
"""Queries, the passages of a corpus of its own, and why rows were skipped."""


def _fever(path: Path, corpus: Path) -> Read:
    claims = fever.read(path)
    named = {
        pointer.page for claim in claims for pointers in claim.evidence for pointer in pointers
    }
    pages = fever.read_wikipedia(corpus, named, 0, Random(0)).pages  # noqa: S311  draws nothing
    return from_fever(claims, pages), fever_passages(pages), ()


def _scifact(path: Path, corpus: Path) -> Read:
    abstracts = scifact.read_corpus(corpus)
    return from_scifact(scifact.read(path), abstracts), scifact_passages(abstracts), ()


def _ragtruth(path: Path, corpus: Path) -> Read:
    responses, skipped = ragtruth.read(path)
    return from_ragtruth(responses, ragtruth.read_sources(corpus)), None, skipped


ALCE: DatasetName = "alce"
"""The data set of questions: each brings its passages, ranked."""

FEVER: DatasetName = "fever"
"""The data set whose evidence stands in all of Wikipedia."""

ALONE: Mapping[DatasetName, Callable[[Path], Iterable[Query]]] = {
    "claims": lambda path: from_claims(examples.read(path).examples),
    "fool-me-twice": lambda path: from_fool_me_twice(fool_me_twice.read(path)),
    "climate-fever": lambda path: from_climate_fever(climate_fever.read(path)),
    "averitec": lambda path: from_averitec(averitec.read(path)),
    "wice": lambda path: from_wice(wice.read(path)),
    ALCE: lambda path: from_alce(alce.read(path)),
}
"""Data sets whose claims bring their passages."""

WITH_CORPUS: Mapping[DatasetName, tuple[str, Callable[[Path, Path], Read]]] = {
    "scifact": ("corpus.jsonl", _scifact),
    FEVER: ("the folder wiki-pages", _fever),
    "ragtruth": ("source_info.jsonl", _ragtruth),
}
"""Data sets whose passages lie in files of their own, and what those are called."""

HALVED = ("fool-me-twice", "climate-fever", "wice")
"""Data sets of which one half trains the tagger that comes with the program."""


def read(
    name: DatasetName, path: Path, *, corpus: Path | None = None, part: Part = "all"
) -> Dataset:
    """The claims of a released file; "claims" is the unified format of docs/conflict-detection.md.

    Passages in files of their own are the `corpus`; see `WITH_CORPUS`. A half (`part`) is the
    release's own split, where it has one, and else taken by the claims' text; that is for sets of
    which the other half is trained on.

    Raises:
        InputError: A file cannot be read or is of another format, a corpus is missing or has no
            effect, or there is no claim, or none in this half.
    """
    passages: list[Document] | None = None
    skipped: tuple[str, ...] = ()
    if name in WITH_CORPUS:
        called, load = WITH_CORPUS[name]
        if corpus is None:
            raise InputError(f"--dataset {name} needs its passages; name {called} with --corpus")
        found, passages, skipped = load(path, corpus)
    else:
        if corpus is not None:
            raise InputError(f"--corpus has no effect with --dataset {name}; leave it out")
        found = ALONE[name](path)
    queries = list(found)
    if not queries:
        raise InputError(f"{path} has no claim that can be checked; name another file")
    repeated, times = Counter(each.id for each in queries).most_common(1)[0]
    if times > 1:
        raise InputError(f"{path}: the id '{repeated}' stands twice; make ids distinct")
    chosen = [each for each in queries if part in ("all", each.split or half(each.claim))]
    if not chosen:
        raise InputError(f"{path} has no claim in the {part} half; choose another --half")
    return Dataset(
        chosen[0].source if name == ALCE else name,  # its three tasks are data sets of their own
        path.name,
        hashlib.sha256(read_bytes(path)).hexdigest(),
        part,
        tuple(chosen),
        tuple(_passages_of(chosen) if passages is None else passages),
        skipped,
    )


def _passages_of(queries: Sequence[Query]) -> list[Document]:
    """The passages of all claims, each id once, in a fixed order."""
    found: dict[str, Document] = {}
    for query in queries:
        for passage in query.passages:
            found.setdefault(passage.id, passage)
    return list(found.values())


def digest_of(passages: Sequence[Document]) -> str:
    """SHA-256 over passages, as hex: what claims are checked by, whatever files it came from."""
    digest = hashlib.sha256()
    for passage in passages:
        digest.update(passage.model_dump_json().encode("utf-8"))
    return digest.hexdigest()
