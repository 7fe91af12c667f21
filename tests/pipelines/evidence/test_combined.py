"""The combined labeller: whom it asks, what it makes of both, and that its parts are stored."""

from contextlib import AbstractAsyncContextManager
from math import log
from pathlib import Path

import pytest
from scripted import Scripted, fenced_text
from tagging import REFUTE, SUPPORT, UNSURE, ScriptedTagger, by_table, folder_of

from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.evidence.combination import Combination, Logit
from pipelines.evidence.combined import CombinedLabeller
from pipelines.evidence.corrected import CorrectedLabeller
from pipelines.evidence.judgement import RELATIONS, Relation
from pipelines.evidence.llm import llm_labeller
from pipelines.evidence.nli import nli_labeller
from pipelines.evidence.priors import Correction
from pipelines.evidence.store import JudgementStore, stored
from serving import profile
from serving.client import Client
from serving.connect import Source, connect

D1 = Document(id="d1", text="First text.")
D2 = Document(id="d2", text="Second text.")
AWAY = (0.1, 0.1, 0.8)
TABLE = {
    ("First text.", "A."): SUPPORT,
    ("Second text.", "A."): AWAY,
    ("First text.", "B."): REFUTE,
}
"""B by d2 is 0.2, 0.3, 0.5: not more likely irrelevant than not, so it is asked."""
TO_TAGGER = Combination(polarity=Logit(tagger=1))


def judge(
    endpoint: Scripted, folder: Path, cache: str = "c.sqlite"
) -> AbstractAsyncContextManager[Client]:
    source = Source(profile.load("cpu-small"), "judge", folder, endpoints=(endpoint.url,))
    return connect(source, cache=folder / cache)


async def test_the_model_decides_the_side_of_what_is_relevant(
    endpoint: Scripted, tmp_path: Path
) -> None:
    endpoint.weigh = lambda _: [0.1, 0.3, 0.6]  # it would call everything irrelevant
    tagger = ScriptedTagger(by_table(TABLE))
    async with judge(endpoint, tmp_path) as client:
        labeller = CombinedLabeller(nli_labeller(folder_of(tagger)), llm_labeller(client, "choice"))
        judged = (await labeller(["A.", "B."], [D1, D2])).judgements
    assert [(j.claim, j.document, j.source, j.relation.value) for j in judged] == [
        ("A.", "d1", "combined-llm", "CONTRADICTS"),
        ("A.", "d2", "combined-nli", "IRRELEVANT"),
        ("B.", "d1", "combined-llm", "CONTRADICTS"),
        ("B.", "d2", "combined-llm", "IRRELEVANT"),
    ]
    shares = [list((j.probabilities or {}).values()) for j in judged]
    assert shares[0] == pytest.approx([0.96 / 4, 0.96 * 3 / 4, 0.04])
    assert tuple(shares[1]) == AWAY
    assert shares[3] == pytest.approx([0.5 / 4, 0.5 * 3 / 4, 0.5])
    # The tagger's sentence explains the label that the tagger gave, and no other.
    assert [j.snippet for j in judged] == [None, None, "First text.", None]
    assert judged[0].label_mass is not None
    asked = {(fenced_text(r, "CLAIM"), fenced_text(r, "DOCUMENT")) for r in endpoint.requests}
    assert asked == {("A.", "First text."), ("B.", "First text."), ("B.", "Second text.")}


async def test_weights_may_leave_the_side_to_the_tagger(endpoint: Scripted, tmp_path: Path) -> None:
    endpoint.weigh = lambda _: [0.1, 0.7, 0.2]
    async with judge(endpoint, tmp_path) as client:
        labeller = CombinedLabeller(
            nli_labeller(folder_of(ScriptedTagger(by_table(TABLE)))),
            llm_labeller(client, "choice"),
            TO_TAGGER,
        )
        (found,) = (await labeller(["A."], [D1])).judgements
    assert found.relation is Relation.SUPPORTS
    assert found.snippet == "First text."
    assert list((found.probabilities or {}).values()) == pytest.approx(SUPPORT)


async def test_the_side_is_by_corrected_probabilities(endpoint: Scripted, tmp_path: Path) -> None:
    """Odds of 1 : 7 become 2 : 1; relevance is as before."""
    endpoint.weigh = lambda _: [0.1, 0.7, 0.2]
    correction = Correction.of_bias([each.value for each in RELATIONS], "bias", [log(14), 0, 0])
    async with judge(endpoint, tmp_path) as client:
        labeller = CombinedLabeller(
            nli_labeller(folder_of(ScriptedTagger(by_table(TABLE)))),
            CorrectedLabeller(llm_labeller(client, "choice"), correction),
        )
        (found,) = (await labeller(["A."], [D1])).judgements
    assert found.relation is Relation.SUPPORTS
    shares = list((found.probabilities or {}).values())
    assert shares == pytest.approx([0.96 * 2 / 3, 0.96 / 3, 0.04])
    assert list((found.raw_probabilities or {}).values()) == pytest.approx([0.1, 0.7, 0.2])


async def test_what_the_tagger_cannot_read_the_model_judges(
    endpoint: Scripted, tmp_path: Path
) -> None:
    endpoint.weigh = lambda _: [0.2, 0.1, 0.7]
    tagger = ScriptedTagger(by_table(TABLE), too_long=("B.",))
    async with judge(endpoint, tmp_path) as client:
        labeller = CombinedLabeller(nli_labeller(folder_of(tagger)), llm_labeller(client, "choice"))
        judged = (await labeller(["A.", "B."], [D1, D2])).judgements
    assert [(j.source, j.relation.value) for j in judged] == [
        ("combined-llm", "SUPPORTS"),
        ("combined-nli", "IRRELEVANT"),
        ("combined-llm-alone", "IRRELEVANT"),
        ("combined-llm-alone", "IRRELEVANT"),
    ]


async def test_a_model_without_probabilities_is_refused(endpoint: Scripted, tmp_path: Path) -> None:
    async with judge(endpoint, tmp_path) as client:
        labeller = CombinedLabeller(
            nli_labeller(folder_of(ScriptedTagger())), llm_labeller(client, "json")
        )
        with pytest.raises(InputError, match="llm-json gives no probabilities"):
            await labeller(["A."], [D1])


async def test_another_combination_asks_nobody_anew(endpoint: Scripted, tmp_path: Path) -> None:
    tagger, asked, identities = ScriptedTagger(by_table(TABLE)), [], set()
    with JudgementStore(tmp_path / "j.sqlite") as store:
        for number, combination in enumerate((Combination(), TO_TAGGER, Combination(spared=0.9))):
            # A new cache: only the store can know.
            async with judge(endpoint, tmp_path, cache=f"{number}.sqlite") as client:
                labeller = CombinedLabeller(
                    stored(nli_labeller(folder_of(tagger)), store),
                    stored(llm_labeller(client, "choice"), store),
                    combination,
                )
                await labeller(["A.", "B."], [D1, D2])
                identities.add(labeller.identity)
            asked.append(len(endpoint.requests))
    assert asked == [3, 3, 4]
    assert len(tagger.batches) == 1
    assert len(identities) == 3
    assert max(UNSURE) == 0.5
