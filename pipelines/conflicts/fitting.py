"""Sources that do not fit a model's context: refused, or the longest of them cut."""

from pipelines.conflicts.question import Query
from pipelines.conflicts.writer import Writer
from pipelines.evidence.judgement import Truncation
from serving.errors import RequestError


def fit_sources(query: Query, writer: Writer) -> tuple[Query, tuple[Truncation, ...]]:
    """Make the sources fit the writer's context, all together, with its longest prompt and reply.

    Segments that are longer than a common number of tokens are cut to it, the largest number with
    which the prompt fits; their beginnings stay, as do URL, title, snippet and date. All calls
    about a query are then made with the same sources, so that the server reads them once.

    Returns:
        The query as models will see it, and the sources that are cut. Without a tokenizer or a
        known context length, the query as it is.

    Raises:
        RequestError: The prompt does not fit and the settings let no source be cut, or it does not
            fit without them either.
    """
    client, max_tokens = writer.client, writer.reply_tokens
    tokenizer, context = client.tokenizer, client.model.context
    if tokenizer is None or context is None:
        return query, ()
    render = writer.longest(query)
    room = context - max_tokens
    needed = client.count(render(query))
    if needed <= room:
        return query, ()
    if not writer.settings.cut:
        raise RequestError(
            f"the sources of query '{query.id}' are too long for {client.model.name}: the prompt "
            f"has {needed:,} tokens, the context leaves {room:,} beside {max_tokens:,} for the "
            "reply; shorten them, raise max_model_len in the profile, or allow --on-overflow cut"
        )
    segments = [tokenizer.defuse(source.text) for source in query.sources]
    lengths = [len(tokenizer.encode(segment)) for segment in segments]

    def capped(cap: int) -> Query:
        sources = [
            source.model_copy(update={"text": tokenizer.cut(segment, cap) or segment[:1]})
            if length > cap
            else source
            for source, segment, length in zip(query.sources, segments, lengths, strict=True)
        ]
        return query.model_copy(update={"sources": tuple(sources)})

    def fits(cap: int) -> bool:
        return client.count(render(capped(cap))) <= room

    if not fits(1):
        raise RequestError(
            f"query '{query.id}' does not fit {client.model.name}: without the text of its "
            f"{len(segments)} sources, the prompt and {max_tokens:,} tokens for the reply already "
            f"fill the context of {context:,} tokens; raise max_model_len in the profile"
        )
    cap, too_long = 1, max(lengths)
    while too_long - cap > 1:
        middle = (cap + too_long) // 2
        cap, too_long = (middle, too_long) if fits(middle) else (cap, middle)
    return capped(cap), tuple(
        Truncation(text=f"document {number}", tokens=length, kept=cap)
        for number, length in enumerate(lengths, 1)
        if length > cap
    )
