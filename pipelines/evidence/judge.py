"""Who judges claims by documents: from settings to a labeller, with its identity for `run.json`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.errors import InputError
from pipelines.evidence.cascade import CascadeLabeller
from pipelines.evidence.combination import UNFITTED, Combination, Judging, read_combination
from pipelines.evidence.combined import CombinedLabeller
from pipelines.evidence.corrected import CorrectedLabeller
from pipelines.evidence.estimated import prior_of
from pipelines.evidence.known_combinations import known_combination
from pipelines.evidence.known_priors import KNOWN
from pipelines.evidence.labeller import Labeller
from pipelines.evidence.llm import LlmLabeller, llm_labeller
from pipelines.evidence.nli import (
    NliLabeller,
    TaggerFolder,
    calibrated,
    nli_labeller,
    shipped_tagger,
)
from pipelines.evidence.priors import Correction
from pipelines.evidence.risk import ChosenThreshold, choose_threshold
from pipelines.evidence.settings import JudgeSettings
from pipelines.evidence.store import JudgementStore, StoredLabeller, stored
from pipelines.prompts import Prompt
from serving.client import Client

_MODEL = ("name", "digest", "engine", "context")
"""What `run.json` says of a model."""


@dataclass(frozen=True)
class Judge:
    """A labeller made ready, behind the store of judgements if there is one.

    The model (`llm`) or the tagger, which `nli` asks, is None where it judges nothing. `lookups`
    are the labellers that ask the store first; they count what it knew. The `correction` is of the
    model's probabilities; `llm` itself gives the raw ones. The threshold is that of a cascade, or
    that from which labels of a fitted combination keep the risk.
    """

    labeller: Labeller
    llm: LlmLabeller | None = None
    tagger: TaggerFolder | None = None
    nli: NliLabeller | None = None
    threshold: ChosenThreshold | None = None
    lookups: tuple[StoredLabeller, ...] = ()
    correction: Correction | None = None
    combination: Combination | None = None

    @property
    def name(self) -> str:
        """For people: the name of the model, of the tagger, or of both."""
        names = [self.tagger.name] if self.tagger else []
        if self.llm is not None:
            names.append(self.llm.client.model.name)
        return (", then " if self.combination is None else " and ").join(names)

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """Those in use."""
        return (self.llm.prompt,) if self.llm else ()

    @property
    def pairs_tagged(self) -> int:
        """Pairs that the tagger was asked for so far."""
        return self.nli.pairs_tagged if self.nli else 0

    def from_store(self) -> dict[str, int]:
        """Pairs that were looked up in the store so far, and those that it knew."""
        found = sum(each.found for each in self.lookups)
        return {"pairs": found + sum(each.asked for each in self.lookups), "found": found}

    def about(self) -> dict[str, Any]:
        """Whose judgements these are, for `run.json`: `model`, and `tagger`, `cascade` and so on.

        `model` is the language model, or the tagger where it judges alone. A `combination` is there
        with its weights, and what its labels keep of the risk.
        """
        about: dict[str, Any] = {"model": model_of(self.llm.client) if self.llm else None}
        if self.tagger is not None:
            about["tagger"] = tagger_of(self.tagger)
            if self.llm is None:
                about["model"] = {key: about["tagger"].get(key) for key in _MODEL}
        if self.combination is not None:
            risk = self.threshold and self.threshold.as_json()
            about["combination"] = self.combination.as_json() | {"risk": risk}
        elif self.threshold is not None:
            about["cascade"] = self.threshold.as_json()
        if self.correction is not None:
            about["prior"] = self.correction.model_dump(mode="json")
        return about


def judge_of(
    settings: JudgeSettings,
    client: Client | None = None,
    overrides: Path | None = None,
    *,
    tagger: TaggerFolder | None = None,
    store: JudgementStore | None = None,
    fresh: bool = False,
    correction: Correction | None = None,
) -> Judge:
    """Make a judge ready: read its prompt and combination, choose the threshold of a cascade.

    The language model (`client`) may be missing where the settings ask none; the shipped tagger is
    taken unless one is given. `overrides` is a folder with prompts of the user's own. Without a
    store nothing is kept. With `fresh`, judgements of the language model are neither looked up nor
    kept: those of a repeat. The tagger's do not change. Where the settings have a prior estimated,
    the `correction` is what `estimated_prior` gave; that of a file is read.

    Raises:
        InputError: The user's own prompt cannot be used; there is no model to ask; the tagger
            cannot be used, or has no calibration points for a cascade; there is no correction, or
            it is of another model; the combination was fitted for other judges.
    """
    llm = nli = None
    asked: list[Labeller] = []
    if settings.by_tagger:
        tagger = tagger or shipped_tagger()
        nli = nli_labeller(tagger)
        asked.append(stored(nli, store))
    else:
        tagger = None
    if settings.by_model:
        if client is None:
            raise InputError(
                f"the labeller '{settings.labeller}' asks a language model; name one, or take "
                "the labeller 'nli'"
            )
        llm = llm_labeller(client, settings.evidence, overrides=overrides, cut=settings.cut)
        asked.append(stored(llm, None if fresh else store))
    threshold: ChosenThreshold | None = None
    combination: Combination | None = None
    if settings.labeller == "combined" and tagger is not None and llm is not None:
        combination, threshold = combination_of(settings, tagger, llm)
    # A fitted combination takes back itself what the model favours.
    fitted = combination is not None and combination.fitted_for is not None
    correction = prior_of(settings, llm, correction) if llm and not fitted else None
    lookups = tuple(each for each in asked if isinstance(each, StoredLabeller))
    if correction is not None:
        asked[-1] = CorrectedLabeller(asked[-1], correction)
    labeller = asked[0]
    if combination is not None:
        labeller = CombinedLabeller(asked[0], asked[1], combination)
    elif tagger is not None and llm is not None:
        threshold = choose_threshold(calibrated(tagger), settings.risk, tagger.fitted_on)
        quick, slow = asked
        labeller = CascadeLabeller(quick, slow, threshold.threshold)
    return Judge(
        labeller,
        llm,
        tagger,
        nli,
        threshold,
        lookups,
        correction=correction,
        combination=combination,
    )


def combination_of(
    settings: JudgeSettings, tagger: TaggerFolder, llm: LlmLabeller | None = None
) -> tuple[Combination, ChosenThreshold | None]:
    """The combination that the settings name, and from which probability its labels keep the risk.

    Without `llm` only the tagger is looked at, before there is a model. A known one
    is left where the user corrects the model otherwise.

    Raises:
        InputError: The file is none, or was fitted for another tagger, model or prompt.
    """
    made = UNFITTED
    if (path := settings.combination_file) is not None:
        made = _combination_in(path, tagger, llm)
    elif llm is not None and settings.combination == settings.prior == KNOWN:
        judging = Judging(tagger.digest, llm.client.model.digest, llm.prompt.digest)
        made = known_combination(judging) or UNFITTED
    if made.risk is None:
        return made, None
    return made, choose_threshold(made.risk, settings.risk, made.fitted_on)


def _combination_in(path: Path, tagger: TaggerFolder, llm: LlmLabeller | None) -> Combination:
    """The combination of a file; an InputError where it was fitted for other judges."""
    made = read_combination(path)
    assert made.fitted_for  # noqa: S101  read_combination sees to it
    now = made.fitted_for._replace(tagger=tagger.digest)
    if llm:
        now = Judging(tagger.digest, llm.client.model.digest, llm.prompt.digest)
    for what, own, other in zip(Judging._fields, made.fitted_for, now, strict=True):
        if own != other:
            names = dict(zip(Judging._fields, made.names, strict=False))
            one = f" {names[what]}" if what in names else ""
            raise InputError(
                f"{path} was fitted for another {what}{one} ({own[:12]}, now {other[:12]}); fit "
                "one for these judges: contested fit-combination"
            )
    return made


def judge_named(config: Mapping[str, Any]) -> str:
    """Who judged a run, for people, from its configuration; see `Judge.name`."""
    name: str = config["model"]["name"]
    for key, joined in (("cascade", ", then "), ("combination", " and ")):
        if key in config:
            return f"{config['tagger']['name']}{joined}{name}"
    return name


def combination_threshold(config: Mapping[str, Any]) -> ChosenThreshold | None:
    """From which probability labels of a run's combination keep the risk; None without a fit."""
    risk = config.get("combination", {}).get("risk")
    return ChosenThreshold.from_json(risk) if risk else None


def model_of(client: Client) -> dict[str, Any]:
    """A language model as `run.json` names it."""
    return {key: getattr(client.model, key) for key in _MODEL}


def tagger_of(tagger: TaggerFolder) -> dict[str, Any]:
    """A tagger as `run.json` names it."""
    return {
        "name": tagger.name,
        "digest": tagger.digest,
        "engine": f"cross-encoder {tagger.precision}",
        "identity": tagger.identity,
    }
