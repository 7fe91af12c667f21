"""An OpenAI-compatible server: where it is, whether it answers, and what it serves."""

import asyncio
import ssl
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

import httpx
from pydantic import AfterValidator, BaseModel, Field, ValidationError

from serving import llama_cpp
from serving.errors import ServingError, first_fault

# Loopback speaks plain HTTP; loading the certificates of the world costs more than the request.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


PAGE_S, PAGE_BYTES = 30.0, 1 << 20
"""What a page that is no completion may take."""

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


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("has signs that cannot be printed")
    return text


Name = Annotated[str, Field(max_length=1000), AfterValidator(_printable)]
"""A name that a server gives: it goes to terminals, files and cache keys."""


class _Meta(BaseModel):
    n_ctx: Annotated[int, Field(strict=True, gt=0)] | None = None
    ftype: Name | None = None


class _Card(BaseModel):
    """A model as a server lists it; `meta` is told by llama.cpp."""

    id: Annotated[Name, Field(min_length=1)]
    root: Name | None = None
    max_model_len: Annotated[int, Field(strict=True, gt=0)] | None = None
    owned_by: Name | None = None
    meta: _Meta | None = None


class _Cards(BaseModel):
    data: list[_Card]


class _About(BaseModel):
    """The pages /version of vLLM and /props of llama.cpp."""

    version: Name | None = None
    build_info: Name | None = None
    model_path: Name | None = None


async def page(client: httpx.AsyncClient, url: str, body: Any = None) -> httpx.Response:
    """A page of a server, got or, with a body, posted; it must be short and come soon.

    Raises:
        httpx.HTTPError, TimeoutError: It does not come.
        ValueError: It is too long, or packed.
    """
    headers = {"Accept-Encoding": "identity"}
    method = "GET" if body is None else "POST"
    async with (
        asyncio.timeout(PAGE_S),
        client.stream(method, url, json=body, headers=headers, timeout=PAGE_S) as reply,
    ):
        content = bytearray()
        async for chunk in reply.aiter_raw():
            content += chunk
            if len(content) > PAGE_BYTES or "Content-Encoding" in reply.headers:
                raise ValueError(f"the page is packed or longer than {PAGE_BYTES:,} bytes")
    return httpx.Response(reply.status_code, content=bytes(content), request=reply.request)


async def answers(endpoint: Endpoint, timeout_s: float = 5.0) -> bool:
    """Whether an endpoint is healthy, takes its key and serves its model; asks for two replies."""
    root = endpoint.url.removesuffix("/v1")
    try:
        async with (
            asyncio.timeout(timeout_s),
            httpx.AsyncClient(headers=endpoint.headers, trust_env=False, verify=_NO_TLS) as client,
        ):
            (await page(client, f"{root}/health")).raise_for_status()
            listed = await page(client, f"{endpoint.url}/models")
            cards = _Cards.model_validate_json(listed.content).data
    except (httpx.HTTPError, TimeoutError, ValueError):
        return False
    return endpoint.model in {card.id for card in cards}


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
            answer = await page(client, f"{url.rstrip('/')}/models")
            version = await page(client, f"{parts.scheme}://{parts.netloc}/version")
            properties = await page(client, f"{parts.scheme}://{parts.netloc}/props")
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, ValueError) as error:
        raise ServingError(
            f"no server answers at {url} ({error or type(error).__name__}); "
            "start it, or leave --endpoint out to have one started"
        ) from error
    if answer.status_code in {401, 403}:
        raise ServingError(f"the server at {url} {REFUSED}")
    try:
        cards = {card.id: card for card in _Cards.model_validate_json(answer.content).data}
    except ValidationError as error:
        raise ServingError(
            f"{url} answers (status {answer.status_code}), but not as an OpenAI-compatible server "
            f"does; the URL should end in /v1 ({first_fault(error)})"
        ) from error
    name = model if model is not None else next(iter(cards), None)
    if name is None or name not in cards:
        raise ServingError(
            f"the server at {url} serves no model '{name}', but "
            f"{', '.join(cards)[:1000] or 'none'}; "
            "name one of them with --model"
        )
    card = cards[name]
    root, context = card.root, card.max_model_len
    if card.owned_by == llama_cpp.OWNER:
        told, meta = _about(properties), card.meta or _Meta()
        engine, context = llama_cpp.engine(told.build_info, meta.ftype), meta.n_ctx
        root = told.model_path
    elif found := _about(version).version:
        engine = f"vllm {found}"
    else:
        engine = "unknown engine"
    return ServedModel(name=name, root=root or "", context=context, engine=engine)


def _about(answer: httpx.Response) -> _About:
    """What a page tells; nothing where it is another."""
    try:
        return _About.model_validate_json(answer.content)
    except ValidationError:
        return _About()


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number or too large, a bracket too few
        return False
