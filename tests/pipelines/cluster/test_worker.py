"""What a worker answers, asked within this process."""

import json
from pathlib import Path

import pytest
from by_schema import reply, weigh
from scripted import Scripted

from pipelines import papers
from pipelines.cluster.worker import Reply, Worker
from pipelines.conflictscore.settings import DetectionOptions
from pipelines.option import nested
from pipelines.runs.folder import RunFolder

ENTRY = "conflict-detection.model-choice"


@pytest.mark.parametrize("name", papers.EXPERIMENTS)
def test_options_arrive_as_they_were_sent(name: str) -> None:
    kind = papers.experiment(name).options
    options = kind(limit=3, out=Path("here"), profile="cpu-small")
    there = kind.model_validate_json(options.model_dump_json(exclude_unset=True))
    assert there == options
    assert there.model_fields_set == options.model_fields_set >= {"limit", "out", "profile"}
    for field, _ in nested(kind):
        assert getattr(there, field).model_fields_set == getattr(options, field).model_fields_set


@pytest.fixture
def config(endpoint: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The configuration of a run that was made here."""
    from pipelines.cli.app import main

    monkeypatch.chdir(tmp_path)
    endpoint.reply, endpoint.weigh = reply, weigh
    assert main(["run", "conflict-detection", "--endpoint", endpoint.url, "--limit", "2"]) == 0
    about = RunFolder(Path("results")).about()
    return json.dumps(about["pipelines"][ENTRY]["config"], sort_keys=True)


async def test_a_worker_that_would_make_other_results_says_what_differs(
    config: str, endpoint: Scripted
) -> None:
    item = json.loads(Path("results", f"{ENTRY}.jsonl").read_text().splitlines()[0])["id"]
    other = json.loads(config)
    other["data"]["sha256"] = "0" * 64
    endpoint.requests.clear()
    options = DetectionOptions(endpoint=[endpoint.url], limit=2, cache=Path("worker.sqlite"))
    sent = options.model_dump_json(exclude_unset=True)
    worker = Worker("conflict-detection", sent, str(Path.cwd()), 1)
    replies = [
        Reply.model_validate_json(await worker.answer(*question))
        for question in (
            (ENTRY, json.dumps(other, sort_keys=True), item),
            ("conflict-detection.tagger", config, item),
            (ENTRY, config, "no-such-example"),
        )
    ]
    await worker.close()
    assert {each.error for each in replies} == {"ServingError"}
    assert "differ in data.sha256; bring the nodes in line" in replies[0].reason
    assert "there is no conflict-detection.tagger here" in replies[1].reason
    assert "the data has no 'no-such-example'" in replies[2].reason
    assert not endpoint.requests
