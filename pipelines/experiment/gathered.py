"""Runs of one experiment in several folders, as if they were in one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from pipelines.errors import InputError
from pipelines.experiment.experiment import Experiment
from pipelines.experiment.publish import Runs
from pipelines.runs.folder import RunFolder, differences

ResultT = TypeVar("ResultT", bound=BaseModel)


def gathered(experiment: Experiment[Any, ResultT], folders: Mapping[str, Path]) -> Runs[ResultT]:
    """What several run folders have of an experiment, for its `publish` to put side by side.

    A run is called as its folder is in `folders`, with its own name behind a dot where the folder
    has several. Nothing is written.

    Raises:
        InputError: A folder has no run of it, or the folders differ in what all runs of one folder
            share (`Experiment.common`).
    """
    entries: dict[str, Mapping[str, Any]] = {}
    results: dict[str, list[ResultT]] = {}
    for called, path in folders.items():
        folder = RunFolder(path)
        runs = experiment.runs(folder)
        if not runs.entries:
            raise InputError(f"{path} has no run of {experiment.name}")
        for name, entry in runs.entries.items():
            own = called if len(runs.entries) == 1 else f"{called}.{name}"
            entries[own], results[own] = entry, list(runs.results[name])
    (first, *others), paths = entries.values(), list(map(str, folders.values()))
    for other in others:
        for shared in experiment.common:
            one, another = ({shared: each["config"][shared]} for each in (first, other))
            if differing := ", ".join(map(str, differences(one, another))):
                raise InputError(f"{', '.join(paths)} do not compare: they differ in {differing}")
    return Runs(experiment.name, RunFolder(next(iter(folders.values()))), entries, results)
