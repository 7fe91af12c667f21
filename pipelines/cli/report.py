"""`contested report`: tables and page of a run, made again from its results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from pipelines.cli.progress import STDERR
from pipelines.conflicts.evaluation import page as typed
from pipelines.conflicts.evaluation import run as conflicts
from pipelines.conflicts.evaluation.methods import CLASSIFIERS
from pipelines.conflicts.evaluation.result import QueryResult as TypedResult
from pipelines.conflicts.evaluation.statistics import Statistic as Count
from pipelines.conflicts.evaluation.tables import all_tables as conflicts_tables
from pipelines.conflictscore import page as scored
from pipelines.conflictscore import run as conflictscore
from pipelines.conflictscore.detection import page as detected
from pipelines.conflictscore.detection import run as detection
from pipelines.conflictscore.detection.decisions import mistakes
from pipelines.conflictscore.detection.tables import all_tables as detection_tables
from pipelines.conflictscore.tables import all_tables
from pipelines.conrag.evaluation import page as compared
from pipelines.conrag.evaluation import run as evaluation
from pipelines.conrag.evaluation.result import ClaimResult
from pipelines.conrag.evaluation.tables import all_tables as conrag_tables
from pipelines.errors import InputError
from pipelines.files import replace_text
from pipelines.madam_rag.evaluation import page as debated
from pipelines.madam_rag.evaluation import run as madam_rag
from pipelines.madam_rag.evaluation.result import QuestionResult
from pipelines.madam_rag.evaluation.statistics import Statistic as Average
from pipelines.madam_rag.evaluation.tables import all_tables as madam_tables
from pipelines.npov.evaluation import page as faithful
from pipelines.npov.evaluation import run as npov
from pipelines.npov.evaluation.tables import all_tables as npov_tables
from pipelines.report import page, table
from pipelines.report.glance import Finding
from pipelines.report.page import ModelUsed, Section
from pipelines.report.table import Table
from pipelines.runs.folder import RunFolder


def report(
    run: Annotated[Path, typer.Argument(help="A run folder.", show_default=False)],
) -> None:
    """Make the tables and the page of a run again, from its results alone.

    Example:
        contested report results
    """
    folder = RunFolder(run)
    if not (run / "run.json").exists():
        raise InputError(f"{run} is no run folder (it has no run.json); name one made by --out")
    with folder.locked():
        publish(folder)
    STDERR.print(f"report: {escape(str(folder.report))}   tables: {escape(str(folder.tables))}")


def made_with(config: Mapping[str, Any]) -> str:
    """One sentence under every table: which bytes of which models and data it was made from."""
    data = config["data"]
    # Where the tagger is all the model there is, it is named once.
    tagger = config.get("tagger", config["model"])
    models = [tagger] if tagger["digest"] != config["model"]["digest"] else []
    models = [
        *models,
        config["model"],
        *(config[key] for key in ("writer", "judge") if key in config),
    ]
    models = [model for place, model in enumerate(models) if model not in models[:place]]
    named = " and ".join(
        f"{model['name']} (digest {model['digest'][:12]}, {model['engine']})" for model in models
    )
    return (
        f"Made with {named} on "
        f"{data['name']} (sha256 {data['sha256'][:12]}); run.json has the rest."
    )


@dataclass(frozen=True)
class Part:
    """What one pipeline contributes to tables and page.

    Attributes:
        section: On the page.
        finding: On its first screen.
        tables: With the note of what they were made with.
        models: Named at the head of the page.
        facts: Likewise.
    """

    section: Section
    finding: Finding
    tables: tuple[Table, ...]
    models: tuple[ModelUsed, ...]
    facts: tuple[tuple[str, str], ...]


def publish(folder: RunFolder) -> None:
    """Write `tables/` and `report.html` from what the run folder holds.

    Raises:
        InputError: A result is damaged, or the folder cannot be written.
    """
    about = folder.about()
    found = (
        _conflictscore(folder, about),
        _detection(folder),
        _conrag(folder),
        _conflicts(folder),
        _madam_rag(folder),
        _npov(folder),
    )
    parts = [part for part in found if part is not None]
    if not parts:
        raise InputError(
            f"{folder.path} holds no run of {conflictscore.NAME}, {detection.NAME}, "
            f"{evaluation.NAME}, {conflicts.NAME}, {madam_rag.NAME} or {npov.NAME}; name one that "
            "does"
        )
    for each in (each for part in parts for each in part.tables):
        table.write(each, folder.tables)
    page.write(
        folder.report,
        page.title_of([part.section for part in parts]),
        [part.section for part in parts],
        about,
        models=page.by_model([(part.section.title, part.models) for part in parts]),
        facts=_facts(parts, about),
        findings=[part.finding for part in parts],
    )


def _facts(parts: Sequence[Part], about: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Facts for the head of the page; of several experiments, what they share and then each."""
    if len(parts) == 1:
        return list(parts[0].facts)
    entries = about["pipelines"].values()
    profiles = dict.fromkeys(str(entry["profile"]) for entry in entries if "profile" in entry)
    begun = [str(entry["started"]) for entry in entries if "started" in entry]
    common = (("profile", ", ".join(profiles)), ("begun", min(begun, default="")))
    own = [
        (label if label.startswith(title) else f"{title}, {label}", value)
        for part in parts
        for title in (part.section.title,)
        for label, value in part.facts
        if label not in {"profile", "begun"}
    ]
    return [*(fact for fact in common if fact[1]), *own]


