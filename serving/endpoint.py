"""An OpenAI-compatible server: its model, requests to it, and reading its replies."""

import asyncio
import json
import random
import resource
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic_core import PydanticSerializationError, to_json

from serving.calls import Completion, Usage
from serving.errors import RequestError, ServingError

if TYPE_CHECKING:
    from aiohttp import ClientSession

CONNECT_S = 30.0
"""Seconds that a server may take to accept a connection."""

IDLE_S = 4.0
"""Seconds that an idle connection is kept: vLLM closes its end after 5 s."""

STALL_S = 3600.0
"""Seconds that a server may send nothing: even on a CPU, no reply takes this long."""

PAGE_S, PAGE_BYTES = 60.0, 1 << 20
"""Limits in seconds and bytes for a page that is not a completion."""

PATIENCE_S = 900.0
"""Most seconds in total that a request waits between tries before the run stops: a large model
restarts in minutes."""

WHOLE_S = 6 * 3600.0
"""Seconds for a whole request, including its tries and its time in servers' queues."""

LEAST_LEAD = 8
"""Requests by which a replica may lead the idlest, however few are in flight."""

OTHER_FILES = 512
"""Open files of this process besides its connections."""

LONGEST_NAME = 1000
"""Most characters of a name."""

SHOWN = 8
"""Most names of other models that are kept."""

REFUSED = "refuses the key; set CONTESTED_API_KEY to the one it was started with"
FOREIGN = "answers, but not as an OpenAI-compatible server does"


class PassingError(Exception):
    """A fault that may be gone at the next try: a lost connection, 5xx, 429, a silent server."""


@dataclass(frozen=True)
class Endpoint:
    """A model's base address, e.g. "http://127.0.0.1:8000/v1", its key, and its served name."""

    url: str
    key: str
    model: str

    @property
    def root(self) -> str:
        """The address without "/v1", where vLLM has its other pages."""
        return self.url.removesuffix("/v1")


@dataclass(frozen=True)
class ServedModel:
    """The model that an endpoint says it serves.

    Attributes:
        name: Its name in requests.
        root: Its place on the server: a folder on the server's machine, or empty.
        context: Context length in tokens; None if the server does not say.
        engine: Engine and version, as far as the server says.
    """

    name: str
    root: str
    context: int | None
    engine: str


def open_session(endpoint: Endpoint) -> "ClientSession":
    """Connections to a server, as many as are needed at a time; the caller closes them."""
    import aiohttp

    key = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    return aiohttp.ClientSession(
        # A compressed reply of few bytes could expand to gigabytes.
        headers={"Content-Type": "application/json", "Accept-Encoding": "identity", **key},
        auto_decompress=False,
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_S),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=STALL_S),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,  # a proxy would carry prompts elsewhere
    )


async def exchange(
    session: "ClientSession", url: str, data: bytes | None, *, most: int
) -> tuple[int, bytes]:
    """Get a page, or post JSON data to it; returns the status, and a body of at most `most` bytes.

    Redirects are not followed.

    Raises:
        PassingError: No reply arrives.
        ValueError: The reply is too long.
    """
    import aiohttp

    method, body = "GET" if data is None else "POST", bytearray()
    try:
        async with session.request(method, url, data=data, allow_redirects=False) as reply:
            async for piece in reply.content.iter_any():
                body += piece
                if len(body) > most:
                    raise ValueError(f"sends more than {most:,} bytes")
            return reply.status, bytes(body)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise PassingError(str(error) or type(error).__name__) from error


async def page(session: "ClientSession", url: str, body: Any = None) -> tuple[int, Any]:
    """Status and JSON of an `exchange` within `PAGE_S` and `PAGE_BYTES`; None for other content."""
    data = None if body is None else to_json(body)
    try:
        async with asyncio.timeout(PAGE_S):
            status, content = await exchange(session, url, data, most=PAGE_BYTES)
    except TimeoutError as error:
        raise PassingError(f"no answer within {PAGE_S:g} s") from error
    try:
        return status, json.loads(content)
    except (ValueError, RecursionError):
        return status, None


async def answers(endpoint: Endpoint, timeout_s: float = 5.0) -> bool:
    """Whether an endpoint is healthy, accepts its key and serves its model, in two requests."""
    try:
        async with asyncio.timeout(timeout_s), open_session(endpoint) as session:
            healthy, _ = await page(session, f"{endpoint.root}/health")
            status, listed = await page(session, f"{endpoint.url}/models")
            return healthy == status == 200 and endpoint.model in _cards(listed)
    except (PassingError, TimeoutError, ValueError):
        return False


