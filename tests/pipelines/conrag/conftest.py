"""A generator that the tests of ConRAG share."""

from pathlib import Path

import pytest
from scripted import KEY
from scripted_generator import ScriptedGenerator


@pytest.fixture
def scripted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedGenerator:
    monkeypatch.setenv("CONTESTED_API_KEY", KEY)
    return ScriptedGenerator(tmp_path)
