"""Where completions come from: servers this process starts, or endpoints that are already there."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, Protocol, TypeVar

from serving import detached
from serving.endpoint import Endpoint
from serving.errors import ServingError
from serving.server import LocalServer

Server = TypeVar("Server")


class Backend(Protocol):
    """The endpoints of one model. They are reached for only when the cache has no answer.

    Raises:
        ServingError: An endpoint cannot be had, or will not come back.
    """

    async def endpoints(self) -> Sequence[Endpoint]:
        """Endpoints that answer now; starts servers at the first call."""

    async def recover(self, endpoint: Endpoint) -> None:
        """Wait until an endpoint that failed may be asked again."""

    async def close(self) -> None:
        """Stop what this backend started."""


class _Start(Generic[Server]):
    """Servers that are started once, when the first completion is needed, or fail for good."""

    def __init__(self, start: Callable[[], Awaitable[list[Server]]]) -> None:
        self._start = start
        self._starting = asyncio.Lock()
        self._servers: list[Server] = []
        self._failure: ServingError | None = None

    async def _started(self) -> list[Server]:
        async with self._starting:
            if self._failure is not None:
                raise self._failure
            if not self._servers:
                try:
                    self._servers = await self._start()
                except ServingError as error:
                    self._failure = error
                    raise
        return self._servers


class LocalServers(_Start[LocalServer]):
    """vLLM servers that live as long as this process: one per replica."""

    async def endpoints(self) -> Sequence[Endpoint]:
        """The servers' endpoints, started at the first call."""
        return [server.endpoint for server in await self._started()]

    async def recover(self, endpoint: Endpoint) -> None:
        """Wait for the restart of a crashed server."""
        for server in self._servers:
            if server.endpoint == endpoint:
                await server.wait_ready()

    async def close(self) -> None:
        """Stop the servers."""
        await asyncio.gather(*(server.stop() for server in self._servers))
        self._servers = []


class SharedServers(_Start[Endpoint]):
    """Servers that live as long as this process and serve all its clients; see `serving.shared`."""

    async def endpoints(self) -> Sequence[Endpoint]:
        """The servers' endpoints, started at the first call if no earlier client has."""
        return await self._started()

    async def recover(self, endpoint: Endpoint) -> None:
        """Wait a little: the process that holds them restarts a crashed server."""
        held = await asyncio.to_thread(detached.running)
        if not any(endpoint.url in state.urls for state in held):
            raise ServingError(
                f"the server of {endpoint.model} has ended and is not started again; "
                f"{detached.log_path()} says why"
            )
        await asyncio.sleep(1)

    async def close(self) -> None:
        """Leave them to the clients that follow."""


class RunningEndpoints:
    """Servers of one model that somebody else started and will stop."""

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
