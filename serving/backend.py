"""Where completions come from: servers this process starts, or endpoints that are already there."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from serving import detached
from serving.endpoint import Endpoint
from serving.errors import ServingError
from serving.server import LocalServer


class Backend:
    """The endpoints of one model. They are reached for only when the cache has no answer.

    Raises:
        ServingError: An endpoint cannot be had, or will not come back.
    """

    def __init__(self, endpoints: Sequence[Endpoint] = ()) -> None:
        self._endpoints = tuple(endpoints)

    async def endpoints(self) -> Sequence[Endpoint]:
        """Endpoints that answer now; starts servers at the first call."""
        return self._endpoints

    async def recover(self, endpoint: Endpoint) -> None:
        """Wait until an endpoint that failed may be asked again."""
        await asyncio.sleep(1)

    async def close(self) -> None:
        """Stop what this backend started."""


class RunningEndpoints(Backend):
    """Servers of one model that somebody else started and will stop."""


class OnDemand(Backend):
    """A backend that is started once, when the first completion is needed, or fails for good.

    Args:
        start: Starts it.
        together: All that are to start at the same time, as soon as one of them is needed; it adds
            itself.
    """

    def __init__(
        self,
        start: Callable[[], Coroutine[Any, Any, Backend]],
        together: "list[OnDemand] | None" = None,
    ) -> None:
        self._start = start
        self._starting: asyncio.Task[Backend] | None = None
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
        if self._starting is not None:
            self._starting.cancel()  # nothing, if it has started
            (started,) = await asyncio.gather(self._starting, return_exceptions=True)
            if isinstance(started, Backend):
                await started.close()

    async def _started(self) -> Backend:
        for one in self._together:
            one._begin()
        return await asyncio.shield(self._begin())

    def _begin(self) -> "asyncio.Task[Backend]":
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        return self._starting


class LocalServers(Backend):
    """vLLM servers that live as long as this process: one per replica."""

    def __init__(self, servers: Sequence[LocalServer]) -> None:
        super().__init__([server.endpoint for server in servers])
        self._servers = tuple(servers)

    async def recover(self, endpoint: Endpoint) -> None:
        """Wait for the restart of a crashed server."""
        for server in self._servers:
            if server.endpoint == endpoint:
                await server.wait_ready()

    async def close(self) -> None:
        """Stop the servers."""
        await asyncio.gather(*(server.stop() for server in self._servers))


class DetachedServers(Backend):
    """Servers that another process holds, which restarts them: see `serving.detached`."""

    async def recover(self, endpoint: Endpoint) -> None:
        """Wait a little: the process that holds them restarts a crashed server."""
        held = await asyncio.to_thread(detached.running)
        if not any(endpoint in state.endpoints for state in held):
            raise ServingError(
                f"the server of {endpoint.model} was stopped, or given up as "
                f"{detached.log_path()} says; the same command starts another and resumes"
            )
        await super().recover(endpoint)
