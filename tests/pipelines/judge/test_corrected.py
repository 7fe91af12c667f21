"""The corrected judge: over the tagger, within a cascade, and what its identity holds."""

from pathlib import Path

import pytest
from clients import client_at
from corrections import of_bias, store
from known_labels import KnownLabels
from scripted import Scripted
from tagging import REFUTE, SUPPORT, UNSURE, ScriptedTagger, by_table, folder_of

from nli.calibration import risk_curve
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.judge.correction import CorrectedJudge, correction_file
from pipelines.judge.judgement import RELATIONS, Relation
from pipelines.judge.model import model_judge
from pipelines.judge.run_judge import judge_of
from pipelines.judge.settings import JudgeSettings
from pipelines.judge.tagger import tagger_judge

D1 = Document(id="d1", text="First text.")
D2 = Document(id="d2", text="Second text.")
TABLE = {("First text.", "A."): SUPPORT, ("Second text.", "A."): REFUTE}
AGAINST_SUPPORT = of_bias(RELATIONS, [-9, 0, 0])


async def test_the_sentence_that_made_another_label_explains_nothing() -> None:
    raw = tagger_judge(folder_of(ScriptedTagger(by_table(TABLE))))
    first, second = (await CorrectedJudge(raw, AGAINST_SUPPORT)(["A."], [D1, D2])).judgements
    assert first.relation is not Relation.SUPPORTS
    assert first.raw_probabilities is not None
    assert max(first.raw_probabilities, key=first.raw_probabilities.__getitem__) == "SUPPORTS"
    assert first.snippet is None
    assert second.relation is Relation.CONTRADICTS
    assert second.snippet == "Second text."


async def test_identities_tell_corrections_apart() -> None:
    raw = KnownLabels()
    even = CorrectedJudge(raw, of_bias(RELATIONS, [0, 0, 0]))
    bias = CorrectedJudge(raw, AGAINST_SUPPORT)
    assert len({raw.identity, even.identity, bias.identity}) == 3
    # Where the numbers come from changes no judgement.
    learned = AGAINST_SUPPORT.model_copy(update={"pairs": 7, "digest": "digest"})
    assert CorrectedJudge(raw, learned).identity == bias.identity


async def test_a_cascade_corrects_the_model_alone(endpoint: Scripted, tmp_path: Path) -> None:
    endpoint.weigh = lambda _: [0.6, 0.3, 0.1]
    curve = risk_curve([0.85] * 80 + [0.5] * 20, [True] * 90 + [False] * 10)
    tagger = folder_of(ScriptedTagger(by_table({("First text.", "A."): SUPPORT})), curve=curve)
    assert max(UNSURE) == 0.5
    settings = JudgeSettings(judge="cascade", risk=0.05)
    async with client_at(endpoint.url, tmp_path / "c.sqlite") as client:
        llm = model_judge(client, "choice")
        store(AGAINST_SUPPORT, client.model.digest, llm.prompt.digest)
        judge = judge_of(settings, client, tagger=tagger)
        tagged, asked = (await judge.label(["A."], [D1, D2])).judgements
        assert judge_of(JudgeSettings(evidence="json"), client).correction is None
        correction_file(client.model.digest, llm.prompt.digest).write_text(
            correction_file(client.model.digest, llm.prompt.digest)
            .read_text()
            .replace("[-9.0,", "[NaN,")
        )
        with pytest.raises(InputError, match=r"is not a correction: the field 'correction.bias.0'"):
            judge_of(settings, client, tagger=tagger)
    assert (tagged.source, tagged.relation) == ("cascade-tagger", Relation.SUPPORTS)
    assert tagged.raw_probabilities is None
    assert (asked.source, asked.relation) == ("cascade-model", Relation.CONTRADICTS)
    assert asked.raw_probabilities == pytest.approx(
        dict(zip(RELATIONS, (0.6, 0.3, 0.1), strict=True))
    )
    assert judge.about()["correction"]["bias"] == list(AGAINST_SUPPORT.bias)
