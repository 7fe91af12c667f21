"""Where completions come from: servers this process starts, or endpoints that are already there."""

import asyncio
import subprocess
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from serving import detached
from serving.endpoint import Endpoint
from serving.errors import ServingError
from serving.server import LocalServer


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
        self._failure: ServingError | None = None

    async def endpoints(self) -> Sequence[Endpoint]:
        """The servers' endpoints, started at the first call."""
        async with self._starting:
            if self._failure is not None:
                raise self._failure
            if not self._servers:
                try:
                    self._servers = await self._start()
                except ServingError as error:
                    self._failure = error
                    raise
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


class SharedServers:
    """Servers that live as long as this process and serve all its clients; see `serving.shared`.

    Args:
        start: Starts them, or finds those that an earlier client has started. It blocks, and tells
            the process that it waits for.
    """

    def __init__(
        self, start: Callable[[Callable[["subprocess.Popen[str]"], None]], list[Endpoint]]
    ) -> None:
        self._start = start
        self._starting = asyncio.Lock()
        self._endpoints: list[Endpoint] = []
        self._failure: ServingError | None = None

    async def endpoints(self) -> Sequence[Endpoint]:
        """The servers' endpoints, started at the first call."""
        async with self._starting:
            if self._failure is not None:
                raise self._failure
            if not self._endpoints:
                await self._wait_for_start()
        return self._endpoints

    async def _wait_for_start(self) -> None:
        """Starts the servers in a thread, which an interrupt ends whenever it comes."""
        holder: list[subprocess.Popen[str]] = []
        interrupted = threading.Event()

        def note(process: "subprocess.Popen[str]") -> None:
            holder.append(process)
            if interrupted.is_set():
                process.terminate()

        try:
            self._endpoints = await asyncio.to_thread(self._start, note)
        except asyncio.CancelledError:
            interrupted.set()
            for process in holder:
                process.terminate()
            raise
        except ServingError as error:
            self._failure = error
            raise

    async def recover(self, endpoint: Endpoint) -> None:
        """Wait a little: the process that holds them restarts a crashed server.

        Raises:
            ServingError: That process has ended: the server was stopped, or crashed too often.
        """
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
