"""ConflictScore over a data set: scorer ready, run, and read back."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pipelines.conflictscore.decomposition import decomposition_prompt
from pipelines.conflictscore.pipeline import conflict_score, result
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.settings import Settings
from pipelines.data.jsonl import Dataset, Skipped
from pipelines.data.records import Example
from pipelines.errors import InputError
from pipelines.evidence.cascade import CascadeLabeller
from pipelines.evidence.labeller import Labeller
from pipelines.evidence.llm import LlmLabeller, llm_labeller
from pipelines.evidence.nli import (
    NliLabeller,
    TaggerFolder,
    calibrated,
    nli_labeller,
    shipped_tagger,
)
from pipelines.evidence.risk import ChosenThreshold, choose_threshold
from pipelines.evidence.store import JudgementStore, StoredLabeller, stored
from pipelines.files import replace_text
from pipelines.prompts import Prompt
from pipelines.runs.folder import ResultLog, RunFolder
from pipelines.runs.runner import IN_FLIGHT, IN_FLIGHT_UNSERVED, resume_examples
from serving.client import Client, Usage

NAME = "conflictscore"


@dataclass(frozen=True)
class Scorer:
    """The metric made ready: who is asked, and with which prompts.

    Attributes:
        client: The language model; None where none is asked.
        settings: The metric's variant.
        decomposition: Prompt that splits responses, or None.
        labeller: Who judges, behind the store of judgements if there is one.
        llm: The language model as judge; None where it judges nothing.
        tagger: The NLI tagger; None where it judges nothing.
        nli: The labeller that asks it.
        chosen: The threshold of a cascade.
        looked_up: The labellers that ask the store first; they count what it knew.
    """

    client: Client | None
    settings: Settings
    decomposition: Prompt | None
    labeller: Labeller
    llm: LlmLabeller | None = None
    tagger: TaggerFolder | None = None
    chosen: ChosenThreshold | None = None
    looked_up: tuple[StoredLabeller, ...] = ()
    nli: NliLabeller | None = None

    @property
    def prompt_digests(self) -> dict[str, str]:
        """Name -> digest of the prompts in use."""
        used = [self.llm.prompt if self.llm else None, self.decomposition]
        return {prompt.name: prompt.digest for prompt in used if prompt}

    @property
    def usage(self) -> Usage:
        """What the language model has cost so far."""
        return self.client.usage if self.client else Usage()

    @property
    def judge(self) -> str:
        """Who judges, for people: the name of the model, of the tagger, or of both."""
        names = [self.tagger.name] if self.tagger else []
        if self.llm is not None:
            names.append(self.llm.client.model.name)
        return ", then ".join(names)

    @property
    def pairs_tagged(self) -> int:
        """Pairs that the tagger was asked for so far."""
        return self.nli.pairs_tagged if self.nli else 0

    def from_store(self) -> dict[str, int]:
        """Pairs that were looked up in the store so far, and those that it knew."""
        found = sum(each.found for each in self.looked_up)
        return {"pairs": found + sum(each.asked for each in self.looked_up), "found": found}


def asks_model(settings: Settings, examples: Sequence[Example]) -> bool:
    """Whether a language model is needed at all: to judge, or to split some response."""
    brought = all(example.claims is not None for example in examples)
    return settings.labeller != "nli" or (settings.splits and not brought)


def prepare(
    settings: Settings,
    client: Client | None = None,
    overrides: Path | None = None,
    *,
    tagger: TaggerFolder | None = None,
    store: JudgementStore | None = None,
    repeat: int = 0,
) -> Scorer:
    """Make the metric ready: read the prompts that the settings need, choose the threshold.

    Args:
        settings: The metric's variant.
        client: The language model; may be missing where the settings ask none.
        overrides: Folder with prompts of the user's own.
        tagger: For the labellers `nli` and `cascade`; the shipped one unless given.
        store: Where judgements are kept and looked up; None keeps none.
        repeat: Number of the draw. From 1 on the language model is asked anew, and its judgements
            are not kept; those of the tagger do not change.

    Raises:
        InputError: The user's own prompt cannot be used; there is no model to ask; the tagger
            cannot be used, or has no calibration points for a cascade.
    """
    model = client.repeated(repeat) if client is not None and repeat else client
    decomposition = decomposition_prompt(settings.claims, overrides)
    if settings.labeller == "llm":
        tagger = None
    elif tagger is None:
        tagger = shipped_tagger()
    nli = nli_labeller(tagger) if tagger is not None else None
    quick = stored(nli, store) if nli is not None else None
    llm = slow = chosen = None
    if settings.labeller != "nli":
        if model is None:
            raise InputError(
                f"the labeller '{settings.labeller}' asks a language model; name one, or take "
                "the labeller 'nli'"
            )
        llm = llm_labeller(model, settings.evidence, overrides=overrides, cut=settings.cut)
        slow = stored(llm, None if repeat else store)
    labeller = quick or slow
    if tagger is not None and quick is not None and slow is not None:
        chosen = choose_threshold(calibrated(tagger), settings.risk, tagger.fitted_on)
        labeller = CascadeLabeller(quick, slow, chosen.threshold)
    assert labeller is not None  # noqa: S101 - every kind of labeller has one of the two
    return Scorer(
        model,
        settings,
        decomposition,
        labeller,
        llm=llm,
        tagger=tagger,
        nli=nli,
        chosen=chosen,
        looked_up=tuple(each for each in (quick, slow) if isinstance(each, StoredLabeller)),
    )


async def score(example: Example, scorer: Scorer) -> Result:
    """Score one response; the library's entrance.

    Raises:
        PairError: A claim does not fit the tagger.
        InputError: A model is needed and there is none, or the tagger cannot be loaded.
        RequestError: A text does not fit the context and may not be cut.
        ServingError: No server can be had.
    """
    return await conflict_score(
        example,
        client=scorer.client,
        labeller=scorer.labeller,
        decomposition=scorer.decomposition,
        settings=scorer.settings,
    )


def log_name(repeat: int = 0) -> str:
    """Name of a run's results in its folder: repeats have their own."""
    return NAME if repeat == 0 else f"{NAME}.repeat-{repeat}"


