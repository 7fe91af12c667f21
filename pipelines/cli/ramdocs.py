"""`contested ramdocs`: questions with ambiguity, misinformation and noise, as RAMDocs has them."""

import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import Field
from rich.console import Console

from pipelines.cli.flat import flat
from pipelines.cli.progress import STDERR
from pipelines.cli.tagging import show
from pipelines.data import ambigdocs
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.files import check_writable, read_bytes, replace_text
from pipelines.madam_rag.build import (
    PASSAGE_WORDS,
    QUESTIONS,
    Counts,
    build,
    own_passages,
)
from pipelines.madam_rag.data import statistics
from pipelines.madam_rag.tables import averages
from pipelines.option import Option, Options
from pipelines.report.terminal import plain
from pipelines.retrieval import index
from pipelines.retrieval.documents import cut, read_documents

app = typer.Typer(
    no_args_is_help=True,
    help="Build data like RAMDocs, for `contested run madam-rag`, from AmbigDocs.",
)

RECORD = ".build.json"
"""Ends the name of the file beside the data that says what it was built from."""


app.callback()(lambda: None)  # keeps `build` a subcommand while it is the only one


class BuildOptions(Options):
    """What is built, and from what."""

    ambigdocs: Annotated[Path, Option("test.json of AmbigDocs, or another of its splits.")]
    passages: Annotated[
        list[Path] | None,
        Option(
            "Files and folders of documents, searched for further support and for noise.",
            shown="the documents of AmbigDocs",
        ),
    ] = None
    out: Annotated[Path, Option("The file to write, JSON Lines.")] = Path("ramdocs.jsonl")
    questions: Annotated[int, Field(ge=1), Option("Draw at most N questions.")] = QUESTIONS
    seed: Annotated[int, Option("Decides everything that is drawn.")] = 0


@app.command("build")
@flat
def build_ramdocs(options: BuildOptions) -> None:
    """Draw ambiguous questions with right, wrong and irrelevant documents, and count them.

    Each question keeps one to three right answers, each with one to three documents. Up to two
    documents give a wrong answer, exchanged for the right one; up to two answer nothing. Beside
    the file stands one that ends in `.build.json`, with the seed, what was read and all counts.

    Examples:
        contested ramdocs build --ambigdocs ambigdocs.json

        contested ramdocs build --ambigdocs ambigdocs.json --passages notes --questions 2
    """
    record = options.out.with_name(options.out.name + RECORD)
    inputs = [options.ambigdocs, *(options.passages or ())]
    if options.out.resolve() in {path.resolve() for path in inputs}:
        raise InputError(f"--out {options.out} is a file that is read; name another")
    check_writable(options.out)
    questions = ambigdocs.read(options.ambigdocs)
    if options.passages:
        passages = cut(read_documents(options.passages), words=PASSAGE_WORDS, overlap=0)
        named = ", ".join(path.name for path in options.passages)
    else:
        passages, named = own_passages(questions), options.ambigdocs.name
    digest = hashlib.sha256(read_bytes(options.ambigdocs)).hexdigest()
    with STDERR.status(f"{len(passages):,} passages"), _searchable(passages) as search:
        made = build(questions, search, most=options.questions, seed=options.seed)
    about = {
        "ambigdocs": _source(options.ambigdocs.name, digest, questions),
        "passages": _source(named, _digest(passages), passages),
        "seed": options.seed,
        "counts": made.counts.model_dump(),
    }
    replace_text(options.out, "".join(f"{each.model_dump_json()}\n" for each in made.questions))
    replace_text(record, json.dumps(about, indent=2) + "\n")
    _tell(about, made.counts, options)
    show(averages(statistics(made.questions), options.out.name), Console())
    STDERR.print(f"{len(made.questions):,} questions: {plain(str(options.out))}", soft_wrap=True)


@contextmanager
def _searchable(passages: Sequence[Document]) -> Iterator[index.Index]:
    """An index of words that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="contested-ramdocs-") as folder:
        yield index.build(passages, Path(folder))


def _digest(passages: Iterable[Document]) -> str:
    """SHA-256 of passages, one JSON object a line."""
    found = hashlib.sha256()
    for passage in passages:
        found.update(passage.model_dump_json(exclude_none=True).encode() + b"\n")
    return found.hexdigest()


def _source(name: str, digest: str, entries: Sequence[object]) -> dict[str, Any]:
    """A file, or several, and the SHA-256 of what was read of them."""
    return {"name": name, "sha256": digest, "entries": len(entries)}


def _tell(about: dict[str, Any], counts: Counts, options: BuildOptions) -> None:
    read, searched = about["ambigdocs"], about["passages"]
    lines = [
        f"AmbigDocs: {read['name']}, {counts.read:,} questions (SHA-256 {read['sha256'][:12]})",
        f"searched: {searched['name']}, {searched['entries']:,} passages "
        f"(SHA-256 {searched['sha256'][:12]})",
        f"seed {options.seed}; {counts.unanswered:,} questions passed over, as no document of "
        "theirs states the answer",
        *(
            f"{kind}: {made:,} of {counts.drawn[kind]:,} drawn"
            for kind, made in counts.made.items()
        ),
        f"misinfo: {counts.copies:,} are copies of a document that is shown, with the answer "
        "exchanged",
    ]
    if counts.questions < options.questions:
        lines.append(f"only {counts.questions:,} of {options.questions:,} questions are to be had")
    for line in lines:
        STDERR.print(plain(line), soft_wrap=True)
