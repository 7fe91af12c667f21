"""`contested run drift` as a person meets it: drift is found where it is, and nowhere else."""

import json
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, at, kill_midway, table
from pages import safe
from scripted import Scripted, fenced_text
from tagging import ScriptedTagger, offer

from nli.pairs import Pair
from nli.tagger import Tag
from pipelines.evidence.examples import SAMPLES, read
from pipelines.evidence.known_drift import MeasuredDrift, keep_drift, known_drift

RUN = ["run", "drift", "--out", "out"]
LLM = [*RUN, "--labeller", "llm"]
HERE = [*LLM, "--limit", "2"]

YES, NO = [0.8, 0.1, 0.1], [0.1, 0.8, 0.1]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def under(*conditions: str) -> list[str]:
    return [word for each in conditions for word in ("--condition", each)]


def rows() -> dict[str, dict[str, Any]]:
    return {row["condition"]: row for row in table(Path("out"), "drift")}


def flips() -> dict[str, int]:
    return {name: row["flips"] for name, row in rows().items()}


def entry(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path("out/run.json").read_text())["pipelines"][name]
    return found


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--condition", "tired"], "--condition is 'tired'; it can be unchanged, alone, shuffled"),
        (["--condition", "cold"], "--condition cold has no effect with --labeller nli"),
        (["--repeat", "0"], "--repeat"),
        (["--ray", "local"], "--ray spreads a run, so that no condition could be kept"),
        (["--cache", "c.sqlite"], "--cache has no effect with a run that no cache answers"),
        (["--endpoint", "http://x/v1"], "--endpoint has no effect with --labeller nli"),
        (["--data", "none.jsonl"], "none.jsonl"),
    ],
)
def test_what_has_no_effect_or_is_not_there_is_refused(
    options: Sequence[str], said: str, contested: Contested
) -> None:
    assert said in contested.refused(*RUN, *options)
    assert not Path("out").exists()


def test_one_server_is_no_choice_of_replicas(contested: Contested, endpoint: Scripted) -> None:
    said = contested.refused(*HERE, *at(endpoint), *under("replica"))
    assert "--condition replica has no effect with one server alone" in said


def test_a_steady_model_is_really_asked_each_time_and_does_not_drift(
    contested: Contested, endpoint: Scripted, home: Path
) -> None:
    before = ["run", "conflict-detection", *at(endpoint), "--limit", "2", "--out", "detected"]
    contested.done(*before)
    pairs = len(endpoint.requests)
    told = contested.done(*HERE, *at(endpoint), "--repeat", "1", "--dry-run").out
    assert f"2 claims from conflict_detection.jsonl, {pairs} pairs" in told
    # Once and unchanged, alone, shuffled and cold; warm is twice, company eight times.
    wanted = pairs * (1 + 4 + 2 + 8)
    assert f"calls to scripted: {wanted}\n" in told
    contested.done(*HERE, *at(endpoint), "--repeat", "1")
    assert len(endpoint.requests) == pairs + wanted, "the caches know it, and answer nothing"
    assert list(rows()) == [
        *("unchanged", "alone", "shuffled", "company", "warm", "cold", "all but unchanged")
    ]
    for row in rows().values():
        assert (row["flips"], row["flipped"], row["verdicts"], row["largest_shift"]) == (0,) * 4
        assert row["labels"] == pairs * row["runs"]
        assert row["mean_shift_permille"] == row["cs_c"] == row["cs_r"] == 0
    salts = [each["cache_salt"] for each in endpoint.requests if "cache_salt" in each]
    assert len({*salts}) == pairs, "each cold request has a salt of its own"
    safe(Path("out/report.html").read_text("utf-8"))

    # Nothing was kept in the caches either: detection by the same model still has its own.
    contested.done(*before[:-1], "again")
    assert len(endpoint.requests) == pairs + wanted


