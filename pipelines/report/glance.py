"""The first screen of a report: what was run, what came of it, and how sure that is."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipelines.metrics.estimate import Estimate
from pipelines.report.table import MISSING, two_places

FEW = 30
"""Results on fewer examples show how something works rather than how well."""

FEW_EXAMPLES = "Few examples: intervals are wide; this shows how it works, not how well."
NOTHING_FAILED = "none"

Figures = Sequence[tuple[str, Estimate | None]]
"""Names and values, in the order shown."""

_GAP = "\u00a0"
"""Keeps a number with its percent sign, and an interval, on one line."""


@dataclass(frozen=True)
class Finding:
    """What one experiment found, for a reader who knows nothing of it.

    Attributes:
        question: The question that it answers, in plain English.
        data: On what: "28 responses to 14 questions, contested.jsonl".
        models: Which model did what.
        found: One or two short sentences with figures and 95 % intervals.
        examples: Fewest examples that one of the figures rests on; 0 without a figure.
        beside: What a trivial method would have; empty without one.
        failed: What could not be scored, read or seen whole.
        figures: What was found as numbers in [0, 1], by name; the page draws the first of them.
        baselines: What a trivial method would have, likewise.
    """

    question: str
    data: str
    models: str
    found: str
    examples: int
    beside: str = ""
    failed: str = NOTHING_FAILED
    figures: Figures = ()
    baselines: Figures = ()


@dataclass(frozen=True)
class ModelUsed:
    """A model at the head of the page: what it did ("judge"), its name, and its folder's SHA-256.

    The digest is hex, shown by its first 12 digits; None for an endpoint of unknown weights.
    """

    role: str
    name: str
    digest: str | None = None


def rests_on_few(findings: Iterable[Finding]) -> bool:
    """Whether some figure rests on so few examples that a reader must be told."""
    return any(0 < each.examples < FEW for each in findings)


def fewest(estimates: Iterable[Estimate | None]) -> int:
    """The smallest number of observations behind any of the estimates; 0 without any."""
    return min((each.n for each in estimates if each is not None), default=0)


def percent(estimate: Estimate | None) -> str:
    """A share as people say it: "21 % [12 %, 33 %]"."""
    return _with_interval(estimate, _percent)


def figure(estimate: Estimate | None) -> str:
    """A value that is no share: "0.64 [0.42, 0.83]"."""
    return _with_interval(estimate, two_places)


def with_figures(
    figures: Figures,
    render: Callable[[Estimate | None], str] = percent,
    limit: int = 4,
) -> str:
    """Figures in one line, each after its name; beyond `limit` it says how many are left out.

    A name may be empty if there is only one figure.
    """
    shown = [f"{name} {render(estimate)}".strip() for name, estimate in figures[:limit]]
    left_out = len(figures) - limit
    return "; ".join([*shown, f"and {left_out:,} more below"] if left_out > 0 else shown)


def count(number: int, one: str, several: str | None = None) -> str:
    """A number of things: "1 response", "28 responses"."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def sizes(runs: Iterable[tuple[int, str]], one: str, several: str | None = None) -> str:
    """What runs were over, a file once: "10 + 12 questions, a.jsonl; 1 question, b.jsonl".

    Runs are (number of examples, name of the file); an example is called `one`.
    """
    files: dict[str, list[int]] = {}
    for number, file in runs:
        files.setdefault(file, []).append(number)
    return "; ".join(
        " + ".join([*(f"{each:,}" for each in most), f"{count(last, one, several)}, {file}"])
        for file, (*most, last) in files.items()
    )


def data_of(
    results: Mapping[str, Sequence[object]],
    configs: Mapping[str, Mapping[str, Any]],
    one: str,
    several: str | None = None,
) -> str:
    """What the runs of an experiment were over, as `sizes` says it; both by the runs' names."""
    runs = ((len(own), configs[run]["data"]["name"]) for run, own in results.items())
    return sizes(runs, one, several)


def joined(parts: Iterable[str]) -> str:
    """Distinct parts as one phrase: "a and b", "a, b and c"."""
    *most, last = list(dict.fromkeys(parts)) or [""]
    return f"{', '.join(most)} and {last}" if most else last


def failed(*counts: tuple[int, str]) -> str:
    """What went wrong, from (how many, a sentence with `{}` for the number); none is left out."""
    said = [text.format(f"{number:,}") for number, text in counts if number]
    return "; ".join(said) or NOTHING_FAILED


def model_name(model: Mapping[str, Any]) -> str:
    """A model of `run.json` for a newcomer: a tagger is said to be one."""
    name: str = model["name"]
    return f"{name} (a tagger)" if str(model.get("engine", "")).startswith("cross-enc") else name


def judges(config: Mapping[str, Any]) -> str:
    """Who labels claims by documents, from a configuration in `run.json`."""
    model = model_name(config["model"])
    if "cascade" in config:
        return f"{model_name(config['tagger'])} where it is sure, else {model}"
    return model


def models_used(
    configs: Iterable[Mapping[str, Any]], roles: Mapping[str, str]
) -> tuple[ModelUsed, ...]:
    """The models of runs, each once, from their configurations in `run.json`: key -> role.

    Where the tagger is all the model there is, it is named once, as the tagger.
    """
    return tuple(
        dict.fromkeys(
            ModelUsed(role, config[key]["name"], config[key]["digest"])
            for config in configs
            for key, role in roles.items()
            if key in config and not (key == "model" and config["model"] == config.get("tagger"))
        )
    )


def judge_models(*configs: Mapping[str, Any]) -> tuple[ModelUsed, ...]:
    """The models of runs in which claims are judged, from their configurations in `run.json`."""
    used = []
    for config in configs:
        if "cascade" in config:
            roles = {"tagger": "judge where it is sure", "model": "judge of the rest"}
        else:
            roles = {"model": "judge", "splitter": "splits responses"}
        used += [
            ModelUsed(role, config[key]["name"], config[key]["digest"])
            for key, role in (*roles.items(), ("writer", "writes answers"))
            if config.get(key)
        ]
    return tuple(dict.fromkeys(used))


def _percent(value: float) -> str:
    return f"{100 * value:.0f}{_GAP}%"


def _with_interval(estimate: Estimate | None, render: Callable[[float], str]) -> str:
    if estimate is None:
        return MISSING
    value = render(estimate.value)
    if estimate.low is None or estimate.high is None:
        return f"{value} (no interval)"
    if estimate.low == estimate.high:
        return f"{value} (all alike)"
    return f"{value} [{render(estimate.low)},{_GAP}{render(estimate.high)}]"
