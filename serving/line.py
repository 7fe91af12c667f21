"""Requests to OpenAI-compatible servers: sent, read, and sent again where that can help."""

import asyncio
import json
import random
import resource
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import PydanticSerializationError, to_json

from serving.calls import Completion
from serving.endpoint import (
    FOREIGN,
    LLAMA_CPP,
    REFUSED,
    Endpoint,
    PassingError,
    exchange,
    open_session,
    page,
)
from serving.errors import RequestError, ServingError
from serving.templates import TEMPLATE_ARGUMENTS

if TYPE_CHECKING:
    from aiohttp import ClientSession

    from serving.embeddings import Vectors

PULSE_S = 30.0
"""How long a server may answer nothing before it is asked for its health, and again."""

MISSED_PULSES = 4
"""As often in a row a server may fail to say that it is healthy; then it is given up."""

STALL_S = 3600.0
"""How long a server that calls itself healthy may answer nothing: no reply takes a CPU so long."""

BODY_S = 120.0
"""How long the body of a reply may take once it begins to come: servers send it whole."""

PATIENCE_S = 900.0
"""How long a request waits between tries until the run stops: a large model restarts in minutes."""

WHOLE_S = 6 * 3600.0
"""How long a request may take in all, its tries and its time in servers' queues included."""

LEAST_LEAD = 8
"""Requests that a replica may be ahead of the idlest, however few are in flight."""

OTHER_FILES = 512
"""Open files of this process besides its connections."""

SHOWN = 8
"""Names of other models that are kept."""

# llama.cpp cannot be asked for the log-probabilities of given tokens, but for those of the most
# likely ones, of the whole distribution, as vLLM's are; then of more than any vocabulary has.
_MOST_LIKELY: Final = (2048, 1_000_000)
# Without these it would leave out unlikely tokens, which vLLM does not.
_WHOLE_DISTRIBUTION: Final = {"top_k": 0, "top_p": 1.0, "min_p": 0.0}
_VLLM_ONLY: Final = ("logprob_token_ids", "allowed_token_ids", "return_tokens_as_token_ids")


class Line:
    """Connections to one endpoint, and how many requests are on them.

    A request may wait long in the server's queue (`WHOLE_S`). While nothing comes back, the server
    is asked whether it is healthy. `others` are names of models that answered in place of the
    endpoint's.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.in_flight = 0
        self.others: set[str] = set()
        self._session: ClientSession | None = None
        self._waiting: set[asyncio.Timeout] = set()
        self._replied = 0.0
        self._watch: asyncio.Task[None] | None = None

    async def send(self, request: dict[str, Any]) -> Completion:
        """Send one request, once.

        Raises:
            PassingError: It may be sent again.
            RequestError: The server refuses this request.
            ServingError: It refuses the key, knows no such model, or the reply is no completion.
        """
        server = f"the server at {self.endpoint.url}"
        path = "chat/completions" if "messages" in request else "completions"
        # vLLM wants the field, empty, beside embeddings.
        named = {"model": self.endpoint.model} | ({"prompt": None} if path == "completions" else {})
        try:
            data = to_json(named | request)
        except PydanticSerializationError as error:  # half a surrogate pair
            raise RequestError(f"the prompt cannot be sent ({error}); mend its text") from error
        try:
            async with self._watched() as session:
                url = f"{self.endpoint.url}/{path}"
                status, body = await exchange(
                    session, url, data, most=longest(request), body_s=BODY_S
                )
        except TimeoutError as error:
            raise PassingError("the server does not answer") from error
        except ValueError as error:
            raise RequestError(f"{server} {error}; check --endpoint") from error
        if status != 200:
            raise _refusal(self.endpoint, status, body)
        try:
            answer = json.loads(body)
            told = _told(answer, request.get("prompt", ()))
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise ServingError(f"{server} {FOREIGN}; check --endpoint") from error
        name = answer.get("model")
        if isinstance(name, str) and self.endpoint.model not in name and len(self.others) < SHOWN:
            self.others.add(in_short(name))
        try:
            return Completion(**told)
        except ValueError as error:
            shown = in_short(body.decode(errors="replace"))
            raise RequestError(f"{server} gives {error}: {shown}") from error

    async def close(self) -> None:
        """Close the connections."""
        if self._watch is not None:
            self._watch.cancel()
        if self._session is not None:
            await self._session.close()

    @asynccontextmanager
    async def _watched(self) -> AsyncIterator["ClientSession"]:
        """Count a request, and end it with a TimeoutError where the server is given up."""
        if self._session is None:
            self._session = open_session(self.endpoint)
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._watch_server(self._session))
        self.in_flight += 1
        try:
            async with asyncio.timeout(None) as limit:
                self._waiting.add(limit)
                yield self._session
            self._replied = time.monotonic()
        finally:
            self.in_flight -= 1
            self._waiting.discard(limit)

    async def _watch_server(self, session: "ClientSession") -> None:
        """While requests wait, see that the server lives; else give up what waits."""
        self._replied, missed = time.monotonic(), 0
        while True:
            await asyncio.sleep(PULSE_S)
            if not self._waiting:
                return
            silent_s = time.monotonic() - self._replied
            missed = 0 if silent_s < PULSE_S or await self._is_healthy(session) else missed + 1
            if missed >= MISSED_PULSES or silent_s > STALL_S:
                for limit in self._waiting:
                    limit.reschedule(asyncio.get_running_loop().time())
                self._replied, missed = time.monotonic(), 0

    async def _is_healthy(self, session: "ClientSession") -> bool:
        """Whether the server answers. Not every one has this page; one that is ill says 503."""
        url = self.endpoint.url.removesuffix("/v1") + "/health"
        try:
            async with asyncio.timeout(PULSE_S):
                status, _ = await page(session, url)
                return status < 500
        except (PassingError, TimeoutError, ValueError):
            return False


def open_lines(endpoints: Sequence[Endpoint], concurrency: int) -> list[Line]:
    """Lines to endpoints, with so many requests in flight in all; each is a socket."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = concurrency + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return [Line(endpoint) for endpoint in endpoints]


