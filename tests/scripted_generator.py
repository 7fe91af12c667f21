"""ConRAG's generator at a scripted endpoint."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from scripted import Scripted

from pipelines.conrag.generation import Generator, generator
from serving.connect import Source, connect
from serving.profile import default_name, load

Reply = Callable[[dict[str, Any]], str]


def schema_of(request: dict[str, Any]) -> str:
    """Name of the requested reply: "AnswerReply"."""
    name: str = request["response_format"]["json_schema"]["name"]
    return name


class ScriptedGenerator:
    """Opens generators with scripted replies; keeps the requests of the latest one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.requests: list[dict[str, Any]] = []

    @asynccontextmanager
    async def __call__(self, reply: Reply) -> AsyncIterator[Generator]:
        with Scripted(reply=reply) as endpoint:
            self.requests = endpoint.requests
            source = Source(
                load(default_name()), "generator", self._folder, endpoints=(endpoint.url,)
            )
            async with connect(source, cache=self._folder / "cache.sqlite") as client:
                yield generator(client)

    def asked(self, schema: str) -> list[dict[str, Any]]:
        """The requests for this kind of reply."""
        return [request for request in self.requests if schema_of(request) == schema]
