"""`contested run npov`: who finds what neutral responses add and leave out?"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape

from pipelines.cli import options, salience_options
from pipelines.cli.progress import STDERR, progress
from pipelines.cli.report import publish
from pipelines.data import procon
from pipelines.data.jsonl import OnError, read_bytes
from pipelines.errors import InputError
from pipelines.npov import annotation, paraphrases
from pipelines.npov.evaluation import run as evaluation
from pipelines.npov.evaluation.result import ErrorKind
from pipelines.npov.evaluation.sets import (
    ORGANIC,
    Case,
    SyntheticSet,
    limited,
    synthetic_cases,
)
from pipelines.npov.knowledge_base import SAMPLE_TOPICS
from pipelines.npov.splits import Split, split_of
from pipelines.precision import native_format
from pipelines.runs.folder import RunFolder
from pipelines.runs.provenance import provenance

if TYPE_CHECKING:
    from pipelines.npov.check import SalienceSettings
    from salience.decoder import Decoder

UNKNOWN_TOPICS: Split = "test"
"""Where topics are put that the paper has not: nothing was tuned on them."""

SETS_PANEL = "Test sets"
CLASSIFIER_PANEL = "Classifier"


def run_npov(
    data: Annotated[
        Path,
        typer.Option(
            help="Topics with arguments for and against.",
            show_default="some that come with the program",
            rich_help_panel=SETS_PANEL,
        ),
    ] = SAMPLE_TOPICS,
    sets: Annotated[
        list[SyntheticSet] | None,
        typer.Option(
            "--set",
            help="Responses that copy arguments, that replace common words, or that say them in "
            "other words; give it once for each.",
            show_default="unparaphrased and paraphrased",
            rich_help_panel=SETS_PANEL,
        ),
    ] = None,
    organic: Annotated[
        Path | None,
        typer.Option(
            help="Responses whose errors people have annotated.", rich_help_panel=SETS_PANEL
        ),
    ] = None,
    paraphrased: Annotated[
        Path | None,
        typer.Option(
            "--paraphrases",
            help="Arguments in other words.",
            show_default="those that come with contested",
            rich_help_panel=SETS_PANEL,
        ),
    ] = None,
    split: Annotated[
        Literal["train", "dev", "test", "all"],
        typer.Option(
            help="Which topics of the paper's split. Topics it has not are of `test`.",
            rich_help_panel=SETS_PANEL,
        ),
    ] = "test",
    per_topic: Annotated[
        int,
        typer.Option(
            min=1,
            help="Responses without error for each topic; those with errors are made from them.",
            rich_help_panel=SETS_PANEL,
        ),
    ] = 3,
    seed: Annotated[
        int, typer.Option(help="Decides all that is drawn.", rich_help_panel=SETS_PANEL)
    ] = 0,
    detector: Annotated[
        Literal["salience", "classifier"],
        typer.Option(help="Gradients, or the model's own verdict. ROUGE is always beside them."),
    ] = "salience",
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What this run is called in tables; a folder holds several.",
            show_default="the model's name, with -classifier if it is one",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Run folder; made, or continued.")] = Path("results"),
    limit: Annotated[
        int | None, typer.Option(min=1, help="Take only the first N examples of each set.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say how much there is to do; load no model.")
    ] = False,
    on_error: Annotated[
        OnError,
        typer.Option(help="Stop at an example that cannot be scored, or skip and count it."),
    ] = "stop",
    hallucination_prompt: Annotated[
        Path | None,
        typer.Option(
            help="A soft prompt tuned to find hallucinations.",
            show_default="none: the model is asked as it is",
            rich_help_panel=CLASSIFIER_PANEL,
        ),
    ] = None,
    coverage_prompt: Annotated[
        Path | None,
        typer.Option(
            help="A soft prompt tuned to find coverage errors.",
            show_default="likewise",
            rich_help_panel=CLASSIFIER_PANEL,
        ),
    ] = None,
    engine: salience_options.EngineOf = "batched",
    target: salience_options.TargetOf = "logit",
    measure: salience_options.MeasureOf = "input_x_gradient",
    average: salience_options.AverageOf = "geometric",
    precision: salience_options.PrecisionOf = "auto",
    device: salience_options.DeviceOf = None,
    profile: options.Profile = None,
    model: options.ModelName = None,
    models_dir: options.ModelsDir = None,
) -> None:
    """Compare detectors of hallucination and coverage errors, response by response.

    From topics with arguments, responses are written by a template, and errors are put into what
    was given: an argument the response has not, or one fewer than it has. ROUGE, salience and
    classifiers then score each. No server is needed. Leaves in the run folder: `npov.NAME.jsonl`
    (every example and word), `tables/` in the layout of the paper's Tables 1, 2, 3, 5 and 6, and
    `report.html`. Run it again with another model or detector and the same folder to have both in
    one table.

    Examples:
        contested run npov --split all --dry-run

        contested run npov --limit 1 --detector classifier --out results-npov
    """
    prompts: dict[ErrorKind, Path | None] = {
        "hallucination": hallucination_prompt,
        "coverage": coverage_prompt,
    }
    if detector == "salience" and any(prompts.values()):
        raise InputError(
            "--hallucination-prompt and --coverage-prompt are of --detector classifier; add it"
        )
    chosen = list(dict.fromkeys(sets or (SyntheticSet.UNPARAPHRASED, SyntheticSet.PARAPHRASED)))
    cases = limited(
        _cases(data, chosen, organic, paraphrased, split=split, per_topic=per_topic, seed=seed),
        limit,
    )
    if dry_run:
        for test_set in dict.fromkeys(case.test_set for case in cases):
            own = [case.annotated for case in cases if case.test_set == test_set]
            right = sum(each.hallucination == each.coverage == "none" for each in own)
            print(f"{test_set}: {len(own):,} examples, {right:,} of them without error")
        return
    folder = RunFolder(out)
    with folder.locked():
        from salience.decoder import Decoder, settled  # noqa: PLC0415  (numpy)

        known, place = salience_options.find(
            profile=profile, model=model, models_dir=models_dir, device=device
        )
        chosen_precision = native_format(place) if precision == "auto" else precision
        _, place = settled(chosen_precision, place)

        @cache
        def decoder() -> Decoder:  # only if there is something left to score
            return Decoder.load(known.path, precision=chosen_precision, device=place)

        called = name or known.name + ("-classifier" if detector == "classifier" else "")
        about: dict[str, Any] = {
            "data": {"name": data.name, "sha256": _digest(data)},
            "sets": {
                "names": chosen,
                "organic": _digest(organic),
                "paraphrases": _digest(paraphrased),
                "split": split,
                "per_topic": per_topic,
                "seed": seed,
            },
            "detector": detector,
            "model": {
                "name": known.name,
                "digest": known.digest,
                "engine": f"transformers {version('transformers')}, {chosen_precision}, {place}",
            },
        }
        if detector == "salience":
            from pipelines.npov.check import SalienceSettings  # noqa: PLC0415  (numpy)

            settings = SalienceSettings(
                engine=engine, target=target, measure=measure, average=average
            )
            about["settings"] = settings.model_dump(exclude={"aggregation"})
            detect = _by_salience(decoder, settings)
        else:
            about["prompts"] = {task: _digest(path) for task, path in prompts.items()}
            detect = _by_classifier(decoder, known.digest, prompts)
        evaluation.begin(folder, called, about, provenance())
        with progress("examples", len(cases)) as shown:
            asyncio.run(
                evaluation.run(
                    cases,
                    detect,
                    folder,
                    name=called,
                    on_failure=on_error,
                    on_start=shown.begin,
                    on_result=lambda _: shown.advance(),
                )
            )
        publish(folder)
    STDERR.print(f"report: {escape(str(folder.report))}   tables: {escape(str(folder.tables))}")


def _cases(
    data: Path,
    chosen: Sequence[SyntheticSet],
    organic: Path | None,
    paraphrased: Path | None,
    *,
    split: Split | Literal["all"],
    per_topic: int,
    seed: int,
) -> list[Case]:
    """The examples of all sets.

    Raises:
        InputError: A file cannot be read, or there is nothing to make a set of.
    """
    topics = [
        topic
        for topic in procon.read(data)
        if split in ("all", split_of(topic.topic) or UNKNOWN_TOPICS)
    ]
    if not topics:
        raise InputError(f"{data} has no topic of --split {split}; choose another")
    known = paraphrases.read(paraphrased) if paraphrased else paraphrases.bundled()
    found = synthetic_cases(topics, chosen, known, per_topic=per_topic, seed=seed)
    if not found:
        raise InputError(
            f"no topic of {data} has a paraphrase of arguments on both sides; name a file with "
            "--paraphrases, or take --set unparaphrased alone"
        )
    given = annotation.read(organic) if organic else []
    return found + [Case(ORGANIC, each) for each in given]


def _by_salience(
    decoder: Callable[[], "Decoder"], settings: "SalienceSettings"
) -> evaluation.Detect:
    from pipelines.npov.evaluation.detect import by_salience  # noqa: PLC0415  (numpy)

    return lambda case: by_salience(case, decoder(), settings)


def _by_classifier(
    decoder: Callable[[], "Decoder"], model: str, prompts: Mapping[ErrorKind, Path | None]
) -> evaluation.Detect:
    """A verdict by the decoder under a soft prompt for each error, or as it is."""
    from pipelines.npov.evaluation.detect import by_classifier  # noqa: PLC0415  (numpy)
    from pipelines.npov.soft_prompt import SoftPrompt  # noqa: PLC0415  (likewise)

    loaded = {task: SoftPrompt.load(path) if path else None for task, path in prompts.items()}
    for task, prompt in loaded.items():
        if prompt is not None:  # its width is looked at when the model is loaded
            prompt.check(task=task, width=prompt.vectors.shape[1], model=model)
    return lambda case: by_classifier(case, decoder(), loaded, model)


def _digest(path: Path | None) -> str | None:
    return None if path is None else sha256(read_bytes(path)).hexdigest()
