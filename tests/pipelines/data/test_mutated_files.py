"""Every loader, on files of its format that were changed at random: they are read or refused.

Files begin as real ones, or as small ones of our own where no real one is at hand. Then values are
exchanged, removed and doubled anywhere in them, or bytes are. Whatever comes of that, a loader
returns what it read, or raises an InputError of one line.
"""

import copy
import gzip
import json
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import islice
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from releases import AMBIGDOCS, ASQA, CONFLICTINGQA, FAITHEVAL, MACNOISE, RAGTRUTH, RAMDOCS

from nli import pairs
from nli.errors import TaggerError
from pipelines.conflictscore import writing as assignment
from pipelines.data import (
    alce,
    ambigdocs,
    climate_fever,
    conflictingqa,
    conflictqa,
    conflicts,
    faitheval,
    fever,
    fool_me_twice,
    jsonl,
    macnoise,
    procon,
    ragtruth,
    ramdocs,
    scifact,
    truthfulqa,
    wice,
    wikicontradict,
)
from pipelines.errors import InputError
from pipelines.judge import examples
from pipelines.npov.example import read_annotated

ROWS = 3
"""Of a real file, so many entries are changed and read."""

QUICK = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
"""The same changes each time; with more examples and without `derandomize`, others are found."""

SAMPLES = jsonl.SAMPLES.parent

CLAIM = {
    "id": 1,
    "verifiable": "VERIFIABLE",
    "label": "SUPPORTS",
    "claim": "Ada built it.",
    "evidence": [[[1, 2, "Bridge", 0]]],
}
OWN: dict[str, tuple[Callable[[Path], object], list[Any]]] = {
    "ambigdocs": (ambigdocs.read, [AMBIGDOCS]),
    "faitheval": (faitheval.read, [FAITHEVAL]),
    "conflictingqa": (conflictingqa.read, [CONFLICTINGQA]),
    "macnoise": (macnoise.read, [MACNOISE]),
    "fever": (fever.read, [CLAIM]),
    "alce": (alce.read, [ASQA]),
    "ragtruth": (ragtruth.read, [RAGTRUTH]),
    "ramdocs": (ramdocs.read, [RAMDOCS]),
}
REAL: dict[str, tuple[Callable[[Path], object], str]] = {
    "climate-fever": (climate_fever.read, "climate_fever/climate-fever.jsonl.gz"),
    "conflictqa": (conflictqa.read, "conflictqa/strategyqa_gpt4.jsonl.gz"),
    "conflicts": (conflicts.read, "conflicts/conflicts_partial.jsonl.gz"),
    "fool-me-twice": (fool_me_twice.read, "fm2/dev.jsonl.gz"),
    "pairs": (pairs.read_pairs, "nli/dev.jsonl.gz"),
    "procon": (procon.read, "procon/procon_topics.json"),
    "scifact": (scifact.read, "citint/claims_test.jsonl.gz"),
    "scifact, corpus": (scifact.read_corpus, "citint/corpus.jsonl.gz"),
    "wice": (wice.read, "wice/claim_dev.jsonl.gz"),
    "wikicontradict": (wikicontradict.sides, "wikicontradict/wiki_contradict_refined.jsonl.gz"),
    "wikicontradict, judged": (
        wikicontradict.judged_answers,
        "wikicontradict/wiki_contradict_simple_humaneval.jsonl.gz",
    ),
}
NPOV = {
    "id": "x",
    "question": "Is it good?",
    "topic": "it",
    "pro": ["It is {good}."],
    "con": ["It is bad."],
    "response": "It is good. It is blue.",
    "hallucination": "full",
    "hallucinated": ["It is blue."],
    "coverage": "full",
    "uncovered": ["It is bad."],
}
OWN["npov"] = (read_annotated, [NPOV])
SAMPLED: dict[str, tuple[Callable[[Path], object], Path]] = {
    "responses": (jsonl.read, jsonl.SAMPLES),
    "claims": (examples.read, SAMPLES / "conflict_detection.jsonl"),
    "reports": (assignment.read, jsonl.SAMPLES),
    "truthfulqa": (truthfulqa.read, SAMPLES / "misconceptions.jsonl"),
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def places(value: Any, within: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where something stands in a value of JSON, the whole left out."""
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    found = [(*within, key) for key, _ in inner]
    return found + [place for key, each in inner for place in places(each, (*within, key))]


def at(value: Any, place: Sequence[Any]) -> Any:
    """What stands at a place."""
    return reduce(getitem, place, value)


@st.composite
def mutated(draw: st.DrawFn, rows: list[Any]) -> list[Any]:
    """The rows with one to four values exchanged, removed, doubled or moved."""
    made = copy.deepcopy(rows)
    for _ in range(draw(st.integers(1, 4))):
        every = places(made)
        if not every:
            break
        *outer, key = draw(st.sampled_from(every))
        holder = at(made, outer)
        match draw(st.sampled_from(["replace", "remove", "double", "move", "wrap"])):
            case "replace":
                holder[key] = draw(json_values)
            case "remove":
                del holder[key]
            case "double" if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[key]))
            case "move":
                holder[key] = copy.deepcopy(at(made, draw(st.sampled_from(every[:200]))))
            case _:
                holder[key] = [holder[key]]
    return made


def reads_or_refuses(read: Callable[[Path], object], path: Path) -> None:
    try:
        read(path)
    except (InputError, TaggerError) as error:
        assert "\n" not in str(error)
        assert str(path) in str(error)


def first_of(path: Path) -> list[Any]:
    """The first entries of a file of lines, or of one list, gzipped or not."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode()
    if text.lstrip()[0] == "[":
        found: list[Any] = json.loads(text)[:ROWS]
        return found
    return [json.loads(line) for line in islice(text.splitlines(), ROWS)]


def check(read: Callable[[Path], object], rows: list[Any], folder: Path) -> None:
    """Rows as they are can be read; changed ones are read or refused, as are changed bytes."""
    path = folder / "data.jsonl"

    def write(rows: list[Any], lines: bool) -> bytes:
        if not lines:
            return json.dumps(rows).encode()
        return "".join(json.dumps(row) + "\n" for row in rows).encode()

    path.write_bytes(write(rows, lines=True))
    read(path)

    @settings(QUICK, max_examples=40)
    @given(mutated(rows), st.booleans())
    def values(changed: list[Any], lines: bool) -> None:
        path.write_bytes(write(changed, lines))
        reads_or_refuses(read, path)

    whole = write(rows, lines=True)

    @settings(QUICK, max_examples=25)
    @given(st.integers(0, len(whole)), st.integers(0, 40), st.binary(max_size=12), st.booleans())
    def octets(place: int, gone: int, put: bytes, packed: bool) -> None:
        raw = whole[:place] + put + whole[place + gone :]
        path.write_bytes(gzip.compress(raw) if packed else raw)
        reads_or_refuses(read, path)

    values()
    octets()


@pytest.mark.parametrize("name", OWN)
def test_small_files(name: str, tmp_path: Path) -> None:
    read, rows = OWN[name]
    check(read, rows, tmp_path)


@pytest.mark.parametrize("name", SAMPLED)
def test_bundled_samples(name: str, tmp_path: Path) -> None:
    read, path = SAMPLED[name]
    check(read, first_of(path), tmp_path)


@pytest.mark.parametrize("name", REAL)
def test_released_files(name: str, released_data: Path, tmp_path: Path) -> None:
    read, file = REAL[name]
    check(read, first_of(released_data / file), tmp_path)
