"""Who judges what answers to questions cite: another than who selects the evidence.

A tagger that selects passages and then says whether they bear a sentence out grades itself: where
it is wrong the evidence is wrong, and the grade does not tell. ALCE has an entailment model of its
own for it, which no system asks (Gao et al. 2023, section 3), and so does whoever takes ALCE's
evaluation over (ConRAG, section 3).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel

from pipelines.evidence.judge import Judge, judge_of
from pipelines.evidence.settings import PANEL, JudgeSettings
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs, judge_source, refuse_no_judge
from pipelines.experiment.options import (
    ServerOptions,
    judge_model_option,
    source_of,
    tagger_named,
)
from pipelines.option import Only, Option


class CitationJudgeSettings(BaseModel, frozen=True, extra="forbid"):
    """Who judges; by default a tagger, whatever tags, so that the runs of two are comparable."""

    judged_by: Annotated[
        Literal["nli", "llm"],
        Option(
            "Of questions: who judges whether passages bear answers out, an NLI tagger (`nli`) or "
            "a language model (`llm`). It should be none that selects the evidence.",
            name="--judge",
            panel=PANEL,
        ),
    ] = "nli"
    judge_tagger: Annotated[
        str | None,
        Option(
            "Folder or registered name of the tagger that judges, whatever --tagger is.",
            shown="the profile's, else the one that comes with the program",
            panel=PANEL,
            only=Only(lambda own: own.judged_by == "nli", "--judge llm"),
        ),
    ] = None
    judge_model: Annotated[
        str | None,
        judge_model_option(PANEL, Only(lambda own: own.judged_by == "llm", "--judge nli")),
    ] = None


def needs_with(settings: CitationJudgeSettings, options: ServerOptions, needs: Needs) -> Needs:
    """What a run needs together with who judges its citations.

    Beside a language model that judges, the profile's generator tags and writes.

    Raises:
        InputError: The tagger that is to judge cannot be used.
        ServingError: There is no such model.
    """
    if settings.judged_by == "llm":
        judge = judge_source(options, settings.judge_model)
        refuse_no_judge(options, judge or source_of(options, "generator"), "--judge nli")
        return replace(needs, role="generator", judge=judge)
    where = source_of(options, needs.role or "generator")
    return replace(needs, judge_tagger=tagger_named(settings.judge_tagger, where))


def citation_judge(
    settings: CitationJudgeSettings, models: Models, selector: Judge, *, cut: bool
) -> Judge:
    """Who judges, ready to be asked; the one that selects the evidence, where that is the same.

    A language model gives a reason with every label. With `cut` it may be shown the beginning of a
    text that is too long.
    """
    if settings.judged_by == "llm":
        asked = JudgeSettings(labeller="llm", evidence="json", cut=cut)
        return judge_of(
            asked, models.judging, models.prompts, store=models.store, fresh=models.fresh
        )
    tagger = models.judge_tagger
    if tagger is not None and selector.labeller.identity == tagger.identity:
        return selector
    return judge_of(JudgeSettings(labeller="nli"), tagger=tagger, store=models.store)


def about(judge: Judge) -> dict[str, Any]:
    """Who judges, for `run.json`."""
    return {"identity": judge.labeller.identity, **judge.about()}


def judge_told(config: Mapping[str, Any]) -> str:
    """Who judged the citations of a run, by its configuration, and whether it judged itself.

    Empty where the data say what passages bear out.
    """
    if "citations" not in config:
        return ""
    judge = config["citations"]["model"]
    named = f"citations judged by {judge['name']}"
    tagging = [config[key]["digest"] for key in ("model", "tagger") if config.get(key)]
    if judge["digest"] in tagging:
        return f"{named}, which also selected the evidence and so grades itself"
    if "writer" in config and judge["digest"] == config["writer"]["digest"]:
        return f"{named}, which also wrote the answers"
    return named
