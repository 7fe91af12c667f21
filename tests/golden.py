"""Frozen results and tables of every experiment, from a scripted endpoint and the shipped tagger.

    PYTHONPATH=. python tests/golden.py            # rewrite tests/golden/, all runs or named ones
    PYTHONPATH=. python tests/golden.py debates

The runs use bundled samples, a scripted endpoint whose replies depend only on the prompt and its
schema, the shipped tagger in fp32, and a tiny decoder. `test_golden.py` repeats them and compares.
Rewrite the files only in a commit that says why a figure changes.
"""

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any
from unittest.mock import patch

from by_schema import reply, weigh
from scripted import KEY, Scripted
from tiny_loaded import saved

from pipelines.cli.app import main

KEPT = Path(__file__).parent / "golden"

TEST_SETS = Path(__file__).parent / "npov_test_sets.jsonl"
"""Four responses of a template, each with the errors put into it, and an organic one."""

ALCE = [
    {
        "sample_id": f"s{number}",
        "question": "When did the tower open?",
        "qa_pairs": [
            {"question": "When?", "short_answers": ["1889"], "context": "", "wikipage": None}
        ],
        "answer": "It opened in 1889.",
        "docs": [
            {"id": f"{n}", "title": "Tower", "text": text, "score": 1.0}
            for n, text in enumerate(
                ("The tower opened in 1889.", "The tower opened in 1902.", "It is tall."), 1
            )
        ],
    }
    for number in range(2)
]

RUNS = {
    "scores": ["conflictscore --limit 8 {llm}"],
    "scores-explained": ["conflictscore --evidence json --claims salient --limit 4 {llm}"],
    "scores-tagged": ["conflictscore --judge tagger --claims sentences --limit 6"],
    "scores-cascade": ["conflictscore --judge cascade --limit 6 {llm}"],
    "detection": [
        "conflict-detection --judge tagger --limit 10",
        "conflict-detection {llm} --limit 10",
        "conflict-detection --judge cascade --risk 0.1 --limit 10 {llm}",
    ],
    "reports": ["report-writing {llm} --limit 2"],
    "truth": [
        "truthfulqa {llm} --limit 3",
        "truthfulqa --name tagger --judge tagger --claims sentences --truth tagger --limit 3 {llm}",
    ],
    "both-sides": ["both-sides --judge tagger --claims sentences"],
    "conrag": [
        "conrag --method bm25 --limit 8",
        "conrag --dataset alce --data {alce} --judge tagger {llm}",
    ],
    "conrag-written": ["conrag --method bm25 --generator model --among all --limit 8 {llm}"],
    "debates": [
        "madam-rag --limit 8 {llm}",
        "madam-rag --experiment rounds --limit 3 {llm}",
        "madam-rag --experiment support --limit 3 {llm}",
        "madam-rag --experiment misinformation --limit 3 {llm}",
    ],
    "debates-released": ["madam-rag --as-released --sample 4 --seed 3 {llm}"],
    "conflicts": [
        "conflicts --limit 6 {llm}",
        "conflicts --judge tagger --name second --against all --limit 6 {llm}",
    ],
    "npov": [
        f"npov --data {{test_sets}} --model {{tiny}} --precision fp32 --detector {detector}"
        for detector in ("salience", "classifier")
    ],
}
"""Folder -> the commands that fill it, in order."""

DIGITS = 4
"""Decimals to keep; the tagger's last ones depend on processor and batch."""

CLOSE = 0.002
"""Tolerance for figures from another processor."""

CLOSE_SHOWN = 0.0101
"""Tolerance for figures inside text, which have two decimals."""

_NUMBER = re.compile(r"-?\d+\.\d+")
_IDENTITY = re.compile(
    r"127\.0\.0\.1:\d+|\b[0-9a-f]{12,64}\b|/[\w./-]*/(?=[\w.-]+)|(?<=version )[\d.]+"
)
"""Ports, digests and folders, which vary between runs or with the code."""


