"""From settings to a judge of claims by documents, with its identity for `run.json`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.errors import InputError
from pipelines.judge.cascade import CascadeJudge, ChosenThreshold, choose_threshold
from pipelines.judge.correction import CorrectedJudge, Correction, correction_of
from pipelines.judge.model import ModelJudge, model_judge
from pipelines.judge.protocol import Judge
from pipelines.judge.settings import JudgeSettings
from pipelines.judge.store import JudgementStore, StoredJudge, stored
from pipelines.judge.tagger import (
    TaggerFolder,
    TaggerJudge,
    calibrated,
    shipped_tagger,
    tagger_judge,
)
from pipelines.prompts import Prompt
from serving.client import Client

_MODEL = ("name", "digest", "engine", "context")
"""Keys that describe a model in `run.json`."""


@dataclass(frozen=True)
class RunJudge:
    """A judge ready to use, behind the store of judgements if there is one.

    `label` judges. The model, or the tagger (asked through `tagging`), is None if it judges
    nothing. `lookups` are the judges that ask the store first and count its hits. The `correction`
    applies to the model's probabilities; `model` itself gives raw ones. The threshold is a
    cascade's.
    """

    label: Judge
    model: ModelJudge | None = None
    tagger: TaggerFolder | None = None
    tagging: TaggerJudge | None = None
    threshold: ChosenThreshold | None = None
    lookups: tuple[StoredJudge, ...] = ()
    correction: Correction | None = None

    @property
    def name(self) -> str:
        """For people: the name of the model, of the tagger, or of both."""
        names = [self.tagger.name] if self.tagger else []
        if self.model is not None:
            names.append(self.model.client.model.name)
        return ", then ".join(names)

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """The prompts in use."""
        return (self.model.prompt,) if self.model else ()

    @property
    def pairs_tagged(self) -> int:
        """Number of pairs that the tagger judged so far."""
        return self.tagging.pairs_tagged if self.tagging else 0

    def from_store(self) -> dict[str, int]:
        """Numbers of pairs looked up in the store so far, and of hits."""
        found = sum(lookup.found for lookup in self.lookups)
        return {"pairs": found + sum(lookup.asked for lookup in self.lookups), "found": found}

    def about(self) -> dict[str, Any]:
        """The models that judge, for `run.json`: `model`, and `tagger`, `cascade` and so on.

        `model` is the language model, or the tagger if it judges alone.
        """
        about: dict[str, Any] = {"model": model_of(self.model.client) if self.model else None}
        if self.tagger is not None:
            about["tagger"] = tagger_of(self.tagger)
            if self.model is None:
                about["model"] = {key: about["tagger"].get(key) for key in _MODEL}
        if self.threshold is not None:
            about["cascade"] = self.threshold.model_dump(mode="json")
        if self.correction is not None:
            about["correction"] = self.correction.model_dump(mode="json")
        return about


def judge_of(
    settings: JudgeSettings,
    client: Client | None = None,
    overrides: Path | None = None,
    *,
    tagger: TaggerFolder | None = None,
    store: JudgementStore | None = None,
) -> RunJudge:
    """Prepare a judge: read its prompt and correction, choose the threshold of a cascade.

    The language model (`client`) may be missing if the settings need none; the default tagger is
    the shipped one. `overrides` is a folder with the user's own prompts. Without a store nothing is
    kept.

    Raises:
        InputError: The user's prompt or tagger cannot be used, the model is missing, a cascade's
            tagger has no calibration points, or the stored correction is damaged.
    """
    model = tagging = None
    judges: list[Judge] = []
    if settings.by_tagger:
        tagger = tagger or shipped_tagger()
        tagging = tagger_judge(tagger)
        judges.append(stored(tagging, store))
    else:
        tagger = None
    if settings.by_model:
        if client is None:
            raise InputError(
                f"the judge '{settings.judge}' asks a language model; name one, or take "
                "the judge 'tagger'"
            )
        model = model_judge(client, settings.evidence, overrides=overrides, cut=settings.cut)
        judges.append(stored(model, store))
    correction = None
    if model is not None and settings.by_choice:
        correction = correction_of(model.client.model.digest, model.prompt.digest)
    lookups = tuple(candidate for candidate in judges if isinstance(candidate, StoredJudge))
    if correction is not None:
        judges[-1] = CorrectedJudge(judges[-1], correction)
    judge, threshold = judges[0], None
    if tagger is not None and model is not None:
        threshold = threshold_of(settings, tagger)
        quick, slow = judges
        judge = CascadeJudge(quick, slow, threshold.threshold)
    return RunJudge(judge, model, tagger, tagging, threshold, lookups, correction)


def threshold_of(settings: JudgeSettings, tagger: TaggerFolder) -> ChosenThreshold:
    """The threshold of a tagger in a cascade; InputError if it has no calibration points."""
    return choose_threshold(calibrated(tagger), settings.risk, tagger.fitted_on)


def judge_named(config: Mapping[str, Any]) -> str:
    """Who judged a run, for people, from its configuration; see `RunJudge.name`."""
    name: str = config["model"]["name"]
    return f"{config['tagger']['name']}, then {name}" if "cascade" in config else name


def model_of(client: Client) -> dict[str, Any]:
    """A language model as `run.json` describes it."""
    return {key: getattr(client.model, key) for key in _MODEL}


def tagger_of(tagger: TaggerFolder) -> dict[str, Any]:
    """A tagger as `run.json` describes it."""
    return {
        "name": tagger.name,
        "digest": tagger.digest,
        "engine": f"cross-encoder {tagger.precision}",
        "identity": tagger.identity,
    }