def test_a_model_that_minds_company_drifts_alone_and_nowhere_else(
    contested: Contested, endpoint: Scripted
) -> None:
    active, lock = 0, threading.Lock()

    def weigh(_request: dict[str, Any]) -> list[float]:
        nonlocal active
        with lock:
            active += 1
        most = 1
        for _ in range(15):
            time.sleep(0.02)
            most = max(most, active)
        with lock:
            active -= 1
        return YES if most > 1 else NO

    endpoint.weigh = weigh
    given = under("unchanged", "alone", "shuffled", "company", "cold")
    done = contested.done(*HERE, *at(endpoint), "--repeat", "1", "--prior", "none", *given)
    labels = rows()["alone"]["labels"]
    assert labels > 4
    assert flips() == {
        **dict.fromkeys(("unchanged", "shuffled", "company", "cold"), 0),
        "alone": labels,
        "all but unchanged": labels,
    }
    assert rows()["alone"]["flipped"] == 1
    assert rows()["alone"]["largest_shift"] == pytest.approx(0.7)
    assert rows()["alone"]["mean_shift_permille"] == pytest.approx(700)
    assert "calls to scripted" in done.err


def test_a_model_that_minds_the_order_drifts_where_claims_are_shuffled(
    contested: Contested, endpoint: Scripted
) -> None:
    claims = [each.claim for each in read(SAMPLES, limit=5).examples]
    now = before = claims[-1]

    def weigh(request: dict[str, Any]) -> list[float]:
        nonlocal now, before
        if (claim := fenced_text(request, "CLAIM")) != now:
            now, before = claim, now
        return YES if claims.index(now) == (claims.index(before) + 1) % 5 else NO

    endpoint.weigh = weigh
    given = ["--limit", "5", "--concurrency", "1", "--prior", "none", "--repeat", "2"]
    contested.done(*LLM, *at(endpoint), *given, *under("unchanged", "alone", "shuffled"))
    found = flips()
    assert found.pop("shuffled") > 0
    assert found.pop("all but unchanged") > 0
    assert found == {"unchanged": 0, "alone": 0}
    assert rows()["unchanged"]["runs"] == 2
    (first, *_) = table(Path("out"), "drift_pairs")
    assert (first["condition"], first["first"]) == ("shuffled", "SUPPORTS 0.8000")
    assert first["again"] == "CONTRADICTS 0.8000"


def test_a_server_of_other_weights_is_found_by_replicas(
    contested: Contested, endpoint: Scripted
) -> None:
    endpoint.weigh = lambda _: YES
    with Scripted(weigh=lambda _: NO) as other:
        served = [*at(endpoint), *at(other)]
        given = [*under("unchanged", "replica"), "--repeat", "1", "--prior", "none"]
        contested.done(*HERE, *served, *given)
        assert flips()["unchanged"] == 0, "a document stays with its server"
        assert flips()["replica"] == rows()["unchanged"]["labels"]
        assert rows()["replica"]["runs"] == 2
        assert {each["status"] for each in results("drift.llm-choice-scripted")} == {"labelled"}


