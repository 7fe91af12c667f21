"""A connection to one OpenAI-compatible server, and what comes back on it."""

import asyncio
import json
import resource
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticSerializationError, to_json

from serving.calls import Completion
from serving.endpoint import FOREIGN, REFUSED, Endpoint, taken
from serving.errors import RequestError, ServingError

if TYPE_CHECKING:
    from aiohttp import ClientSession

CONNECT_S = 30.0
"""How long a server may take to accept a connection."""

PULSE_S = 30.0
"""How long a server may answer nothing before it is asked for its health, and again."""

MISSED_PULSES = 4
"""As often in a row a server may fail to say that it is healthy; then it is given up."""

STALL_S = 3600.0
"""How long a server that calls itself healthy may answer nothing: no reply takes a CPU so long."""

IDLE_S = 4.0
"""How long an idle connection is kept: vLLM closes its end after 5 s."""

BODY_S = 120.0
"""How long the body of a reply may take once it begins to come: servers send it whole."""

OTHER_FILES = 512
"""Open files of this process besides its connections."""


SHOWN = 8
"""Names of other models that are kept."""


class PassingError(Exception):
    """What may be gone at the next try: a lost connection, 5xx, 429, a silent server."""


class Line:
    """An open connection to one endpoint, and how many requests are on it.

    A request may wait long in the server's queue (`requests.WHOLE_S`). While nothing comes back,
    the server is asked whether it is healthy. `others` are names of models that answered in place
    of the endpoint's.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.in_flight = 0
        self._server = f"the server at {endpoint.url}"
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
        import aiohttp

        path = "chat/completions" if "messages" in request else "completions"
        # vLLM wants the field, empty, beside embeddings.
        named = {"model": self.endpoint.model} | ({"prompt": None} if path == "completions" else {})
        try:
            data = to_json(named | request)
        except PydanticSerializationError as error:  # half a surrogate pair
            raise RequestError(f"the prompt cannot be sent ({error}); mend its text") from error
        try:
            async with (
                self._watched(),
                self._open().post(
                    f"{self.endpoint.url}/{path}", data=data, allow_redirects=False
                ) as reply,
            ):
                body = await taken(reply.content.iter_any(), longest(request), BODY_S)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise PassingError(str(error) or type(error).__name__) from error
        except ValueError as error:
            raise RequestError(f"{self._server} {error}; check --endpoint") from error
        if reply.status != 200:
            raise _refusal(self.endpoint, reply.status, body)
        try:
            answer = json.loads(body)
            told = _told(answer, request.get("prompt", ()))
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise ServingError(f"{self._server} {FOREIGN}; check --endpoint") from error
        name = answer.get("model")
        if isinstance(name, str) and self.endpoint.model not in name and len(self.others) < SHOWN:
            self.others.add(in_short(name))
        try:
            return Completion(**told)
        except ValueError as error:
            shown = in_short(body.decode(errors="replace"))
            raise RequestError(f"{self._server} gives {error}: {shown}") from error

    async def close(self) -> None:
        """Close the connection."""
        if self._watch is not None:
            self._watch.cancel()
        if self._session is not None:
            await self._session.close()

    def _open(self) -> "ClientSession":
        import aiohttp
        import httpx

        if self._session is None:
            secure = self.endpoint.url.startswith("https")
            self._session = aiohttp.ClientSession(
                headers={
                    "Content-Type": "application/json",
                    "Accept-Encoding": "identity",  # few bytes unpack to gigabytes
                    **self.endpoint.headers,
                },
                auto_decompress=False,
                # The client counts its requests; none waits here.
                connector=aiohttp.TCPConnector(
                    limit=0,
                    keepalive_timeout=IDLE_S,
                    ssl=httpx.create_ssl_context() if secure else True,
                ),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,  # a proxy would carry prompts elsewhere
            )
        return self._session

    @asynccontextmanager
    async def _watched(self) -> AsyncIterator[None]:
        """Count a request, and end it with a TimeoutError where the server is given up."""
        self.in_flight += 1
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._watch_server())
        try:
            async with asyncio.timeout(None) as limit:
                self._waiting.add(limit)
                yield
            self._replied = time.monotonic()
        finally:
            self.in_flight -= 1
            self._waiting.discard(limit)

    async def _watch_server(self) -> None:
        """While requests wait, see that the server lives; else give up what waits."""
        self._replied, missed = time.monotonic(), 0
        while True:
            await asyncio.sleep(PULSE_S)
            if not self._waiting:
                return
            silent_s = time.monotonic() - self._replied
            missed = 0 if silent_s < PULSE_S or await self._is_healthy() else missed + 1
            if missed >= MISSED_PULSES or silent_s > STALL_S:
                for limit in self._waiting:
                    limit.reschedule(asyncio.get_running_loop().time())
                self._replied, missed = time.monotonic(), 0

    async def _is_healthy(self) -> bool:
        """Whether the server answers. Not every one has this page; one that is ill says 503."""
        import aiohttp

        url = self.endpoint.url.removesuffix("/v1") + "/health"
        try:
            timeout = aiohttp.ClientTimeout(total=PULSE_S)
            async with self._open().get(url, timeout=timeout, allow_redirects=False) as reply:
                return reply.status < 500
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False


def open_lines(endpoints: Sequence[Endpoint], concurrency: int) -> list[Line]:
    """Lines to endpoints, with so many requests in flight in all; each is a socket."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = concurrency + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return [Line(endpoint) for endpoint in endpoints]


def longest(request: Mapping[str, Any]) -> int:
    """Bytes that the reply to a request may have: several times what its tokens can need.

    256 of each token that is written or told of; a quarter of a million besides.
    """
    written = request.get("max_tokens", 0)
    likely = request.get("top_logprobs", len(request.get("logprob_token_ids", ())))
    prompt = len(request["prompt"]) if "prompt_logprobs" in request else 0
    return 1024 * 256 + 256 * int(written + likely + prompt)


def _refusal(endpoint: Endpoint, status: int, body: bytes) -> Exception:
    """What a status other than 200 means."""
    server = f"the server at {endpoint.url}"
    reason = in_short(_message(body) or f"status {status}")
    if status in {401, 403}:
        return ServingError(f"{server} {REFUSED}")
    if status == 404:
        return ServingError(f"{server} knows no model '{endpoint.model}' ({reason})")
    if status == 429 or status >= 500:
        return PassingError(reason)
    return RequestError(f"{server} refuses the request (status {status}): {reason}")


def _message(body: bytes) -> str:
    """What a server says of its refusal: the message in the JSON of OpenAI or vLLM, or the text."""
    text = body.decode(errors="replace")
    try:
        said = json.loads(text)
        error = said.get("error", said)
        return str(error["message"])
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return text


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
    # JSON may hold halves of characters (lone surrogates), which nothing can be written with.
    text = text.encode("utf-8", "replace").decode()
    usage = answer.get("usage") or {}
    details = usage.get("prompt_tokens_details") or {}
    return {
        "text": text,
        "finish_reason": reason,
        "logprobs": logprobs,
        "prompt_tokens": usage.get("prompt_tokens") or 0,
        "completion_tokens": usage.get("completion_tokens") or 0,
        "cached_prefix_tokens": details.get("cached_tokens") or 0,
        "prompt_logprobs": prompt_logprobs,
    }
