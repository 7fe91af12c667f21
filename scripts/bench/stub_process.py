"""Endpoints that answer every chat at once with the same JSON, in a separate process.

They read only the length of a request, to be faster than any client. `ask` sends prepared requests
over bare sockets: no client can be faster than that.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
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


async def ask(urls: Sequence[str], bodies: Sequence[bytes], in_flight: int) -> None:
    """Send requests and read the replies, nothing else."""
    waiting = iter(bodies)

    async def worker(url: str) -> None:
        host, port = url.removeprefix("http://").removesuffix("/v1").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        for body in waiting:
            head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: {host}\r\n"
            writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
            await reader.readexactly(length(await reader.readuntil(b"\r\n\r\n")))
        writer.close()

    await asyncio.gather(*(worker(urls[number % len(urls)]) for number in range(in_flight)))


@contextmanager
def started(endpoints: int) -> Iterator[list[str]]:
    """Start `endpoints` servers and yield their URLs."""
    command = [sys.executable, "-I", __file__, str(endpoints)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            ports = [int(process.stdout.readline()) for _ in range(endpoints)]
            yield [f"http://127.0.0.1:{port}/v1" for port in ports]
        finally:
            process.kill()


async def _serve(endpoints: int) -> None:
    loop = asyncio.get_running_loop()
    for _ in range(endpoints):
        server = await loop.create_server(Answering, "127.0.0.1", 0, backlog=4096)
        print(server.sockets[0].getsockname()[1], flush=True)
    await loop.create_future()  # until killed


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
