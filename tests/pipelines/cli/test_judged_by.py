"""Who judges and how claims are made, by command; who may not judge; what is seen of the scores."""

from pathlib import Path

import pytest
from commands import Contested, at, results, table, write
from scripted import Scripted, sentences
from tagging import ScriptedTagger, offer

from pipelines.cli import run_all
from pipelines.cli.run_all import Stage

RECORD = {
    "id": "bridge",
    "documents": [
        {"id": "guide", "text": "The bridge was opened in 1932."},
        {"id": "study", "text": "The bridge was not opened in 1932 but in 1936."},
    ],
    "responses": {"sure": "The bridge was opened in 1932.", "other": "It is old. It is red."},
}
PROFILE = 'device = "cpu"\nclaims = "whole"\n[roles]\ngenerator = "m"\njudge = "m"\n[engines.m]\n'
SCORE = "score --response answer.txt --documents guide.txt study.txt"
RUN = "run conflictscore --data answers.jsonl"
SMALL = "tagger sentences (--judge and --claims: profile cpu-small)"
NAMED = "model atomic (--judge and --claims: --endpoint names a model)"


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    write("answers.jsonl", RECORD)
    Path("answer.txt").write_text("The bridge was opened in 1932.")
    for name, number in (("guide", 0), ("study", 1)):
        Path(f"{name}.txt").write_text(RECORD["documents"][number]["text"])  # type: ignore[index]
    Path("mine.toml").write_text(PROFILE)


@pytest.mark.parametrize(
    ("command", "taken"),
    [
        (SCORE, SMALL),
        (f"{SCORE} --judge tagger --claims whole", "tagger whole"),
        (f"{SCORE} {{llm}}", NAMED),
        (f"{SCORE} --regenerate {{llm}}", "tagger sentences (--judge and --claims: so that no"),
        (f"{RUN} --profile one-gpu-7b --dry-run", "model atomic (--judge and --claims: profile"),
        (f"{RUN} --profile mine.toml --dry-run", "model whole (--judge and --claims: profile m"),
        (
            f"{RUN} --as-in-paper {{llm}} --dry-run",
            "model statements (--judge and --claims: as in",
        ),
        ("run report-writing --dry-run", SMALL),
    ],
)
def test_the_judge_is_said_first(
    command: str, taken: str, contested: Contested, endpoint: Scripted
) -> None:
    endpoint.reply = lambda request: sentences(request) if "response_format" in request else "Old."
    judge, _, rest = taken.partition(" ")
    words = [
        part for word in command.split() for part in (at(endpoint) if word == "{llm}" else [word])
    ]
    lines = contested.done(*words).err.splitlines()
    first = lines[1] if lines[0].startswith("--as-in-paper") else lines[0]
    assert first.startswith(f"judge: --judge {judge} --claims {rest}")


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        (f"{SCORE} --judge model", "use --judge tagger --claims sentences, or a larger model"),
        (f"{RUN} --claims atomic", "use --judge tagger --claims sentences"),
        ("run report-writing --judge cascade", "use --judge tagger --claims sentences"),
        ("run truthfulqa --truth model", "smollm2-135m-instruct is too weak to judge"),
        ("run conflict-detection --judge model", "use --judge tagger, or a larger model"),
        (f"{RUN} --as-in-paper", "; use a larger model, or add --anyway"),
    ],
)
def test_the_packaged_model_is_no_judge(command: str, remedy: str, contested: Contested) -> None:
    assert remedy in contested.refused(*command.split())
    if command.startswith("run"):
        contested.done(*command.split(), "--anyway", "--dry-run")


@pytest.mark.parametrize("support", [0.0, 1.0])
def test_responses_without_evidence_are_counted_below_the_scores(
    support: float, contested: Contested, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, ScriptedTagger(lambda _: (support, 0.0, 1.0 - support)))
    shown = contested.done(*RUN.split(), "--out", "out").out
    assert ("2 of 2 responses: no document takes a side" in shown) == (support == 0)


def test_verdicts_that_the_model_did_not_want_end_a_run_with_an_error(
    contested: Contested, endpoint: Scripted
) -> None:
    endpoint.weigh = lambda _: [0.02, 0.01, 0.01]
    command = [*RUN.split(), "--claims", "sentences", "--out", "out", *at(endpoint)]
    outcome = contested(*command)
    assert outcome.code == 2
    last = outcome.err.splitlines()[-1]
    assert "on average 4% of the judge's probability fell on the labels" in last
    assert "kept in out" in last
    asked, kept = len(endpoint.requests), results(Path("out"))
    assert table(Path("out"), "scores")[0]["responses"] == 1
    assert contested(*command).code == 2
    contested.done(*command, "--anyway")
    assert (len(endpoint.requests), results(Path("out"))) == (asked, kept)


def test_the_main_job_goes_on_and_ends_with_that_error(
    contested: Contested, endpoint: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.weigh = lambda _: [0.02, 0.01, 0.01]
    doubted = (*RUN.split(), "--claims", "whole", *at(endpoint), "--out")
    stages = [Stage(name, (*doubted, name)) for name in ("one", "two")]
    monkeypatch.setattr(run_all, "stages", lambda *_, **__: stages)
    assert contested("run", "all", *at(endpoint)).code == 2
    assert Path("one/report.html").exists()
    assert Path("two/report.html").exists()
