"""`contested run npov`, as a person meets it."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Contested, contents, table
from golden import ORGANIC, TOPIC
from tiny_loaded import saved

from pipelines.npov.result import BASELINES, LENGTH
from pipelines.npov.settings import TuningSettings
from pipelines.npov.soft_prompt import SoftPrompt
from serving import models

RUN: list[object] = ["run", "npov", "--data", "topics.jsonl", "--set", "unparaphrased"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("topics.jsonl").write_text(json.dumps(TOPIC))
    Path("short.jsonl").write_text(json.dumps({**TOPIC, "con": TOPIC["con"][:1]}))
    votes = {"ann": {"coverage": "full"}, "bo": {"coverage": "none", "hallucination": "none"}}
    Path("organic.jsonl").write_text(json.dumps(ORGANIC | {"votes": votes}))
    words = {**ORGANIC, "id": "o2", "coverage": "none", "uncovered": [], "response": "It is that."}
    Path("empty.jsonl").write_text(json.dumps(words))


@pytest.fixture
def model() -> list[object]:
    return ["--model", saved(Path("tiny")).absolute()]


def test_a_run_leaves_results_tables_and_page(contested: Contested, model: list[object]) -> None:
    told = contested.done(*RUN, "--organic", "organic.jsonl", "--per-topic", 2, *model)
    assert "report:" in told.err
    rows = table(Path("results"), "npov_detection")
    assert {row["test_set"] for row in rows if "paper" not in row["detector"]} == {
        "Full organic",
        "Unparaphrased synthetic",
        "Unparaphrased synthetic, exchanged",
    }
    lines = Path("results/npov.tiny.jsonl").read_text().splitlines()
    found: dict[str, dict[str, Any]] = {each["id"]: each for each in map(json.loads, lines)}
    assert set(found["organic/o1"]["detectors"]) == {
        *BASELINES, "salience, max", "salience, sum", "salience, negative entropy",
    }  # fmt: skip
    assert [word["wrong"] for word in found["organic/o1"]["given"]] == [False] * 3 + [True] * 3
    right = found["unparaphrased/dams/0"]
    assert right["detectors"]["ROUGE"]["coverage"] == 0
    assert not any(word["wrong"] or word["rouge"] for word in right["given"])
    assert right["topic"] == "dams"
    assert all(-1e-6 < word["bert_score"] < 1 for word in right["given"])
    added = found["unparaphrased/dams/1+added"]
    assert any(word["wrong"] for word in added["response"])
    assert all(word["wrong"] for word in added["response"] if word["rouge"] and word["wrong"])
    page = Path("results/report.html").read_text()
    assert "Faithfulness of neutral responses" in page
    assert "paper, LaMDA 64B" in page


def test_it_goes_on_where_it_was_stopped(
    contested: Contested, model: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    contested.done(*RUN, *model, "--out", "whole")
    from pipelines.npov import detect

    real, calls = detect.by_salience, 0

    def stopped(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(detect, "by_salience", stopped)
    assert contested(*RUN, *model, "--out", "resumed").code == 130
    assert len(Path("resumed/npov.tiny.jsonl").read_text().splitlines()) == 2
    contested.done(*RUN, *model, "--out", "resumed")
    whole, resumed = (Path(name, "npov.tiny.jsonl").read_bytes() for name in ("whole", "resumed"))
    assert whole == resumed
    assert calls == whole.count(b"\n") + 1, "what was done is not done again"
    before = contents(Path("whole/tables"))
    contested.done("report", "whole")
    assert contents(Path("whole/tables")) == before


def test_several_runs_share_a_folder(contested: Contested, model: list[object]) -> None:
    limited = [*RUN, "--limit", 2, *model]
    contested.done(*limited)
    contested.done(*limited, "--detector", "classifier")
    rows = table(Path("results"), "npov_detection")
    assert [row["detector"] for row in rows if "paper" not in row["detector"]] == [
        *BASELINES,
        "salience, max (tiny)",
        "classifier (tiny-classifier)",
    ]
    assert table(Path("results"), "npov_classifiers")
    told = contested.refused(*limited, "--seed", 1, "--name", "other")
    assert "holds results of tiny on other examples; name another --out" in told
    told = contested.refused(*limited, "--measure", "gradient_norm")
    assert "differs in settings.measure (" in told


def test_baselines_need_no_model(contested: Contested) -> None:
    given = [*RUN, "--organic", "organic.jsonl", "--detector", "baselines"]
    contested.done(*given, "--per-topic", 2)
    rows = table(Path("results"), "npov_detection")
    shown = [row for row in rows if "paper" not in row["detector"]]
    assert {row["detector"] for row in shown} == set(BASELINES)
    by_length = [row for row in shown if row["detector"] == LENGTH and "synth" in row["test_set"]]
    assert {row["coverage"] for row in by_length} == {0.5}, "matched"
    assert len(Path("results/npov.baselines.jsonl").read_text().splitlines()) == 9
    (left_out,) = (
        row for row in table(Path("results"), "npov_agreement") if row["error"] == "coverage"
    )
    assert (left_out["responses"], left_out["annotators"]) == (1, 2)
    told = contested.refused(*given, "--precision", "fp32")
    assert "--precision has no effect with --detector baselines" in told
    contested.done(*given, "--design", "paper", "--out", "as-in-paper")
    rows = table(Path("as-in-paper"), "npov_detection")
    (row,) = (
        row
        for row in rows
        if (row["detector"], row["test_set"]) == (LENGTH, by_length[0]["test_set"])
    )
    assert row["hallucination"] == 0.75, "of longer responses alone, as there"


def test_a_prompt_of_the_other_error_is_refused_before_anything_is_written(
    contested: Contested, model: list[object]
) -> None:
    known = models.find(str(model[1]), Path("nowhere"))
    settings, curve = TuningSettings(), ((0, 1.0),)
    vectors = np.zeros((5, 32), np.float32)
    SoftPrompt(vectors, known.digest, "coverage", settings, curve).save(Path("p.safetensors"))
    asked = [*RUN, "--detector", "classifier", *model]
    told = contested.refused(*asked, "--hallucination-prompt", "p.safetensors")
    assert "tuned for coverage, not for hallucination" in told
    assert not Path("results/run.json").exists()
    contested.done(*asked, "--coverage-prompt", "p.safetensors", "--limit", 1)


def test_what_cannot_be_scored_stops_or_is_counted(
    contested: Contested, model: list[object]
) -> None:
    given = [*RUN, "--limit", 1, "--organic", "empty.jsonl", *model]
    told = contested(*given)
    assert told.code == 2
    assert "'organic/o2': the response holds no word but function words" in told.err
    contested.done(*given, "--on-error", "skip")
    (row,) = table(Path("results"), "npov_failures")
    assert (row["example"], row["run"]) == ("organic/o2", "tiny")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--data", "missing.jsonl"], "missing.jsonl does not exist"),
        (["--split", "train"], "has no topic of --split train"),
        (["--set", "paraphrased"], "no topic of topics.jsonl has a paraphrase"),
        (["--data", "short.jsonl"], "no topic of short.jsonl has two arguments of either side"),
        (["--coverage-prompt", "p.safetensors"], "is of --detector classifier"),
        (["--detector", "classifier", "--target", "logit"], "--target has no effect with"),
        (["--name", "a/b"], "--name 'a/b' cannot be part of a file name"),
        (["--organic", "topics.jsonl"], "organic|annotated responses"),
    ],
)
def test_bad_input_is_one_line(
    contested: Contested, model: list[object], options: list[object], problem: str
) -> None:
    assert re.search(problem, contested.refused(*RUN, *options, *model))
    assert not Path("results/tables").exists()


def test_a_dry_run_counts_the_sets(contested: Contested) -> None:
    told = contested.done("run", "npov", "--dry-run").out
    assert told.splitlines() == [
        "unparaphrased: 48 examples, 12 of them without error",
        "paraphrased: 48 examples, 12 of them without error",
        "no language model is asked",
    ]
