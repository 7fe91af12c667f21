"""The methods over a data set, in a run folder that may hold several data sets and experiments."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Final

from pipelines.data import ramdocs
from pipelines.data.released import sample
from pipelines.errors import InputError
from pipelines.experiment.cost import Cost, calls
from pipelines.experiment.experiment import Experiment, Models, Plan, Work
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import decided_by
from pipelines.judge.run_judge import model_of
from pipelines.madam_rag.baselines import (
    ASTUTE,
    CONCATENATED,
    METHODS_OF,
    NO_RAG,
    WITHOUT_AGGREGATOR,
    Methods,
    Outcome,
    QuestionResult,
    baseline_prompts,
    outcome,
)
from pipelines.madam_rag.data import (
    RAMDOCS,
    SAMPLES,
    Dataset,
    Question,
    read,
    statistics,
)
from pipelines.madam_rag.debate import panel
from pipelines.madam_rag.levels import MOST, misinformation, support_imbalance
from pipelines.madam_rag.metrics import METRICS, base_id, verdict_of_question
from pipelines.madam_rag.replies import Conclusion
from pipelines.madam_rag.settings import DebateSettings, MadamOptions
from pipelines.madam_rag.view import PAGE
from serving.errors import RequestError


def cost(
    question: Question, names: tuple[str, ...], settings: DebateSettings, consolidations: int
) -> Cost:
    """The sum over methods.

    No RAG and the concatenated prompt take one call each. Astute RAG takes two, and up to one per
    consolidation: after an unreadable reply, the next call is the same and saved. A debate has two
    to T rounds of a call per document and one of the aggregator, which is saved if all agents
    repeat themselves. Debates with and without an aggregator share their first calls.
    """
    texts = [given.document.text for given in question.documents]
    total, least = Cost(), 0
    for name in names:
        if name in (NO_RAG, CONCATENATED):
            total += calls(1)
        elif name == ASTUTE:
            total += calls(2 + consolidations, 2 + min(consolidations, 1))
        else:
            aggregated = settings.aggregator and name != WITHOUT_AGGREGATOR
            agents = len({*texts}) * min(2, settings.rounds)
            least = max(least, agents + aggregated)
            total += calls((len(texts) + aggregated) * settings.rounds, 0)
    return total + Cost((least, 0))


_CONSTRUCTIONS: Final = {"support": support_imbalance, "misinformation": misinformation}


def plan(options: MadamOptions) -> Plan[Question, QuestionResult]:
    """Read the questions, and repeat them at the levels of section 6.2 or 6.3, if varied.

    Raises:
        InputError: The file or an option cannot be used.
        ServingError: A model is missing.
    """
    dataset, experiment = options.dataset, options.experiment
    if options.data is None and dataset != RAMDOCS:
        raise InputError(f"--dataset {dataset} needs its file; name it with --data")
    if experiment in _CONSTRUCTIONS and dataset != RAMDOCS:
        raise InputError(
            f"--experiment {experiment} needs the kind of each document, which only ramdocs "
            f"states; leave --dataset {dataset} out"
        )
    settings, consolidations = options.debate, options.consolidations
    path = options.data or SAMPLES
    data = read(dataset, path)
    chosen = sample(data.questions, options.sample, options.seed)
    questions: Sequence[Question] = chosen[: options.limit]
    if construct := _CONSTRUCTIONS.get(experiment):
        # The limit applies to questions before they are repeated at each level.
        questions = construct(chosen, most=min(options.limit or MOST, MOST))
    if not questions:
        raise InputError(
            f"{path} has no question that suits --experiment {experiment}; docs/madam-rag.md says "
            "what it needs"
        )
    names = METHODS_OF[experiment]

    varied = () if experiment == "methods" else (experiment,)
    entry = ".".join((EXPERIMENT.name, dataset, *varied))

    def work(models: Models) -> Sequence[Work[Question, QuestionResult]]:
        members = panel(models.asked, models.prompts)
        baselines = baseline_prompts(models.prompts)
        methods = Methods(names, members, baselines, settings, consolidations)
        debating = (members.prompt(role, settings.replies) for role in ("agent", "aggregator"))
        prompts = (*baselines.values(), *debating)
        config = {
            "data": {"name": data.file, "sha256": data.digest},
            **decided_by(options),
            "methods": list(names),
            "model": model_of(models.asked),
            "prompts": {prompt.name: prompt.digest for prompt in prompts},
            "sampling": {"temperature": 0.0, "seed": 0},
        }
        released = dataset == RAMDOCS and options.data is not None
        return [
            Work(
                entry,
                config,
                lambda question: answered(question, methods, stop=options.on_error == "stop"),
                facts={"statistics": statistics(ramdocs.read(path))} if released else {},
            )
        ]

    return Plan(
        questions,
        Needs(role="generator"),
        work,
        _summary(data, questions, names),
        cost=partial(cost, names=names, settings=settings, consolidations=consolidations),
        entries=lambda _: [entry],
    )


async def answered(question: Question, methods: Methods, *, stop: bool) -> QuestionResult:
    """The outcome of every method on a question, with all agents and methods asked concurrently.

    A method may fail if all documents together are too long for a prompt. Its outcome is then
    unreadable, with the reason, and the question is "incomplete". With `stop`, or if all methods
    fail, the first error is raised.
    """

    async def attempt(name: str) -> Outcome | RequestError:
        try:
            return await outcome(name, question, methods)
        except RequestError as error:
            return error

    attempts = await asyncio.gather(*map(attempt, methods.names))
    refusals = [made for made in attempts if not isinstance(made, Outcome)]
    if refusals and (stop or len(refusals) == len(attempts)):
        raise refusals[0]
    outcomes = [
        made
        if isinstance(made, Outcome)
        else Outcome(concluded=Conclusion(problem=str(made)), calls=0)
        for made in attempts
    ]
    return QuestionResult(
        id=question.id,
        asked=question,
        status="incomplete" if refusals else "answered",
        outcomes=dict(zip(methods.names, outcomes, strict=True)),
    )


def _summary(data: Dataset, questions: Sequence[Question], names: Sequence[str]) -> str:
    documents = f"{sum(len(question.documents) for question in questions):,} documents"
    levels = len({question.level for question in questions})
    eligible = f" ({len(questions) // levels:,} at {levels} levels)" if levels > 1 else ""
    said = f"{len(questions):,} questions{eligible} from {data.file}, {documents}"
    return f"{said}\n{', '.join(names)}"


EXPERIMENT = Experiment(
    name="madam-rag",
    title="MADAM-RAG",
    options=MadamOptions,
    result=QuestionResult,
    plan=plan,
    failed=lambda question, reason: QuestionResult(
        id=question.id, asked=question, status="failed", error=reason
    ),
    page=PAGE,
    metrics=METRICS,
    verdict=verdict_of_question,
    cluster=base_id,
)
