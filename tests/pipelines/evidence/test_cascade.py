"""The cascade: what it keeps, what it asks, and that its parts are stored."""

from contextlib import AbstractAsyncContextManager
from math import inf
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted, fenced_text
from tagging import REFUTE, SUPPORT, UNSURE, ScriptedTagger, by_table, folder_of

from pipelines.data.records import Document
from pipelines.evidence.cascade import CascadeLabeller
from pipelines.evidence.llm import llm_labeller
from pipelines.evidence.nli import nli_labeller
from pipelines.evidence.store import JudgementStore, StoredLabeller, stored
from serving import profile
from serving.client import Client
from serving.connect import Source, connect

D1 = Document(id="d1", text="First text.")
D2 = Document(id="d2", text="Second text.")
TABLE = {("First text.", "A."): SUPPORT, ("Second text.", "B."): REFUTE}
"""u: A by d1 0.9, B by d2 0.85; the others 0.5."""
assert max(UNSURE) == 0.5


def judge(
    endpoint: Scripted, folder: Path, cache: str = "c.sqlite"
) -> AbstractAsyncContextManager[Client]:
    source = Source(profile.load("cpu-small"), "judge", folder, endpoints=(endpoint.url,))
    return connect(source, cache=folder / cache)


@pytest.mark.parametrize(
    ("threshold", "kept"),
    [
        (0.0, ["nli", "nli", "nli", "nli"]),
        (0.5, ["nli", "nli", "nli", "nli"]),
        (0.51, ["nli", "llm", "llm", "nli"]),
        (0.85, ["nli", "llm", "llm", "nli"]),
        (0.9, ["nli", "llm", "llm", "llm"]),
        (inf, ["llm", "llm", "llm", "llm"]),
    ],
)
async def test_the_unsure_are_asked(
    threshold: float, kept: list[str], endpoint: Scripted, tmp_path: Path
) -> None:
    endpoint.weigh = lambda _: [0.1, 0.7, 0.2]
    tagger = ScriptedTagger(by_table(TABLE))
    async with judge(endpoint, tmp_path) as client:
        labeller = CascadeLabeller(
            nli_labeller(folder_of(tagger)), llm_labeller(client, "choice"), threshold
        )
        judged = (await labeller(["A.", "B."], [D1, D2])).judgements
    pairs = [(claim, document) for claim in ("A.", "B.") for document in ("d1", "d2")]
    assert [(j.claim, j.document) for j in judged] == pairs
    assert [j.source for j in judged] == [f"cascade-{who}" for who in kept]
    assert [j.relation.value for j in judged if j.source == "cascade-llm"] == (
        ["CONTRADICTS"] * kept.count("llm")
    )
    asked = {(fenced_text(r, "CLAIM"), fenced_text(r, "DOCUMENT")) for r in endpoint.requests}
    assert len(endpoint.requests) == kept.count("llm") == len(asked)
    assert tagger.loads == (0 if threshold == inf else 1)


async def test_what_the_tagger_cannot_read_is_asked(endpoint: Scripted, tmp_path: Path) -> None:
    tagger = ScriptedTagger(by_table(TABLE), too_long=("B.",))
    async with judge(endpoint, tmp_path) as client:
        labeller = CascadeLabeller(
            nli_labeller(folder_of(tagger)), llm_labeller(client, "choice"), 0.0
        )
        judged = (await labeller(["A.", "B."], [D1, D2])).judgements
    assert [(j.claim, j.source) for j in judged] == [
        *[("A.", "cascade-nli")] * 2,
        *[("B.", "cascade-llm")] * 2,
    ]
    assert len(endpoint.requests) == 2


async def test_another_threshold_asks_only_what_was_never_asked(
    endpoint: Scripted, tmp_path: Path
) -> None:
    tagger = ScriptedTagger(by_table(TABLE))
    asked = []
    with JudgementStore(tmp_path / "j.sqlite") as store:
        for number, threshold in enumerate((0.6, 0.95, 0.6)):
            # A new cache: only the store can know.
            async with judge(endpoint, tmp_path, cache=f"{number}.sqlite") as client:
                labeller = CascadeLabeller(
                    stored(nli_labeller(folder_of(tagger)), store),
                    stored(llm_labeller(client, "choice"), store),
                    threshold,
                )
                await labeller(["A.", "B."], [D1, D2])
            asked.append(len(endpoint.requests))
    assert asked == [2, 4, 4]
    assert len(tagger.batches) == 1


async def test_identities_tell_labellers_apart(endpoint: Scripted, tmp_path: Path) -> None:
    nli = nli_labeller(folder_of(ScriptedTagger()))
    prompts = tmp_path / "prompts" / "evidence"
    prompts.mkdir(parents=True)
    (prompts / "relation.j2").write_text("{{ document }} {{ claim }} SUPPORTS?")
    async with judge(endpoint, tmp_path) as client:
        choice = llm_labeller(client, "choice")
        labellers: list[Any] = [
            nli,
            choice,
            llm_labeller(client, "json"),
            llm_labeller(client, "together"),
            llm_labeller(client, "choice", cut=True),
            llm_labeller(client, "choice", overrides=prompts.parent),
            CascadeLabeller(nli, choice, 0.5),
            CascadeLabeller(nli, choice, 0.6),
            CascadeLabeller(nli, choice, inf),
        ]
        identities = [labeller.identity for labeller in labellers]
        assert len(set(identities)) == len(identities)
        assert llm_labeller(client, "choice").identity == choice.identity
        with JudgementStore(tmp_path / "j.sqlite") as store:
            # What is read together depends on the other documents: no judgement of a pair.
            assert not isinstance(stored(labellers[3], store), StoredLabeller)
            assert isinstance(stored(choice, store), StoredLabeller)
    with Scripted() as other:
        async with judge(other, tmp_path) as client:
            assert llm_labeller(client, "choice").identity != choice.identity
