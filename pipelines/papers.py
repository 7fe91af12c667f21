"""The experiments by name; their modules are imported on demand."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pipelines.experiment.experiment import Experiment
    from pipelines.experiment.options import RunOptions
    from pipelines.experiment.publish import Runs
    from pipelines.runs.folder import RunFolder

EXPERIMENTS: Final[dict[str, str]] = {
    "conflictscore": "pipelines.conflictscore.experiment",
    "conflict-detection": "pipelines.conflictscore.detection.experiment",
    "report-writing": "pipelines.conflictscore.reports",
    "truthfulqa": "pipelines.conflictscore.truthfulqa.experiment",
    "both-sides": "pipelines.conflictscore.both_sides",
    "conrag": "pipelines.conrag.experiment",
    "conflicts": "pipelines.conflicts.experiment",
    "madam-rag": "pipelines.madam_rag.experiment",
    "npov": "pipelines.npov.experiment",
}
"""Command name -> module that declares the experiment, in report order."""

OPTIONS: Final[dict[str, str]] = {
    "conflictscore": "pipelines.conflictscore.settings.ScoreOptions",
    "conflict-detection": "pipelines.conflictscore.settings.DetectionOptions",
    "report-writing": "pipelines.conflictscore.settings.ReportOptions",
    "truthfulqa": "pipelines.conflictscore.settings.TruthOptions",
    "both-sides": "pipelines.conflictscore.settings.BothSidesOptions",
    "conrag": "pipelines.conrag.settings.ConragOptions",
    "conflicts": "pipelines.conflicts.settings.ConflictsOptions",
    "madam-rag": "pipelines.madam_rag.settings.MadamOptions",
    "npov": "pipelines.npov.settings.NpovOptions",
}
"""Command name -> its options, so that `--help` need not import the experiment."""

CONFLICTSCORE: Final = (
    "ConflictScore: Measuring How Language Models Handle Conflicting Evidence "
    "(anonymous ACL submission)"
)
PAPERS: Final = dict.fromkeys(EXPERIMENTS, CONFLICTSCORE) | {
    "conrag": "Sun et al. 2024: ConRAG: Contradiction-Aware Retrieval-Augmented Generation "
    "(JACS; doi 10.69987/JACS.2024.40705)",
    "conflicts": "Cattan et al. 2025: DRAGged into Conflicts (arXiv 2506.08500)",
    "madam-rag": "Wang et al. 2025: Retrieval-Augmented Generation with Conflicting Evidence "
    "(COLM; arXiv 2504.13079)",
    "npov": "Chang et al. 2024: Detecting Hallucination and Coverage Errors in Retrieval Augmented "
    "Generation for Controversial Topics (LREC-COLING; arXiv 2403.08904)",
}
"""Command name -> the paper it reproduces; CITATION.cff lists all authors."""


def experiment(name: str) -> "Experiment[Any, Any]":
    """The declaration of one of `EXPERIMENTS`."""
    found: Experiment[Any, Any] = import_module(EXPERIMENTS[name]).EXPERIMENT
    return found


def options(name: str) -> "type[RunOptions]":
    """The options of one of `EXPERIMENTS`."""
    if name not in OPTIONS:
        return experiment(name).options
    module, _, kind = OPTIONS[name].rpartition(".")
    found: type[RunOptions] = getattr(import_module(module), kind)
    return found


def runs_in(folder: "RunFolder") -> "list[tuple[Experiment[Any, Any], Runs[Any]]]":
    """The experiments with runs in a run folder, and these runs, in report order.

    Raises:
        InputError: It is not a run folder, or `run.json` or a result is damaged.
    """
    folder.refuse_missing()
    known = map(experiment, EXPERIMENTS)
    return [
        (declaration, runs) for declaration in known if (runs := declaration.runs(folder)).entries
    ]