def results(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(f"out/{name}.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("evidence", ["json", "together"])
def test_other_ways_to_ask(evidence: str, contested: Contested, endpoint: Scripted) -> None:
    contested.done(*HERE, *at(endpoint), "--evidence", evidence, "--repeat", "1")
    for row in rows().values():
        assert row["flips"] == 0
        assert row["largest_shift"] is row["mean_shift_permille"] is None
    asked = {each["response_format"]["json_schema"]["name"] for each in endpoint.requests}
    assert asked == {"RelationReply" if evidence == "json" else "TogetherReply"}


@pytest.mark.parametrize("labeller", ["cascade", "combined"])
def test_two_judges_together(labeller: str, contested: Contested, endpoint: Scripted) -> None:
    endpoint.weigh = lambda _: YES
    given = ["--labeller", labeller, "--repeat", "1", *under("unchanged", "warm")]
    contested.done(*RUN, "--limit", "1", *at(endpoint), *given)
    assert flips() == {"unchanged": 0, "warm": 0}
    assert entry(f"drift.{labeller}-scripted")["config"]["tagger"]["name"] == "contested-nli"


def test_killed_and_resumed(contested: Contested, endpoint: Scripted) -> None:
    given = ["--repeat", "1", "--concurrency", "1", *under("unchanged", "cold")]
    command = [*LLM, "--limit", "4", *at(endpoint), *given]
    endpoint.delay_s = 0.05
    kill_midway(command, lambda: len(endpoint.requests) > 20)
    assert not Path("out/report.html").exists()
    asked = len(endpoint.requests)
    endpoint.delay_s = 0
    contested.done(*command)
    labels = rows()["unchanged"]["labels"]
    assert asked < 3 * labels <= len(endpoint.requests) <= 3 * labels + 6, "what was done stays"
    asked = len(endpoint.requests)
    contested.done(*command)
    assert len(endpoint.requests) == asked


class Crowded(ScriptedTagger):
    """A tagger that is less sure of a pair the more there are beside it."""

    def tag(self, pairs: Sequence[Pair], *rest: Any, **how: Any) -> list[Tag]:
        beside = 0.001 * min(len(pairs), 3)
        self.weigh = lambda _: (0.9 - beside, 0.06, 0.04 + beside)
        return super().tag(pairs, *rest, **how)


def test_a_tagger_that_minds_its_batch(
    contested: Contested, monkeypatch: pytest.MonkeyPatch
) -> None:
    tagger = offer(monkeypatch, Crowded())
    contested.done(*RUN, "--limit", "3", "--repeat", "1")
    found = {name: row["largest_shift"] for name, row in rows().items()}
    moved = pytest.approx(0.002)
    assert found == {
        "unchanged": 0,
        "alone": moved,
        "shuffled": 0,
        "company": 0,
        "all but unchanged": moved,
    }
    assert not any(flips().values())
    assert tagger.loads == 1


def test_the_shipped_tagger_and_the_reports_of_its_other_runs(contested: Contested) -> None:
    detect = ["run", "conflict-detection", "--labeller", "nli", "--limit", "2", "--out"]
    contested.done(*detect, "before")
    assert "asked again" not in Path("before/report.html").read_text("utf-8")

    contested.done(*RUN, "--limit", "3", "--repeat", "1", *under("unchanged", "alone"))
    found = rows()
    assert found["unchanged"]["largest_shift"] == 0
    assert found["alone"]["largest_shift"] < 0.05
    assert found["alone"]["flips"] == 0
    config = entry("drift.nli")["config"]
    measured = known_drift(config)
    assert measured is not None
    assert measured.shift == found["alone"]["largest_shift"]
    said = measured.in_words()
    assert said.startswith("nli: contested-nli: 0 of ")
    assert said.endswith("asked again 2 times (unchanged, alone) on conflict_detection.jsonl")

    contested.done(*detect, "after")
    for page in ("after/report.html", "out/report.html"):
        assert said in Path(page).read_text("utf-8")
    fp32 = config | {"model": None, "tagger": config["tagger"] | {"engine": "cross-encoder fp8"}}
    assert known_drift(fp32) is None, "another number format is another judge"
    assert known_drift({"model": config["model"], "prompts": {"madam_rag/agent": "1"}}) is None


def test_what_rests_on_more_stays() -> None:
    config = {"tagger": {"digest": "1", "engine": "2"}}
    many, few = (
        MeasuredDrift(
            judge="j", data="d", pairs=n, flipped=0, shift=None, conditions=("alone",), runs=1
        )
        for n in (9, 3)
    )
    keep_drift(config, many)
    keep_drift(config, few)
    assert known_drift(config) == many
    keep_drift(config, many.model_copy(update={"runs": 2, "flipped": 1}))
    found = known_drift(config)
    assert found is not None
    assert found.in_words() == "j: 1 of 9 labels flip, asked again 2 times (alone) on d"
