"""Step 6 of the study: classifiers are tuned, and all detectors run (NPOV, sections 3 and 5.2)."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from pipelines.errors import InputError
from pipelines.experiment.execute import execute
from pipelines.files import replace_bytes
from pipelines.npov.annotation import AnnotatedExample
from pipelines.npov.check import argument_map, check
from pipelines.npov.experiment import EXPERIMENT, NpovOptions
from pipelines.npov.generator import tuned
from pipelines.npov.page import FIGURE_2
from pipelines.npov.result import KINDS
from pipelines.npov.sets import ORGANIC, Case
from pipelines.npov.settings import SalienceSettings
from pipelines.npov.soft_prompt import SoftPrompt, Task
from pipelines.npov.study import Study
from pipelines.npov.synthesis import Reword
from pipelines.npov.tuning_data import Errors, TrainedOn, by_topic, divided, lessons
from pipelines.npov.view import response_view
from pipelines.report import explorer
from pipelines.report.progress import progress, say
from pipelines.runs.folder import file_name
from salience.errors import SalienceError
from salience.heatmap import png as drawn_map


class Training(NamedTuple):
    """A column of Table 2, or Table 5: what a classifier is tuned on."""

    name: str
    split: TrainedOn
    errors: Errors
    paraphrased: bool
    annotated: bool


TRAINING: Final = (
    Training("annotation-free", "train", "synthetic", False, False),
    Training("synth", "train", "synthetic", False, True),
    Training("para", "train", "synthetic", True, True),
    Training("dev", "train+dev", "synthetic", True, True),
    Training("org", "train+dev", "both", True, True),
)


def tuned_classifiers(
    study: Study, found: Sequence[AnnotatedExample], reword: Reword
) -> dict[str, Mapping[Task, Path]]:
    """Soft prompts of classifiers by training set, for either kind of error."""
    topics = [*study.topics["train"], *study.topics["dev"]]
    names = {topic.topic for topic in topics}
    organic = {
        name: own for name, own in by_topic(found, study.all_topics).items() if name in names
    }
    model = cache(study.model.load)  # once for all of them, and not where all are tuned
    made: dict[str, Mapping[Task, Path]] = {}
    for training in TRAINING:
        learned, watched = divided(topics, training.split, study.options.seed)
        files: dict[Task, Path] = {}
        for kind in KINDS:
            both = [
                lessons(
                    some,
                    kind,
                    design="paper",
                    per_topic=0 if training.annotated else study.sizes.template,
                    seed=study.options.seed,
                    paraphrase=reword if training.paraphrased else None,
                    organic=organic if training.annotated else {},
                    errors=training.errors,
                )
                for some in (learned, watched)
            ]
            if all(both):
                name = f"{kind}-{training.name}"
                tuned(study, name, kind, *both, model=model)
                files[kind] = study.prompt(name)
        if len(files) == len(KINDS):
            made[training.name] = files
        else:
            say(f"classifier {training.name}: too few examples to tune it")
    return made


async def detected(
    study: Study, soft: SoftPrompt | None, classifiers: Mapping[str, Mapping[Task, Path]]
) -> None:
    """Have every detector score the test sets, as runs of `contested run npov`."""
    own = study.options
    called = (own.model and Path(own.model).name) or study.model.model.name
    writer = {"soft_prompt": study.prompt("response")} if soft else {}
    await _run(study, "tagger", "tagger", "tagger")
    await _run(study, "salience", f"{called}-generator", *_GRADIENTS, **writer)
    await _run(study, "ablation", f"{called}-ablation", *_SERVED)
    for name, files in classifiers.items():
        prompts = {f"{kind}_prompt": file for kind, file in files.items()}
        await _run(study, "classifier", f"{called}-{name}", *_GRADIENTS, **prompts)


_GRADIENTS: Final = ("model", "precision", "device")
_SERVED: Final = ("model", "endpoint")


async def _run(study: Study, detector: str, name: str, *options: str, **more: Any) -> None:
    own = study.options
    known = own.model_fields_set.intersection((*options, "profile", "models_dir"))
    given = {each: getattr(own, each) for each in known}
    if given.get("endpoint"):
        given.pop("model", None)
    if study.sizes.limit is not None:
        given["limit"] = study.sizes.limit
    chosen = NpovOptions(
        data=own.data,
        cases=study.file("cases"),
        detector=detector,
        name=file_name(name),
        out=study.folder.path,
        on_error="skip",
        **given,
        **more,
    )
    await execute(EXPERIMENT, EXPERIMENT.plan(chosen), chosen, progress)


def figure_2(study: Study, soft: SoftPrompt | None, cases: Sequence[Case]) -> None:
    """The salience map of a response with a hallucination, if there is one that can be drawn."""
    out = study.folder.path / FIGURE_2
    if out.exists():
        return
    organic = [case.annotated for case in cases if case.test_set == ORGANIC]
    organic.sort(key=lambda each: each.hallucination != "full")  # the others keep their order
    decoder, settings = study.model.load(), SalienceSettings()
    for each in organic:
        try:
            found = argument_map(
                each.example, decoder, settings, soft_prompt=soft, model=study.model.model.digest
            )
        except (InputError, SalienceError):
            continue
        checked = check(each.example, found, settings)
        rows, columns = (
            [word.text for text in texts for word in text]
            for texts in (found.given, found.response)
        )
        png = drawn_map(found.values, rows, columns, each.example.question)
        view = response_view(checked, each.example, found, settings, png)
        explorer.write(out.with_suffix(".html"), f"Figure 2: {each.id}", [view], {})
        replace_bytes(out, png)
        return
