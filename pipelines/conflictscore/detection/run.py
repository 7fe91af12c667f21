"""Conflict Detection over a file of examples, by one or several labellers in one run folder."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from pipelines.conflictscore.detection.detect import DetectionResult, detect
from pipelines.errors import InputError
from pipelines.evidence.examples import Bench
from pipelines.evidence.labeller import Labeller
from pipelines.runs.folder import RunFolder, file_name
from pipelines.runs.runner import IN_FLIGHT, resume_examples

NAME = "conflict-detection"


def entry_name(labeller: str) -> str:
    """Name of a labeller's run in `run.json`, and of its results.

    Raises:
        InputError: The name cannot be part of a file name.
    """
    return f"{NAME}.{file_name(labeller)}"


def labellers(folder: RunFolder) -> dict[str, dict[str, Any]]:
    """Labellers that a run folder has detections of, in order of their beginning.

    Returns:
        Name of the labeller -> its entry in `run.json`.

    Raises:
        InputError: `run.json` is damaged.
    """
    return folder.entries(NAME)


def begin(
    folder: RunFolder, labeller: str, config: Mapping[str, Any], made_with: Mapping[str, Any]
) -> None:
    """Enter a labeller into a run folder, whose other detections must be of the same data.

    Args:
        folder: Made, or continued.
        labeller: What it is called in this folder.
        config: Everything that decides results; "data" holds name and digest of the examples.
        made_with: Provenance.

    Raises:
        InputError: The folder holds detections of other data, or another labeller of this name.
    """
    for other, entry in labellers(folder).items():
        if entry["config"].get("data") != config["data"]:
            raise InputError(
                f"{folder.path} holds detections by {other} on other data; name another --out"
            )
    folder.begin(entry_name(labeller), config, made_with)


async def run(
    data: Bench,
    labeller: Labeller,
    folder: RunFolder,
    *,
    name: str,
    on_failure: Literal["stop", "skip"] = "stop",
    in_flight: int = IN_FLIGHT,
    on_start: Callable[[int], None] = lambda _: None,
    on_result: Callable[[DetectionResult], None] = lambda _: None,
) -> list[DetectionResult]:
    """Detect conflicts in every example that the folder has no result of yet.

    Results are kept as they come; a run that is killed goes on from there. Examples that failed
    are tried again.

    Args:
        data: The examples.
        labeller: Judges claims by documents.
        folder: Where results go; `begin` must have been called.
        name: What the labeller is called in this folder.
        on_failure: Whether an example that cannot be labelled (too long for the context, refused)
            stops the run or is recorded as "failed".
        in_flight: Examples at a time.
        on_start: Told how many examples were done by an earlier run.
        on_result: Told of each result.

    Returns:
        All results, in the order of the data.

    Raises:
        InputError: An example cannot be labelled (`stop`).
        RequestError: Likewise.
        ServingError: No server can be had.
    """
    return await resume_examples(
        data.examples,
        lambda example: detect(example, labeller),
        folder.log(entry_name(name), DetectionResult),
        failed=lambda example, reason: DetectionResult(
            id=example.id, example=example, status="failed", error=reason
        ),
        on_failure=on_failure,
        in_flight=in_flight,
        on_start=on_start,
        on_result=on_result,
    )


def results(folder: RunFolder) -> dict[str, list[DetectionResult]]:
    """What a run folder has, by labeller.

    Raises:
        InputError: A result is damaged.
    """
    return folder.results(NAME, DetectionResult)
