"""Tables of real-world texts with their correct values: `tests/texts/`."""

import json
from pathlib import Path
from typing import Any


def rows(name: str) -> list[Any]:
    """The rows of a table; `kind` says where a text comes from."""
    lines = (Path(__file__).parent / "texts" / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
