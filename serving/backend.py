"""Where completions come from: servers this process starts, or endpoints that are already there."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Protocol

from serving import detached
from serving.endpoint import Endpoint
from serving.errors import ServingError
from serving.server import LocalServer


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


class OnDemand:
    """A backend that is started once, when the first completion is needed, or fails for good.

    Args:
        start: Starts it.
        together: All that are to start at the same time, as soon as one of them is needed; it adds
            itself.
    """

    def __init__(
        self, start: Callable[[], Awaitable[Backend]], together: "list[OnDemand] | None" = None
    ) -> None:
        self._start = start
        self._starting = asyncio.Lock()
        self._backend: Backend | None = None
        self._failure: ServingError | None = None
        self._ahead: asyncio.Task[None] | None = None
        self._together = [] if together is None else together
        self._together.append(self)

    async def endpoints(self) -> Sequence[Endpoint]:
        """The endpoints of what is started at the first call."""
        return await (await self._started()).endpoints()

    async def recover(self, endpoint: Endpoint) -> None:
        """As what was started does it."""
        await (await self._started()).recover(endpoint)

    async def close(self) -> None:
        """Stop what was started, as far as it is ours."""
        if self._ahead is not None:
            self._ahead.cancel()
            await asyncio.gather(self._ahead, return_exceptions=True)
        if self._backend is not None:
            await self._backend.close()

    async def _started(self) -> Backend:
        others, self._together[:] = [one for one in self._together if one is not self], []
        for other in others:
            other._ahead = asyncio.create_task(other._start_ahead())
        async with self._starting:
            if self._failure is not None:
                raise self._failure
            if self._backend is None:
                try:
                    self._backend = await self._start()
                except ServingError as error:
                    self._failure = error
                    raise
        return self._backend

    async def _start_ahead(self) -> None:
        with suppress(ServingError):  # said to whoever needs it
            await self._started()


class LocalServers:
    """vLLM servers that live as long as this process: one per replica."""

    def __init__(self, servers: Sequence[LocalServer]) -> None:
        self._servers = tuple(servers)

    async def endpoints(self) -> Sequence[Endpoint]:
        """The servers' endpoints."""
        return [server.endpoint for server in self._servers]

    async def recover(self, endpoint: Endpoint) -> None:
        """Wait for the restart of a crashed server."""
        for server in self._servers:
            if server.endpoint == endpoint:
                await server.wait_ready()

    async def close(self) -> None:
        """Stop the servers."""
        await asyncio.gather(*(server.stop() for server in self._servers))


class DetachedServers:
    """Servers that another process holds, which restarts them: see `serving.detached`."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self._endpoints = tuple(endpoints)

    async def endpoints(self) -> Sequence[Endpoint]:
        """The servers' endpoints."""
        return self._endpoints

    async def recover(self, endpoint: Endpoint) -> None:
        """Wait a little: the process that holds them restarts a crashed server."""
        held = await asyncio.to_thread(detached.running)
        if not any(endpoint in state.endpoints for state in held):
            raise ServingError(
                f"the server of {endpoint.model} was stopped, or given up as "
                f"{detached.log_path()} says; the same command starts another and resumes"
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
