"""ConflictScore over a data set: scorer ready, run, and read back."""

import json
from collections.abc import Callable, Sequence
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
from pipelines.evidence.llm import LlmLabeller, llm_labeller
from pipelines.files import replace_text
from pipelines.prompts import Prompt
from pipelines.runs.folder import ResultLog, RunFolder
from pipelines.runs.runner import run_examples
from serving.client import Client
from serving.errors import RequestError

NAME = "conflictscore"

EXAMPLES_IN_FLIGHT = 16
"""Enough to keep a server busy while few documents compete for its prefix cache."""


@dataclass(frozen=True)
class Scorer:
    """The metric made ready: a model, and the prompts that it is asked with.

    Attributes:
        client: The model.
        settings: The metric's variant.
        decomposition: Prompt that splits responses, or None.
        labeller: The judge with its prompt.
    """

    client: Client
    settings: Settings
    decomposition: Prompt | None
    labeller: LlmLabeller

    @property
    def prompt_digests(self) -> dict[str, str]:
        """Name -> digest of the prompts in use."""
        used = [self.labeller.prompt, *([self.decomposition] if self.decomposition else [])]
        return {prompt.name: prompt.digest for prompt in used}


def prepare(settings: Settings, client: Client, overrides: Path | None = None) -> Scorer:
    """Make the metric ready: read the prompts that the settings need.

    Raises:
        InputError: The user's own prompt cannot be used.
    """
    return Scorer(
        client,
        settings,
        decomposition_prompt(settings.claims, overrides),
        llm_labeller(client, settings.evidence, overrides=overrides, cut=settings.cut),
    )


async def score(example: Example, scorer: Scorer) -> Result:
    """Score one response; the library's entrance.

    Raises:
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
    """Everything that decides a result, for `run.json`; not how many of them are made."""
    model = scorer.client.model
    return {
        "data": {"name": data.name, "sha256": data.digest},
        "settings": scorer.settings.model_dump(),
        "model": {
            "name": model.name,
            "digest": model.digest,
            "engine": model.engine,
            "context": model.context,
        },
        "prompts": scorer.prompt_digests,
        "sampling": {"temperature": 0.0, "seed": 0},
    }


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
        on_failure: Whether a response that cannot be scored (too long for the context, refused)
            stops the run or is recorded as "failed".
        on_start: Told how many examples were done by an earlier run.
        on_result: Told of each result.

    Returns:
        All results, in the order of the data.

    Raises:
        RequestError: An example cannot be scored (`stop`).
        ServingError: No server can be had.
    """
    log = _log(folder, repeat)
    log.mend()
    done = {name for name, kept in log.read().items() if kept.status != "failed"}
    on_start(sum(example.id in done for example in data.examples))

    async def work(example: Example) -> Result:
        try:
            return await score(example, scorer)
        except RequestError as error:
            if on_failure == "stop":
                raise RequestError(f"'{example.id}': {error}") from error
            return result(example, status="failed", error=str(error))

    def keep(finished: Result) -> None:
        log.append(finished)
        on_result(finished)

    await run_examples(
        [example for example in data.examples if example.id not in done],
        work,
        in_flight=EXAMPLES_IN_FLIGHT,
        on_result=keep,
    )
    return log.settle([example.id for example in data.examples])


def _skipped_path(folder: RunFolder, repeat: int = 0) -> Path:
    return folder.path / f"{log_name(repeat)}.skipped.jsonl"


def _log(folder: RunFolder, repeat: int) -> ResultLog[Result]:
    return ResultLog(folder.path / f"{log_name(repeat)}.jsonl", Result)
