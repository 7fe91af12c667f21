"""Who judges citations: the models that it takes, and what is said of a judge in its own case."""

from pathlib import Path
from typing import Any

import pytest
from tiny_encoders import cross_encoder

from pipelines.conrag.citations import CitationJudgeSettings, citation_judge, judge_told
from pipelines.conrag.experiment import ConragOptions
from pipelines.conrag.settings import TaggingSettings
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs
from pipelines.judge.store import JudgementStore
from pipelines.judge.tagger import shipped_tagger


def needed(citing: dict[str, Any], judge: str = "tagger", **options: Any) -> Needs:
    return ConragOptions(
        dataset="alce",
        citing=CitationJudgeSettings.model_validate(citing),
        judging=TaggingSettings.model_validate({"judge": judge}),
        **options,
    ).needs()


def test_the_shipped_tagger_judges_whoever_tags(tmp_path: Path) -> None:
    other = str(cross_encoder(tmp_path / "tagger"))
    ours = shipped_tagger().digest
    for needs, tags in (
        (needed({}), ours),
        (needed({}, tagger=other), "another"),
        (needed({}, "model", anyway=True), None),
    ):
        assert needs.judge_tagger is not None
        assert needs.judge_tagger.digest == ours
        assert (needs.tagger is None) == (tags is None)
        assert needs.tagger is None or (needs.tagger.digest == ours) == (tags == ours)
    named = needed({"citation_tagger": other}).judge_tagger
    assert named is not None
    assert named.digest != ours
    assert ConragOptions().needs().judge_tagger is None, "claims are judged by their data"


def test_a_language_model_judges_what_another_wrote() -> None:
    # The profile has one model for both.
    assert needed({"judged_by": "model"}, profile="cpu-small", anyway=True).judge is None
    for judge in ("tagger", "model"):
        needs = needed(
            {"judged_by": "model", "judge_model": "other"}, judge, profile="cpu-small", anyway=True
        )
        assert needs.judge is not None
        assert (needs.role, needs.judge.role, needs.judge.model) == ("generator", "judge", "other")
        assert needs.judge_tagger is None


def test_one_tagger_is_loaded_once(tmp_path: Path) -> None:
    tagger, other = shipped_tagger(), cross_encoder(tmp_path / "tagger")
    with JudgementStore(tmp_path / "store.sqlite") as store:
        same = Models(store, "own", tagger=tagger, judge_tagger=tagger)
        selector = same.judge(TaggingSettings())
        assert citation_judge(CitationJudgeSettings(), same, selector, cut=False) is selector
        needs = needed({"citation_tagger": str(other)})
        two = Models(store, "own", tagger=tagger, judge_tagger=needs.judge_tagger)
        judge = citation_judge(CitationJudgeSettings(), two, selector, cut=False)
        assert judge.tagger == needs.judge_tagger
        assert judge.label.identity != selector.label.identity


ONE, TWO, LLM = (
    {"name": name, "digest": name[0] * 64} for name in ("a-tagger", "b-tagger", "c-model")
)
TOLD: dict[str, tuple[dict[str, Any], str]] = {
    "the data judge": ({"model": ONE}, ""),
    "another tagger": (
        {"model": ONE, "tagger": ONE, "writer": LLM, "citations": {"model": TWO}},
        "citations judged by b-tagger",
    ),
    "the tagger itself": (
        {"model": ONE, "tagger": ONE, "writer": LLM, "citations": {"model": ONE}},
        "citations judged by a-tagger, which also selected the evidence and so grades itself",
    ),
    "a part of the cascade": (
        {"model": LLM, "tagger": ONE, "writer": LLM, "citations": {"model": ONE}},
        "citations judged by a-tagger, which also selected the evidence and so grades itself",
    ),
    "the writer": (
        {"model": ONE, "tagger": ONE, "writer": LLM, "citations": {"model": LLM}},
        "citations judged by c-model, which also wrote the answers",
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_is_said_of_the_judge(name: str) -> None:
    config, told = TOLD[name]
    assert judge_told(config) == told
