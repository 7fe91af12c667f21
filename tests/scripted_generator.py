"""ConRAG's generator at a scripted endpoint."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from clients import asking
from scripted import Reply, schema_of

from pipelines.conrag.generation import Generator, generator


class ScriptedGenerator:
    """Opens generators with scripted replies; keeps the requests of the latest one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.requests: list[dict[str, Any]] = []

    @asynccontextmanager
    async def __call__(self, reply: Reply) -> AsyncIterator[Generator]:
        async with asking(self._folder, reply) as (client, self.requests):
            yield generator(client)

    def asked(self, schema: str) -> list[dict[str, Any]]:
        """The requests for this kind of reply."""
        return [request for request in self.requests if schema_of(request) == schema]
