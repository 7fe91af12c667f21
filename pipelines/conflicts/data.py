"""CONFLICTS as released: questions with dated search results, segments of pages, counts."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, Field

from pipelines.conflicts.taxonomy import ANSWERABLE, TAXONOMY, ConflictType, of_label
from pipelines.data import conflicts
from pipelines.data.conflicts import ConflictsRow
from pipelines.data.records import Document, Label, Text
from pipelines.errors import InputError
from pipelines.files import SAMPLES_FOLDER, sha256_of
from pipelines.retrieval.dense import Embedder
from pipelines.runs.folder import RunFolder

_HEAD = re.compile(r"(?P<name>url|title|snippet|date):(?P<value>.*)", re.IGNORECASE)


class Source(BaseModel, frozen=True, extra="forbid"):
    """One search result (CONFLICTS, section 3).

    Attributes:
        text: The segment of the page most relevant to the question.
        url: Its address.
        title: Title of the page.
        snippet: The few lines that the search engine showed.
        date: Date of publication, in whatever form the source gives it.
    """

    text: Text
    url: Label | None = None
    title: Label | None = None
    snippet: Label | None = None
    date: Label | None = None

    @classmethod
    def from_text(cls, text: str) -> Self:
        """A source from a text that may begin with lines like "Date: 2021-03-01".

        These lines are as `as_read` writes them, in any order and letter case, before the first
        line of another kind.

        Raises:
            ValueError: The text has only such lines.
        """
        head: dict[str, str] = {}
        lines = text.strip().splitlines()
        while lines and (match := _HEAD.match(lines[0])):
            head[match["name"].lower()] = match["value"].strip()
            lines.pop(0)
        return cls(text="\n".join(lines), **head)

    def as_read(self) -> str:
        """URL, title, snippet, date and segment, as a model reads them (section 5.1)."""
        head = {"URL": self.url, "Title": self.title, "Snippet": self.snippet, "Date": self.date}
        lines = [f"{name}: {value}" for name, value in head.items() if value]
        return "\n".join([*lines, self.text])

    def as_evidence(self, number: int) -> Document:
        """The text that a sentence citing the source may rest on: title, snippet and segment.

        The document's id is the source's place among the results, from 1. A snippet contained in
        the segment is not repeated. The date is left out: from "2 May 2011" the tagger infers that
        whatever the page reports happened in 2011.
        """
        snippet = (self.snippet or "").strip()
        text = self.text if snippet in self.text else f"{snippet}\n\n{self.text}"
        return Document(id=str(number), text=text, title=self.title, url=self.url, date=self.date)


class Query(BaseModel, frozen=True, extra="forbid"):
    """A question q with its search results C_q.

    Attributes:
        id: Unique within its data set.
        query: The question.
        sources: At least one. Citations count them from 1.
        conflict_type: The annotators' type; None without one.
        gold_answer: The right answer, if the data give one.
        origin: The data set that the question comes from ("FreshQA"), if the release says so.
    """

    id: str
    query: Text
    sources: Annotated[tuple[Source, ...], Field(min_length=1)]
    conflict_type: ConflictType | None = None
    gold_answer: Text | None = None
    origin: str | None = None


def absent(text: str | None) -> bool:
    """Whether a text in place of a date means that the date is missing: "", "NA", "unknown"."""
    return not text or text.strip().casefold() in _NONE


_NONE = frozenset({"", "na", "n/a", "nan", "none", "null", "unknown", "no date", "undated", "-"})


SAMPLES = SAMPLES_FOLDER / "conflicts.jsonl"
"""Ten bundled queries in the format of CONFLICTS, two of each type."""


@dataclass(frozen=True)
class Dataset:
    """Queries of a file with this SHA-256, in its order, with distinct ids.

    Search results without text are not sources; `passed_over` counts them.
    """

    file: str
    digest: str
    queries: tuple[Query, ...]
    passed_over: int = 0


def read(
    path: Path,
    choose: Callable[[str, str], str] | None = None,
    *,
    limit: int | None = None,
    on_source: Callable[[], None] = lambda: None,
) -> Dataset:
    """Read the queries of a released file.

    Args:
        path: In either format of `pipelines.data.conflicts`.
        choose: Chooses a new segment for a source from the question and its whole page, if the file
            has the page; see `best_segment`. None keeps the segments as released.
        limit: Number of queries to read, from the first; None reads all.
        on_source: Called for each source whose page was read.

    Raises:
        InputError: The file cannot be read, has another format, or has no pages to choose segments
            from; and whatever `choose` raises.
    """
    rows = conflicts.read(path)[:limit]
    passed_over = sum(row.passed_over for row in rows)
    if choose is not None:
        if not any(source.response_str for row in rows for source in row.sources):
            raise InputError(
                f"{path} has no whole pages (response_str) to choose segments from; leave the "
                "embedding model out"
            )
        rows = [with_segments(row, choose, on_source) for row in rows]
    queries = [as_query(row) for row in rows]
    if len({query.id for query in queries}) < len(queries):
        queries = [q.model_copy(update={"id": str(n)}) for n, q in enumerate(queries, start=1)]
    return Dataset(path.name, sha256_of(path), tuple(queries), passed_over)


def with_segments(
    row: ConflictsRow, choose: Callable[[str, str], str], on_source: Callable[[], None]
) -> ConflictsRow:
    """A row with the best segments of its pages as texts, where the page is known; see `read`."""
    results = []
    for result in row.sources:
        page = result.response_str
        text = choose(row.query, page) if page else result.segment
        results.append(result.model_copy(update={"short_text": text}))
        on_source()
    return row.model_copy(update={"results": tuple(results)})


def as_query(row: ConflictsRow) -> Query:
    """A row as a query; its id is its number.

    A snippet that serves as the text is not repeated, and a date that means "missing" ("NA") is
    left out.
    """
    sources = [
        Source(
            text=source.segment,
            url=source.url or None,
            title=source.title or None,
            snippet=source.snippet if source.snippet not in ("", source.segment) else None,
            date=None if absent(source.date) else source.date,
        )
        for source in row.sources
    ]
    return Query(
        id=str(row.number),
        query=row.query,
        sources=tuple(sources),
        conflict_type=None if row.conflict_type is None else of_label(row.conflict_type),
        gold_answer=row.correct_answer.strip() or None,
        origin=row.origin or None,
    )


QUERIES = 458
"""Number of queries in the release."""

BY_TYPE: dict[ConflictType, int] = {
    ConflictType.NO_CONFLICT: 161,
    ConflictType.COMPLEMENTARY: 115,
    ConflictType.OPINIONS: 115,
    ConflictType.OUTDATED: 62,
    ConflictType.MISINFORMATION: 5,
}
"""Table 2."""

BY_ORIGIN = {
    "ConflictingQA": 162,
    "SituatedQA Geo": 105,
    "SituatedQA Temp": 41,
    "FreshQA": 95,
    "QACC": 55,
}
"""Table 7."""

RESULTS_PER_QUERY = 9.2
"""Section 3."""

NOT_STATED = "not stated"
"""Origin of queries whose file does not state it."""


@dataclass(frozen=True)
class Statistic:
    """A count of queries or a mean, beside the paper's; None if unknown.

    The group is "type" (Table 2), "origin" (Table 7) or "all" (figures over all queries).
    """

    group: Literal["type", "origin", "all"]
    name: str
    value: float | None
    paper: float | None


def statistics(queries: Sequence[Query], passed_over: int = 0) -> tuple[Statistic, ...]:
    """The counts by type, the counts by origin, and figures over all queries, in this order.

    Search results without text (`passed_over`) are left out of the mean number of results, since
    the paper does not say whether its 9.2 includes them.
    """
    total = len(queries)
    types = Counter(query.conflict_type for query in queries if query.conflict_type is not None)
    origins = Counter(origin_name(query.origin) for query in queries)
    # If no query states its origin, the five origins are not counted.
    stated = any(name != NOT_STATED for name in origins)
    others = sorted(origins.keys() - BY_ORIGIN.keys())
    named: dict[str, int | None] = {**BY_ORIGIN, **dict.fromkeys(others)}
    conflicting = types.total() - types[ConflictType.NO_CONFLICT]
    answerable = sum(types[kind] for kind in ANSWERABLE)
    mean = sum(len(query.sources) for query in queries) / total if total else None
    return (
        *(
            Statistic("type", category.short, types[category.type], BY_TYPE[category.type])
            for category in TAXONOMY
        ),
        *(
            Statistic("origin", name, origins[name] if stated or paper is None else None, paper)
            for name, paper in named.items()
        ),
        Statistic("all", "queries", total, QUERIES),
        Statistic("all", "search results per query", mean, RESULTS_PER_QUERY),
        Statistic("all", "search results without text", passed_over, None),
        Statistic("all", "flagged as conflicting", conflicting, 297),
        Statistic("all", "single right answer", answerable, 228),
    )


def origin_name(origin: str | None) -> str:
    """The Table 7 name for a `source` of the release, however it is spelled.

    "SituatedQA_geo" and "situated_qa (temporal)" differ; names beyond the five stay unchanged.
    """
    if not origin or not origin.strip():
        return NOT_STATED
    letters = re.sub(r"[\W_]", "", origin.casefold())
    for name in BY_ORIGIN:
        if all(part in letters for part in name.casefold().split()):
            return name
    return origin.strip()


TOKENS = 512
"""Length of a window, including the tokens that the model puts around a text."""

STRIDE = 256
"""Tokens from the start of one window to the start of the next."""

LOG: Final = "segments"
"""Name under which segments are stored: `segments.jsonl`, for all runs of a folder."""


class Segment(BaseModel, frozen=True):
    """A segment; its id is the SHA-256 of everything it depends on: model, question and page."""

    id: str
    text: str


def reader(path: Path, device: str | None = None) -> Embedder:
    """The embedding model of a sentence-transformers folder with safetensors.

    It reads whole windows, of `TOKENS` tokens, and does not normalise its vectors.
    """
    return Embedder(path, length=TOKENS, normalised=False, device=device)


def keeping(folder: RunFolder, embedder: Embedder, digest: str) -> Callable[[str, str], str]:
    """`best_segment` of a question and a page, computed only if missing from the folder.

    Args:
        folder: Locked by the caller.
        embedder: Made by `reader`; loaded only if a segment is missing.
        digest: Digest of the embedding model.

    Raises:
        InputError: The stored segments are damaged, or their file cannot be written.
    """
    log = folder.log(LOG, Segment)
    log.mend()
    known = log.read()

    def choose(query: str, page: str) -> str:
        decides = json.dumps([digest, query, page])
        key = hashlib.sha256(decides.encode()).hexdigest()
        if key not in known:
            known[key] = Segment(id=key, text=best_segment(query, page, embedder))
            log.append(known[key])
        return known[key].text

    return choose


def token_windows(text: str, tokenizer: Any, tokens: int, stride: int) -> list[str]:
    """Overlapping windows of a text, in order; as substrings, they keep white space and case.

    The last window is the first that reaches the end of the text. It may be shorter, but is always
    longer than its overlap with the window before it. A window may begin within a word.

    Args:
        text: Any text; one that fits in a window is returned unchanged.
        tokenizer: A fast tokenizer of transformers, which gives the places of tokens in the text.
        tokens: Length of a window in tokens of the text.
        stride: Tokens from the start of one window to the start of the next.

    Raises:
        ValueError: The stride is not from 1 to `tokens`, so that a token might be in no window.
    """
    if not 1 <= stride <= tokens:
        raise ValueError(f"a stride of {stride} does not suit windows of {tokens} tokens")
    # A page may be longer than the model's input, about which `verbose` would warn.
    spans: list[tuple[int, int]] = tokenizer(
        text,
        add_special_tokens=False,
        return_offsets_mapping=True,
        truncation=False,
        verbose=False,
    )["offset_mapping"]
    if len(spans) <= tokens:
        return [text]
    starts = range(0, len(spans) - tokens + stride, stride)
    return [text[spans[at][0] : spans[min(at + tokens, len(spans)) - 1][1]] for at in starts]


def best_segment(
    query: str, text: str, embedder: Embedder, tokens: int = TOKENS, stride: int = STRIDE
) -> str:
    """The window of a text whose embedding has the largest dot product with the query's.

    Args:
        query: The question.
        text: The page.
        embedder: Made by `reader`; it reads at least `tokens` tokens.
        tokens: Length of a window, including the tokens that the model adds (two for BERT-like
            models).
        stride: As in `token_windows`.

    Returns:
        The window, without white space around it; in a tie, the first. A text that fits in one
        window is returned unchanged.

    Raises:
        ValueError: The stride is invalid.
        InputError: The model cannot be loaded.
    """
    around = int(embedder.tokenizer.num_special_tokens_to_add())
    windows = token_windows(text, embedder.tokenizer, tokens - around, stride)
    if len(windows) == 1:
        return text
    (asked,) = embedder.embed([query])
    return windows[int((embedder.embed(windows) @ asked).argmax())].strip()
