"""`contested answer-npov`, as a person meets it."""

import json
from pathlib import Path
from typing import Any

import pytest
import soft_prompts
from commands import Contested, write
from scripted import Scripted, fenced_text
from tiny_loaded import saved

from pipelines.npov.example import NpovExample, read_example
from serving.models import Model, find

QUESTION = "Should the dam go?"
TOPICS = [
    {
        "topic": "dams",
        "question": QUESTION,
        "pro": ["Salmon cannot pass it.", "It is {old}.", "It leaks."],
        "con": ["It holds water.", "It gives power.", "It is [bold]fine[/bold]."],
    },
    {"topic": "weirs", "question": "Should weirs stay?", "pro": ["Yes."], "con": ["No."]},
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> None:
    write("topics.jsonl", *TOPICS)


def retold(request: dict[str, Any]) -> str:
    """A writer that says what it is given."""
    said = fenced_text(request, "PERSPECTIVES").replace("{", "").replace("}", "")
    return json.dumps({"opening": "Views differ.", "response": said})


@pytest.fixture
def asked(endpoint: Scripted) -> list[object]:
    """The command with its knowledge base and a server."""
    endpoint.reply = retold
    return ["answer-npov", QUESTION, "--data", "topics.jsonl", "--endpoint", endpoint.url]


@pytest.fixture
def served(endpoint: Scripted) -> Model:
    """A tiny model that the server says it serves."""
    saved(Path("tiny"))
    Path("tiny/chat_template.jinja").write_text("{{ messages[0]['content'] }}")
    endpoint.root = str(Path("tiny").absolute())
    endpoint.reply = lambda _: "Views differ.}\nNeutral response core: {It leaks, but is fine.}"
    return find(endpoint.root, Path("none"))


def soft_prompt(model: str, **changed: Any) -> Path:
    soft_prompts.soft_prompt(model=model, **changed).save(Path("p.safetensors"))
    return Path("p.safetensors")


def test_an_answer_is_written_shown_and_ready_to_be_checked(
    asked: list[object], contested: Contested, endpoint: Scripted
) -> None:
    told = contested.done(*asked, "--out", "made/example.json")
    written = read_example(Path("made/example.json"))
    assert written == NpovExample(
        question=QUESTION,
        topic="dams",
        pro=("Salmon cannot pass it.", "It is {old}."),
        con=("It holds water.", "It gives power."),
        opening="Views differ.",
        response=written.response,
    )
    assert "pro: It is (old)." in written.response
    assert "Views differ." in told.out
    assert "con: It gives power." in told.out
    again = contested.done(*asked, "--json")
    assert NpovExample.model_validate_json(again.out) == written
    assert "answered from the cache" in again.err
    assert len(endpoint.requests) == 1


def test_a_soft_prompt_answers(
    asked: list[object], served: Model, contested: Contested, endpoint: Scripted
) -> None:
    told = contested.done(*asked, "--soft-prompt", soft_prompt(served.digest), "--json")
    assert json.loads(told.out)["response"] == "It leaks, but is fine."
    (request,) = endpoint.requests
    assert "prompt_embeds" in request
    assert "cache" in contested.done(*asked, "--soft-prompt", "p.safetensors").err
    assert len(endpoint.requests) == 1
    endpoint.faults = [400]
    told_again = contested.refused(*asked, "--seed", 1, "--soft-prompt", "p.safetensors")
    assert "refuses the request (status 400)" in told_again


def test_a_soft_prompt_of_something_else_is_refused(
    asked: list[object], served: Model, contested: Contested, endpoint: Scripted
) -> None:
    use = [*asked, "--soft-prompt", "p.safetensors"]
    assert "p.safetensors" in contested.refused(*use)
    soft_prompt(served.digest, task="coverage")
    assert "tuned for coverage, not for response" in contested.refused(*use)
    soft_prompt("0" * 64)
    assert "was tuned for another model" in contested.refused(*use)
    soft_prompt(served.digest, width=31)
    assert "vectors of 31 numbers, but scripted reads 32" in contested.refused(*use)
    endpoint.root = "/elsewhere"
    assert "a soft prompt needs the model's folder on this machine" in contested.refused(*use)
    assert not endpoint.requests


def test_an_unreadable_reply_is_no_answer(
    asked: list[object], served: Model, contested: Contested, endpoint: Scripted
) -> None:
    endpoint.reply = lambda _: "Dams are bad.\n" * 90
    message = contested.refused(*asked, "--out", "example.json")
    assert "the model wrote no response (not the JSON asked for" in message
    assert "“Dams are bad. Dams are bad." in message
    assert "…”); name a larger one with --model" in message
    assert not Path("example.json").exists()
    endpoint.reply = lambda _: "Views differ."
    message = contested.refused(*asked, "--soft-prompt", soft_prompt(served.digest))
    assert "in curly braces; it begins “Views differ.”); tune" in message


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([""], "the query is empty"),
        (["Should unicorns vote?"], "the nearest are 'weirs', 'dams'"),
        ([QUESTION, "--arguments", "4"], "take 1 to 3"),
        ([QUESTION, "--out", "."], "is a folder"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(
    arguments: list[str], problem: str, asked: list[object], contested: Contested
) -> None:
    assert problem in contested.refused(*asked[:1], *asked[2:], *arguments)
