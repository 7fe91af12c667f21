"""Judges and people on the page of a run."""

from collections.abc import Sequence
from typing import Any

from pipelines.annotation.agreement import ratings
from pipelines.annotation.subject import FOLDER, subjects
from pipelines.annotation.tables import all_tables
from pipelines.errors import InputError
from pipelines.experiment.experiment import Experiment
from pipelines.experiment.publish import Runs
from pipelines.report.explorer import Part
from pipelines.runs.folder import RunFolder

TITLE = "Judge and people"


def parts(folder: RunFolder, experiment: Experiment[Any, Any], runs: Runs[Any]) -> Sequence[Part]:
    """What people's labels of an experiment come to, as a part of its page; none without any.

    Labels that no longer belong to the run keep nobody from the rest of the page: it says so.
    """
    if not (folder.path / FOLDER).exists():
        return ()
    try:
        found = ratings(subjects(folder, [(experiment, runs)]))
    except InputError as error:
        return (Part(TITLE, remarks=(f"What people labelled is left out: {error}.",)),)
    return (Part(TITLE, tuple(all_tables(found))),) if found else ()
