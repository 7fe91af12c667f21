"""A language model on the scripted endpoint, for every test of ConflictScore."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from scripted import Scripted

from serving import profile
from serving.client import Client
from serving.connect import Source, connect


@pytest_asyncio.fixture
async def client(endpoint: Scripted, tmp_path: Path) -> AsyncIterator[Client]:
    source = Source(profile.load("cpu-small"), "generator", tmp_path, endpoints=(endpoint.url,))
    async with connect(source, cache=tmp_path / "c.sqlite") as client:
        yield client
