"""`contested ask` by the shipped tagger, on a dispute of the bundled documents, asked both ways."""

import json
from pathlib import Path

import pytest
from commands import Contested

OPPOSITES = {"SUPPORTS": "CONTRADICTS", "CONTRADICTS": "SUPPORTS"}
GENUINE = {
    "vinland-map-1965.md": "SUPPORTS",
    "vinland-map-mccrone.md": "CONTRADICTS",
    "vinland-map-yale-2021.md": "CONTRADICTS",
}
"""What passages hold that say in so many words whether the map is genuine."""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bundled") / "index"


@pytest.mark.parametrize(
    ("claim", "held"),
    [
        ("The Vinland Map is a genuine fifteenth-century map.", GENUINE),
        (
            "The Vinland Map is a forgery.",
            {name: OPPOSITES[side] for name, side in GENUINE.items()},
        ),
    ],
)
def test_the_vinland_map_is_disputed_both_ways(
    claim: str, held: dict[str, str], index: Path, contested: Contested
) -> None:
    if not index.exists():
        contested.done("index", "build", "--words-only", "--out", str(index))
    answer = json.loads(contested.done("ask", claim, "--index", str(index), "--json").out)
    evidence = [row["passage"]["id"] for row in answer["evidence"]]
    assert all(name.startswith("vinland-map") for name in evidence), "no other subject"
    assert {name: answer["tags"][name] for name in held} == held
    assert answer["disputed"]
