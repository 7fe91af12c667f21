"""`contested ask` by the shipped tagger, on what its first users try."""

import json
import re
from pathlib import Path

from commands import Contested

from pipelines.conrag.answer import Answer
from pipelines.conrag.blocks import members
from pipelines.judge.judgement import Relation

S, C = Relation.SUPPORTS, Relation.CONTRADICTS
WEB = Path(__file__).parents[2] / "pipelines" / "web" / "assets" / "web.js"


def asked(contested: Contested, claim: str, index: Path, *documents: str) -> Answer:
    """The answer from an index, built from the documents (the bundled ones) if it is missing."""
    if not index.exists():
        contested.done("index", "build", *documents, "--words-only", "--out", str(index))
    answer = contested.done("ask", claim, "--index", str(index), "--json").out
    return Answer.model_validate(json.loads(answer))


def test_the_example_of_the_web_page_has_a_document_on_each_side(
    tmp_path: Path, contested: Contested
) -> None:
    script = WEB.read_text()
    for name, text in re.findall(r'{ name: "(\w+)", text: "(.+)" }', script):
        tmp_path.joinpath(f"{name}.txt").write_text(text)
    claim = re.findall(r'query: "(.+)"', script)[0]
    answer = asked(contested, claim, tmp_path / "index", str(tmp_path))
    assert answer.disputed
    sides = [[names for _, names in members(answer, side)] for side in (S, C)]
    assert sides == [[["guide.txt"]], [["study.txt"]]]
