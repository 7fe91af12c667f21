"""An OpenAI-compatible server: where it is, whether it answers, and what it serves."""

import ssl
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from serving import llama_cpp
from serving.errors import ServingError

# Loopback speaks plain HTTP; loading the certificates of the world costs more than the request.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


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


def answers(endpoint: Endpoint, timeout_s: float = 5.0) -> bool:
    """Whether an endpoint is healthy, takes its key and serves its model; asks for two replies."""
    root = endpoint.url.removesuffix("/v1")
    try:
        with httpx.Client(timeout=timeout_s, trust_env=False, verify=_NO_TLS) as http:
            if http.get(f"{root}/health").status_code != httpx.codes.OK:
                return False
            reply = http.get(f"{endpoint.url}/models", headers=endpoint.headers)
            return reply.status_code == httpx.codes.OK and endpoint.model in {
                one.get("id") for one in reply.json().get("data", [])
            }
    except (httpx.HTTPError, ValueError, AttributeError, TypeError):
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
        async with httpx.AsyncClient(headers=headers, timeout=30, trust_env=False) as client:
            answer = await client.get(f"{url.rstrip('/')}/models")
            version = await client.get(f"{parts.scheme}://{parts.netloc}/version")
            properties = await client.get(f"{parts.scheme}://{parts.netloc}/props")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ServingError(
            f"no server answers at {url} ({error or type(error).__name__}); "
            "start it, or leave --endpoint out to have one started"
        ) from error
    if answer.status_code in {401, 403}:
        raise ServingError(f"the server at {url} {REFUSED}")
    try:
        cards = {card["id"]: card for card in answer.json()["data"]}
    except (ValueError, KeyError, TypeError) as error:
        raise ServingError(
            f"{url} answers (status {answer.status_code}), but not as an OpenAI-compatible server "
            "does; the URL should end in /v1"
        ) from error
    name = model if model is not None else next(iter(cards), None)
    if name is None or name not in cards:
        raise ServingError(
            f"the server at {url} serves no model '{name}', but {', '.join(cards) or 'none'}; "
            "name one of them with --model"
        )
    card = cards[name]
    root, context = card.get("root"), card.get("max_model_len")
    if card.get("owned_by") == llama_cpp.OWNER:
        told = _object(properties)
        engine, context = llama_cpp.engine(card, told), (card.get("meta") or {}).get("n_ctx")
        root = told.get("model_path")
    elif found := _object(version).get("version"):
        engine = f"vllm {found}"
    else:
        engine = "unknown engine"
    return ServedModel(name=name, root=str(root or ""), context=context, engine=engine)


def _object(answer: httpx.Response) -> dict[str, Any]:
    """The JSON object that a page is; empty where it is something else."""
    try:
        found = answer.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number or too large, a bracket too few
        return False
