"""`contested lab tune-npov`: a soft prompt that writes responses, or finds their errors."""

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from pipelines.cli.flat import flat
from pipelines.errors import InputError
from pipelines.npov.decoder import DecoderOptions, decoder_folder
from pipelines.npov.settings import TuningSettings
from pipelines.npov.synthesis import DESIGN_HELP, Design
from pipelines.option import Only, Option, refuse_given
from pipelines.report.progress import STDERR, progress
from pipelines.report.terminal import plain

if TYPE_CHECKING:
    from pipelines.data.procon import Topic
    from pipelines.npov.likelihood import Pair
    from pipelines.npov.soft_prompt import Task
    from pipelines.npov.tuning_data import Lesson

PANEL = "What it learns from"


class BriefTuning(TuningSettings):
    """How a soft prompt is tuned: a tenth of few steps warms up, with ten looks at the dev loss."""

    @model_validator(mode="before")
    @classmethod
    def _scaled(cls, given: dict[str, Any]) -> dict[str, Any]:
        fields = TuningSettings.model_fields
        tenth = given.get("steps", fields["steps"].default) // 10
        return {
            "warmup": min(fields["warmup"].default, tenth),
            "evaluate_every": min(fields["evaluate_every"].default, max(1, tenth)),
            **given,
        }


class TuneOptions(DecoderOptions):
    """What a soft prompt learns from, and how."""

    task: Annotated[
        Literal["response", "hallucination", "coverage"],
        Option(
            "What is learned: to write neutral responses, or to tell whether a response "
            "adds an argument (`hallucination`) or leaves one out (`coverage`).",
        ),
    ]
    data: Annotated[
        Path,
        Option(
            "Topics with arguments for and against, as ProCon.org has them, or lines with "
            "topic, question, pro and con.",
        ),
    ]
    out: Annotated[Path, Option("File of the soft prompt (safetensors).")]
    split: Annotated[
        Literal["train", "train+dev", "all"],
        Option(
            "Topics to learn from: the paper's `train`, validated on its development topics; "
            "`train+dev`, or `all` topics, a fifth of them held back to validate on."
        ),
    ] = "train"
    design: Annotated[Design, Option(DESIGN_HELP, panel=PANEL)] = "matched"
    paraphrases: Annotated[
        Path | None,
        Option("Paraphrased arguments; half of the examples use them.", panel=PANEL),
    ] = None
    per_topic: Annotated[
        int,
        Field(ge=0),
        Option("Template responses without error per topic.", panel=PANEL),
    ] = 8
    organic: Annotated[
        Path | None,
        Option(
            "Responses to the topics, annotated by people. Those without error are learned beside "
            "the template's, also with synthetic errors; `--per-topic 0` takes them alone.",
            panel=PANEL,
        ),
    ] = None
    errors: Annotated[
        Literal["synthetic", "organic", "both"],
        Option(
            "Which errors are learned: those put into responses, those that people found, or both "
            "(the paper's +Org).",
            panel=PANEL,
            only=Only(lambda options: options.organic is not None, "no --organic"),
        ),
    ] = "both"
    limit: Annotated[
        int | None,
        Field(ge=1),
        Option("Learn from N random examples, and validate on N.", panel=PANEL),
    ] = None
    dry_run: Annotated[
        bool, Option("Say what there is to learn from; tune nothing.", name="--dry-run")
    ] = False
    tuning: BriefTuning = BriefTuning()


