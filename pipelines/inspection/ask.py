"""What documents say for and against a claim (ConRAG)."""

import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pipelines.conrag.settings import AnswerOptions
from pipelines.data.records import Document, NonEmpty
from pipelines.errors import InputError
from pipelines.experiment.cost import spent
from pipelines.experiment.experiment import Models
from pipelines.experiment.options import judging
from pipelines.inspection.task import (
    Inspection,
    Query,
    Shown,
    Task,
    Tell,
    documents_option,
    models_used,
    telling,
)
from pipelines.option import Option, Options

if TYPE_CHECKING:
    from pipelines.conrag.answer import Answer
    from pipelines.retrieval.dense import Embedder
    from pipelines.retrieval.index import Index, Retrieved


class QueryAsked(Options):
    """A claim or a question, and the index or documents to search."""

    query: Annotated[
        Query,
        Option(
            "A claim or a question. Yes-or-no questions are turned into claims; other questions "
            "need --generator model.",
            argument=True,
        ),
        Shown("line", "Claim or question"),
    ]
    index: Annotated[Path, Option("The index, from `contested index build`.")] = Path("index")
    documents: Annotated[
        NonEmpty[Document] | None,
        documents_option("Text files to search instead of an index.", list[Path] | None),
        Shown("documents"),
    ] = None


def claim_of(text: str, options: AnswerOptions) -> str | None:
    """The claim that a query makes: itself, or a yes-or-no question turned into a statement.

    None for other questions: a model answers them first, and passages are tagged against the
    answer.

    Raises:
        InputError: It is another kind of question, and no model writes.
    """
    from pipelines.text.declarative import affirmed

    claim = affirmed(text) if text.endswith("?") else text
    if claim is None and not options.writes:
        raise InputError(
            f"'{text}' cannot be turned into a claim; have a language model answer it first with "
            "--generator model, or write the claim that passages are to support or refute"
        )
    return claim


def retrieve(asked: QueryAsked, text: str, options: AnswerOptions, tell: Tell) -> "list[Retrieved]":
    """Retrieve passages for the answer, from the documents or the index.

    Raises:
        InputError: The index is missing, or has no embeddings for the method.
    """
    from pipelines.retrieval.documents import cut
    from pipelines.retrieval.index import Index, build

    def search(index: "Index") -> "list[Retrieved]":
        method = options.method or ("hybrid" if index.about.model else "bm25")
        return index.search(text, k=options.settings.depth, method=method)

    if asked.documents is None:
        return search(Index(asked.index, embedder(options.embedder) if options.embedder else None))
    path = options.embedding()
    tell("indexing the documents")
    with tempfile.TemporaryDirectory(prefix="contested-") as folder:
        return search(
            build(cut(asked.documents), Path(folder) / "index", embedder(path) if path else None)
        )


@lru_cache(maxsize=1)
def embedder(path: Path) -> "Embedder":
    """The embedding model of a folder, loaded on first use."""
    from pipelines.retrieval.dense import Embedder

    return Embedder(path)


async def ask(
    asked: QueryAsked, options: AnswerOptions, models: Models, tell: Tell
) -> "Inspection[Answer]":
    """Answer with the evidence for and against a claim, in cited sentences.

    Passages are retrieved, tagged as supporting or refuting, and grouped. The conflict score says
    how evenly the two sides are balanced. By default the bundled tagger judges and the answer
    quotes the passages, so no server is needed.

    Examples:
        contested ask "The Vinland Map is a genuine fifteenth-century map."

        contested ask "Did humans hunt the mammoth to extinction?" --html mammoth.html

        contested ask "When did the last mammoths die?" --generator model --packet 4
    """
    from pipelines.conrag.blocks import answer_blocks
    from pipelines.conrag.generation import generator
    from pipelines.conrag.pipeline import conrag
    from pipelines.report.explorer import single

    models = telling(models, tell)
    claim = claim_of(asked.query, options)
    retrieved = retrieve(asked, claim or asked.query, options, tell)
    judge = models.judge(judging(options.judging, options.on_overflow))
    writer = generator(models.asked, models.prompts) if options.writes else None
    tell("reading the passages")
    answer = await conrag(
        claim or asked.query,
        retrieved,
        judge=judge.label,
        settings=options.settings,
        generator=writer,
        question=claim is None,
    )
    used = models_used(
        tagger=judge.tagger,
        judge=judge.model.client.model if judge.model else None,
        writer=writer.client.model if writer else None,
    )
    return Inspection(
        answer,
        spent(models.client, judge),
        title="What the documents say",
        view=lambda _: single("conrag", answer.query, answer_blocks(answer), used),
        about={
            "query": answer.query,
            "index": str(asked.index) if asked.documents is None else "the documents given",
        },
    )


ASK = Task(
    name="ask",
    title="Ask documents",
    asked=QueryAsked,
    options=AnswerOptions,
    needs=AnswerOptions.needs,
    inspect=ask,
    form=("judge", "generator"),
)