def results(folder: RunFolder, repeat: int = 0) -> dict[str, Result]:
    """The results that a run folder holds, by example id.

    Raises:
        InputError: A line is damaged.
    """
    return _log(folder, repeat).read()


def keep_skipped(folder: RunFolder, skipped: Sequence[Skipped], repeat: int = 0) -> None:
    """Write down the lines of the input that were no records.

    Raises:
        InputError: The folder cannot be written.
    """
    lines = (json.dumps(asdict(bad), ensure_ascii=False) + "\n" for bad in skipped)
    replace_text(_skipped_path(folder, repeat), "".join(lines))


def skipped(folder: RunFolder) -> list[Skipped]:
    """The lines of the input that were no records.

    Raises:
        InputError: The list of them is damaged.
    """
    path = _skipped_path(folder)
    try:
        lines = path.read_text("utf-8").split("\n")[:-1] if path.exists() else []
        return [Skipped(**json.loads(line)) for line in lines]
    except (ValueError, TypeError) as error:
        raise InputError(
            f"{path} is damaged ({error}); run the same command again to have it made again"
        ) from error


def config(data: Dataset, scorer: Scorer) -> dict[str, Any]:
    """Everything that decides a result, for `run.json`; not how many of them are made.

    `model` is the judge. Beside it stand `tagger` and `cascade` where they are used, and
    `splitter` where a model splits responses and judges nothing.
    """
    model = model_of(scorer.client) if scorer.client else None
    about: dict[str, Any] = {
        "data": {"name": data.name, "sha256": data.digest},
        "settings": scorer.settings.model_dump(),
        "model": model,
        "prompts": scorer.prompt_digests,
        "sampling": {"temperature": 0.0, "seed": 0},
    }
    if scorer.tagger is not None:
        about["tagger"] = tagger_of(scorer.tagger)
        if scorer.llm is None:
            about["model"] = {**about["tagger"], "context": None}
            del about["model"]["identity"]
            if model is not None:
                about["splitter"] = model
    if scorer.chosen is not None:
        about["cascade"] = scorer.chosen.as_json()
    return about


def judge_of(config: Mapping[str, Any]) -> str:
    """Who judged a run, for people, from its configuration; see `Scorer.judge`."""
    name: str = config["model"]["name"]
    return f"{config['tagger']['name']}, then {name}" if "cascade" in config else name


def chosen_in(config: Mapping[str, Any]) -> ChosenThreshold | None:
    """The threshold of a cascade, from its configuration; None of other runs."""
    return ChosenThreshold.from_json(config["cascade"]) if "cascade" in config else None


async def run(
    data: Dataset,
    scorer: Scorer,
    folder: RunFolder,
    *,
    repeat: int = 0,
    on_failure: Literal["stop", "skip"] = "stop",
    on_start: Callable[[int], None] = lambda _: None,
    on_result: Callable[[Result], None] = lambda _: None,
) -> list[Result]:
    """Score every example that the folder has no result of yet.

    Results are kept as they come; a run that is killed goes on from there. Examples that failed
    are tried again.

    Args:
        data: The examples.
        scorer: From `prepare`.
        folder: Where results go; `begin` must have been called.
        repeat: Number of the repeat; each has results of its own.
        on_failure: Whether a response that cannot be scored (too long for the model, refused)
            stops the run or is recorded as "failed".
        on_start: Told how many examples were done by an earlier run.
        on_result: Told of each result.

    Returns:
        All results, in the order of the data.

    Raises:
        RequestError, PairError: An example cannot be scored (`stop`).
        ServingError: No server can be had.
    """
    return await resume_examples(
        data.examples,
        lambda example: score(example, scorer),
        _log(folder, repeat),
        failed=lambda example, reason: result(example, status="failed", error=reason),
        on_failure=on_failure,
        in_flight=IN_FLIGHT if scorer.client else IN_FLIGHT_UNSERVED,
        on_start=on_start,
        on_result=on_result,
    )


def model_of(client: Client) -> dict[str, Any]:
    """A language model as `run.json` names it."""
    model = client.model
    return {
        "name": model.name,
        "digest": model.digest,
        "engine": model.engine,
        "context": model.context,
    }


def tagger_of(tagger: TaggerFolder) -> dict[str, Any]:
    """A tagger as `run.json` names it."""
    return {
        "name": tagger.name,
        "digest": tagger.digest,
        "engine": f"cross-encoder {tagger.precision}",
        "identity": tagger.identity,
    }


def _skipped_path(folder: RunFolder, repeat: int = 0) -> Path:
    return folder.path / f"{log_name(repeat)}.skipped.jsonl"


def _log(folder: RunFolder, repeat: int) -> ResultLog[Result]:
    return ResultLog(folder.path / f"{log_name(repeat)}.jsonl", Result)