def least_loaded(lines: Sequence[Line], affinity: str) -> Line:
    """The affinity's own server, unless it is clearly busier than the idlest.

    Clearly: by more than half of a server's share of what is in flight, and by `LEAST_LEAD`.
    """
    idlest = min(lines, key=lambda line: line.in_flight)
    if not affinity or len(lines) == 1:
        return idlest
    own = lines[zlib.crc32(affinity.encode(errors="replace")) % len(lines)]
    half_share = sum(line.in_flight for line in lines) / len(lines) / 2
    lead = own.in_flight - idlest.in_flight
    return own if lead <= max(half_share, LEAST_LEAD) else idlest


def bodies(
    request: dict[str, Any], vectors: "Vectors | None", engine: str
) -> Iterator[dict[str, Any]]:
    """What is sent for a request, and then where labels were not among what came back."""
    if vectors is not None:
        from serving.embeddings import as_body

        yield as_body(request, vectors)
    elif "messages" not in request:
        yield request
    elif not engine.startswith(LLAMA_CPP):
        yield request | {"chat_template_kwargs": TEMPLATE_ARGUMENTS}
    else:
        body = {name: value for name, value in request.items() if name not in _VLLM_ONLY}
        body |= {"chat_template_kwargs": TEMPLATE_ARGUMENTS, **_WHOLE_DISTRIBUTION}
        if "logprob_token_ids" not in request:
            yield body
            return
        for most in _MOST_LIKELY:
            # Where it would end at once it gives no labels; told to ignore that, it gives the same.
            yield body | {"top_logprobs": most, "ignore_eos": True}


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
    untried, line = list(lines), least_loaded(lines, affinity)
    idle_s = 0.0  # time in a server's queue is no part of the patience
    try:
        async with asyncio.timeout(WHOLE_S):
            for tries in count():
                try:
                    return await line.send(request)
                except PassingError:
                    if idle_s >= PATIENCE_S:
                        raise
                pause = min(0.2 * 2 ** min(tries, 9) + random.random(), 15.0)  # noqa: S311
                await asyncio.sleep(pause)
                idle_s += pause
                on_retry()
                untried.remove(line)
                if not untried:
                    await recover(line.endpoint)
                    untried = list(lines)
                line = least_loaded(untried, affinity)
    except (PassingError, TimeoutError) as fault:
        why = in_short(str(fault)) or f"no reply in {WHOLE_S / 3600:g} hours"
        raise ServingError(
            f"the server at {line.endpoint.url} did not answer in time ({why}); "
            "what was answered is kept: start the same command again"
        ) from fault
    raise AssertionError("unreachable: every try returns or raises")


