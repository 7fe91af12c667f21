"""Texts cut to fit a model's context with the prompt around them."""

import asyncio
from collections.abc import Callable, Sequence

from pipelines.data.records import Document
from pipelines.judge.judgement import Truncation
from serving.calls import Completion, Sampling
from serving.client import Client
from serving.errors import RequestError
from serving.tokens import Message


async def fit(
    text: str,
    client: Client,
    render: Callable[[str], Sequence[Message]],
    *,
    max_tokens: int,
    cut: bool,
    name: str,
    called: str,
) -> tuple[str, tuple[Truncation, ...]]:
    """One text cut to fit, as by `fit_together`, and how it was cut; records call it `called`."""
    if client.tokenizer is None or client.prompt_room(max_tokens) is None:
        return text, ()
    (fitted,), cuts = await asyncio.to_thread(
        fit_together,
        [text],
        client,
        lambda texts: render(texts[0]),
        max_tokens=max_tokens,
        cut=cut,
        name=name,
    )
    return fitted, tuple(truncation.model_copy(update={"text": called}) for truncation in cuts)


async def chat_about(
    documents: Sequence[Document],
    client: Client,
    render: Callable[[Sequence[str]], Sequence[Message]],
    *,
    max_tokens: int,
    cut: bool,
    name: str,
    longest: Callable[[Sequence[str]], Sequence[Message]] | None = None,
) -> tuple[Completion, tuple[Truncation, ...]]:
    """A model's text about documents, and which of them it saw only in part.

    They are cut as by `fit_together`, for the prompt of `longest` if given, else of `render`.
    """
    texts, cuts = await asyncio.to_thread(
        fit_together,
        [document.as_read() for document in documents],
        client,
        longest or render,
        max_tokens=max_tokens,
        cut=cut,
        name=name,
    )
    return await client.chat(render(texts), Sampling(max_tokens=max_tokens)), cuts


def fit_together(
    texts: Sequence[str],
    client: Client,
    render: Callable[[Sequence[str]], Sequence[Message]],
    *,
    max_tokens: int,
    cut: bool,
    name: str,
) -> tuple[tuple[str, ...], tuple[Truncation, ...]]:
    """Cut the longest of several texts until their prompt fits the context.

    All are cut to the largest common number of tokens that fits, from the end; shorter texts stay
    whole. Counting long texts takes a while, best in a thread.

    Args:
        texts: Texts that may be cut.
        client: Its tokenizer and context decide.
        render: Makes the prompt around the texts.
        max_tokens: Room to leave for the reply.
        cut: Whether texts may be cut.
        name: The prompt's subject, for errors: "the documents of 'tower'".

    Returns:
        The fitting texts, and the cuts. Without a tokenizer or a known context length, the texts
        unchanged.

    Raises:
        RequestError: The prompt does not fit and texts may not be cut, or it does not fit even
            without them.
    """
    tokenizer, room = client.tokenizer, client.prompt_room(max_tokens)
    if tokenizer is None or room is None or client.fits(render(texts), max_tokens):
        return tuple(texts), ()
    single = len(texts) == 1
    safe = [tokenizer.defuse(text) for text in texts]
    lengths = [len(tokenizer.encode(text)) for text in safe]

    def capped(cap: int) -> list[str]:
        return [
            (tokenizer.cut(whole, cap) or whole[:1]) if length > cap else text
            for text, whole, length in zip(texts, safe, lengths, strict=True)
        ]

    def fits(cap: int) -> bool:
        return client.fits(render(capped(cap)), max_tokens)

    if not fits(1):
        raise RequestError(
            f"{name} {'does' if single else 'do'} not fit {client.model.name}: the prompt around "
            f"{'it' if single else 'them'} and the reply alone fill the context of "
            f"{client.model.context:,} tokens; raise max_model_len in the profile"
        )
    if not cut:
        needed = client.count(render(texts))
        raise RequestError(
            f"{name} {'is' if single else 'are'} too long for {client.model.name}: the prompt has "
            f"{needed:,} tokens, the context leaves {room:,} beside {max_tokens:,} for the reply; "
            f"shorten {'it' if single else 'them'}, raise max_model_len in the profile, or allow "
            "--on-overflow cut"
        )
    cap, too_long = 1, max(lengths)
    while too_long - cap > 1:
        middle = (cap + too_long) // 2
        cap, too_long = (middle, too_long) if fits(middle) else (cap, middle)
    return tuple(capped(cap)), tuple(
        Truncation(text=f"document {number}", tokens=length, kept=cap)
        for number, length in enumerate(lengths, 1)
        if length > cap
    )
