"""Each task does as its command does; what lacks a model says so."""

import json
from pathlib import Path
from typing import Any

import pytest
from by_schema import reply
from commands import Contested
from left_out import DROPS, EXAMPLE, serve
from pydantic import ValidationError
from scripted import Scripted
from web_server import GUIDE, SCORE, STUDY, web

from pipelines.experiment.options import ServerOptions
from pipelines.inspection.task import TASKS
from pipelines.report import blocks, texts
from pipelines.web.tasks import FORM, offers

DOCUMENTS = {"documents": [GUIDE, STUDY]}
QUESTION = "When was the bridge opened?"
BY_TAGGER = [
    SCORE,
    SCORE | {"claims": "whole"},
    {"task": "ask", "query": "Was the bridge opened in 1932?", **DOCUMENTS},
]
BY_MODEL = [
    SCORE | {"judge": "cascade", "claims": "salient"},
    {"task": "ask", "query": QUESTION, "generator": "model", "judge": "model", **DOCUMENTS},
    {"task": "debate", "question": QUESTION, "rounds": 2, **DOCUMENTS},
    {"task": "resolve", "question": QUESTION, "types": "json", **DOCUMENTS},
]


def kinds(value: Any) -> set[str]:
    """The kinds of all blocks in a value."""
    if isinstance(value, list):
        return set().union(*map(kinds, value))
    if not isinstance(value, dict):
        return set()
    own = {value["kind"]} if "kind" in value else set()
    return own.union(*map(kinds, value.values()))


def test_tasks_by_the_tagger_that_comes_with_the_program(
    tmp_path: Path, contested: Contested, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the page shows of a response is what the command prints of it."""
    with web(tmp_path / "web") as page:
        scored, judged, asked = (page.found(page.add(each)) for each in BY_TAGGER)
    monkeypatch.chdir(tmp_path)
    Path("answer.txt").write_text(SCORE["response"])
    for each in (GUIDE, STUDY):
        Path(f"{each['name']}.txt").write_text(each["text"])
    files = ["--documents", "guide.txt", "study.txt"]
    told = contested.done("score", "--response", "answer.txt", *files, "--json")
    printed = json.loads(told.out)
    assert scored["result"]["judgements"] == printed["judgements"]
    assert scored["result"]["cs_c"] == printed["cs_c"] == 1.0
    assert "matrix" in kinds(scored["blocks"])
    assert [model["name"] for model in scored["models"]] == ["contested-nli"]
    assert scored["cost"].startswith("no language model was needed; ")

    relations = [each["relation"] for each in judged["result"]["judgements"]]
    assert relations == ["SUPPORTS", "CONTRADICTS"]
    assert asked["result"]["query"] == "The bridge was opened in 1932."
    assert {row["relation"] for row in asked["result"]["evidence"]} == {"SUPPORTS", "CONTRADICTS"}
    assert "sentences" in kinds(asked["blocks"])


def test_tasks_by_a_language_model(tmp_path: Path, endpoint: Scripted) -> None:
    endpoint.reply = reply
    endpoint.weigh = lambda request: (
        [0.9 / len(request["logprob_token_ids"])] * len(request["logprob_token_ids"])
    )
    known = {
        kind.__name__.lower()
        for module in (blocks, texts)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, texts.Block)
    } | {"axis", "tick"}
    with web(tmp_path, endpoint=[endpoint.url]) as page:
        for name, asked in [(page.add(each), each) for each in BY_MODEL]:
            found = page.found(name)
            assert found["blocks"]
            assert kinds(found["blocks"]) <= known
            assert "scripted" in {model["name"] for model in found["models"]}
            whole = page.script.get(f"/api/jobs/{name}/page").text
            assert whole.startswith("<!doctype html>")
            again = page.script.get(f"/api/jobs/{name}/asked").json()
            assert {key: again[key] for key in asked} == asked


def neutral(detector: str) -> dict[str, Any]:
    """A neutral response as the page asks about it."""
    sides = {side: "\n".join(EXAMPLE[side]) for side in ("pro", "con")}
    return {"task": "check-npov", **EXAMPLE, **sides, "detector": detector}


def test_a_neutral_response_without_each_argument(tmp_path: Path, endpoint: Scripted) -> None:
    serve(endpoint, tmp_path / "words")
    with web(tmp_path / "web", endpoint=[endpoint.url]) as page:
        name = page.add(neutral("ablation"))
        found = page.found(name)
        whole = page.script.get(f"/api/jobs/{name}/page").text
    assert found["result"]["drops"] == DROPS
    assert found["result"]["hallucination_error"] == 1
    assert kinds(found["blocks"]) >= {"heatmap", "facts", "picture"}
    assert [model["role"] for model in found["models"]] == ["log-probabilities"]
    assert found["cost"].startswith("4 calls to scripted")
    assert "Is the response faithful?" in whole


def test_without_a_model_what_needs_one_says_so() -> None:
    offered = {offer.task: offer for offer in offers(ServerOptions())}
    assert list(offered) == list(TASKS)
    ready = [name for name, offer in offered.items() if not offer.lacks]
    assert ready == ["score", "screen", "ask"]
    assert offered["debate"].lacks.startswith("there is no model 'smollm2-135m-instruct'")
    judge, claims = offered["score"].choices
    assert {value.value: bool(value.lacks) for value in judge.values} == {
        "model": True, "tagger": False, "cascade": True,
    }  # fmt: skip
    assert {value.value for value in claims.values if not value.lacks} == {"sentences", "whole"}
    assert (judge.usual, claims.usual) == ("tagger", "sentences")
    served = offers(ServerOptions(endpoint=["http://127.0.0.1:1/v1"]))[0]
    assert [choice.usual for choice in served.choices] == ["model", "atomic"], "as the command has"


def test_a_form_takes_texts_and_offered_options_alone() -> None:
    """What the program was started with, and files of this machine, are not a form's to name."""
    for name in ("index", "file", "endpoint", "prompts", "cache", "models_dir"):
        for asked in (*BY_TAGGER, *BY_MODEL, neutral("ablation")):
            with pytest.raises(ValidationError):
                FORM.validate_python({**asked, name: "/etc/passwd"})