@dataclass(frozen=True)
class Golden:
    """Everything the runs need: a home folder, input files, and an endpoint."""

    home: Path
    given: dict[str, list[str]]

    def run(self, name: str) -> dict[str, Any]:
        """Run the commands of a folder: file name -> its contents, for results and tables."""
        folder = self.home / "out" / name
        for command in RUNS[name]:
            words: list[str] = []
            for word in ("run", *command.split()):
                words += self.given.get(word, [word])
            code = main([*words, "--on-error", "skip", "--out", str(folder)])
            if code:
                raise RuntimeError(f"{name}: {command}: exit code {code}")
        left: dict[str, Any] = {}
        for path in sorted(folder.glob("*.jsonl")):
            results = sorted(map(json.loads, lines_of(path)), key=json.dumps)
            left[path.name] = [shortened(result) for result in results]
        for path in sorted(folder.glob("tables/*.json")):
            left[f"tables/{path.name}"] = shortened(json.loads(path.read_text("utf-8")))
        return left


@contextmanager
def golden() -> Iterator[Golden]:
    """Everything the runs need, for the duration of the block."""
    with (
        tempfile.TemporaryDirectory() as name,
        Scripted(reply=reply, weigh=weigh) as endpoint,
        patch("pipelines.judge.tagger.native_format", return_value="fp32"),
        patch.dict(os.environ, {"CONTESTED_HOME": name, "CONTESTED_API_KEY": KEY}),
    ):
        home = Path(name)
        made = home / "made"
        made.mkdir()
        (made / "asqa_eval.json").write_text(json.dumps(ALCE))
        given = {
            "{alce}": [str(made / "asqa_eval.json")],
            "{test_sets}": [str(TEST_SETS)],
            "{tiny}": [str(saved(made / "tiny"))],
            "{llm}": ["--endpoint", endpoint.url],
        }
        yield Golden(home, given)


def shortened(value: Any) -> Any:
    """A JSON value with rounded numbers, without the parts that vary between runs."""
    match value:
        case dict():
            return {key: shortened(part) for key, part in value.items()}
        case list():
            return [shortened(part) for part in value]
        case float():
            return round(value, DIGITS)
        case str():
            return _IDENTITY.sub("…", value)
    return value


def differences(kept: Any, made: Any, place: str = "") -> Iterator[str]:
    """Where two JSON values differ by more than `CLOSE`, one line per difference."""
    if isinstance(kept, dict) and isinstance(made, dict):
        for key in sorted({*kept} ^ {*made}):
            yield f"{place}.{key}: only in what {'was kept' if key in kept else 'is made'}"
        for key in sorted({*kept} & {*made}):
            yield from differences(kept[key], made[key], f"{place}.{key}")
    elif isinstance(kept, list) and isinstance(made, list):
        if len(kept) != len(made):
            yield f"{place}: {len(kept)} became {len(made)}"
        for number, (one, other) in enumerate(zip(kept, made, strict=False)):
            yield from differences(one, other, f"{place}[{number}]")
    elif not alike(kept, made):
        yield f"{place}: {kept!r} became {made!r}"


def alike(kept: Any, made: Any) -> bool:
    """Whether two values are equal up to small differences between processors."""
    if isinstance(kept, float) and isinstance(made, float):
        return abs(kept - made) <= CLOSE
    if isinstance(kept, str) and isinstance(made, str):
        pairs = zip(_NUMBER.findall(kept), _NUMBER.findall(made), strict=False)
        far = any(abs(float(one) - float(other)) > CLOSE_SHOWN for one, other in pairs)
        return not far and _NUMBER.split(kept) == _NUMBER.split(made)
    return bool(kept == made)


def lines_of(path: Path) -> list[str]:
    """The lines of a JSONL file; U+2028 and similar characters do not end a line."""
    return path.read_text("utf-8").split("\n")[:-1]


def read(name: str) -> dict[str, Any]:
    """The stored contents of a run folder."""
    folder = KEPT / name
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*.json*")):
        by_line = path.suffix == ".jsonl"
        value = [*map(json.loads, lines_of(path))] if by_line else json.loads(path.read_text())
        found[path.relative_to(folder).as_posix()] = value
    return found


def write(name: str, left: dict[str, Any]) -> None:
    """Replace the stored contents of a run folder."""
    folder = KEPT / name
    rmtree(folder, ignore_errors=True)
    for file, value in left.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = value if path.suffix == ".jsonl" else [value]
        wide = None if path.suffix == ".jsonl" else 1
        texts = (json.dumps(line, ensure_ascii=False, indent=wide) for line in lines)
        path.write_text("".join(f"{text}\n" for text in texts), "utf-8")


if __name__ == "__main__":
    with golden() as runs:
        for folder_name in sys.argv[1:] or RUNS:
            write(folder_name, runs.run(folder_name))
