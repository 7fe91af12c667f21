"""Sources that do not fit a model's context: refused, or the longest of them cut."""

from collections.abc import Sequence

from pipelines.conflicts.question import Query
from pipelines.conflicts.writer import Messages, Writer
from pipelines.evidence.fitting import fit_together
from pipelines.evidence.judgement import Truncation


def fit_sources(query: Query, writer: Writer) -> tuple[Query, tuple[Truncation, ...]]:
    """Make the sources fit the writer's context, all together, with its longest prompt and reply.

    All calls about a query are then made with the same sources, so that the server reads them once.
    Of a source that is cut, the beginning stays, as do URL, title, snippet and date.

    Returns:
        The query as models will see it, and the sources that are cut.

    Raises:
        RequestError: As `fit_together`.
    """
    longest = writer.longest(query)

    def with_texts(texts: Sequence[str]) -> Query:
        sources = (
            source.model_copy(update={"text": text})
            for source, text in zip(query.sources, texts, strict=True)
        )
        return query.model_copy(update={"sources": tuple(sources)})

    def messages(texts: Sequence[str]) -> Messages:
        return longest(with_texts(texts))

    texts, cuts = fit_together(
        [source.text for source in query.sources],
        writer.client,
        messages,
        max_tokens=writer.room,
        cut=writer.settings.cut,
        name=f"the sources of query '{query.id}'",
    )
    return with_texts(texts), cuts
