"""The shipped tagger on what its first users try: examples of README, tour, page and `--help`."""

import json
import re
from pathlib import Path

import pytest
from commands import Contested
from shown import example_line

import contested as library
from pipelines.conrag.answer import Answer
from pipelines.conrag.blocks import members
from pipelines.conrag.evidence import Stance
from pipelines.data.records import Record
from pipelines.judge.judgement import Relation

S, C, IRRELEVANT = Relation.SUPPORTS, Relation.CONTRADICTS, Relation.IRRELEVANT
SCRIPT = Path(__file__).parents[2] / "pipelines" / "web" / "assets" / "web.js"

GENUINE = {"vinland-map-1965.md": S, "vinland-map-mccrone.md": C, "vinland-map-yale-2021.md": C}
"""What passages hold that say in so many words whether the map is genuine."""


@pytest.mark.parametrize(("response", "disputed"), [("sure", 1), ("hedged", 0)])
def test_the_example_of_the_readme(response: str, disputed: float) -> None:
    record = Record.model_validate_json(example_line())
    assert record.responses is not None
    documents = {document.id: document.text for document in record.documents}
    scored = library.score(
        record.responses[response],
        documents,
        question=record.question,
        judge="tagger",
        claims="sentences",
    )
    assert scored.result.cs_c == disputed


def test_the_answer_that_the_tour_scores(contested: Contested) -> None:
    files = ["--response", "samples/bridge/answer.txt", "--documents", "samples/bridge/documents"]
    scored = json.loads(contested.done("score", *files, "--judge", "tagger", "--json").out)
    said = {judgement["document"]: judgement["relation"] for judgement in scored["judgements"]}
    assert said == {"guide": S, "study": C, "leaflet": IRRELEVANT}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bundled") / "index"


@pytest.mark.parametrize(
    ("claim", "genuine"),
    [
        ("The Vinland Map is a genuine fifteenth-century map.", True),  # README.md
        ("The Vinland Map is genuine.", True),
        ("The Vinland Map is a forgery.", False),
        ("The Vinland Map is a fake.", False),
    ],
)
def test_the_side_on_the_vinland_map_is_right_both_ways(
    claim: str, genuine: bool, index: Path, contested: Contested
) -> None:
    if not index.exists():
        contested.done("index", "build", "--words-only", "--out", index)
    said = contested.done("ask", claim, "--index", index, "--json").out
    answer = Answer.model_validate_json(said)
    held = {name: side if genuine else {S: C, C: S}[side] for name, side in GENUINE.items()}
    assert {name: answer.tags[name] for name in held} == held
    # One passage of several holds that it is genuine.
    assert answer.disputed or answer.stance is (Stance.REFUTE if genuine else Stance.SUPPORT)
    evidence = [row.passage.id for row in answer.evidence]
    assert all(name.startswith("vinland-map") for name in evidence), "other subjects are shown"


def the_pages(field: str) -> str:
    """A text of the page's example."""
    text = re.search(rf'{field}: "(.+)"', SCRIPT.read_text("utf-8"))
    assert text
    return text[1]


def the_pages_documents() -> dict[str, str]:
    return dict(re.findall(r'{ name: "(\w+)", text: "(.+)" }', SCRIPT.read_text("utf-8")))


def test_the_page_asks_a_claim_with_a_document_on_each_side() -> None:
    answer = library.ask(the_pages("query"), the_pages_documents()).result
    assert answer.disputed
    sides = [[names for _, names in members(answer, side)] for side in (S, C)]
    assert sides == [[["guide"]], [["study"]]]


def test_the_page_scores_a_response_with_one_disputed_claim_of_two() -> None:
    scored = library.score(
        the_pages("response"), the_pages_documents(), judge="tagger", claims="sentences"
    )
    assert scored.result.cs_c == 0.5
