"""The experiments by name; their modules are imported when they are asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pipelines.experiment.experiment import Experiment

EXPERIMENTS: Final[dict[str, str]] = {
    "conflictscore": "pipelines.conflictscore.experiment",
    "conflict-detection": "pipelines.conflictscore.detection.experiment",
    "planted": "pipelines.conflictscore.planted.experiment",
    "report-writing": "pipelines.conflictscore.reports.experiment",
    "truthfulqa": "pipelines.conflictscore.truthfulqa.experiment",
    "truth-judges": "pipelines.conflictscore.truthfulqa.agreement",
    "both-sides": "pipelines.conflictscore.both_sides.experiment",
    "atomic-facts": "pipelines.conflictscore.atomic_facts.experiment",
    "conrag": "pipelines.conrag.experiment",
    "conflicts": "pipelines.conflicts.experiment",
    "behaviour-judge": "pipelines.conflicts.judges.experiment",
    "madam-rag": "pipelines.madam_rag.experiment",
    "npov": "pipelines.npov.experiment",
}
"""Name of the command -> module that declares it, in the order of the report."""


def experiment(name: str) -> "Experiment[Any, Any]":
    """The declaration of one of `EXPERIMENTS`."""
    found: Experiment[Any, Any] = import_module(EXPERIMENTS[name]).EXPERIMENT
    return found
