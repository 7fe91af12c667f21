"""An OpenAI-compatible server: where it is, whether it answers, and what it serves."""

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pydantic_core import to_json

from serving.errors import ServingError

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

CONNECT_S = 30.0
"""How long a server may take to accept a connection."""

IDLE_S = 4.0
"""How long an idle connection is kept: vLLM closes its end after 5 s."""

PAGE_S, PAGE_BYTES = 60.0, 1 << 20
"""What a page that is no completion may take."""

LONGEST_NAME = 1000
"""Characters."""

LLAMA_CPP: Final = "llama.cpp"
"""What the name of llama.cpp's engine begins with."""

REFUSED = "refuses the key; set CONTESTED_API_KEY to the one it was started with"
FOREIGN = "answers, but not as an OpenAI-compatible server does"


class PassingError(Exception):
    """What may be gone at the next try: a lost connection, 5xx, 429, a silent server."""


@dataclass(frozen=True)
class Endpoint:
    """Where a model answers: base address, e.g. "http://127.0.0.1:8000/v1", key, served name."""

    url: str
    key: str
    model: str

    @property
    def headers(self) -> dict[str, str]:
        """What every request must carry; nothing for a server that wants no key."""
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}


@dataclass(frozen=True)
class ServedModel:
    """What an endpoint says of the model it serves.

    Attributes:
        name: To be named in requests.
        root: Where the server has it: a folder on the server's machine, or empty.
        context: Context length in tokens, or None where the server does not tell.
        engine: Engine and version, as far as the server tells.
    """

    name: str
    root: str
    context: int | None
    engine: str


def name_of(value: Any) -> str:
    """A name that a server gives; an empty one if terminals and files had better not hold it."""
    fit = isinstance(value, str) and len(value) <= LONGEST_NAME and value.isprintable()
    return value if fit else ""


def open_session(endpoint: Endpoint) -> "ClientSession":
    """Connections to a server, as many as are asked for at once; to be closed."""
    import aiohttp

    return aiohttp.ClientSession(
        headers={
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",  # few bytes unpack to gigabytes
            **endpoint.headers,
        },
        auto_decompress=False,
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_S),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,  # a proxy would carry prompts elsewhere
    )


async def exchange(
    session: "ClientSession",
    url: str,
    data: bytes | None,
    *,
    most: int,
    body_s: float,
    whole_s: float | None = None,
) -> tuple[int, bytes]:
    """Status and body of a page, got or, with JSON data, posted. No redirect is followed.

    Args:
        session: Of the server.
        url: Of the page.
        data: What is posted.
        most: Bytes that the body may have.
        body_s: Seconds that it may take once it begins to come.
        whole_s: Seconds that all may take.

    Raises:
        PassingError: It does not come.
        ValueError: It is too long, or comes too slowly.
    """
    import aiohttp

    method = "GET" if data is None else "POST"
    try:
        async with (
            asyncio.timeout(whole_s),
            session.request(method, url, data=data, allow_redirects=False) as reply,
        ):
            return reply.status, await _body(reply, most, body_s)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise PassingError(str(error) or type(error).__name__) from error


async def _body(reply: "ClientResponse", most: int, seconds: float) -> bytes:
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for piece in reply.content.iter_any():
                body += piece
                if len(body) > most:
                    raise ValueError(f"sends more than {most:,} bytes")
    except TimeoutError:
        raise ValueError(f"takes more than {seconds:g} s to send a reply") from None
    return bytes(body)


async def page(session: "ClientSession", url: str, body: Any = None) -> tuple[int, Any]:
    """Status and JSON of an `exchange` of `PAGE_S` and `PAGE_BYTES`; None of what is no JSON."""
    data = None if body is None else to_json(body)
    status, content = await exchange(
        session, url, data, most=PAGE_BYTES, body_s=PAGE_S, whole_s=PAGE_S
    )
    try:
        return status, json.loads(content)
    except (ValueError, RecursionError):
        return status, None


async def answers(endpoint: Endpoint, timeout_s: float = 5.0) -> bool:
    """Whether an endpoint is healthy, takes its key and serves its model; asks for two replies."""
    root = endpoint.url.removesuffix("/v1")
    try:
        async with asyncio.timeout(timeout_s), open_session(endpoint) as session:
            healthy, _ = await page(session, f"{root}/health")
            status, listed = await page(session, f"{endpoint.url}/models")
            return healthy == status == 200 and endpoint.model in _cards(listed)
    except (PassingError, TimeoutError, ValueError):
        return False


async def ask_endpoint(url: str, key: str, model: str | None = None) -> ServedModel:
    """Ask an OpenAI-compatible server (a URL that ends in /v1) which model it serves, or for one.

    Raises:
        ServingError: No answer, a refused key, an unknown model, or no such server.
    """
    if not (key.isascii() and key.isprintable()):
        raise ServingError(
            "the key in CONTESTED_API_KEY has characters that no key can have; copy it again, "
            "without a line break"
        )
    if not _is_url(url):
        raise ServingError(f"--endpoint '{url}' is not a URL; write http://127.0.0.1:8000/v1")
    parts = urlsplit(url)
    root = f"{parts.scheme}://{parts.netloc}"
    try:
        async with open_session(Endpoint(url, key, "")) as session:
            status, listed = await page(session, f"{url.rstrip('/')}/models")
            _, version = await page(session, f"{root}/version")
            _, properties = await page(session, f"{root}/props")
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
            f"the server at {url} serves no model '{name}', but "
            f"{', '.join(cards)[:1000] or 'none'}; "
            "name one of them with --model"
        )
    card = cards[name]
    folder, context = card.get("root"), card.get("max_model_len")
    if card.get("owned_by") == "llamacpp":
        told, meta = _object(properties), _object(card.get("meta"))
        build, kind = name_of(told.get("build_info")), name_of(meta.get("ftype"))
        engine = " ".join(filter(None, (LLAMA_CPP, build, kind)))
        folder, context = told.get("model_path"), meta.get("n_ctx")
    elif found := name_of(_object(version).get("version")):
        engine = f"vllm {found}"
    else:
        engine = "unknown engine"
    if context is not None and (type(context) is not int or context < 1):
        raise ServingError(f"the server at {url} gives '{name}' no usable context length; mend it")
    return ServedModel(name=name, root=name_of(folder), context=context, engine=engine)


def _cards(listed: Any) -> dict[str, dict[str, Any]]:
    """The models that a page lists, by name. ValueError if it lists none, or one unfit for use."""
    try:
        cards = {name_of(card["id"]): card for card in listed["data"]}
    except (LookupError, TypeError):
        raise ValueError("it lists no models") from None
    if "" in cards:
        raise ValueError("it lists a model whose name is too long or cannot be printed")
    return cards


def _object(value: Any) -> dict[str, Any]:
    """A JSON object; an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number or too large, a bracket too few
        return False