def _conflictscore(folder: RunFolder, about: Mapping[str, Any]) -> Part | None:
    entry: dict[str, Any] | None = about["pipelines"].get(conflictscore.NAME)
    if entry is None:
        return None
    config = entry["config"]
    judge, data = conflictscore.judge_of(config), config["data"]["name"]
    chosen = conflictscore.chosen_in(config)
    skipped = conflictscore.skipped(folder)
    results = list(conflictscore.results(folder).values())
    note = made_with(config)
    return Part(
        section=scored.section(results, judge, data, skipped, chosen),
        finding=scored.finding(results, config, skipped),
        tables=tuple(
            _noted(each, note) for each in all_tables(results, judge, data, skipped, chosen)
        ),
        models=tuple(scored.models_used(config)),
        facts=(
            ("data", f"{data} ({len(results):,} responses)"),
            ("bad records skipped", f"{len(skipped):,}"),
            ("profile", entry["profile"]),
            ("engine", config["model"]["engine"]),
            *scored.facts(entry),
            ("begun", entry["started"]),
        ),
    )


def _detection(folder: RunFolder) -> Part | None:
    entries = detection.labellers(folder)
    if not entries:
        return None
    # A labeller's own name says how it judges, the judge's which weights did.
    called = {
        name: f"{name}: {conflictscore.judge_of(entry['config'])}"
        for name, entry in entries.items()
    }
    results = {called[name]: own for name, own in detection.results(folder).items()}
    configs = [entry["config"] for entry in entries.values()]
    data = configs[0]["data"]["name"]
    wrong = mistakes(results)
    lines = "".join(f"{mistake.model_dump_json()}\n" for mistake in wrong)
    # A labeller's own file has a dot after the first name, so none can be overwritten.
    replace_text(folder.path / f"{detection.NAME}-errors.jsonl", lines)
    made = detection_tables(results, data)
    note = " ".join(dict.fromkeys(made_with(config) for config in configs))
    examples = {result.id for own in results.values() for result in own}
    return Part(
        section=detected.section(results, made),
        finding=detected.finding(results, made, data, configs),
        tables=tuple(_noted(each, note) for each in made),
        models=tuple(
            dict.fromkeys(model for config in configs for model in scored.models_used(config))
        ),
        facts=(
            ("data", f"{data} ({len(examples):,} examples)"),
            ("labellers", ", ".join(entries)),
            ("begun", next(iter(entries.values()))["started"]),
        ),
    )


def _conrag(folder: RunFolder) -> Part | None:
    entries = evaluation.datasets(folder)
    if not entries:
        return None
    configs = [entry["config"] for entry in entries.values()]
    results = evaluation.results(folder)
    made = conrag_tables(results)
    note = " ".join(dict.fromkeys(made_with(config) for config in configs))
    return Part(
        section=compared.section(results, made),
        finding=compared.finding(
            results, {name: entry["config"] for name, entry in entries.items()}
        ),
        tables=tuple(_noted(each, note) for each in made),
        models=tuple(
            dict.fromkeys(model for config in configs for model in scored.models_used(config))
        ),
        facts=tuple(
            (f"ConRAG, {name}", _how(entry["config"], results[name]))
            for name, entry in entries.items()
        ),
    )


def _conflicts(folder: RunFolder) -> Part | None:
    entries = conflicts.runs(folder)
    if not entries:
        return None
    configs = {name: entry["config"] for name, entry in entries.items()}
    results = conflicts.results(folder)
    counts = {
        configs[name]["data"]["name"]: found
        for name in entries
        if (found := folder.noted(conflicts.entry_name(name), "statistics", tuple[Count, ...]))
    }
    made = conflicts_tables(
        results,
        {name: _who(config) for name, config in configs.items()},
        counts,
    )
    note = " ".join(dict.fromkeys(made_with(config) for config in configs.values()))
    models = [
        ModelUsed(role, config[key]["name"], config[key]["digest"])
        for config in configs.values()
        for key, role in (("model", "types and answers"), ("judge", "judge"), ("tagger", "tagger"))
        if key in config and not (key == "model" and config["model"] == config.get("tagger"))
    ]
    return Part(
        section=typed.section(results, made),
        finding=typed.finding(results, made, configs),
        tables=tuple(_noted(each, note) for each in made),
        models=tuple(dict.fromkeys(models)),
        facts=tuple(
            (f"CONFLICTS, {name}", _typed(entry, results[name])) for name, entry in entries.items()
        ),
    )


