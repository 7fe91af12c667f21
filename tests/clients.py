"""Clients of scripted endpoints."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from scripted import KEY, MODEL, Reply, Scripted, Weigh, by_digest

from serving.cache import CompletionCache
from serving.calls import ServedIdentity
from serving.client import Backend, Client
from serving.connect import Source, connect
from serving.endpoint import Endpoint
from serving.profile import load
from serving.tokens import ChatTokenizer


@asynccontextmanager
async def client_of(
    endpoints: Sequence[Endpoint],
    cache: Path,
    tokenizer: ChatTokenizer | None = None,
    *,
    context: int | None = None,
    **how: int,
) -> AsyncIterator[Client]:
    """A client of the model at these endpoints, identified by its name only."""
    identity = ServedIdentity(endpoints[0].model, "digest", "scripted engine", context)
    with CompletionCache(cache) as store:
        client = Client(identity, tokenizer, store, Backend(endpoints), **how)
        try:
            yield client
        finally:
            await client.close()


def client_at(
    url: str,
    cache: Path,
    tokenizer: ChatTokenizer | None = None,
    *,
    key: str = KEY,
    model: str = MODEL,
    context: int | None = None,
) -> AbstractAsyncContextManager[Client]:
    """A client of the model at this URL."""
    return client_of([Endpoint(url, key, model)], cache, tokenizer, context=context)


@asynccontextmanager
async def asking(
    folder: Path, reply: Reply, weigh: Weigh = by_digest
) -> AsyncIterator[tuple[Client, list[dict[str, Any]]]]:
    """A client of a scripted endpoint with an empty cache, and the requests received so far."""
    with Scripted(reply=reply, weigh=weigh, key="") as endpoint:
        source = Source(load("cpu-small"), "generator", folder, endpoints=(endpoint.url,))
        async with connect(source, cache=folder / "cache.sqlite") as client:
            yield client, endpoint.requests
