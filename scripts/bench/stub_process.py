"""An endpoint that answers every chat at once with the same JSON, in a separate process.

It reads only the length of a request, to be faster than any client.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

REPLY = '{"snippet": "", "reasoning": "none", "answer": "IRRELEVANT"}'


class Answering(asyncio.Protocol):
    """One connection."""

    def __init__(self) -> None:
        self._read = bytearray()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport for answers."""
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each request as soon as its last byte arrives."""
        self._read += data
        while (head := self._read.find(b"\r\n\r\n")) >= 0:
            end = head + 4 + length(bytes(self._read[:head]))
            if len(self._read) < end:
                return
            del self._read[:end]
            assert self._transport is not None
            self._transport.write(answer())


def length(head: bytes) -> int:
    """Content length, in bytes, in a request head."""
    name = b"content-length:"
    lines = (line for line in head.lower().split(b"\r\n") if line.startswith(name))
    return int(next(lines, name + b"0").removeprefix(name))


@cache
def answer() -> bytes:
    """A chat completion as vLLM formats it."""
    message = {"role": "assistant", "content": REPLY}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30}
    body = json.dumps(
        {
            "id": "chatcmpl-stub",
            "object": "chat.completion",
            "created": 0,
            "model": "stub",
            "choices": [choice],
            "usage": usage,
        }
    ).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    return f"{head}\r\n\r\n".encode() + body


@contextmanager
def started() -> Iterator[str]:
    """Start the endpoint and yield its URL."""
    command = [sys.executable, "-I", __file__]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.kill()


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Answering, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.create_future()  # until killed


if __name__ == "__main__":
    asyncio.run(_serve())