@flat
def tune_npov(options: TuneOptions) -> None:
    """Tune a soft prompt. If killed, the same command resumes at the last evaluation.

    A few vectors before the input are learned, on examples made from the topics and on annotated
    ones; the model stays as it is. The prompt with the lowest dev loss is kept. Its file names the
    topics, so that `contested run npov` does not measure on them.

    Example:
        contested lab tune-npov --task coverage --data topics.jsonl --split all --out p.st --dry-run
    """
    from pipelines.npov.tuning import refuse_finished, tune
    from pipelines.npov.tuning_data import pairs_of, tuned_on

    task, out = options.task, options.out
    settings = TuningSettings(**options.tuning.model_dump())
    if task == "response":
        refuse_given(options, ("errors",), "--task response, which learns none")
    learned, watched = _lessons(task, options.data, options)
    about = tuned_on(learned, watched, options.design)
    train, dev = pairs_of(learned, task), pairs_of(watched, task)
    if options.dry_run:
        _announce(train, dev, settings)
        print(f"learned: {about.told}")
        return
    refuse_finished(out)  # said before a model is loaded
    folder = decoder_folder(options)
    decoder, known = folder.load(), folder.model
    with progress("updates") as bar:
        prompt = tune(
            decoder,
            train,
            dev,
            out,
            task=task,
            model=known.digest,
            settings=settings,
            tuned_on=about,
            on_progress=lambda step, most, loss: bar.reached(step, most, f"loss {loss:.3f}"),
            on_evaluation=lambda step, loss: STDERR.print(
                f"dev loss after {step:,} updates: {loss:.4f}", soft_wrap=True
            ),
        )
    print(
        f"dev loss {prompt.curve[0][1]:.4f} before, {prompt.loss:.4f} after {prompt.step:,} of "
        f"{prompt.curve[-1][0]:,} updates"
    )
    STDERR.print(
        f"soft prompt of {plain(known.name)}, {decoder.precision} on {decoder.device}: "
        f"{plain(str(out))}",
        soft_wrap=True,
    )


def _lessons(task: "Task", data: Path, options: TuneOptions) -> "tuple[list[Lesson], list[Lesson]]":
    """What is learned, and what it is watched by."""
    from pipelines.data.procon import read
    from pipelines.npov import annotation
    from pipelines.npov import synthesis as paraphrases
    from pipelines.npov.topics import outside_table
    from pipelines.npov.tuning_data import by_topic, divided, lessons

    seed, limit, topics = options.tuning.seed, options.limit, read(data)
    words = paraphrases.read(options.paraphrases) if options.paraphrases else None
    annotated = annotation.read(options.organic) if options.organic else []
    organic = by_topic(annotated, topics)

    def taken(topics: "list[Topic]") -> "list[Lesson]":
        made = lessons(
            topics,
            task,
            design=options.design,
            per_topic=options.per_topic,
            seed=seed,
            paraphrase=None if words is None else paraphrases.rewording(words),
            organic=organic,
            errors=options.errors,
        )
        if limit is None or limit >= len(made):
            return made
        return Random(seed).sample(made, limit)  # noqa: S311  (a sample, not a secret)

    # Topics that have nothing to learn from are not held back either.
    some = [topic for topic in topics if options.per_topic or topic.topic in organic]
    learned, watched = divided(some, options.split, seed)
    for remark in outside_table(some) if options.split != "all" else ():
        STDERR.print(plain(remark), soft_wrap=True)
    usable = sum(len(organic.get(topic.topic, ())) for topic in (*learned, *watched))
    if usable < len(annotated):
        STDERR.print(
            f"[yellow]{len(annotated) - usable:,} of {len(annotated):,} annotated responses are of "
            f"topics that --split {options.split} leaves out[/yellow]",
            soft_wrap=True,
        )
    found = taken(learned), taken(watched)
    if not all(found):
        raise InputError(
            f"there are {len(found[0]):,} examples to learn from and {len(found[1]):,} to watch "
            "by; take more with --per-topic, or --design paper, which needs fewer arguments of a "
            "topic, or annotate responses to topics of both"
        )
    return found


def _announce(learned: "list[Pair]", watched: "list[Pair]", settings: TuningSettings) -> None:
    words = sum(len((given + target).split()) for given, target in learned)
    wrong = sum(target == "NO}" for _, target in learned)
    print(
        f"{len(learned):,} examples to learn from ({wrong:,} with an error, about "
        f"{words // max(1, len(learned)):,} words each) and {len(watched):,} to watch by; at most "
        f"{settings.steps:,} updates of {settings.batch:,} examples, "
        f"{settings.steps * settings.batch / max(1, len(learned)):,.1f} passes"
    )
