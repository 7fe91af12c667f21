"""`contested lab study-npov` on a scripted endpoint, a scripted tagger and a tiny model."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, contents, records, table, write
from scripted import Scripted, fenced_text, prompt_of
from tagging import ScriptedTagger, offer, said_in
from tiny_loaded import saved

from pipelines.annotation.responses import to_label
from pipelines.annotation.sample import Labels, opened
from pipelines.files import append_line, replace_bytes
from pipelines.npov import tuning
from pipelines.runs import folder
from pipelines.runs.folder import RunFolder

NUMBERS = ("first", "second", "third")
SPLITS = {"train": "Obesity", "dev": "Golf", "test": "Abortion"}
RUN: list[object] = ["lab", "study-npov", "--data", "topics.jsonl", "--out", "out"]
SMALL: list[object] = ["--steps", 2, "--batch", 2, "--draws", 2, "--limit", 2]


def topic(name: str) -> dict[str, Any]:
    return {
        "topic": name,
        "question": f"Should {name} stay?",
        "pro": [f"It is the {number} water." for number in NUMBERS],
        "con": [f"The {number} salmon cannot pass." for number in NUMBERS],
    }


REPLIES = (
    "Supporters say that it is the first water. Critics say that the first salmon cannot pass.",
    "Supporters say that it is the second water. Critics say that the second salmon cannot pass. "
    "Critics add that turbines are dear.",
    "Supporters say that it is the third water and the first water. Critics say that the first "
    "salmon cannot pass. Critics say that the second salmon cannot pass.",
)


def written(request: dict[str, Any]) -> str:
    """A response by the digest of the request; a paraphrase where one is asked for."""
    if "messages" in request:
        if "ARGUMENT" not in prompt_of(request):
            return json.dumps({"opening": "Views differ.", "response": REPLIES[0]})
        return json.dumps({"paraphrase": f"Indeed, {fenced_text(request, 'ARGUMENT')}"})
    response = REPLIES[sum(map(ord, json.dumps(request))) % len(REPLIES)]
    return f"Views differ.}}\nNeutral response core: {{{response}}}"


@pytest.fixture
def asked(
    tmp_path: Path, endpoint: Scripted, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., list[object]]:
    """The command of a small study, into a folder."""
    write("topics.jsonl", *map(topic, SPLITS.values()))
    model = saved(Path("tiny")).absolute()
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 4000}))
    (model / "chat_template.jinja").write_text("{{ messages[0]['content'] }}")
    endpoint.root, endpoint.context, endpoint.reply = str(model), 4000, written
    offer(monkeypatch, ScriptedTagger(weigh=said_in, shows=False))
    # The tagger reads word for word, so its threshold is chosen on responses that copy.
    monkeypatch.setattr("pipelines.npov.annotation.rewording", lambda _: lambda argument: argument)
    # An encoder's vectors differ in their last digits with where they lie in memory.
    monkeypatch.setattr("pipelines.npov.experiment.default_embedder", lambda: None)
    command = [*RUN, *SMALL, "--model", model, "--endpoint", endpoint.url]
    return lambda *more: [*command, *more]


def test_one_command_makes_all_tables_and_killed_again_and_again_it_ends_alike(
    contested: Contested,
    asked: Callable[..., list[object]],
    endpoint: Scripted,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Stopped before every eighth write of a result, or of a soft prompt that is being tuned."""
    told = contested.done(*asked("--cache", "whole.sqlite")).err
    for number in range(1, 8):
        assert f"step {number} of 7" in told
    made = {path.stem for path in Path("out/tables").glob("*.json")}
    wanted = ("detection", "comparisons", "classifiers", "words", "aggregations")
    assert made >= {f"npov_{name}" for name in wanted}
    trained = {row["detector"] for row in table(Path("out"), "npov_classifiers")}
    training = ("annotation-free", "synth", "para", "dev", "org")
    assert {f"tiny-{name}" for name in training} <= trained
    page = Path("out/report.html").read_text()
    assert "not by people; support counts from" in page
    assert "data:image/png" in page
    before, requests = contents(Path("out")), len(endpoint.requests)
    contested.done(*asked("--cache", "whole.sqlite"))
    assert contents(Path("out")).keys() == before.keys()
    assert len(endpoint.requests) == requests
    Path("out").rename("whole")
    calls = 0

    def stopping(write: Callable[..., None]) -> Callable[..., None]:
        def called(*arguments: object) -> None:
            nonlocal calls
            calls += 1
            if calls % 8 == 0:
                raise KeyboardInterrupt
            write(*arguments)

        return called

    monkeypatch.setattr(folder, "append_line", stopping(append_line))
    monkeypatch.setattr(tuning, "replace_bytes", stopping(replace_bytes))
    kills = 0
    while (code := contested(*asked("--cache", "killed.sqlite")).code) == 130:
        kills += 1
    assert code == 0
    assert kills >= 10
    whole, resumed = contents(Path("whole")), contents(Path("out"))
    assert whole.keys() == resumed.keys()
    # Both tell when they began, and with which cache.
    differing = {name for name in whole if whole[name] != resumed[name]}
    assert differing <= {"run.json", "report.html", "figure-2.html"}


