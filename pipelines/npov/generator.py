"""Step 2 of the study: a soft prompt that makes the model write responses (NPOV, section 2.1)."""

import gc
from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING

from pipelines.npov import annotation
from pipelines.npov.generation import respond_prompt
from pipelines.npov.settings import TuningSettings
from pipelines.npov.soft_prompt import SoftPrompt, Task
from pipelines.npov.study import Study, digest_of
from pipelines.npov.tuning import state_path, tune
from pipelines.npov.tuning_data import Lesson, by_topic, lessons, pairs_of, tuned_on
from pipelines.report.progress import progress

if TYPE_CHECKING:  # torch
    from salience.decoder import Decoder


def tuned_generator(study: Study) -> SoftPrompt | None:
    """A soft prompt that writes responses, the best of dev; None where a prompt tells the model.

    It learns from people's responses to train topics, else from those of a template.
    """
    options, size = study.options, study.sizes
    if options.generator == "prompt":
        study.begin("generator", prompt=respond_prompt().digest, model=study.model.model.digest)
        study.tell(
            "generator",
            f"Responses are by {study.model.model.name}, told by a prompt; the paper's generator "
            "is tuned.",
        )
        return None
    people = annotation.read(options.responses) if options.responses else []
    organic = by_topic(people, study.all_topics)
    learned, watched = (
        lessons(
            study.topics[split],
            "response",
            design="paper",
            per_topic=0 if people else size.template,
            seed=options.seed,
            organic=organic,
        )
        for split in ("train", "dev")
    )
    prompt = tuned(study, "response", "response", learned, watched, model=study.model.load)
    source = "of people" if people else "by a template (the paper: 80 of people)"
    study.tell(
        "generator",
        f"Generator: {study.model.model.name} with a soft prompt of {prompt.settings.tokens} "
        f"tokens, tuned on {len(learned):,} responses {source}, the best of dev after "
        f"{prompt.step:,} of {prompt.settings.steps:,} updates of {prompt.settings.batch:,} "
        "examples; the paper tunes LaMDA 64B by 20,000 updates of 16.",
    )
    return prompt


def tuned(
    study: Study,
    name: str,
    task: Task,
    learned: Sequence[Lesson],
    watched: Sequence[Lesson],
    *,
    model: "Callable[[], Decoder]",
) -> SoftPrompt:
    """A soft prompt from `prompts/`, tuned as far as it is not; `model` gives what it is for."""
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
        found = tune(
            model(),
            train,
            dev,
            out,
            task=task,
            model=study.model.model.digest,
            settings=settings,
            tuned_on=tuned_on(learned, watched, "paper"),
            on_progress=lambda step, most, loss: bar.reached(step, most, f"loss {loss:.3f}"),
        )
    gc.collect()  # a server may want the memory of the model
    return found