def _who(config: Mapping[str, Any]) -> dict[str, str]:
    """Names of the model that answers and of the judge, and whose types Pipeline was told."""
    judge = config.get("judge", {"name": ""})["name"]
    if judge and config["settings"]["judge"] == "nli":
        judge = f"{judge}, {config['tagger']['name']}"
    return {
        "writer": "" if config["model"] == config.get("tagger") else config["model"]["name"],
        "judge": judge,
        "types": CLASSIFIERS[config["settings"]["types"]],
    }


def _typed(entry: Mapping[str, Any], own: Sequence[TypedResult]) -> str:
    """How many queries, and how many of them the classifier knows from training."""
    known = entry.get("seen_in_training", 0)
    seen = f"; {known:,} of the file trained the classifier, which judges each by a fold without it"
    return f"{entry['config']['data']['name']} ({len(own):,} queries{seen if known else ''})"


def _madam_rag(folder: RunFolder) -> Part | None:
    entries = madam_rag.runs(folder)
    if not entries:
        return None
    configs = {name: entry["config"] for name, entry in entries.items()}
    results = madam_rag.results(folder)
    averages = {
        configs[name]["data"]["name"]: found
        for name in entries
        if (found := folder.noted(madam_rag.entry_name(name), "statistics", tuple[Average, ...]))
    }
    file, counted = next(iter(averages.items()), ("", ()))
    made = madam_tables(
        results,
        {name: config["model"]["name"] for name, config in configs.items()},
        counted,
        file,
    )
    note = " ".join(dict.fromkeys(made_with(config) for config in configs.values()))
    models = [
        ModelUsed(role, config[key]["name"], config[key]["digest"])
        for config in configs.values()
        for key, role in (("model", "agents and baselines"), ("tagger", "reliability"))
        if key in config
    ]
    return Part(
        section=debated.section(results, made),
        finding=debated.finding(results, configs),
        tables=tuple(_noted(each, note) for each in made),
        models=tuple(dict.fromkeys(models)),
        facts=tuple(
            (f"MADAM-RAG, {name}", f"{config['data']['name']} ({_held(config, results[name])})")
            for name, config in configs.items()
        ),
    )


def _held(config: Mapping[str, Any], own: Sequence[QuestionResult]) -> str:
    """How many questions, and how they were debated."""
    debate = config["debate"]
    told = "aggregator" if debate["history"] == "aggregate" else "other agents"
    return (
        f"{len(own):,} questions; at most {debate['rounds']} rounds, agents hear the {told}, "
        f"replies in {'JSON' if debate['replies'] == 'json' else 'free text'}"
    )


def _npov(folder: RunFolder) -> Part | None:
    entries = npov.runs(folder)
    if not entries:
        return None
    configs = [entry["config"] for entry in entries.values()]
    results = npov.results(folder)
    made = npov_tables(results)
    note = " ".join(dict.fromkeys(made_with(config) for config in configs))
    models = [
        ModelUsed(
            "gradients" if config["detector"] == "salience" else "classifier",
            config["model"]["name"],
            config["model"]["digest"],
        )
        for config in configs
    ]
    sets = configs[0]["sets"]
    return Part(
        section=faithful.section(made),
        finding=faithful.finding(results, made, configs),
        tables=tuple(_noted(each, note) for each in made),
        models=tuple(dict.fromkeys(models)),
        facts=(
            (
                "data",
                f"{configs[0]['data']['name']}, {sets['split']} topics: "
                f"{len({each.id for own in results.values() for each in own}):,} examples",
            ),
        ),
    )


def _how(config: Mapping[str, Any], own: Sequence[ClaimResult]) -> str:
    """Data and retrieval of an evaluation, for the head of the page."""
    half = "" if config["half"] == "all" else f", {config['half']} half"
    searched = config["retrieval"]
    among = "its own passages" if searched["among"] == "own" else "all passages"
    called = "questions" if any(each.question for each in own) else "claims"
    return (
        f"{config['data']['name']} ({len(own):,} {called}{half}), {searched['method']} in {among}"
    )


def _noted(each: Table, note: str) -> Table:
    return replace(each, notes=(*each.notes, note))
