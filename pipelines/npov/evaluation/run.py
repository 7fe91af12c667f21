"""Detectors over test sets, in a run folder that may hold those of several models."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from pipelines.errors import InputError
from pipelines.npov.evaluation.detect import failed
from pipelines.npov.evaluation.result import NpovResult
from pipelines.npov.evaluation.sets import Case
from pipelines.runs.folder import RunFolder, file_name
from pipelines.runs.runner import resume_examples
from salience.errors import SalienceError

NAME = "npov"

Detect = Callable[[Case], NpovResult]
"""A detector's view of one example."""


def entry_name(name: str) -> str:
    """Name of a model's run in `run.json`, and of its results.

    Raises:
        InputError: The name cannot be part of a file name.
    """
    return f"{NAME}.{file_name(name)}"


def runs(folder: RunFolder) -> dict[str, dict[str, Any]]:
    """Models that a run folder has results of, in order of their beginning.

    Returns:
        What the run is called -> its entry in `run.json`.

    Raises:
        InputError: `run.json` is damaged.
    """
    return folder.entries(NAME)


def begin(
    folder: RunFolder, name: str, config: Mapping[str, Any], made_with: Mapping[str, Any]
) -> None:
    """Enter a model into a run folder, whose others must be of the same test sets.

    Args:
        folder: Made, or continued.
        name: What the run is called.
        config: Everything that decides results; "data" and "sets" describe the examples.
        made_with: Provenance.

    Raises:
        InputError: The folder holds results of other examples, or another run of this name.
    """
    for other, entry in runs(folder).items():
        if any(entry["config"].get(key) != config[key] for key in ("data", "sets")):
            raise InputError(
                f"{folder.path} holds results of {other} on other examples; name another --out"
            )
    folder.begin(entry_name(name), config, made_with)


async def run(
    cases: Sequence[Case],
    detect: Detect,
    folder: RunFolder,
    *,
    name: str,
    on_failure: Literal["stop", "skip"] = "stop",
    on_start: Callable[[int], None] = lambda _: None,
    on_result: Callable[[NpovResult], None] = lambda _: None,
) -> list[NpovResult]:
    """Score every example that the folder has no result of yet, one after the other.

    Results are kept as they come; a run that is killed goes on from there. Examples that failed
    are tried again.

    Args:
        cases: The examples.
        detect: The detector.
        folder: Where results go; `begin` must have been called.
        name: What the run is called.
        on_failure: Whether an example that cannot be scored (too long for the model, no content
            word) stops the run or is recorded as "failed".
        on_start: Told how many examples were done by an earlier run.
        on_result: Told of each result.

    Returns:
        All results, in the order of the examples.

    Raises:
        InputError: An example cannot be scored (`stop`).
        SalienceError: Likewise.
    """

    async def work(case: Case) -> NpovResult:
        try:
            return detect(case)
        except (InputError, SalienceError) as error:
            if on_failure == "stop":
                raise type(error)(f"'{case.id}': {error}") from error
            return failed(case, str(error))

    return await resume_examples(
        cases,
        work,
        folder.log(entry_name(name), NpovResult),
        failed=failed,
        on_failure=on_failure,
        in_flight=1,  # gradients take the whole machine
        on_start=on_start,
        on_result=on_result,
    )


def results(folder: RunFolder) -> dict[str, list[NpovResult]]:
    """What a run folder has, by run.

    Raises:
        InputError: A result is damaged.
    """
    return folder.results(NAME, NpovResult)