async def token_ids(endpoint: Endpoint, text: str) -> list[int]:
    """Token ids of a label by the server's own tokenizer (/tokenize), else a ServingError."""
    url = endpoint.url.removesuffix("/v1") + "/tokenize"
    # vLLM reads a "prompt", llama.cpp a "content", and each ignores the other's words.
    body = {"model": endpoint.model, "prompt": text, "add_special_tokens": False}
    body |= {"content": text, "add_special": False}
    try:
        async with open_session(endpoint) as session:
            status, answer = await page(session, url, body)
        ids: list[int] = answer["tokens"]
        if not 0 < len(ids) <= len(text.encode()) or not all(
            type(one) is int and one >= 0 for one in ids
        ):
            raise ValueError(f"status {status}, no tokens of '{text}'")
    except (PassingError, ValueError, LookupError, TypeError) as error:
        raise ServingError(
            f"{url} does not tokenize ({in_short(str(error)) or type(error).__name__}); register "
            "the model's folder with 'contested models add' and name it with --model"
        ) from error
    return ids


def longest(request: Mapping[str, Any]) -> int:
    """Bytes that the reply to a request may have: several times what its tokens can need.

    256 of each token that is written or told of; a quarter of a million besides.
    """
    written = request.get("max_tokens", 0)
    likely = request.get("top_logprobs", len(request.get("logprob_token_ids", ())))
    prompt = len(request["prompt"]) if "prompt_logprobs" in request else 0
    return 1024 * 256 + 256 * int(written + likely + prompt)


def _refusal(endpoint: Endpoint, status: int, body: bytes) -> Exception:
    """What a status other than 200 means, and what the server says of it in JSON or as text."""
    server, said = f"the server at {endpoint.url}", body.decode(errors="replace")
    try:
        error = json.loads(said)
        said = str(error.get("error", error)["message"])
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        pass
    reason = in_short(said or f"status {status}")
    if status in {401, 403}:
        return ServingError(f"{server} {REFUSED}")
    if status == 404:
        return ServingError(f"{server} knows no model '{endpoint.model}' ({reason})")
    if status == 429 or status >= 500:
        return PassingError(reason)
    return RequestError(f"{server} refuses the request (status {status}): {reason}")


def in_short(reason: str) -> str:
    """A reason in one line."""
    return " ".join(reason.split())[:300]


def _token_id(entry: Mapping[str, Any]) -> str:
    """llama.cpp gives it beside the text; vLLM, so asked, in its place as "token_id:123"."""
    return str(entry["id"]) if "id" in entry else entry["token"].removeprefix("token_id:")


def _told(answer: Any, prompt: Sequence[int] = ()) -> dict[str, Any]:
    """What a reply holds of a `Completion`; an error of any kind where it is none."""
    choice = answer["choices"][0]
    logprobs = prompt_logprobs = None
    if "message" in choice:
        text = choice["message"]["content"] or ""
        if content := (choice.get("logprobs") or {}).get("content"):
            logprobs = {_token_id(entry): entry["logprob"] for entry in content[0]["top_logprobs"]}
    else:
        text = choice["text"]
        if (found := choice.get("prompt_logprobs")) is not None:
            # Of the first token, before which there is nothing, it is null.
            told = zip(prompt[1:], found[1:], strict=True)
            prompt_logprobs = [each[str(token)]["logprob"] for token, each in told]
    reason = choice["finish_reason"]
    if not isinstance(text, str) or not isinstance(reason, str | None):
        raise TypeError("the reply is no text")
    usage = answer.get("usage") or {}
    details = usage.get("prompt_tokens_details") or {}
    return {
        # JSON may hold halves of characters (lone surrogates), which nothing can be written with.
        "text": text.encode("utf-8", "replace").decode(),
        "finish_reason": reason,
        "logprobs": logprobs,
        "prompt_tokens": usage.get("prompt_tokens") or 0,
        "completion_tokens": usage.get("completion_tokens") or 0,
        "cached_prefix_tokens": details.get("cached_tokens") or 0,
        "prompt_logprobs": prompt_logprobs,
    }
