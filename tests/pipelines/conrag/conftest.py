"""A generator that the tests of ConRAG share."""

from pathlib import Path

import pytest
from scripted_generator import ScriptedGenerator


@pytest.fixture
def scripted(tmp_path: Path) -> ScriptedGenerator:
    return ScriptedGenerator(tmp_path)
