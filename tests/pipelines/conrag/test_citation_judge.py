"""Who judges citations: the models that it takes."""

from pathlib import Path
from typing import Any

from tiny_encoders import cross_encoder

from pipelines.conrag.answer_worth import citation_judge
from pipelines.conrag.settings import CitationJudgeSettings, ConragOptions, TaggingSettings
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs
from pipelines.judge.store import JudgementStore
from pipelines.judge.tagger import shipped_tagger, tagger_folder


def needed(citing: dict[str, Any], judge: str = "tagger", **options: Any) -> Needs:
    given = {"dataset": "alce", "citing": citing, "judging": {"judge": judge}, **options}
    return ConragOptions.model_validate(given).needs()


def test_the_shipped_tagger_judges_whoever_tags_and_is_loaded_once(tmp_path: Path) -> None:
    other, ours = cross_encoder(tmp_path / "tagger"), shipped_tagger()
    needs = needed({}, tagger=str(other))
    assert needs.judge_tagger is not None
    assert needs.tagger is not None
    assert (needs.judge_tagger.digest == ours.digest) != (needs.tagger.digest == ours.digest)
    by_model = needed({}, "model", anyway=True)
    assert by_model.judge_tagger is not None
    assert by_model.tagger is None
    assert ConragOptions().needs().judge_tagger is None, "claims are judged by their data"
    with JudgementStore(tmp_path / "store.sqlite") as store:
        for tagger, same in ((ours, True), (tagger_folder(other), False)):
            models = Models(store, "own", tagger=tagger, judge_tagger=ours)
            selector = models.judge(TaggingSettings())
            judge = citation_judge(CitationJudgeSettings(), models, selector, cut=False)
            assert (judge is selector) == same
            assert judge.tagger == ours


def test_a_language_model_judges_what_another_wrote() -> None:
    # The profile has one model for both.
    assert needed({"judged_by": "model"}, profile="cpu-small", anyway=True).judge is None
    citing = {"judged_by": "model", "judge_model": "other"}
    for judge in ("tagger", "model"):
        needs = needed(citing, judge, profile="cpu-small", anyway=True)
        assert needs.judge is not None
        assert (needs.role, needs.judge.role, needs.judge.model) == ("generator", "judge", "other")
        assert needs.judge_tagger is None
