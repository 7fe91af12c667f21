"""The cascade: what it keeps, what it asks, and that its parts are stored."""

from contextlib import AbstractAsyncContextManager
from math import inf
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted, fenced_text
from tagging import REFUTE, SUPPORT, UNSURE, ScriptedTagger, by_table, folder_of

from pipelines.data.records import Document
from pipelines.judge.cascade import CascadeJudge
from pipelines.judge.model import model_judge
from pipelines.judge.store import JudgementStore, StoredJudge, stored
from pipelines.judge.tagger import tagger_judge
from serving import profile
from serving.client import Client
from serving.connect import Source, connect

D1 = Document(id="d1", text="First text.")
D2 = Document(id="d2", text="Second text.")
TABLE = {("First text.", "A."): SUPPORT, ("Second text.", "B."): REFUTE}
"""u: A by d1 0.9, B by d2 0.85; the others 0.5."""
assert max(UNSURE) == 0.5


def judging(
    endpoint: Scripted, folder: Path, cache: str = "c.sqlite"
) -> AbstractAsyncContextManager[Client]:
    source = Source(profile.load("cpu-small"), "judge", folder, endpoints=(endpoint.url,))
    return connect(source, cache=folder / cache)


@pytest.mark.parametrize(
    ("threshold", "kept"),
    [
        (0.0, ["tagger", "tagger", "tagger", "tagger"]),
        (0.5, ["tagger", "tagger", "tagger", "tagger"]),
        (0.51, ["tagger", "model", "model", "tagger"]),
        (0.85, ["tagger", "model", "model", "tagger"]),
        (0.9, ["tagger", "model", "model", "model"]),
        (inf, ["model", "model", "model", "model"]),
    ],
)
async def test_the_unsure_are_asked(
    threshold: float, kept: list[str], endpoint: Scripted, tmp_path: Path
) -> None:
    endpoint.weigh = lambda _: [0.1, 0.7, 0.2]
    tagger = ScriptedTagger(by_table(TABLE))
    async with judging(endpoint, tmp_path) as client:
        judge = CascadeJudge(
            tagger_judge(folder_of(tagger)), model_judge(client, "choice"), threshold
        )
        judged = (await judge(["A.", "B."], [D1, D2])).judgements
    pairs = [(claim, document) for claim in ("A.", "B.") for document in ("d1", "d2")]
    assert [(j.claim, j.document) for j in judged] == pairs
    assert [j.source for j in judged] == [f"cascade-{who}" for who in kept]
    assert [j.relation.value for j in judged if j.source == "cascade-model"] == (
        ["CONTRADICTS"] * kept.count("model")
    )
    asked = {(fenced_text(r, "CLAIM"), fenced_text(r, "DOCUMENT")) for r in endpoint.requests}
    assert len(endpoint.requests) == kept.count("model") == len(asked)
    assert tagger.loads == (0 if threshold == inf else 1)


async def test_another_threshold_asks_only_what_was_never_asked(
    endpoint: Scripted, tmp_path: Path
) -> None:
    tagger = ScriptedTagger(by_table(TABLE))
    asked = []
    with JudgementStore(tmp_path / "j.sqlite") as store:
        for number, threshold in enumerate((0.6, 0.95, 0.6)):
            # A new cache: only the store can know.
            async with judging(endpoint, tmp_path, cache=f"{number}.sqlite") as client:
                judge = CascadeJudge(
                    stored(tagger_judge(folder_of(tagger)), store),
                    stored(model_judge(client, "choice"), store),
                    threshold,
                )
                await judge(["A.", "B."], [D1, D2])
            asked.append(len(endpoint.requests))
    assert asked == [2, 4, 4]
    assert len(tagger.batches) == 1


async def test_identities_tell_judges_apart(endpoint: Scripted, tmp_path: Path) -> None:
    nli = tagger_judge(folder_of(ScriptedTagger()))
    prompts = tmp_path / "prompts" / "judge"
    prompts.mkdir(parents=True)
    (prompts / "relation.j2").write_text("{{ document }} {{ claim }} SUPPORTS?")
    async with judging(endpoint, tmp_path) as client:
        choice = model_judge(client, "choice")
        judges: list[Any] = [
            nli,
            choice,
            model_judge(client, "json"),
            model_judge(client, "together"),
            model_judge(client, "choice", cut=True),
            model_judge(client, "choice", overrides=prompts.parent),
            CascadeJudge(nli, choice, 0.5),
            CascadeJudge(nli, choice, 0.6),
            CascadeJudge(nli, choice, inf),
        ]
        identities = [judge.identity for judge in judges]
        assert len(set(identities)) == len(identities)
        assert model_judge(client, "choice").identity == choice.identity
        with JudgementStore(tmp_path / "j.sqlite") as store:
            # What is read together depends on the other documents: no judgement of a pair.
            assert not isinstance(stored(judges[3], store), StoredJudge)
            assert isinstance(stored(choice, store), StoredJudge)
    with Scripted() as other:
        async with judging(other, tmp_path) as client:
            assert model_judge(client, "choice").identity != choice.identity
