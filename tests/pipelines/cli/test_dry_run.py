"""What `--dry-run` says of calls and pairs, beside what the run then asks."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from by_schema import reply, weigh
from commands import Contested
from golden import ALCE, TEST_SETS
from scripted import Scripted, fenced_text
from tiny_loaded import saved

from nli.pairs import Pair
from nli.tagger import Tag, Tagger

BY_MODEL = (
    "conflictscore --limit 3",
    "conflictscore --limit 2 --claims sentences --judge cascade",
    "conflict-detection --limit 4",
    "report-writing --limit 1",
    "truthfulqa --limit 2 --judge tagger --claims sentences --truth tagger",
    "conrag --dataset alce --data alce.json --judge model --citation-judge model",
    "conflicts --limit 2 --judge tagger --against all",
    "madam-rag --limit 2 --history agents --consolidations 2",
    f"npov --data {TEST_SETS} --limit 1",  # two share prompts
)
BY_TAGGER = (
    "both-sides --limit 4 --judge tagger --claims sentences",
    "conrag --limit 3 --method bm25",
    f"npov --data {TEST_SETS} --limit 2 --detector tagger",
)


@pytest.fixture
def model(endpoint: Scripted) -> Scripted:
    endpoint.reply, endpoint.weigh = reply, weigh
    return endpoint


@pytest.fixture
def tagged(monkeypatch: pytest.MonkeyPatch) -> list[Pair]:
    """The pairs that taggers are asked for; a claim of several views counts as one."""
    monkeypatch.setattr("pipelines.text.views.views", lambda claim: [claim])
    asked: list[Pair] = []
    tag = Tagger.tag

    def noted(self: Tagger, pairs: Sequence[Pair], *rest: Any, **how: Any) -> list[Tag]:
        asked.extend(pairs)
        return tag(self, pairs, *rest, **how)

    monkeypatch.setattr(Tagger, "tag", noted)
    return asked


@pytest.fixture(autouse=True)
def place(tmp_path: Path) -> None:
    Path("alce.json").write_text(json.dumps(ALCE))


def numbers(told: str, what: str) -> list[int]:
    """Those of the line that begins so; 0 where there is no such line."""
    lines = [line for line in told.splitlines() if line.startswith(what)] or [": 0"]
    return [int(each.replace(",", "")) for each in re.findall(r"\d[\d,]*", lines[0].split(": ")[1])]


@pytest.mark.parametrize("run", [*BY_MODEL, *BY_TAGGER])
def test_a_run_stays_within_the_bounds_of_its_dry_run(
    run: str, contested: Contested, model: Scripted, tagged: list[Pair]
) -> None:
    command = ["run", *run.split(), "--out", "out"]
    if run in BY_MODEL:
        command += ["--endpoint", model.url]
    if run.startswith("npov"):  # tells how likely words are, which takes their tokens
        model.root = str(saved(Path("tiny")))
        about = Path("tiny/tokenizer_config.json")
        about.write_text(
            json.dumps(json.loads(about.read_text()) | {"chat_template": "{{ messages }}"})
        )
    before = contested.done(*command, "--dry-run").out
    assert not model.requests
    assert not tagged
    assert not Path("out").exists()
    contested.done(*command)
    calls = numbers(before, "calls to")
    assert calls[0] <= len(model.requests) <= calls[-1]
    assert len(tagged) <= numbers(before, "pairs to tag")[-1]
    assert bool(tagged) == ("pairs to tag" in before)
    after = contested.done(*command, "--dry-run").out
    assert re.search(r"^(\d+) of \1 \w+ are done$", after, re.M)
    assert numbers(after, "calls to") == [0]


def test_a_probe_runs_five_items_and_keeps_the_answers(
    contested: Contested, model: Scripted
) -> None:
    model.delay_s = 0.05
    command = ["run", "conflict-detection", "--endpoint", model.url]
    told = contested.done(*command, "--dry-run", "--probe").out
    probed = len({fenced_text(request, "CLAIM") for request in model.requests})
    assert probed == 5
    found = re.search(
        r"^hours: (\S+) \((\S+) to (\S+)\), with 4 at once as in the probe", told, re.M
    )
    assert found
    assert re.search(r"^tokens: about [\d,]+ read, [\d,]+ written, by the probe$", told, re.M)
    low, mean, high = (float(found[place]) for place in (2, 1, 3))
    assert 0 <= low <= mean <= high
    # Each item takes at least as long as a call, and four are asked side by side.
    assert mean * 1.1 >= 28 * 0.05 / 4 / 3600
    assert not list(Path("results").glob("*.jsonl")), "a probe is no result"
    asked = len(model.requests)
    contested.done(*command)
    assert asked < len(model.requests) == 102
    assert "hours" not in contested.done(*command, "--dry-run", "--probe").out, "nothing is left"


def test_the_main_job_is_summed_up(contested: Contested, model: Scripted) -> None:
    data = Path("data")
    data.mkdir()
    claim = {"id": "b", "source": "own", "claim": "It is red.", "conflict": False}
    claim["documents"] = [{"id": "a", "text": "It is red."}, {"id": "b", "text": "It is blue."}]
    response = {"id": "r", "response": "Red.", "claims": ["It is red."]} | {
        "documents": claim["documents"]
    }
    (data / "conflictscore.jsonl").write_text(json.dumps(response))
    (data / "conflict-detection.jsonl").write_text(json.dumps(claim))
    command = ["run", "all", "--data", data, "--endpoint", model.url, "--judge", "model"]
    told = contested.done(*command, "--dry-run").out.splitlines()
    rows = [re.split(r"  +", line) for line in told[-6:]]
    # ConflictScore and the second detector ask for two labels, the first one and ConRAG for tags.
    assert [tuple(row) for row in rows[1:]] == [
        ("1/4", "conflictscore", "2", "0"),
        ("2/4", "conflict-detection", "0", "at most 2"),
        ("3/4", "conflict-detection", "2", "0"),
        ("4/4", "conrag", "0", "at most 4"),
        ("all", "4", "at most 6"),
    ]
    assert not model.requests
