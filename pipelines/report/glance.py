"""The first screen of a report: runs, findings, and how certain they are."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pipelines.metrics.estimate import Estimate
from pipelines.report.table import MISSING, two_places

FEW = 30
"""With fewer examples, the reader is warned of wide intervals."""

_SMALL = re.compile(r"(?<![a-z0-9])\d{2,3}m(?![a-z0-9])", re.IGNORECASE)
"""The size in the name of a model with less than a billion parameters."""

NOTHING_FAILED = "none"

Figures = Sequence[tuple[str, Estimate | None]]
"""Names and values, in the order shown."""

_GAP = "\u00a0"
"""No-break space that keeps an interval on one line."""

_KINDS = 4
"""Maximum number of kinds of problems to name."""


@dataclass(frozen=True)
class Finding:
    """The finding of one experiment, for a reader who is new to it.

    Attributes:
        question: The question, in plain English.
        data: The data: "28 responses to 14 questions, contested.jsonl".
        models: Models with their roles.
        found: A sentence with figures and 95 % intervals.
        examples: Smallest n among the figures; 0 without a figure.
        failed: Counts of examples that failed, could not be read, or were cut.
        figures: Name -> value in [0, 1]; the page draws the first ones.
        baselines: The best values of trivial methods, likewise.
    """

    question: str
    data: str
    models: str
    found: str
    examples: int
    failed: str = NOTHING_FAILED
    figures: Figures = ()
    baselines: Figures = ()


@dataclass(frozen=True)
class ModelUsed:
    """A model at the top of the page: its role ("judge"), name, and folder's SHA-256.

    The hex digest is shortened to 12 digits; None for an endpoint with unknown weights.
    """

    role: str
    name: str
    digest: str | None = None


def cautions(findings: Iterable[Finding], models: Iterable[ModelUsed]) -> list[str]:
    """Warnings about few examples and small models, one sentence each."""
    from pipelines.judge.tagger import SHIPPED

    few = any(0 < finding.examples < FEW for finding in findings)
    names = {model.name for model in models}
    said = ["Few examples: intervals are wide."] if few else []
    for name in sorted(name for name in names if _SMALL.search(name)):
        said.append(f"{name} is a small model: it shows how this works, not how well.")
    if SHIPPED in names:
        said.append(f"{SHIPPED} is a small judge: it misses paraphrased conflicts.")
    return said


def figure(estimate: Estimate | None) -> str:
    """A value with its interval: "0.64 [0.42, 0.83]"."""
    if estimate is None:
        return MISSING
    value = two_places(estimate.value)
    if estimate.low is None or estimate.high is None:
        return f"{value} (no interval)"
    if estimate.low == estimate.high:
        return f"{value} (all equal)"
    return f"{value} [{two_places(estimate.low)},{_GAP}{two_places(estimate.high)}]"


def with_figures(figures: Figures, limit: int = 4) -> str:
    """Names and figures in one line; beyond `limit`, only the number of the rest."""
    shown = [f"{name} {figure(estimate)}".strip() for name, estimate in figures[:limit]]
    left_out = len(figures) - limit
    return "; ".join([*shown, f"and {left_out:,} more below"] if left_out > 0 else shown)


def count(number: int, one: str, several: str | None = None) -> str:
    """A number of things: "1 response", "28 responses"."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def data_of(
    results: Mapping[str, Sequence[object]],
    configs: Mapping[str, Mapping[str, Any]],
    one: str,
    several: str,
) -> str:
    """The data of runs by file: "10 + 12 questions, a.jsonl; 1 question, b.jsonl".

    Results and configurations are keyed by run.
    """
    files: dict[str, list[int]] = {}
    for run, of_run in results.items():
        files.setdefault(configs[run]["data"]["name"], []).append(len(of_run))
    return "; ".join(
        " + ".join([*(f"{number:,}" for number in most), f"{count(last, one, several)}, {file}"])
        for file, (*most, last) in files.items()
    )


def failed(problems: Counter[str]) -> str:
    """Counts of problems, the most frequent first: "truncation: 12; failed: 1"."""
    said = [f"{what}: {number:,}" for what, number in problems.most_common(_KINDS)]
    more = len(problems) - _KINDS
    return "; ".join([*said, f"and {more:,} more kinds"] if more > 0 else said) or NOTHING_FAILED


ROLES: Final = {
    "model": "judge",
    "splitter": "splits responses",
    "writer": "writes answers",
    "citations": "judges citations",
}
"""Key of a model -> role, in configurations of runs that judge claims."""

CASCADE: Final = {"tagger": "judge where it is sure", **ROLES, "model": "judge of the rest"}


def models_used(
    configs: Iterable[Mapping[str, Any]], roles: Mapping[str, str] | None = None
) -> tuple[ModelUsed, ...]:
    """The models of runs without repetitions, from their configurations in `run.json`.

    Roles are keyed by the model's key; the default suits runs that judge claims. If the tagger is
    also the model, it has only the tagger's role.
    """
    used = []
    for config in configs:
        known = (CASCADE if "cascade" in config else ROLES) if roles is None else roles
        for key, role in known.items():
            model = config.get(key)
            tagger = config.get("tagger") if key == "model" and "tagger" in known else None
            if model and not (tagger and tagger["digest"] == model["digest"]):
                model = model.get("model", model)
                used.append(ModelUsed(role, model["name"], model["digest"]))
    return tuple(dict.fromkeys(used))
