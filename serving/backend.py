"""Where completions come from: endpoints that are already there, or servers that are started."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from serving import detached
from serving.endpoint import Endpoint
from serving.errors import ServingError


class Backend:
    """The endpoints of one model, which somebody else started and will stop.

    Raises:
        ServingError: An endpoint cannot be had, or will not come back.
    """

    def __init__(self, endpoints: Sequence[Endpoint] = ()) -> None:
        self._endpoints = tuple(endpoints)

    async def endpoints(self) -> Sequence[Endpoint]:
        """Endpoints that answer now."""
        return self._endpoints

    async def recover(self, endpoint: Endpoint) -> None:
        """Wait until an endpoint that failed may be asked again."""
        await asyncio.sleep(1)

    async def close(self) -> None:
        """Stop waiting for endpoints."""


class OnDemand(Backend):
    """Servers on this machine, started once, when the first completion is needed.

    Args:
        start: Finds or starts them, as `detached.start` does.
        together: All that are to start at the same time, as soon as one of them is needed; it adds
            itself.
    """

    def __init__(
        self,
        start: Callable[[], Coroutine[Any, Any, Sequence[Endpoint]]],
        together: "list[OnDemand] | None" = None,
    ) -> None:
        self._start = start
        self._starting: asyncio.Task[Sequence[Endpoint]] | None = None
        self._together = [] if together is None else together
        self._together.append(self)

    async def endpoints(self) -> Sequence[Endpoint]:
        """The endpoints of what is started at the first call."""
        for backend in self._together:
            backend._begin()
        return await asyncio.shield(self._begin())

    async def recover(self, endpoint: Endpoint) -> None:
        """Wait a little: the process that holds the servers restarts one that crashed."""
        held = await asyncio.to_thread(detached.running)
        if not any(endpoint in state.endpoints for state in held):
            raise ServingError(
                f"the server of {endpoint.model} was stopped, or given up as "
                f"{detached.log_path()} says; the same command starts another and resumes"
            )
        await super().recover(endpoint)

    async def close(self) -> None:
        """Stop a start that has not ended."""
        if self._starting is not None:
            self._starting.cancel()  # nothing, if it has started
            await asyncio.gather(self._starting, return_exceptions=True)

    def _begin(self) -> "asyncio.Task[Sequence[Endpoint]]":
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        return self._starting
