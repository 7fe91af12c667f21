"""A language model on the scripted endpoint, for every test of ConflictScore."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from clients import client_at
from scripted import Scripted

from serving.client import Client


@pytest_asyncio.fixture
async def client(endpoint: Scripted, tmp_path: Path) -> AsyncIterator[Client]:
    async with client_at(endpoint.url, tmp_path / "c.sqlite") as client:
        yield client
