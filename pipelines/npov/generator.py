"""Step 2 of the study: a soft prompt that makes the model write responses (NPOV, section 2.1).

Soft prompts are tuned on responses to topics. No annotation is needed (appendix B.1): a generator
learns from responses by a template, and a classifier from these and from synthetic errors made from
them. Annotated responses, with their errors, are added if available (section 5.2).
"""

import gc
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, get_args

from pipelines.data.procon import Topic
from pipelines.npov.classifier import Pair, classifier_pairs
from pipelines.npov.example import AnnotatedExample, read_annotated, response_pair
from pipelines.npov.responses import respond_prompt
from pipelines.npov.soft_prompt import SoftPrompt, Task, TunedOn, TuningSettings
from pipelines.npov.study import Study, digest_of
from pipelines.npov.synthesis import Reword, family, synthetic_examples
from pipelines.npov.topics import Subject, by_topic
from pipelines.npov.tuning import state_path, tune
from pipelines.report.progress import progress

if TYPE_CHECKING:  # torch
    from salience.decoder import Decoder


BY_TEMPLATE: Final = 9
"""Template responses to each topic, if there are none by people: to 9 train topics as many as the
paper has from people, about 80."""


def tuned_generator(study: Study) -> SoftPrompt | None:
    """A soft prompt that writes responses, the best on dev; None if a written prompt is used.

    It learns from people's responses to train topics, or from template responses if there are none.
    """
    options = study.options
    if options.generator == "prompt":
        study.begin("generator", prompt=respond_prompt().digest, model=study.model.model.digest)
        study.tell(
            "generator",
            f"Responses are written by {study.model.model.name} from a prompt; the paper's "
            "generator is tuned.",
        )
        return None
    people = peoples_responses(study)
    learned, watched = (
        lessons(
            study.topics[split],
            "response",
            per_topic=0 if people else BY_TEMPLATE,
            seed=options.seed,
            annotated=people,
        )
        for split in ("train", "dev")
    )
    prompt = tuned(study, "response", "response", learned, watched, model=study.model.load)
    source = "by people" if people else "by a template (the paper: 80 by people)"
    study.tell(
        "generator",
        f"Generator: {study.model.model.name} with a soft prompt of {prompt.settings.tokens} "
        f"tokens, tuned on {len(learned):,} responses {source}, the best on dev after "
        f"{prompt.step:,} of {prompt.settings.steps:,} updates of {prompt.settings.batch:,} "
        "examples; the paper tunes LaMDA 64B with 20,000 updates of 16.",
    )
    return prompt


def peoples_responses(study: Study) -> Mapping[str, Sequence[AnnotatedExample]]:
    """The responses that people wrote, by topic; empty if templates stand in for them."""
    written = study.options.responses
    return by_topic(read_annotated(written), study.all_topics) if written else {}


Origin = Literal["by template", "annotated", "synthetic errors", "organic errors"]
"""An error-free response, by a template or annotated; or an error, synthetic or organic."""

TEMPLATE = "template/"
"""Prefix of the ids of template responses among annotated ones."""


@dataclass(frozen=True)
class Lesson:
    """A training example, its topic, and its origin or that of its error."""

    subject: Subject
    annotated: AnnotatedExample
    origin: Origin
    paraphrased: bool = False


