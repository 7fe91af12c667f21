"""Classifiers and strategies over a data set: what is asked, what is kept, what goes on."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conflicts_endpoint import asking, query, writes
from known_labels import KnownLabels

from pipelines.conflicts import pipeline
from pipelines.conflicts.data import Query
from pipelines.conflicts.experiment import EXPERIMENT
from pipelines.conflicts.pipeline import CLASSIFIERS, STRATEGIES, Methods, examine
from pipelines.conflicts.result import (
    QueryResult,
    Verdicts,
)
from pipelines.conflicts.settings import ConflictsSettings
from pipelines.conflicts.tables import problems
from pipelines.conflicts.taxonomy import ConflictType, Prediction
from pipelines.experiment.execute import resume
from pipelines.experiment.experiment import Work
from pipelines.option import OnError
from pipelines.runs.folder import RunFolder
from serving.errors import RequestError

OUTDATED = ConflictType.OUTDATED

TYPED = query(id="typed", gold=OUTDATED, gold_answer="1902")
STATED = query(query="Did the tower open in 1902?", id="stated", gold=OUTDATED)


def replies(request: dict[str, Any]) -> str:
    """Judges are content with everything; the writer is that of the other tests."""
    verdicts: dict[str, object] = {
        "AdherenceJson": {"reason": "It does.", "adheres": True},
        "InclusionJson": {"reason": "It does not.", "included": False},
        "GroundingJson": {"quote": "", "reason": "So it says.", "verdict": "supported"},
        "UncitedJson": {"reason": "It cites nothing.", "verdict": "unsupported"},
    }
    name = request.get("response_format", {}).get("json_schema", {}).get("name")
    return json.dumps(verdicts[name]) if name in verdicts else writes(request)


@asynccontextmanager
async def comparing(
    folder: Path, **settings: Any
) -> AsyncIterator[tuple[Methods, list[dict[str, Any]]]]:
    """Everything, at an endpoint whose requests are told; the rule says "no conflict"."""
    async with asking(folder, replies) as (client, requests):
        chosen = ConflictsSettings(**settings)
        methods = Methods(tuple(STRATEGIES), tuple(CLASSIFIERS), chosen)
        yield methods.ready(client, client, KnownLabels()), requests


async def run(
    queries: Sequence[Query],
    by: Methods,
    folder: RunFolder,
    on_error: OnError = "stop",
    **told: Any,
) -> list[QueryResult]:
    """The queries examined into a folder, under the name "conflicts"."""
    folder.path.mkdir(exist_ok=True)
    work: Work[Query, QueryResult] = Work(
        "conflicts.conflicts", {}, lambda query: examine(query, by, on_failure=on_error)
    )
    return await resume(EXPERIMENT, queries, work, folder, made_with={}, on_error=on_error, **told)


async def test_an_answer_that_cannot_be_judged_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_: object, **__: object) -> Verdicts:
        raise RequestError("the answer is too long")

    monkeypatch.setattr(pipeline, "judged", refused)
    async with comparing(tmp_path) as (whole, _):
        by = replace(whole, strategies=("vanilla",), classifiers=())
        found = await examine(TYPED, by, on_failure="skip")
    assert found.status == "incomplete"
    assert found.outcomes["vanilla"].answer.text
    adherence = found.outcomes["vanilla"].judged.adherence
    assert adherence is not None
    assert (adherence.adheres, adherence.problem) == (None, "the answer is too long")
    assert "the answer is too long" in {problem.reason for problem in problems(found)}


async def test_incomplete_queries_are_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_: object) -> Prediction:
        raise RequestError("refused")

    folder = RunFolder(tmp_path / "out")
    async with comparing(tmp_path) as (by, _):
        with monkeypatch.context() as lame:
            lame.setattr(pipeline, "by_choice", refused)
            first = await run([STATED], by, folder, on_error="skip")
        second = await run([STATED], by, folder, on_error="skip")
    assert {each.status for each in first} == {"incomplete"}
    assert {each.status for each in second} == {"answered"}
