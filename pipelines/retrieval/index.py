"""An index of passages: files in a folder, written atomically, read in place.

index.json           what it was built from, and which of the folders below is current
files-N/             one build
  passages.jsonl     one passage per line
  offsets.npy        where each line begins
  bm25/              the lexical index
  embeddings.npy     present if built with an embedding model

A build writes a new folder and then switches `index.json` to it in one step, so a killed process
leaves the previous index intact. The previous build stays until the next one, for programs that
have it open.
"""

import json
import shutil
from array import array
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.files import hold, open_unfollowed, refuse_links, replace_text
from pipelines.retrieval.bm25 import Bm25, write_bm25
from pipelines.retrieval.dense import Dense, Embedder, write_embeddings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def top(scores: "NDArray[Any]", k: int) -> "NDArray[np.intp]":
    """Indices of the k largest scores, largest first; ties in index order.

    The scores, (n,), are partitioned, and only the k largest are sorted. If there are fewer than k
    scores, all indices are returned. k is at least 1.
    """
    import numpy as np

    if k >= len(scores):
        return np.argsort(-scores, kind="stable")
    least = np.partition(scores, -k)[-k]
    above = np.flatnonzero(scores > least)
    level = np.flatnonzero(scores == least)[: k - len(above)]
    chosen = np.sort(np.concatenate([above, level]))
    return chosen[np.argsort(-scores[chosen], kind="stable")]


ItemT = TypeVar("ItemT", bound=Hashable)

RANK_CONSTANT = 60
"""The constant of the original paper."""


def reciprocal_rank_fusion(rankings: Sequence[Sequence[ItemT]]) -> list[tuple[ItemT, float]]:
    """Sum over rankings of 1 / (60 + rank), ranks from 1 (Cormack et al. 2009).

    Rankings are best first, without repeats; a missing item contributes nothing.

    Returns:
        Items with their score, best first; ties in order of first appearance.
    """
    scores: dict[ItemT, float] = defaultdict(float)
    for ranking in rankings:
        for rank, item in enumerate(ranking, 1):
            scores[item] += 1 / (RANK_CONSTANT + rank)
    return sorted(scores.items(), key=lambda row: -row[1])


def normalised(scores: Sequence[float]) -> list[float]:
    """Scores divided by the largest, in [0, 1]; negative ones count as 0 (ConRAG's rel_i).

    If no score is above 0, all are 0. The smallest score is not shifted to 0: the last of twenty
    passages is no less relevant for being last.
    """
    most = max(scores, default=0.0)
    return [max(0.0, score) / most if most > 0 else 0.0 for score in scores]


Method = Literal["bm25", "dense", "hybrid"]
"""Lexical, dense, or hybrid, which fuses the ranks of both."""

DEPTH = 20
"""k, passages retrieved (ConRAG, Table III)."""

FUSED = 100
"""Depth of each ranking that is fused; passages below it in both rankings are not retrieved."""

FORMAT = 2
ABOUT = "index.json"
FILES = "files-"
LOCK = ".building"


class About(BaseModel, frozen=True):
    """What an index was built from: `files` is the folder of its build, `model` a digest.

    Without an embedding model, digest and path are missing.
    """

    format: int
    files: str = Field(pattern=f"^{FILES}[0-9]+$")
    passages: int
    model: str | None = None
    model_path: Path | None = None


@dataclass(frozen=True)
class Retrieved:
    """A retrieved passage.

    Its score is BM25, cosine or fused reciprocal rank; its relevance is the score divided by the
    best one, in [0, 1].
    """

    passage: Document
    relevance: float
    score: float


def build(
    passages: Iterable[Document],
    folder: Path,
    embedder: Embedder | None = None,
    on_embedded: Callable[[], object] = lambda: None,
) -> "Index":
    """Build an index atomically: a killed process leaves an existing index unchanged.

    Passages, at least one, have unique ids and are written one by one. The folder is created if
    missing; an existing index in it is replaced, and a folder with other files is refused. Without
    an embedder the index is lexical only; `on_embedded` is called once per embedded passage.

    Raises:
        InputError: There are no passages or two share an id, the folder holds something else or
            cannot be written, or the embedding model cannot be used.
    """
    remaining = iter(passages)
    first = next(remaining, None)
    if first is None:
        raise InputError("no passage to index; name documents that have text")
    model = embedder.digest if embedder else None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ours = (folder / ABOUT).exists() or (folder / LOCK).exists()
        if not ours and any(folder.iterdir()):
            raise InputError(f"{folder} holds other files; name another folder")
        refuse_links(*folder.glob("*"))
        with open_unfollowed(folder / LOCK) as lock:
            hold(lock, f"another process is building {folder}; wait for it")
            previous = _about(folder).files if (folder / ABOUT).exists() else f"{FILES}0"
            for entry in folder.glob(f"{FILES}*"):
                if entry.name != previous:
                    shutil.rmtree(entry)
            name = f"{FILES}{int(previous.removeprefix(FILES)) + 1}"
            written = _write(chain([first], remaining), folder / name, embedder, on_embedded)
            about = About(
                format=FORMAT,
                files=name,
                passages=written,
                model=model,
                model_path=embedder.path.resolve() if embedder else None,
            )
            replace_text(folder / ABOUT, about.model_dump_json(indent=2) + "\n")
    except OSError as error:
        raise InputError(
            f"{folder} cannot be written ({error.strerror or error}); name another folder"
        ) from error
    return Index(folder, embedder)


