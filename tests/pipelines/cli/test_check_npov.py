"""`contested check-npov --detector ablation`, as a person meets it."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, at
from left_out import DROPS, EXAMPLE, GROUNDINGS, USES, serve
from pages import unpacked
from scripted import Scripted

ASKED = ["check-npov", "example.json", "--detector", "ablation"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> None:
    Path("example.json").write_text(json.dumps(EXAMPLE))
    Path("empty.json").write_text(json.dumps({**EXAMPLE, "response": "So it is."}))
    Path("pages").mkdir()


@pytest.fixture
def served(endpoint: Scripted) -> list[str]:
    """The options that name a server whose log-probabilities are known."""
    serve(endpoint, Path("words"))
    return at(endpoint)


def errors(nats: list[float | None]) -> list[float | None]:
    return [None if each is None else 1 - each for each in nats]


def test_a_response_is_checked_word_by_word(
    contested: Contested, served: list[str], endpoint: Scripted
) -> None:
    told = contested.done(*ASKED, "--json", *served)
    found: dict[str, Any] = json.loads(told.out)
    assert (found["coverage_error"], found["hallucination_error"]) == (1 - min(USES), 1 - 0)
    assert found["drops"] == DROPS
    assert [each["error"] for each in found["arguments"]] == errors([*USES])
    assert [each["error"] for each in found["sentences"]] == errors(GROUNDINGS)
    assert [each["text"] for each in found["arguments"]] == [*EXAMPLE["pro"], *EXAMPLE["con"]]
    (whole,) = found["arguments"][1]["words"]
    assert (whole["text"], whole["end"]) == ("It stops floods.", len("It stops floods."))
    words = [word for each in found["sentences"] for word in each["words"]]
    assert [(word["text"], word["error"]) for word in words] == [
        ("holds", -1), ("water", -3), ("Salmon", -2), ("suffer", 1), ("Lakes", 1), ("warm", 1),
    ]  # fmt: skip
    salmon = found["sentences"][2]
    assert [salmon["text"][word["start"] : word["end"]] for word in salmon["words"]] == [
        "Salmon",
        "suffer",
    ]
    assert "4 calls to scripted, 0 saved" in told.err
    again = contested.done(*ASKED, "--json", *served)
    assert again.out == told.out
    assert "4 calls, all answered from the cache" in again.err
    assert len(endpoint.requests) == 4, "with all arguments, and without each of three"


def test_page_and_picture_show_the_map(contested: Contested, served: list[str]) -> None:
    made = ["--html", "checked.html", "--png", "checked.png"]
    told = contested.done(*ASKED, *made, *served)
    assert "page: checked.html" in told.err
    page = Path("checked.html").read_text()
    assert "Is the response faithful?" in page
    (shown,) = unpacked(page)
    blocks: dict[str, Any] = {each["kind"]: each for each in shown["blocks"]}
    assert "least grounded: “Lakes warm.”" in str(blocks["facts"])
    heatmap = blocks["heatmap"]
    assert heatmap["nats"] == 4, "the darkest"
    assert [each.get("share") for each in heatmap["response"]] == GROUNDINGS
    assert [each["share"] for each in heatmap["given"]] == USES
    cells = base64.b64decode(heatmap["cells"])
    values = [int.from_bytes(cells[place : place + 2], "little") for place in range(0, 36, 2)]
    assert values[:3] == [32768, 65535, 0]
    assert values[9] == 0, "what becomes likelier is not shaded"
    picture = Path("checked.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert base64.b64decode(blocks["fold"]["content"][0]["png"]) == picture


def test_a_server_that_cannot_tell_is_refused_in_one_line(
    contested: Contested, served: list[str], endpoint: Scripted
) -> None:
    endpoint.likelihood = None
    assert "prompt_logprobs" in contested.refused(*ASKED, *served)
    endpoint.root = "/nowhere"
    told = contested.refused(*ASKED, *served)
    assert "takes the tokenizer of scripted" in told
    assert "contested models add" in told


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([*ASKED, "--endpoint", "http://127.0.0.1:1/v1"], "http://127.0.0.1:1"),
    ],
)
def test_mistakes_are_one_line(contested: Contested, arguments: list[str], problem: str) -> None:
    assert problem in contested.refused(*arguments)
