"""One request to an OpenAI-compatible server: sent, and retried where that can help."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from serving import llama_cpp
from serving.calls import Completion
from serving.endpoint import Endpoint, page
from serving.errors import ServingError
from serving.line import Line, PassingError, in_short
from serving.templates import TEMPLATE_ARGUMENTS

if TYPE_CHECKING:
    from serving.embeddings import Vectors

PATIENCE_S = 900.0
"""How long a request waits between tries until the run stops: a large model restarts in minutes."""

WHOLE_S = 6 * 3600.0
"""How long a request may take in all, its tries and its time in servers' queues included."""

AFFINITY_SLACK = 8
"""Calls that a replica may be ahead of the idlest before its documents go elsewhere."""


def least_loaded(lines: Sequence[Line], affinity: str) -> Line:
    """The affinity's own server, unless it is clearly busier than the idlest."""
    idlest = min(lines, key=lambda line: line.in_flight)
    if not affinity or len(lines) == 1:
        return idlest
    own = lines[int(hashlib.sha256(affinity.encode()).hexdigest(), 16) % len(lines)]
    return own if own.in_flight - idlest.in_flight <= AFFINITY_SLACK else idlest


def bodies(
    request: dict[str, Any], vectors: "Vectors | None", engine: str
) -> Iterator[dict[str, Any]]:
    """What is sent for a request, and then where labels were not among what came back."""
    if vectors is not None:
        from serving.embeddings import as_body

        yield as_body(request, vectors)
        return
    if "messages" not in request:
        yield request
        return
    body = request | {"chat_template_kwargs": TEMPLATE_ARGUMENTS}
    if engine.startswith(llama_cpp.ENGINE):
        yield llama_cpp.body(body)
        yield llama_cpp.body(body, llama_cpp.ALL)
    else:
        yield body


async def ask(
    request: dict[str, Any],
    lines: Sequence[Line],
    *,
    affinity: str,
    recover: Callable[[Endpoint], Awaitable[None]],
    on_retry: Callable[[], None],
) -> Completion:
    """Send a request and send it again after what can pass: a lost connection, 5xx, 429, silence.

    Args:
        request: Body of a chat completion without the model, or of a completion where it has no
            `messages`.
        lines: Servers of the model; one that failed is asked again only when all of them have.
        affinity: See `least_loaded`.
        recover: Waits for a failed endpoint.
        on_retry: Called before each further try.

    Raises:
        RequestError: The server refuses this request (400, 413, 422).
        ServingError: It refuses the key or knows no such model, stays away for `PATIENCE_S`, or has
            not replied within `WHOLE_S`.
    """
    import tenacity

    untried = list(lines)
    line = least_loaded(untried, affinity)
    try:
        async with asyncio.timeout(WHOLE_S):
            async for attempt in tenacity.AsyncRetrying(
                retry=tenacity.retry_if_exception_type(PassingError),
                wait=tenacity.wait_exponential_jitter(multiplier=0.2, max=15),
                # Patience is for a server that is away: time in a server's queue is none of it.
                stop=lambda state: state.idle_for >= PATIENCE_S,
                reraise=True,
            ):
                with attempt:
                    if attempt.retry_state.attempt_number > 1:
                        on_retry()
                        untried.remove(line)
                        if not untried:
                            await recover(line.endpoint)
                            untried = list(lines)
                        line = least_loaded(untried, affinity)
                    return await line.send(request)
    except (PassingError, TimeoutError) as fault:
        why = in_short(str(fault)) or f"no reply in {WHOLE_S / 3600:g} hours"
        raise ServingError(
            f"the server at {line.endpoint.url} did not answer in time ({why}); "
            "what was answered is kept: start the same command again"
        ) from fault
    raise AssertionError("unreachable: every try returns or raises")


async def token_ids(endpoint: Endpoint, text: str) -> list[int]:
    """Token ids of a label by the server's own tokenizer (/tokenize), else a ServingError."""
    import httpx

    url = endpoint.url.removesuffix("/v1") + "/tokenize"
    # vLLM reads a "prompt", llama.cpp a "content", and each ignores the other's words.
    body = {"model": endpoint.model, "prompt": text, "add_special_tokens": False}
    body |= {"content": text, "add_special": False}
    try:
        async with httpx.AsyncClient(headers=endpoint.headers, trust_env=False) as client:
            status, answer = await page(client, url, body)
        ids: list[int] = answer["tokens"]
        if not 0 < len(ids) <= len(text.encode()) or not all(
            type(one) is int and one >= 0 for one in ids
        ):
            raise ValueError(f"status {status}, no tokens of '{text}'")
    except (httpx.HTTPError, TimeoutError, ValueError, LookupError, TypeError) as error:
        raise ServingError(
            f"{url} does not tokenize ({in_short(str(error)) or type(error).__name__}); register "
            "the model's folder with 'contested models add' and name it with --model"
        ) from error
    return ids