class Index:
    """A built index; a query reads only what it needs from disk.

    Methods other than "bm25" need an embedding model, by default the one that the index was built
    with.

    Raises:
        InputError: The folder is not an index of this version, is damaged, or was built with
            another model.
    """

    def __init__(self, folder: Path, embedder: Embedder | None = None) -> None:
        import numpy as np

        self.folder = folder
        self.about = _about(folder)
        self._files = folder / self.about.files
        self._embedder = embedder
        if embedder is not None and self.about.model not in (None, embedder.digest):
            raise InputError(
                f"{folder} was built with the embedding model {self.about.model_path}, not with "
                f"{embedder.path}; name the former, or build the index again"
            )
        with _telling_damage(folder):
            offsets = self._files / "offsets.npy"
            self._offsets = np.load(offsets, mmap_mode="r", allow_pickle=False)
            self._lines = (self._files / "passages.jsonl").open("rb")  # closed with the process

    def passage(self, position: int) -> Document:
        """The passage at a position, from 0."""
        with _telling_damage(self.folder):
            self._lines.seek(int(self._offsets[position]))
            return Document.model_validate_json(self._lines.readline())

    def search(
        self,
        query: str,
        *,
        k: int = DEPTH,
        method: Method = "bm25",
        among: Sequence[int] | None = None,
    ) -> list[Retrieved]:
        """The k best passages for a query, best first; ties in index order.

        With "bm25", passages that share no term with the query are not returned. `among` lists the
        indices of the passages to search; by default all.

        Raises:
            InputError: The index has no embeddings, or their model is missing.
        """
        if k < 1:
            raise InputError(f"{k} passages cannot be retrieved; ask for at least one")
        if method == "hybrid":
            rankings = [
                [position for position, _ in self._ranking(query, kind, FUSED, among)]
                for kind in ("bm25", "dense")
            ]
            ranked = reciprocal_rank_fusion(rankings)[:k]
        else:
            ranked = self._ranking(query, method, k, among)
        relevance = normalised([score for _, score in ranked])
        return [
            Retrieved(self.passage(position), share, score)
            for (position, score), share in zip(ranked, relevance, strict=True)
        ]

    def _ranking(
        self, query: str, method: str, k: int, among: Sequence[int] | None
    ) -> list[tuple[int, float]]:
        import numpy as np

        ranker = self._words if method == "bm25" else self._meaning
        with _telling_damage(self.folder):
            scores = ranker.scores(query)
        allowed = np.arange(len(scores)) if among is None else np.unique(np.asarray(among, int))
        if method == "bm25":
            allowed = allowed[scores[allowed] > 0]
        best = allowed[top(scores[allowed], k)]
        return [(int(position), float(scores[position])) for position in best]

    @cached_property
    def _words(self) -> Bm25:
        with _telling_damage(self.folder):
            return Bm25(self._files / "bm25")

    @cached_property
    def _meaning(self) -> Dense:
        path = self.about.model_path
        if self.about.model is None or path is None:
            raise InputError(
                f"{self.folder} was built without an embedding model, so it can be searched by "
                "bm25 only; build it again with one"
            )
        embedder = self._embedder or Embedder(path)
        if self._embedder is None and not path.is_dir():
            raise InputError(
                f"{self.folder} was built with the embedding model {path}, which is missing; "
                "name its folder, or search by bm25"
            )
        if embedder.digest != self.about.model:
            raise InputError(
                f"the embedding model {path} has changed since {self.folder} was built; build the "
                "index again"
            )
        with _telling_damage(self.folder):
            return Dense(self._files / "embeddings.npy", embedder)


def in_index(file: Path) -> bool:
    """Whether a file belongs to an index's build."""
    build_of = file.parent
    return build_of.name.startswith(FILES) and (build_of.parent / LOCK).exists()


def _about(folder: Path) -> About:
    path = folder / ABOUT
    refuse_links(*folder.glob("*"))
    try:
        about = About.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise InputError(
            f"{folder} is not an index; build one: contested index build DOCUMENTS --out {folder}"
        ) from None
    except NotADirectoryError:
        raise InputError(f"{folder} is a file; name the folder of an index") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); name another index") from error
    except ValidationError as error:
        raise InputError(
            f"{path} is damaged, or not part of an index; name another folder, or build a new index"
        ) from error
    if about.format != FORMAT:
        raise InputError(
            f"{folder} was built by another version; delete it and build the index again"
        )
    return about


@contextmanager
def _telling_damage(folder: Path) -> Iterator[None]:
    try:
        yield
    # A ValidationError is a ValueError; a missing position raises a LookupError.
    except (OSError, ValueError, LookupError, EOFError) as error:
        raise InputError(f"the index {folder} is damaged; delete it and build it again") from error


def _write(
    passages: Iterable[Document],
    files: Path,
    embedder: Embedder | None,
    on_embedded: Callable[[], object],
) -> int:
    """Write the passages and return their number."""
    import numpy as np

    files.mkdir()
    offsets = array("q")
    ids: set[str] = set()
    lines = files / "passages.jsonl"
    with lines.open("wb") as file:
        for passage in passages:
            if passage.id in ids:
                raise InputError(f"two passages have the id {passage.id!r}; make ids distinct")
            ids.add(passage.id)
            offsets.append(file.tell())
            line: dict[str, Any] = passage.model_dump(exclude_none=True)
            file.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    del ids
    np.save(files / "offsets.npy", np.array(offsets, dtype=np.int64), allow_pickle=False)
    write_bm25(_texts(lines), files / "bm25")
    if embedder is not None:
        write_embeddings(
            _texts(lines), len(offsets), embedder, files / "embeddings.npy", on_embedded
        )
    return len(offsets)


def _texts(lines: Path) -> Iterator[str]:
    """The embedding inputs of the passages, read from disk one by one."""
    with lines.open("rb") as file:
        for line in file:
            yield Document.model_validate_json(line).as_read()
