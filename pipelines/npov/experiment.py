"""Detectors run over test sets, in a run folder that may hold runs of several models."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import InputError
from pipelines.experiment.cost import Cost, calls
from pipelines.experiment.experiment import Experiment, Labelled, Labelling, Models, Plan, Work
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import source_of, tagger_named
from pipelines.files import sha256_of
from pipelines.npov.decoder import decoder_folder
from pipelines.npov.example import SIDES, NpovExample, arguments_read, npov_prompt, sentences_read
from pipelines.npov.page import PAGE
from pipelines.npov.result import KINDS, METRICS, ORGANIC, Case, ErrorKind, NpovResult
from pipelines.npov.settings import NpovOptions
from pipelines.option import refuse_given
from pipelines.retrieval.dense import Embedder, default_embedder
from pipelines.runs.folder import file_name
from salience.errors import SalienceError
from serving.errors import RequestError

if TYPE_CHECKING:  # numpy
    from pipelines.npov.soft_prompt import Task

ENCODER: Final = "all-MiniLM-L6-v2"

_PROMPTED: Final[Mapping[str, "tuple[Task, ...]"]] = {
    "salience": ("response",),
    "classifier": KINDS,
}
"""Detectors that use soft prompts, and the tasks that the prompts must be tuned for."""


def plan(options: NpovOptions) -> Plan[Case, NpovResult]:
    """Read the examples of all sets.

    Raises:
        InputError: A file or an option cannot be used, or a soft prompt was tuned on topics of the
            test sets.
    """
    from pipelines.npov import detectors, soft_prompt
    from pipelines.npov.detect import Encoders, result
    from pipelines.npov.sets import limited, read_cases, sizes_of

    _refuse_unused(options)
    all_cases = read_cases(options.data)
    prompts = soft_prompt.opened(
        options.soft_prompt or (),
        _PROMPTED.get(options.detector, ()),
        (case.annotated.example for case in all_cases),
    )
    cases = limited(all_cases, options.limit)
    remarks = []
    if options.as_in_paper and options.detector == "salience" and not prompts:
        remarks.append(
            "the paper takes gradients of its prompt-tuned generator; to do so, give --soft-prompt"
        )

    def work(models: Models) -> Sequence[Work[Case, NpovResult]]:
        encoder = _encoder()
        about = _encoder_config(encoder)
        config: dict[str, Any] = {
            "data": {
                "name": options.data.name,
                "sha256": sha256_of(options.data),
            },
            "encoder": about["digest"],
            "detector": options.detector,
        }
        if options.detector == "baselines":
            run = detectors.baselines(about)
        elif options.detector == "tagger":
            assert models.tagger is not None  # noqa: S101  it is in the needs
            run = detectors.tagger(models.tagger)
        elif options.detector == "ablation":
            run = detectors.ablation(models.asked)
        else:
            folder = decoder_folder(options)
            for task, prompt in prompts.items():  # its width is checked when the model is loaded
                prompt.check(task, model=folder.model.digest)
            if options.detector == "classifier":
                run = detectors.classifier(folder, prompts)
            else:
                run = detectors.salience(folder, options.measure, prompts.get("response"))
            config |= soft_prompt.described(prompts)
        encoders = cache(lambda: Encoders.of(encoder) if encoder else None)

        async def result_of(case: Case) -> NpovResult:
            return result(case, await run.find(case.annotated.example), encoders())

        name = file_name(options.name or run.name)
        config |= run.config
        return [
            Work(f"{EXPERIMENT.name}.{name}", config, result_of, places=lambda: run.side_by_side)
        ]

    needs = _needs(options)

    def entries(model: str) -> Sequence[str]:
        names = {"ablation": f"{model}-ablation", "baselines": "baselines"}
        if needs.tagger is not None:
            names["tagger"] = needs.tagger.name
        name = options.name or names.get(options.detector)
        return [f"{EXPERIMENT.name}.{file_name(name)}"] if name else ()

    return Plan(
        cases,
        needs,
        work,
        "\n".join(sizes_of(cases)),
        remarks=remarks,
        cost=partial(cost, detector=options.detector),
        entries=entries,
    )


def cost(case: Case, detector: str) -> Cost:
    """What a detector asks of models.

    The ablation makes a call for the example and one without each of its arguments. The tagger
    compares each argument with each sentence, both ways. Other detectors ask no server.
    """
    from pipelines.npov.check import without_each

    example = case.annotated.example
    if detector == "tagger":
        return Cost(pairs=2 * len(arguments_read(example)) * len(sentences_read(example)))
    if detector != "ablation":
        return Cost()
    asked = [npov_prompt(variant).text for variant in (example, *without_each(example))]
    return calls(len(asked), len({*asked}))


def _refuse_unused(options: NpovOptions) -> None:
    """Raise InputError for options that the detector does not use."""
    named = f"--detector {options.detector}"
    if options.detector != "salience":
        refuse_given(options, ("measure",), named)
    if options.detector in ("ablation", "tagger", "baselines"):
        refuse_given(options, ("precision", "device"), named)
    if options.detector in ("tagger", "baselines"):
        refuse_given(options, ("model",), named)
    if options.detector != "ablation":
        refuse_given(options, ("endpoint",), named)


def _needs(options: NpovOptions) -> Needs:
    """The served model for ablation, or the tagger; a decoder is loaded separately."""
    named = f"--detector {options.detector}"
    if options.detector == "ablation":
        return Needs(role="generator", untagged=named)
    if options.detector == "tagger":
        return Needs(tagger=tagger_named(options.tagger, source_of(options, "generator")))
    return Needs(untagged=named)


def _encoder() -> Embedder | None:
    """The encoder of BERTScore, if it is installed; on the CPU, to leave a GPU to the model."""
    path = default_embedder()
    return Embedder(path, device="cpu") if path else None


def _encoder_config(encoder: Embedder | None) -> dict[str, Any]:
    if encoder is None:
        return {"name": "no model", "digest": None, "engine": None}
    engine = f"sentence-transformers {version('sentence-transformers')}, cpu"
    return {"name": ENCODER, "digest": encoder.digest, "engine": engine}


def _labelled(kind: ErrorKind) -> Callable[[NpovResult], Iterator[Labelled]]:
    """Generated responses, with their annotated label for a kind of error."""

    def given(result: NpovResult) -> Iterator[Labelled]:
        if result.test_set == ORGANIC:
            yield Labelled((), as_shown(result.example), result.known(kind))

    return given


def as_shown(example: NpovExample) -> tuple[tuple[str, str], ...]:
    """An example for annotators: headings and texts."""
    given = [(f"Given, {side}", argument) for side in SIDES for argument in example.arguments(side)]
    return (("Question", example.question), *given, ("Response", example.response))


_ASKED: Mapping[ErrorKind, str] = {
    "hallucination": "Does the response make an argument that was not given?",
    "coverage": "Does the response leave out an argument that was given?",
}

_LABELS: Mapping[str, str] = {
    "none": "no",
    "full": "yes, a whole argument",
    "ambiguous": "in part, or an argument is repeated or attributed to the other side",
}

LABELLINGS: Final[Mapping[str, Labelling[NpovResult]]] = {
    kind: Labelling(asked, "responses", _LABELS, _labelled(kind)) for kind, asked in _ASKED.items()
}
"""Questions to annotators (NPOV, section 4.1) about the responses of a study."""


EXPERIMENT = Experiment(
    name="npov",
    title="NPOV",
    options=NpovOptions,
    result=NpovResult,
    plan=plan,
    failed=lambda case, reason: case.result(status="failed", reason=reason),
    page=PAGE,
    metrics=METRICS,
    cluster=lambda result: result.topic,
    refusals=(InputError, RequestError, SalienceError),
    in_flight=1,  # gradients take the whole machine
    common=("data", "encoder"),
    labellings=LABELLINGS,
)
