"""Step 6 of the study: classifiers are tuned, and all detectors run (NPOV, sections 3 and 5.2)."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from pipelines.data.procon import Topic
from pipelines.errors import InputError
from pipelines.experiment.execute import execute
from pipelines.files import replace_bytes
from pipelines.npov.check import argument_map, check
from pipelines.npov.example import AnnotatedExample
from pipelines.npov.experiment import EXPERIMENT
from pipelines.npov.generator import BY_TEMPLATE, lessons, peoples_responses, tuned
from pipelines.npov.page import FIGURE_2
from pipelines.npov.result import KINDS, ORGANIC, Case
from pipelines.npov.settings import NpovOptions
from pipelines.npov.soft_prompt import SoftPrompt
from pipelines.npov.study import Study
from pipelines.npov.synthesis import Reword
from pipelines.npov.topics import by_topic
from pipelines.npov.view import response_view
from pipelines.report import explorer
from pipelines.report.progress import progress, say
from pipelines.runs.folder import file_name
from salience.errors import SalienceError


class Training(NamedTuple):
    """A column of Table 2, or Table 5: the training data of a classifier."""

    name: str
    annotated: bool
    paraphrased: bool
    with_dev: bool
    organic_errors: bool


TRAINING: Final = (
    Training("annotation-free", False, False, False, False),
    Training("synth", True, False, False, False),
    Training("para", True, True, False, False),
    Training("dev", True, True, True, False),
    Training("org", True, True, True, True),
)
"""Training sets: template responses, then annotated ones instead; each set after adds one thing."""

HELD_BACK: Final = 5
"""One in this many train and dev topics is held out for validation."""


def divided(study: Study, training: Training) -> tuple[Sequence[Topic], Sequence[Topic]]:
    """Training and validation topics: train and dev, or both pooled and split by the seed."""
    if not training.with_dev:
        return study.topics["train"], study.topics["dev"]
    order = sorted((*study.topics["train"], *study.topics["dev"]), key=lambda topic: topic.topic)
    Random(study.options.seed).shuffle(order)  # noqa: S311  (a sample, not a secret)
    count = -(-len(order) // HELD_BACK)
    return order[count:], order[:count]


def tuned_classifiers(
    study: Study, found: Sequence[AnnotatedExample], reword: Reword
) -> dict[str, list[Path]]:
    """Soft prompts of classifiers by training set, for both kinds of errors.

    The annotation-free one learns from the generator's examples (NPOV, appendix B.1).
    """
    annotated, people = by_topic(found, study.all_topics), peoples_responses(study)
    model = cache(study.model.load)  # loaded once, and only if one must be tuned
    made: dict[str, list[Path]] = {}
    for training in TRAINING:
        files: list[Path] = []
        for kind in KINDS:
            train_and_dev = [
                lessons(
                    topics,
                    kind,
                    per_topic=0 if training.annotated or people else BY_TEMPLATE,
                    seed=study.options.seed,
                    paraphrase=reword if training.paraphrased else None,
                    annotated=annotated if training.annotated else people,
                    organic_errors=training.organic_errors,
                )
                for topics in divided(study, training)
            ]
            if all(train_and_dev):
                name = f"{kind}-{training.name}"
                tuned(study, name, kind, *train_and_dev, model=model)
                files.append(study.prompt(name))
        if len(files) == len(KINDS):
            made[training.name] = files
        else:
            say(f"classifier {training.name}: too few examples to tune it")
    return made


async def detected(
    study: Study, soft: SoftPrompt | None, classifiers: Mapping[str, Sequence[Path]]
) -> None:
    """Score the test sets with every detector, as runs of `contested run npov`."""
    options = study.options
    model = (options.model and Path(options.model).name) or study.model.model.name
    writer = [study.prompt("response")] if soft else []
    await _run(study, "tagger", "tagger", [], "tagger")
    await _run(study, "salience", f"{model}-generator", writer, *_GRADIENTS)
    await _run(study, "ablation", f"{model}-ablation", [], *_SERVED)
    for name, files in classifiers.items():
        await _run(study, "classifier", f"{model}-{name}", files, *_GRADIENTS)


_GRADIENTS: Final = ("model", "precision", "device")
_SERVED: Final = ("model", "endpoint")


async def _run(
    study: Study, detector: str, name: str, prompts: Sequence[Path], *options: str
) -> None:
    settings = study.options
    known = settings.model_fields_set.intersection((*options, "profile", "models_dir"))
    given = {option: getattr(settings, option) for option in known}
    if given.get("endpoint"):
        given.pop("model", None)
    if study.sizes.limit is not None:
        given["limit"] = study.sizes.limit
    if prompts:
        given["soft_prompt"] = [*prompts]
    chosen = NpovOptions(
        data=study.file("cases"),
        detector=detector,
        name=file_name(name),
        out=study.folder.path,
        on_error="skip",
        **given,
    )
    await execute(EXPERIMENT, EXPERIMENT.plan(chosen), chosen, progress)


def figure_2(study: Study, soft: SoftPrompt | None, cases: Sequence[Case]) -> None:
    """The salience map of a response with a hallucination, if one can be drawn."""
    out = study.folder.path / FIGURE_2
    if out.exists():
        return
    organic = [case.annotated for case in cases if case.test_set == ORGANIC]
    organic.sort(key=lambda example: example.hallucination != "full")  # the others keep their order
    decoder = study.model.load()
    for annotated in organic:
        try:
            salience_map = argument_map(annotated.example, decoder, soft_prompt=soft)
        except (InputError, SalienceError):
            continue
        checked = check(annotated.example, salience_map)
        png = salience_map.picture(annotated.example.question)
        view = response_view(checked, salience_map.values, png)
        explorer.write(out.with_suffix(".html"), f"Figure 2: {annotated.id}", [view], {})
        replace_bytes(out, png)
        return
