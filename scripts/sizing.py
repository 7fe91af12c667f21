"""Calls and tokens per example of every experiment, by dry runs; for docs/sizing.md.

    python scripts/sizing.py [DATA] [--profile NAME] [--out FOLDER]

Over the bundled samples, and over the released sets that DATA, a folder of them, has. Nothing is
asked. First come the least and the most, then what examples took that the cache and FOLDER have
answered, for instance after `contested run NAME --limit 20 --out FOLDER`, and how many those are.
"""

import argparse
import asyncio
import gzip
import tempfile
from pathlib import Path
from typing import Any

from pipelines import papers
from pipelines.experiment.forecast import Forecast, Range
from pipelines.experiment.rehearse import forecast

RUNS: dict[str, dict[str, Any]] = {
    "ConflictScore": {"experiment": "conflictscore"},
    "Conflict Detection": {"experiment": "conflict-detection"},
    "ConRAG, written": {"experiment": "conrag", "generator": "llm"},
    "MADAM-RAG, its baselines": {"experiment": "madam-rag"},
    "CONFLICTS": {"experiment": "conflicts", "on_overflow": "cut"},
    "report writing": {"experiment": "report-writing", "on_overflow": "cut"},
    "TruthfulQA": {"experiment": "truthfulqa", "on_overflow": "cut"},
}
"""Row -> experiment and options; the rest are defaults, over the bundled samples."""

RELEASED = {
    "MADAM-RAG, its baselines; RAMDocs": ("madam-rag", "ramdocs/RAMDocs_250.jsonl"),
    "CONFLICTS; part as released": ("conflicts", "conflicts/conflicts_partial.jsonl.gz"),
}
"""Row -> experiment and a file below DATA."""


def row(title: str, options: dict[str, Any], shared: dict[str, Any], empty: Path) -> str:
    """A line of the table: bounds as if nothing were answered, then what answered ones took."""
    experiment = papers.experiment(options["experiment"])
    given = {name: value for name, value in options.items() if name != "experiment"}
    given |= {"profile": shared["profile"], "on_error": "skip"}

    def found(out: Path, cache: Path | None) -> Forecast:
        chosen = experiment.options.model_validate(given | {"out": out, "cache": cache})
        return asyncio.run(forecast(experiment, experiment.plan(chosen), chosen))

    bounds = found(empty, empty / "empty.sqlite")
    known = found(shared["out"] or empty, None)
    figures = (bounds.amounts.calls, bounds.amounts.read, bounds.amounts.written)
    cells = [_each(each, bounds.items) for each in figures]
    if known.measured:
        took, by = known.took, known.measured
        each = (took.calls / by, took.prompt_tokens / by, took.completion_tokens / by)
        cells += [f"{by}: {each[0]:,.0f}", f"{each[1]:,.0f}", f"{each[2]:,.0f}"]
    else:
        cells += ["", "", ""]
    return f"| {title} | {bounds.items:,} {experiment.counted} | {' | '.join(cells)} |"


def _each(total: Range, items: int) -> str:
    low, high = (f"{value / items:,.0f}" for value in (total.low, total.high))
    return low if low == high else f"{low} to {high}"


def unpacked(path: Path, folder: Path) -> Path:
    """The file, without its compression."""
    if path.suffix != ".gz":
        return path
    plain = folder / path.stem
    plain.write_bytes(gzip.decompress(path.read_bytes()))
    return plain


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, nargs="?", help="folder of released data sets")
    parser.add_argument("--profile", help="whose models' tokenizers count")
    parser.add_argument("--out", type=Path, help="run folder with results, to expect more of")
    given = parser.parse_args()
    bounds, took = ("calls | read | written",) * 2
    print(f"| pipeline | examples | {bounds} | measured: {took} |")
    print(f"|---|---|{'---|' * 6}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        shared = {"out": given.out, "profile": given.profile}
        for title, options in RUNS.items():
            print(row(title, options, shared, folder), flush=True)
        for title, (name, file) in RELEASED.items():
            if given.data is not None and (given.data / file).is_file():
                path = unpacked(given.data / file, folder)
                options = {"experiment": name, "data": path} | (
                    {"on_overflow": "cut"} if name == "conflicts" else {}
                )
                print(row(title, options, shared | {"out": None}, folder), flush=True)


if __name__ == "__main__":
    main()