def lessons(
    topics: Sequence[Topic],
    task: Task,
    *,
    per_topic: int,
    seed: int,
    paraphrase: Reword | None = None,
    annotated: Mapping[str, Sequence[AnnotatedExample]] = MappingProxyType({}),
    organic_errors: bool = True,
) -> list[Lesson]:
    """Training examples for a task.

    A response generator learns only from examples without error. A classifier learns full errors,
    as in the paper: annotated examples that are ambiguous for its task are left out, as are those
    with only ambiguous errors.

    Args:
        topics: Topics to learn from.
        task: The task to learn.
        per_topic: Template responses without error for each topic.
        seed: Decides all draws.
        paraphrase: Puts arguments in other words; annotated examples whose arguments all have
            paraphrases are repeated with them (NPOV, section 4.1).
        annotated: Responses by topic, from `by_topic`.
        organic_errors: Whether organic errors of responses are learned as well as synthetic ones,
            the paper's "+Org".
    """
    made: list[Lesson] = []
    for topic in topics:
        subject = Subject(question=topic.question, topic=topic.topic)
        draw = Random(f"{seed} {topic.topic}")  # noqa: S311  (a sample, not a secret)
        for example in synthetic_examples([topic], per_topic=per_topic, seed=seed):
            made.append(
                Lesson(
                    subject, example, "by template" if example.error_free else "synthetic errors"
                )
            )
        for example in annotated.get(topic.topic, ()):
            if not example.error_free:
                made += [Lesson(subject, example, "organic errors")] if organic_errors else []
                continue
            base: Origin = "by template" if example.id.startswith(TEMPLATE) else "annotated"
            for member, reworded in family(example, topic, draw, paraphrase):
                origin = base if member.error_free else "synthetic errors"
                made.append(Lesson(subject, member, origin, reworded))
    return [lesson for lesson in made if _teaches(lesson.annotated, task)]


def tuned(
    study: Study,
    name: str,
    task: Task,
    learned: Sequence[Lesson],
    watched: Sequence[Lesson],
    *,
    model: "Callable[[], Decoder]",
) -> SoftPrompt:
    """A soft prompt from `prompts/`, tuned first if it is unfinished; `model` loads its model."""
    options, size = study.options, study.sizes
    if size.watched is not None and size.watched < len(watched):
        watched = Random(options.seed).sample(watched, size.watched)  # noqa: S311  (no secret)
    settings = TuningSettings(
        steps=size.steps,
        batch=size.batch,
        warmup=min(500, size.steps // 10),
        evaluate_every=min(250, -(-size.steps // 2)),
        seed=options.seed,
    )
    train, dev = pairs_of(learned, task), pairs_of(watched, task)
    out = study.prompt(name)
    study.begin(
        "generator" if task == "response" else f"classifier.{name}",
        model=study.model.model.digest,
        engine=study.model.engine,
        settings=settings.model_dump(),
        examples=digest_of([train, dev]),
    )
    if out.exists() and not state_path(out).exists():
        return SoftPrompt.load(out)
    out.parent.mkdir(exist_ok=True)
    with progress(f"updates, {name}") as bar:
        prompt = tune(
            model(),
            train,
            dev,
            out,
            task=task,
            model=study.model.model.digest,
            settings=settings,
            tuned_on=tuned_on(learned, watched),
            on_progress=lambda step, most, loss: bar.reached(step, most, f"loss {loss:.3f}"),
        )
    if task == "response":
        gc.collect()  # the server that starts next needs the model's memory
    return prompt


def pairs_of(learned: Sequence[Lesson], task: Task) -> list[Pair]:
    """Input and target texts."""
    if task == "response":
        return [response_pair(lesson.annotated.example) for lesson in learned]
    labelled = [
        (lesson.annotated.example, lesson.annotated.error(task) == "full") for lesson in learned
    ]
    return classifier_pairs(labelled, task)


def tuned_on(learned: Sequence[Lesson], watched: Sequence[Lesson]) -> TunedOn:
    """The record of training examples for a soft prompt's file."""
    counts = Counter(lesson.origin for lesson in learned)
    examples: dict[str, int] = {name: counts[name] for name in get_args(Origin) if counts[name]}
    if paraphrased := sum(lesson.paraphrased for lesson in learned):
        examples["paraphrased"] = paraphrased
    return TunedOn(
        learned=tuple(dict.fromkeys(lesson.subject for lesson in learned)),
        watched=tuple(dict.fromkeys(lesson.subject for lesson in watched)),
        examples=examples,
    )


def _teaches(example: AnnotatedExample, task: Task) -> bool:
    """Whether it is a clear example of the task."""
    if task == "response" or example.error_free:
        return example.error_free
    return (
        "full" in (example.coverage, example.hallucination) and example.error(task) != "ambiguous"
    )
