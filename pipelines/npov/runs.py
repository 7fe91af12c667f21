"""Each detector as a run: what it is called, what decides its results, and how it makes one.

Models are loaded at the first example that there is something left to do for.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from nli.errors import TaggerError
from pipelines.errors import InputError
from pipelines.judge.run_judge import model_of, tagger_of
from pipelines.judge.tagger import TaggerFolder
from pipelines.npov.decoder import DecoderFolder
from pipelines.npov.detect import (
    Encoders,
    by_ablation,
    by_baselines,
    by_classifier,
    by_salience,
    by_tagger,
)
from pipelines.npov.example import NpovExample
from pipelines.npov.result import KINDS, NpovResult
from pipelines.npov.sets import Case
from pipelines.npov.settings import SalienceSettings
from pipelines.npov.similarity import ArgumentTagger, BertScore, SentenceEmbeddings
from pipelines.npov.soft_prompt import SoftPrompt, Task
from pipelines.retrieval.dense import Embedder
from serving.client import Client

SIDE_BY_SIDE: Final = 16
"""Examples that a server is asked about at a time."""

Encoding = Callable[[], Encoders | None]


class Run(NamedTuple):
    """How a detector makes results.

    Attributes:
        name: What the run is called unless the user names it.
        config: What decides results beside the examples, for `run.json`.
        side_by_side: Examples at a time; 1 where one takes the whole machine.
    """

    name: str
    config: Mapping[str, Any]
    detect: Callable[[Case], Awaitable[NpovResult]]
    side_by_side: int = 1


def encoders(encoder: Embedder | None) -> Encoding:
    """Loads the encoder where it is first asked for, if there is one."""
    return cache(
        lambda: Encoders(BertScore(encoder), SentenceEmbeddings(encoder)) if encoder else None
    )


def baselines(about: Mapping[str, Any], encoders: Encoding) -> Run:
    """What takes no such model; `about` is the encoder."""

    async def detect(case: Case) -> NpovResult:
        return by_baselines(case, encoders())

    return Run("baselines", {"model": about}, detect)


def tagger(folder: TaggerFolder, encoders: Encoding) -> Run:
    """Support by the NLI tagger."""

    @cache
    def loaded() -> ArgumentTagger:
        try:
            return ArgumentTagger(folder.load())
        except TaggerError as error:
            raise InputError(str(error)) from error

    async def detect(case: Case) -> NpovResult:
        return by_tagger(case, loaded(), encoders())

    return Run(folder.name, {"model": tagger_of(folder)}, detect)


def ablation(client: Client, encoders: Encoding) -> Run:
    """Arguments left out, by log-probabilities of a server."""

    async def detect(case: Case) -> NpovResult:
        return await by_ablation(case, client.log_probabilities, encoders())

    name = f"{client.model.name}-ablation"
    return Run(name, {"model": model_of(client)}, detect, SIDE_BY_SIDE)


def salience(
    folder: DecoderFolder,
    settings: SalienceSettings,
    encoders: Encoding,
    prompts: Mapping[Task, SoftPrompt],
    other: Callable[[NpovExample], NpovExample] | None,
) -> Run:
    """Gradients of the decoder under a soft prompt, or as it is.

    Where `other` makes an example with another topic's arguments, also less what falls on those.
    """
    decoder = cache(folder.load)
    how: Any = {"soft_prompt": prompts.get("response"), "model": folder.model.digest}

    async def detect(case: Case) -> NpovResult:
        beside = other(case.annotated.example) if other else None
        return by_salience(case, decoder(), settings, encoders(), other=beside, **how)

    config: dict[str, Any] = {
        "model": _described(folder),
        "settings": settings.model_dump(exclude={"aggregation"}),
    }
    if other is not None:
        config["less_other_topic"] = True
    kind = "-soft-prompt" if prompts else ""
    kind += "-contrast" if settings.target == "contrast" else ""
    return Run(f"{folder.model.name}{kind}", config, detect)


def classifier(
    folder: DecoderFolder, prompts: Mapping[Task, SoftPrompt], encoders: Encoding
) -> Run:
    """A verdict by the decoder under a soft prompt for each error, or as it is."""
    decoder = cache(folder.load)
    verdicts = {kind: prompts.get(kind) for kind in KINDS}

    async def detect(case: Case) -> NpovResult:
        return by_classifier(case, decoder(), verdicts, folder.model.digest, encoders())

    return Run(f"{folder.model.name}-classifier", {"model": _described(folder)}, detect)


def _described(folder: DecoderFolder) -> dict[str, Any]:
    known = folder.model
    return {"name": known.name, "digest": known.digest, "engine": folder.engine}
