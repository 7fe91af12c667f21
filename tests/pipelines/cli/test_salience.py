"""`contested salience` and `contested check-npov`, as a person meets them."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, at
from left_out import serve
from pages import unpacked
from scripted import Scripted
from soft_prompts import soft_prompt
from tiny_loaded import saved

from serving.models import find

EXAMPLE = {
    "question": "Should the dam stay?",
    "pro": ["The dam holds drinking water."],
    "con": ["Salmon cannot pass the dam."],
    "response": "Some say that it holds drinking water, others that salmon cannot pass.",
}
OPTIONS = ["--question", EXAMPLE["question"], "--pro", *EXAMPLE["pro"], "--con", *EXAMPLE["con"]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> None:
    Path("example.json").write_text(json.dumps(EXAMPLE))
    Path("broken.json").write_text('{"question": "Is it?"}')
    Path("deep.json").write_text("[" * 200_000)
    Path("pages").mkdir()
    Path("answer.txt").write_text("It holds drinking water.")


@pytest.fixture
def model() -> list[str]:
    return ["--model", str(saved(Path("tiny")).absolute())]


def blocks(page: str, kind: str) -> list[Any]:
    """The blocks of a kind of a page's only example."""
    (shown,) = unpacked(Path(page).read_text())
    return [each for each in shown["blocks"] if each["kind"] == kind]


def test_a_response_is_checked(contested: Contested, model: list[str]) -> None:
    made = ["--html", "checked.html", "--png", "checked.png"]
    told = contested.done("check-npov", "example.json", *made, *model)
    assert "Coverage error" in told.out
    assert "Salmon cannot pass the dam." in told.out
    assert Path("checked.png").read_bytes().startswith(b"\x89PNG")
    assert "Is the response faithful?" in Path("checked.html").read_text()
    (folded,) = blocks("checked.html", "fold")
    assert base64.b64decode(folded["content"][0]["png"]) == Path("checked.png").read_bytes()


def test_files_are_read_with_the_space_at_their_ends(
    contested: Contested, model: list[str]
) -> None:
    Path("prompt.txt").write_text("The dam holds ")
    asked = ["salience", "--prompt", "@prompt.txt", "--response", "@answer.txt", "--json"]
    data = json.loads(contested.done(*asked, *model).out)
    assert data["text"] == "The dam holds It holds drinking water."


def test_words_rest_on_words(contested: Contested, model: list[str]) -> None:
    asked = ["salience", "--prompt", "The dam holds drinking water.", "--response"]
    told = contested.done(*asked, "@answer.txt", "--html", "map.html", *model).out
    assert "drinking" in told
    data = json.loads(contested.done(*asked, "@answer.txt", "--json", *model).out)
    assert [word["text"] for word in data["response_words"]] == ["holds", "drinking", "water"]
    assert len(data["shares"]) == len(data["prompt_words"]) == 4
    assert "What the response rests on" in Path("map.html").read_text()
    nothing = contested.done(*asked, "It is.", "--html", "map.html", *model)
    assert "The response has no content words" in nothing.out
    drawn = contested(*asked, "It is.", "--png", "map.png", *model)
    assert (drawn.code, "there are no words to draw" in drawn.err) == (2, True)
    assert "The response has no content words" in drawn.out, "shown all the same"


def test_a_response_is_checked_with_the_soft_prompt_that_wrote_it(contested: Contested) -> None:
    folder = saved(Path("tiny")).absolute()
    digest = find(str(folder), Path("nowhere")).digest
    soft_prompt(model=digest).save(Path("p.st"))
    asked = ["check-npov", "example.json", "--json", "--model", folder, "--precision", "fp32"]
    bare = json.loads(contested.done(*asked).out)
    told = contested.done(*asked, "--soft-prompt", "p.st", "--html", "checked.html")
    found = json.loads(told.out)
    assert "gradients of tiny with a soft prompt, fp32 on cpu" in told.err
    page = Path("checked.html").read_text()
    assert "p.st" in page
    assert hashlib.sha256(Path("p.st").read_bytes()).hexdigest()[:12] in page
    taken = 1 - found["coverage_error"]  # a small share, of which a change shows
    assert 1 - bare["coverage_error"] != pytest.approx(taken, rel=0.01)
    soft_prompt(model="0" * 64).save(Path("p.st"))
    assert "was tuned for another model" in contested.refused(*asked, "--soft-prompt", "p.st")
    assert "none.st" in contested.refused(*asked, "--soft-prompt", "none.st")


def test_a_server_that_cannot_tell_is_refused_in_one_line(
    contested: Contested, endpoint: Scripted
) -> None:
    serve(endpoint, Path("words"))
    endpoint.likelihood = None
    asked = ["check-npov", "example.json", "--detector", "ablation", *at(endpoint)]
    assert "prompt_logprobs" in contested.refused(*asked)
    endpoint.root = "/nowhere"
    told = contested.refused(*asked)
    assert "needs the tokenizer of scripted" in told
    assert "contested models add" in told


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["check-npov", "broken.json"], "broken.json: pro: it is missing"),
        (["check-npov", *OPTIONS], "--response is missing"),
        (["check-npov", "--question", ""], "--pro is missing"),
        (["check-npov", "deep.json"], "deep.json: not JSON that can be read"),
        (["salience", "--prompt", " ", "--response", "x"], "--prompt: it is empty; give it text"),
        (["salience", "--prompt", "a", "--response", "b", "--png", "pages"], "pages cannot be"),
    ],
)
def test_mistakes_are_one_line(contested: Contested, arguments: list[str], problem: str) -> None:
    assert problem in contested.refused(*arguments)
