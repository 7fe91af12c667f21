"""Where completions come from: servers this process starts, or endpoints that are already there."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from serving.errors import ServingError
from serving.server import Endpoint, LocalServer


class Backend(Protocol):
    """The endpoints of one model. They are reached for only when the cache has no answer."""

    async def endpoints(self) -> Sequence[Endpoint]:
        """Endpoints that answer now; starts servers at the first call.

        Raises:
            ServingError: None can be had.
        """
        ...

    async def recover(self, endpoint: Endpoint) -> None:
        """Wait until an endpoint that failed may be asked again.

        Raises:
            ServingError: It will not come back.
        """
        ...

    async def close(self) -> None:
        """Stop what this backend started."""
        ...


class LocalServers:
    """vLLM servers that live as long as this process: one per replica.

    Args:
        start: Starts the servers; called once, when the first completion is needed.
    """

    def __init__(self, start: Callable[[], Awaitable[list[LocalServer]]]) -> None:
        self._start = start
        self._starting = asyncio.Lock()
        self._servers: list[LocalServer] = []

    async def endpoints(self) -> Sequence[Endpoint]:
        """The servers' endpoints, started at the first call."""
        async with self._starting:
            if not self._servers:
                self._servers = await self._start()
        return [server.endpoint for server in self._servers]

    async def recover(self, endpoint: Endpoint) -> None:
        """Wait for the restart of a crashed server."""
        for server in self._servers:
            if server.endpoint == endpoint:
                await server.wait_ready()

    async def close(self) -> None:
        """Stop the servers."""
        await asyncio.gather(*(server.stop() for server in self._servers))
        self._servers = []


class RunningEndpoints:
    """Servers that somebody else started and will stop.

    Args:
        endpoints: They should serve the same model.
    """

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self._endpoints = tuple(endpoints)

    async def endpoints(self) -> Sequence[Endpoint]:
        """The endpoints as given."""
        return self._endpoints

    async def recover(self, endpoint: Endpoint) -> None:
        """Wait a little: whoever runs the server may be restarting it."""
        await asyncio.sleep(1)

    async def close(self) -> None:
        """Nothing to stop."""


@dataclass(frozen=True)
class ServedModel:
    """What an endpoint says of the model it serves.

    Attributes:
        name: To be named in requests.
        folder: Its folder, where that is on this machine too.
        context: Context length in tokens, or None where the server does not tell.
        engine: Engine and version, as far as the server tells.
    """

    name: str
    folder: Path | None
    context: int | None
    engine: str


async def ask_endpoint(url: str, key: str, model: str | None = None) -> ServedModel:
    """Ask an OpenAI-compatible server which model it serves.

    Args:
        url: Base URL, ending in /v1.
        key: API key; may be empty for a server that wants none.
        model: The one wanted, where the server has several.

    Raises:
        ServingError: No answer, a refused key, an unknown model, or no such server.
    """
    import httpx  # noqa: PLC0415 - not needed for a run that is cached

    if not (key.isascii() and key.isprintable()):
        raise ServingError(
            "the key in CONTESTED_API_KEY has characters that no key can have; copy it again, "
            "without a line break"
        )
    if not _is_url(url):
        raise ServingError(f"--endpoint '{url}' is not a URL; write http://127.0.0.1:8000/v1")
    parts = urlsplit(url)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with httpx.AsyncClient(headers=headers, timeout=30, trust_env=False) as client:
            answer = await client.get(f"{url.rstrip('/')}/models")
            version = await client.get(f"{parts.scheme}://{parts.netloc}/version")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ServingError(
            f"no server answers at {url} ({error or type(error).__name__}); "
            "start it, or leave --endpoint away to have one started"
        ) from error
    if answer.status_code in {401, 403}:
        raise ServingError(
            f"the server at {url} refuses the key; set CONTESTED_API_KEY to the one it was "
            "started with"
        )
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
    root = Path(card.get("root") or "")
    return ServedModel(
        name=name,
        folder=root if (root / "tokenizer.json").is_file() else None,
        context=card.get("max_model_len"),
        engine=_engine(version.text if version.status_code == 200 else ""),
    )


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number or too large, a bracket too few
        return False


def _engine(version: str) -> str:
    try:
        return f"vllm {json.loads(version)['version']}"
    except (ValueError, KeyError, TypeError):
        return "unknown engine"