async def ask_endpoint(url: str, key: str, model: str | None = None) -> ServedModel:
    """Ask an OpenAI-compatible server (its URL ends in /v1) for a model; by default its first one.

    Raises:
        ServingError: The server is missing or gives no answer, refuses the key, or lacks the model.
    """
    if not (key.isascii() and key.isprintable()):
        raise ServingError(
            "the key in CONTESTED_API_KEY has characters that no key can have; copy it again, "
            "without a line break"
        )
    if not _is_url(url):
        raise ServingError(f"--endpoint '{url}' is not a URL; write http://127.0.0.1:8000/v1")
    endpoint = Endpoint(url.rstrip("/"), key, "")
    try:
        async with open_session(endpoint) as session:
            status, listed = await page(session, f"{endpoint.url}/models")
            _, version = await page(session, f"{endpoint.root}/version")
    except (PassingError, ValueError) as error:
        raise ServingError(
            f"no server answers at {url} ({error}); "
            "start it, or leave --endpoint out to have one started"
        ) from error
    if status in {401, 403}:
        raise ServingError(f"the server at {url} {REFUSED}")
    try:
        cards = _cards(listed)
    except ValueError as error:
        raise ServingError(
            f"{url} answers (status {status}), but not as an OpenAI-compatible server does; "
            f"the URL should end in /v1 ({error})"
        ) from error
    name = model if model is not None else next(iter(cards), None)
    if name is None or name not in cards:
        raise ServingError(
            f"the server at {url} serves no model '{name}' (it serves "
            f"{', '.join(cards)[:1000] or 'none'}); name one that it serves with --model"
        )
    context = cards[name].get("max_model_len")
    if context is not None and (type(context) is not int or context < 1):
        raise ServingError(f"the server at {url} has no usable context length for '{name}'; fix it")
    release = _name(version.get("version")) if isinstance(version, dict) else ""
    engine = f"vllm {release}" if release else "unknown engine"
    return ServedModel(name, _name(cards[name].get("root")), context, engine)


def _name(value: Any) -> str:
    """A name that a server gives; empty if it is unsafe for terminals and files."""
    fit = isinstance(value, str) and len(value) <= LONGEST_NAME and value.isprintable()
    return value if fit else ""


def _cards(listed: Any) -> dict[str, dict[str, Any]]:
    """The models that a page lists, by name. ValueError if it lists none, or an unusable one."""
    try:
        cards = {_name(card["id"]): card for card in listed["data"]}
    except (LookupError, TypeError):
        raise ValueError("it lists no models") from None
    if "" in cards:
        raise ValueError("it lists a model whose name is too long or cannot be printed")
    return cards


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a bad port, a missing bracket
        return False


class Line:
    """Connections to one endpoint, and the number of requests on them.

    `others` are names that replies gave for the model, other than the endpoint's.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.in_flight = 0
        self.others: set[str] = set()
        self._session: ClientSession | None = None

    async def send(self, request: dict[str, Any]) -> Completion:
        """Send one request, once.

        Raises:
            PassingError: It may be sent again.
            RequestError: The server refuses this request.
            ServingError: It refuses the key, lacks the model, or the reply is not a completion.
        """
        server = f"the server at {self.endpoint.url}"
        path = "chat/completions" if "messages" in request else "completions"
        # With embeddings, vLLM still needs the field, as null.
        named = {"model": self.endpoint.model} | ({"prompt": None} if path == "completions" else {})
        try:
            data = to_json(named | request)
        except PydanticSerializationError as error:  # half a surrogate pair
            raise RequestError(f"the prompt cannot be sent ({error}); fix its text") from error
        self._session = self._session or open_session(self.endpoint)
        self.in_flight += 1
        try:
            url = f"{self.endpoint.url}/{path}"
            status, body = await exchange(self._session, url, data, most=longest(request))
        except ValueError as error:
            raise RequestError(f"{server} {error}; check --endpoint") from error
        finally:
            self.in_flight -= 1
        if status != 200:
            raise _refusal(self.endpoint, status, body)
        try:
            answer = json.loads(body)
            fields = _told(answer, request.get("prompt", ()))
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise ServingError(f"{server} {FOREIGN}; check --endpoint") from error
        name = answer.get("model")
        if isinstance(name, str) and self.endpoint.model not in name and len(self.others) < SHOWN:
            self.others.add(in_short(name))
        try:
            return Completion(**fields)
        except ValueError as error:
            shown = in_short(body.decode(errors="replace"))
            raise RequestError(f"{server} gives {error}: {shown}") from error

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()


def open_lines(endpoints: Sequence[Endpoint], concurrency: int) -> list[Line]:
    """Lines to endpoints; allows this process a socket for each of `concurrency` requests."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = concurrency + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return [Line(endpoint) for endpoint in endpoints]


def least_loaded(lines: Sequence[Line], affinity: str) -> Line:
    """The server of an affinity, unless it is clearly busier than the idlest.

    That is, by more than half of a server's share of the requests in flight, and by more than
    `LEAST_LEAD`.
    """
    idlest = min(lines, key=lambda line: line.in_flight)
    if not affinity or len(lines) == 1:
        return idlest
    preferred = lines[zlib.crc32(affinity.encode(errors="replace")) % len(lines)]
    half_share = sum(line.in_flight for line in lines) / len(lines) / 2
    lead = preferred.in_flight - idlest.in_flight
    return preferred if lead <= max(half_share, LEAST_LEAD) else idlest


