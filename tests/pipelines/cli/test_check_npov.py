"""`contested check-npov --detector ablation`, as a person meets it."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, at
from left_out import DROPS, EXAMPLE, GROUNDINGS, USES, serve
from scripted import Scripted

ASKED = ["check-npov", "example.json", "--detector", "ablation"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> None:
    Path("example.json").write_text(json.dumps(EXAMPLE))


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


def test_a_server_that_cannot_tell_is_refused_in_one_line(
    contested: Contested, served: list[str], endpoint: Scripted
) -> None:
    endpoint.likelihood = None
    assert "prompt_logprobs" in contested.refused(*ASKED, *served)
    endpoint.root = "/nowhere"
    told = contested.refused(*ASKED, *served)
    assert "takes the tokenizer of scripted" in told
    assert "contested models add" in told
