"""An OpenAI-compatible server: where it is, whether it answers, and what it serves."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from serving import llama_cpp
from serving.errors import ServingError

# Loopback speaks plain HTTP; loading the certificates of the world costs more than the request.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


PAGE_S, PAGE_BYTES = 60.0, 1 << 20
"""What a page that is no completion may take."""

LONGEST_NAME = 1000
"""Characters."""

REFUSED = "refuses the key; set CONTESTED_API_KEY to the one it was started with"
FOREIGN = "answers, but not as an OpenAI-compatible server does"


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


async def taken(pieces: AsyncIterator[bytes], most: int, seconds: float) -> bytes:
    """A body, as it comes. ValueError if it is too long, or comes too slowly."""
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for piece in pieces:
                body += piece
                if len(body) > most:
                    raise ValueError(f"sends more than {most:,} bytes")
    except TimeoutError:
        raise ValueError(f"takes more than {seconds:g} s to send a reply") from None
    return bytes(body)


async def page(client: httpx.AsyncClient, url: str, body: Any = None) -> tuple[int, Any]:
    """The status of a page, got or, with a body, posted, and its JSON; None where it is none.

    Raises:
        httpx.HTTPError, TimeoutError: It does not come.
        ValueError: It is too long, or comes too slowly.
    """
    method, headers = "GET" if body is None else "POST", {"Accept-Encoding": "identity"}
    async with (
        asyncio.timeout(PAGE_S),
        client.stream(method, url, json=body, headers=headers, timeout=PAGE_S) as reply,
    ):
        content = await taken(reply.aiter_raw(), PAGE_BYTES, PAGE_S)
    try:
        return reply.status_code, json.loads(content)
    except (ValueError, RecursionError):
        return reply.status_code, None


async def answers(endpoint: Endpoint, timeout_s: float = 5.0) -> bool:
    """Whether an endpoint is healthy, takes its key and serves its model; asks for two replies."""
    root = endpoint.url.removesuffix("/v1")
    try:
        async with (
            asyncio.timeout(timeout_s),
            httpx.AsyncClient(headers=endpoint.headers, trust_env=False, verify=_NO_TLS) as client,
        ):
            healthy, _ = await page(client, f"{root}/health")
            status, listed = await page(client, f"{endpoint.url}/models")
            return healthy == status == httpx.codes.OK and endpoint.model in _cards(listed)
    except (httpx.HTTPError, TimeoutError, ValueError):
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
    parts, headers = urlsplit(url), Endpoint(url, key, "").headers
    try:
        async with httpx.AsyncClient(headers=headers, trust_env=False) as client:
            status, listed = await page(client, f"{url.rstrip('/')}/models")
            _, version = await page(client, f"{parts.scheme}://{parts.netloc}/version")
            _, properties = await page(client, f"{parts.scheme}://{parts.netloc}/props")
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, ValueError) as error:
        raise ServingError(
            f"no server answers at {url} ({str(error) or type(error).__name__}); "
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
    root, context = card.get("root"), card.get("max_model_len")
    if card.get("owned_by") == llama_cpp.OWNER:
        told, meta = _object(properties), _object(card.get("meta"))
        build, kind = name_of(told.get("build_info")), name_of(meta.get("ftype"))
        engine, context = llama_cpp.engine(build, kind), meta.get("n_ctx")
        root = told.get("model_path")
    elif found := name_of(_object(version).get("version")):
        engine = f"vllm {found}"
    else:
        engine = "unknown engine"
    if context is not None and (type(context) is not int or context < 1):
        raise ServingError(f"the server at {url} gives '{name}' no usable context length; mend it")
    return ServedModel(name=name, root=name_of(root), context=context, engine=engine)


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