@pytest.fixture
def without_classifiers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A study of the other detectors, which is sooner done."""
    monkeypatch.setattr("pipelines.npov.detectors.TRAINING", ())


@pytest.mark.usefixtures("without_classifiers")
def test_what_people_labelled_is_taken_as_it_is(
    contested: Contested, asked: Callable[..., list[object]]
) -> None:
    labels = []
    for name in SPLITS.values():
        given = topic(name)
        for number, error in enumerate(("none", "full")):
            arguments = {side: given[side][number : number + 2] for side in ("pro", "con")}
            line = {"id": f"{name}/{number}", "question": given["question"], "coverage": error}
            labels.append({**line, **arguments, "response": REPLIES[2]})
    write("labels.jsonl", *labels)
    contested.done(*asked("--annotator", "labels.jsonl", "--generator", "prompt", "--limit", 1))
    kept = records("out/study.annotated.jsonl")
    assert [each["coverage"] for each in kept] == ["none", "full"] * 3
    page = Path("out/report.html").read_text()
    assert "Errors are as people labelled them in labels.jsonl" in page
    assert "from a prompt; the paper" in page
    other = contested(*asked("--generator", "prompt"))
    assert other.code == 2
    assert "out holds a run that differs in" in other.err


@pytest.mark.usefixtures("without_classifiers")
def test_it_waits_for_people_and_goes_on_with_their_labels(
    contested: Contested, asked: Callable[..., list[object]]
) -> None:
    waiting = contested(*asked("--annotator", "people"))
    assert waiting.code == 2
    assert "contested annotate out --kind hallucination" in waiting.err
    study = RunFolder(Path("out"))
    for responses in to_label(study):
        everything = opened(responses, None, None, None).items
        for name in ("anna", "ben", "carl"):
            labels = Labels(responses, everything, name)
            for number, item in enumerate(everything):
                labels.give(item, "full" if number % 3 == 0 and name != "carl" else "none")
    contested.done("annotate", "out", "--results")
    contested.done(*asked("--annotator", "people", "--limit", 1))
    kept = records("out/study.annotated.jsonl")
    assert {each["coverage"] for each in kept} == {"none", "full"}
    ours, *_ = table(Path("out"), "npov_agreement")
    assert ours["annotators"] == 3


def test_a_dry_run_is_one_table(contested: Contested, asked: Callable[..., list[object]]) -> None:
    told = contested.done(*asked("--dry-run")).out
    for number, step in enumerate(("topics", "generator", "responses", "annotation"), 1):
        assert f"{number} {step}" in told
    assert "1 train, 1 dev, 1 test" in told
    assert not Path("out").exists()
    paper = ["--as-in-paper", "--dry-run"]
    assert "--steps" in contested.refused(*asked(*paper))
    known = [*RUN, "--model", asked()[-3], *paper]
    assert "20,000 updates of 16" in contested.done(*known).out
