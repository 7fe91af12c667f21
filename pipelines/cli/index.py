"""`contested index`: make a user's documents searchable."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from pipelines.cli.flat import flat
from pipelines.files import SAMPLES_FOLDER
from pipelines.option import Only, Option, Options
from pipelines.report.progress import progress, say
from pipelines.retrieval import index
from pipelines.retrieval.dense import Embedder, default_embedder
from pipelines.retrieval.documents import OVERLAP, WORDS, cut, read_documents

SAMPLES = SAMPLES_FOLDER / "documents"
"""The bundled documents: thirty notes on six questions on which people disagree."""


class IndexOptions(Options):
    """How documents are cut into passages, and how passages are searched."""

    documents: Annotated[
        list[Path] | None,
        Option(
            "Files and folders: Markdown, text, JSON Lines.",
            shown="bundled documents",
            argument=True,
        ),
    ] = None
    out: Annotated[Path, Option("Folder of the index; created, or replaced.")] = Path("index")
    embedder: Annotated[
        Path | None,
        Option(
            "Folder of a sentence-transformers model, for search by meaning.",
            shown="all-MiniLM-L6-v2, if its package is installed",
            only=Only(lambda options: not options.words_only, "--words-only"),
        ),
    ] = None
    words_only: Annotated[bool, Option("Search by words (BM25) only, without embeddings.")] = False
    words: Annotated[int, Field(ge=20), Option("Maximum words of a passage.")] = WORDS
    overlap: Annotated[int, Field(ge=0), Option("Sentences shared with the previous passage.")] = (
        OVERLAP
    )
    dry_run: Annotated[bool, Option("Only count the passages.")] = False


@flat
def build(options: IndexOptions) -> None:
    """Build an index of documents. If a build is killed, the old index stays.

    Examples:
        contested index build

        contested index build notes report.txt --out index
    """
    documents = read_documents(options.documents or [SAMPLES])
    passages = cut(documents, words=options.words, overlap=options.overlap)
    path = None if options.words_only else options.embedder or default_embedder()
    counts = f"{len(documents):,} documents, {len(passages):,} passages"
    if options.dry_run:
        print(f"{counts}, to be searched by words{f' and by {path.name}' if path else ''}")
        return
    embedder = Embedder(path) if path else None
    with progress("passages", len(passages)) as bar:
        index.build(passages, options.out, embedder, bar.advance)
    how = f"words and {embedder.path.name} on {embedder.computes_on}" if embedder else "words alone"
    say(f"{options.out}: {counts}, searched by {how}")