async def ask(
    request: dict[str, Any],
    lines: Sequence[Line],
    affinity: str,
    *,
    recover: Callable[[Endpoint], Awaitable[None]],
    usage: Usage,
) -> Completion:
    """Send a request, again after passing faults: a lost connection, 5xx, 429, silence.

    Args:
        request: Body of a chat completion without the model, or of a completion if it has no
            `messages`.
        lines: Servers of the model; one that failed is asked again only when all have failed.
        affinity: See `least_loaded`.
        recover: Waits for a failed endpoint.
        usage: Counts the retries.

    Raises:
        RequestError: The server refuses this request (400, 413, 422).
        ServingError: It refuses the key or lacks the model, is unavailable for `PATIENCE_S`, or has
            not replied within `WHOLE_S`.
    """
    untried, line = list(lines), least_loaded(lines, affinity)
    idle_s = 0.0  # time in a server's queue does not count as patience
    try:
        async with asyncio.timeout(WHOLE_S):
            while True:
                try:
                    return await line.send(request)
                except PassingError:
                    if idle_s >= PATIENCE_S:
                        raise
                pause = min(0.2 + idle_s + random.random(), 15.0)  # noqa: S311
                await asyncio.sleep(pause)
                idle_s += pause
                usage.retries += 1
                untried.remove(line)
                if not untried:
                    await recover(line.endpoint)
                    untried = list(lines)
                line = least_loaded(untried, affinity)
    except (PassingError, TimeoutError) as fault:
        why = in_short(str(fault)) or f"no reply in {WHOLE_S / 3600:g} hours"
        raise ServingError(
            f"the server at {line.endpoint.url} did not answer in time ({why}); "
            "all answers are kept: run the same command again"
        ) from fault
    raise AssertionError("unreachable: every try returns or raises")


async def token_ids(endpoint: Endpoint, text: str) -> list[int]:
    """Token ids of a label by the server's /tokenize, as vLLM has it; ServingError without it."""
    body = {"model": endpoint.model, "prompt": text, "add_special_tokens": False}
    try:
        async with open_session(endpoint) as session:
            status, answer = await page(session, f"{endpoint.root}/tokenize", body)
        ids: list[int] = answer["tokens"]
        fit = all(type(token) is int and token >= 0 for token in ids)
        if not fit or not 0 < len(ids) <= len(text.encode()):
            raise ValueError(f"status {status}, no tokens of '{text}'")
    except (PassingError, ValueError, LookupError, TypeError) as error:
        raise ServingError(
            f"{endpoint.url} does not tokenize ({in_short(str(error)) or type(error).__name__}); "
            "register the model's folder with 'contested models add' and name it with --model"
        ) from error
    return ids


def longest(request: Mapping[str, Any]) -> int:
    """Most bytes of the reply to a request: several times what its tokens need.

    256 for each token that is written or reported, plus a quarter of a million.
    """
    written = request.get("max_tokens", 0)
    likely = len(request.get("logprob_token_ids", ()))
    prompt = len(request["prompt"]) if "prompt_logprobs" in request else 0
    return 1024 * 256 + 256 * int(written + likely + prompt)


def _refusal(endpoint: Endpoint, status: int, body: bytes) -> Exception:
    """The error for a status other than 200, with the server's reason in JSON or as text."""
    server, said = f"the server at {endpoint.url}", body.decode(errors="replace")
    with suppress(AttributeError, LookupError, RecursionError, TypeError, ValueError):
        error = json.loads(said)
        said = str(error.get("error", error)["message"])
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


def _told(answer: Any, prompt: Sequence[int] = ()) -> dict[str, Any]:
    """The fields of a `Completion` from a reply; other content raises errors of any kind."""
    choice = answer["choices"][0]
    logprobs = prompt_logprobs = None
    if "message" in choice:
        text = choice["message"]["content"] or ""
        if content := (choice.get("logprobs") or {}).get("content"):
            likely = content[0]["top_logprobs"]
            logprobs = {
                entry["token"].removeprefix("token_id:"): entry["logprob"] for entry in likely
            }
    else:
        text = choice["text"]
        if (entries := choice.get("prompt_logprobs")) is not None:
            # The first token has nothing before it, so its entry is null.
            pairs = zip(prompt[1:], entries[1:], strict=True)
            prompt_logprobs = [entry[str(token)]["logprob"] for token, entry in pairs]
    reason = choice["finish_reason"]
    if not isinstance(text, str) or not isinstance(reason, str | None):
        raise TypeError("the reply is not text")
    usage = answer.get("usage") or {}
    details = usage.get("prompt_tokens_details") or {}
    return {
        # JSON may hold halves of characters (lone surrogates), which cannot be written.
        "text": text.encode("utf-8", "replace").decode(),
        "finish_reason": reason,
        "logprobs": logprobs,
        "prompt_tokens": usage.get("prompt_tokens") or 0,
        "completion_tokens": usage.get("completion_tokens") or 0,
        "cached_prefix_tokens": details.get("cached_tokens") or 0,
        "prompt_logprobs": prompt_logprobs,
    }
