"""The corrected labeller: over the tagger, within a cascade, and what its identity holds."""

import json
from pathlib import Path

import pytest
from known_labels import KnownLabels
from scripted import Scripted
from tagging import REFUTE, SUPPORT, UNSURE, ScriptedTagger, by_table, folder_of

from nli.calibration import risk_curve
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.evidence.corrected import CorrectedLabeller
from pipelines.evidence.estimated import judged_pairs, sample
from pipelines.evidence.judge import judge_of
from pipelines.evidence.judgement import RELATIONS, Relation
from pipelines.evidence.label_order import reversed_labels
from pipelines.evidence.nli import nli_labeller
from pipelines.evidence.priors import Correction, FittedPrior, read_prior, unchanged
from pipelines.evidence.settings import JudgeSettings
from pipelines.prompts import Prompt, load
from serving import profile
from serving.connect import Source, connect

D1 = Document(id="d1", text="First text.")
D2 = Document(id="d2", text="Second text.")
TABLE = {("First text.", "A."): SUPPORT, ("Second text.", "A."): REFUTE}
AGAINST_SUPPORT = Correction.of_bias(RELATIONS, "bias", [-9, 0, 0])


async def test_the_taggers_probabilities_can_be_corrected() -> None:
    raw = nli_labeller(folder_of(ScriptedTagger(by_table(TABLE))))
    first, second = (await CorrectedLabeller(raw, AGAINST_SUPPORT)(["A."], [D1, D2])).judgements
    assert first.relation is not Relation.SUPPORTS
    assert first.raw_probabilities is not None
    assert max(first.raw_probabilities, key=first.raw_probabilities.__getitem__) == "SUPPORTS"
    assert first.snippet is None, "the sentence that made another label explains nothing"
    assert second.relation is Relation.CONTRADICTS
    assert second.snippet == "Second text."


async def test_identities_tell_corrections_apart() -> None:
    raw = KnownLabels()
    even = CorrectedLabeller(raw, unchanged(RELATIONS))
    bias = CorrectedLabeller(raw, AGAINST_SUPPORT)
    assert len({raw.identity, even.identity, bias.identity}) == 3
    # Where the numbers come from changes no judgement.
    learned = AGAINST_SUPPORT.learned(7, "digest", "somebody")
    assert CorrectedLabeller(raw, learned).identity == bias.identity


async def test_a_cascade_corrects_the_model_alone(endpoint: Scripted, tmp_path: Path) -> None:
    endpoint.weigh = lambda _: [0.6, 0.3, 0.1]
    curve = risk_curve([0.85] * 80 + [0.5] * 20, [True] * 90 + [False] * 10)
    tagger = folder_of(ScriptedTagger(by_table({("First text.", "A."): SUPPORT})), curve=curve)
    assert max(UNSURE) == 0.5
    source = Source(profile.load("cpu-small"), "judge", tmp_path, endpoints=(endpoint.url,))
    settings = JudgeSettings(labeller="cascade", risk=0.05, prior="batch")
    async with connect(source, cache=tmp_path / "c.sqlite") as client:
        with pytest.raises(InputError, match="--prior batch is estimated when a run begins"):
            judge_of(settings, client, tagger=tagger)
        judge = judge_of(settings, client, tagger=tagger, correction=AGAINST_SUPPORT)
        tagged, asked = (await judge.labeller(["A."], [D1, D2])).judgements
    assert (tagged.source, tagged.relation) == ("cascade-nli", Relation.SUPPORTS)
    assert tagged.raw_probabilities is None
    assert (asked.source, asked.relation) == ("cascade-llm", Relation.CONTRADICTS)
    assert asked.raw_probabilities == pytest.approx(
        dict(zip(RELATIONS, (0.6, 0.3, 0.1), strict=True))
    )
    assert judge.about()["prior"]["bias"] == list(AGAINST_SUPPORT.bias)


def test_samples_are_of_whole_documents_from_all_places() -> None:
    pairs = [
        (f"Claim {claim} of {place}.", Document(id="d", text=f"Text {place}."))
        for place in range(40)
        for claim in range(3)
    ]
    chosen = sample(pairs, 30)
    assert len(chosen) == 30
    assert chosen == sample([*pairs, *pairs], 30)
    by_document = [document.text for _, document in chosen]
    assert by_document == sorted(by_document, key=by_document.index), "one after the other"
    places = {int(text.split()[1].rstrip(".")) for text in by_document}
    assert len(places) == 10
    assert min(places) < 10
    assert max(places) > 30
    assert sorted({document.id for _, document in chosen}, key=int) == [str(n) for n in range(10)]


async def test_a_pair_that_does_not_fit_is_passed_over() -> None:
    raw = nli_labeller(folder_of(ScriptedTagger(by_table(TABLE), too_long=("B.",))))
    done: list[None] = []
    pairs = [(claim, document) for document in (D1, D2) for claim in ("A.", "B.")]
    found = await judged_pairs(raw, pairs, lambda: done.append(None))
    assert list(found) == [("A.", "d1"), ("A.", "d2")]
    assert len(done) == 4


def test_the_shipped_prompt_can_be_turned() -> None:
    prompt = load("evidence/relation", {"document", "claim"})
    turned = reversed_labels(prompt)
    assert turned is not None
    assert turned.name == prompt.name
    assert turned.digest != prompt.digest
    places = [turned.source.index(f"- {label}:") for label in RELATIONS]
    assert places == sorted(places, reverse=True)
    assert "IRRELEVANT, CONTRADICTS or SUPPORTS?" in turned.source
    assert sorted(turned.source) == sorted(prompt.source)
    assert reversed_labels(turned) is not None


def test_a_prompt_without_a_list_cannot_be_turned() -> None:
    assert reversed_labels(Prompt("mine", "{{ document }} {{ claim }} Relation?")) is None


def test_a_correction_of_no_number_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "prior.json"
    made = FittedPrior(correction=AGAINST_SUPPORT).model_dump(mode="json")
    made["correction"]["bias"][0] = float("nan")
    file.write_text(json.dumps(made))
    with pytest.raises(InputError, match=r"no correction: the field 'correction.bias.0'"):
        read_prior(file)
