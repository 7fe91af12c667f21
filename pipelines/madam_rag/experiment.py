"""The methods over a data set, in a run folder that may hold several data sets and experiments."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Final

from pydantic import Field

from pipelines.data import ramdocs
from pipelines.errors import InputError
from pipelines.experiment.cost import Cost, Tokens, call
from pipelines.experiment.experiment import Experiment, Models, Plan, Work
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import RunOptions, ServerOptions, decided_by
from pipelines.experiment.publish import Publication, Runs
from pipelines.judge.run_judge import model_of
from pipelines.madam_rag.constructions import MOST, misinformation, support_imbalance
from pipelines.madam_rag.data import (
    AMBIGDOCS,
    RAMDOCS,
    SAMPLES,
    Dataset,
    DatasetName,
    Question,
    Statistic,
    read,
    sampled,
    statistics,
)
from pipelines.madam_rag.debate import panel
from pipelines.madam_rag.methods import (
    ASTUTE,
    COMPARED,
    CONCATENATED,
    CONSOLIDATIONS,
    CONTEXT_TOKENS,
    GROUP_TOKENS,
    INTERNAL,
    NO_RAG,
    WITHOUT_AGGREGATOR,
    ExperimentName,
    Methods,
    Outcome,
    QuestionResult,
    baseline_prompts,
    outcome,
)
from pipelines.madam_rag.metrics import METRICS, base_id, verdict_of_question
from pipelines.madam_rag.replies import Conclusion
from pipelines.madam_rag.settings import AS_IN_PAPER, DebateOptions, DebateSettings
from pipelines.option import Only, Option
from serving.errors import RequestError


def cost(
    question: Question,
    tokens: Tokens,
    names: tuple[str, ...],
    settings: DebateSettings,
    consolidations: int,
) -> Cost:
    """The sum over methods, each of which reads the question.

    No RAG takes one call, a concatenated prompt one that reads all documents, Astute RAG two and
    one for each consolidation, which read documents, recalled passages and the last context. A
    debate of n documents takes n calls and one of the aggregator a round, for two rounds to T: an
    agent reads its document and what it hears, the aggregator all replies. Debates begin with the
    same calls.
    """
    form, asked = {"question": "", "form": settings.form}, tokens(question.question)
    texts = [each.document.as_read() for each in question.documents]
    read, blank = asked + tokens(*texts), [""] * len(texts)
    total, least = Cost(), 0
    for name in names:
        if name == NO_RAG:
            own = tokens.prompt("madam_rag/no_rag", **form)
            total += call(own + asked, settings.conclusion_tokens)
        elif name == CONCATENATED:
            own = tokens.prompt("madam_rag/concatenated", **form, documents=blank)
            total += call(own + read, settings.conclusion_tokens)
        elif name == ASTUTE:
            total += _astute(question, tokens, settings, consolidations)
        else:
            held = settings.without_aggregator() if name == WITHOUT_AGGREGATOR else settings
            debate = _debate(question, tokens, held)
            least = max(least, debate.calls[0])
            total += debate.times(1, 0)
    return total + Cost((least, 0))


def _astute(
    question: Question, tokens: Tokens, settings: DebateSettings, consolidations: int
) -> Cost:
    asked = tokens(question.question)
    shown = asked + tokens(*(each.document.as_read() for each in question.documents))
    shown += 2 * CONTEXT_TOKENS
    form = {"question": "", "form": settings.form}
    row = {"number": 10, "source": "external", "text": ""}
    given = {
        "context": [row] * (len(question.documents) + INTERNAL),
        "consolidated": [{"text": "", "source": "external", "documents": []}] * 4,
    }
    recalled = call(tokens.prompt("madam_rag/recall", **form) + asked, CONTEXT_TOKENS)
    own = tokens.prompt("madam_rag/consolidate", **form, **given)
    # A reply that cannot be read is asked for in the same words.
    smaller = call(own + shown, CONTEXT_TOKENS).times(consolidations, min(consolidations, 1))
    own = tokens.prompt("madam_rag/finalise", **form, **given)
    reply = settings.conclusion_tokens + GROUP_TOKENS
    return recalled + smaller + call(own + shown, reply)


def _debate(question: Question, tokens: Tokens, settings: DebateSettings) -> Cost:
    released = settings.replies == "released"
    kind, form = ("_released", {}) if released else ("", {"form": settings.form})
    texts = [
        each.document.text if released else each.document.as_read() for each in question.documents
    ]
    count, asked, reply = len(texts), tokens(question.question), settings.agent_tokens
    said = {"speaker": "AGENT 10", "answer": "(could not be read)", "explanation": "", "raw": ""}
    agent = tokens.prompt(
        f"madam_rag/agent{kind}", question="", document="", heard=[said] * count, **form
    )
    heard = max(settings.conclusion_tokens, (count - 1) * reply)
    aggregator = tokens.prompt(
        f"madam_rag/aggregator{kind}",
        question="",
        responses=[said] * count,
        **form,
    )
    every, least = count * settings.rounds, len({*texts}) * min(2, settings.rounds)
    agents = call(agent + asked + heard, reply).times(every)
    total = replace(agents, calls=(least, every))
    total += Cost(prompt_tokens=settings.rounds * tokens(*texts))
    if settings.aggregator:  # which is asked nothing new where all agents repeat themselves
        concluded = call(aggregator + asked + count * reply, settings.conclusion_tokens)
        total += concluded.times(settings.rounds, 1)
    return total


HELP = """Let agents debate, one for each document, and compare with methods that do not.

No RAG, a prompt with all documents, Astute RAG and MADAM-RAG answer the same questions with the
same model. Leaves in the run folder: `madam-rag.DATASET.jsonl` (every question, answer and
debate), `tables/` in the layout of the paper's Table 1 and Figures 3 and 4, and `report.html`
with every debate. Run it again with another data set or experiment and the same folder to have
both in one report.

Examples:
    contested run madam-rag --limit 1 --rounds 1 --out results-debate

    contested run madam-rag --data RAMDocs_test.jsonl --dry-run

    contested run madam-rag --data RAMDocs_test.jsonl --experiment rounds --dry-run
"""

PANEL: Final = "Experiment"

TITLED: Final = (
    "On AmbigDocs agents saw the titles of documents, which name the entities; the paper's did not."
)

_CONSTRUCTIONS: Final = {"support": support_imbalance, "misinformation": misinformation}


class MadamOptions(RunOptions, DebateOptions, ServerOptions):
    """What a user may choose about MADAM-RAG and its baselines."""

    PRESETS: ClassVar = {"as_in_paper": AS_IN_PAPER, **DebateOptions.PRESETS}

    dataset: Annotated[DatasetName, Option("What the file is.", panel=PANEL)] = RAMDOCS
    data: Annotated[
        Path | None,
        Option(
            "The file of questions and documents, as released.",
            shown="bundled samples, of ramdocs",
            panel=PANEL,
        ),
    ] = None
    experiment: Annotated[
        ExperimentName,
        Option(
            "What is compared: all `methods` (Table 1); debates with and without aggregator by "
            "`rounds` (Figure 3); methods by how unevenly two right answers have `support` "
            "(Figure 4a), or by how much `misinformation` there is (Figure 4b).",
            panel=PANEL,
        ),
    ] = "methods"
    titles: Annotated[
        bool,
        Option(
            "Show agents the titles of AmbigDocs, which name the entity that a document is about; "
            "the paper's agents do not see them.",
            name="--titles",
            panel=PANEL,
            only=Only(
                lambda options: (
                    options.dataset == AMBIGDOCS and options.debate.replies != "released"
                ),
                lambda options: (
                    "--replies released, which shows no titles"
                    if options.dataset == AMBIGDOCS
                    else f"--dataset {options.dataset}, which has no titles"
                ),
            ),
        ),
    ] = False
    consolidations: Annotated[
        int,
        Field(ge=0),
        Option(
            "How often Astute RAG puts memory and documents together before it answers; appendix B "
            'says "iteratively", and no number.',
            panel=PANEL,
        ),
    ] = CONSOLIDATIONS
    sample: Annotated[
        int | None,
        Field(ge=1),
        Option("Draw N questions, or take all if there are fewer.", panel=PANEL),
    ] = None
    seed: Annotated[
        int,
        Option(
            "Decides what --sample draws.",
            panel=PANEL,
            only=Only(
                lambda options: options.sample is not None, "questions that no --sample draws"
            ),
        ),
    ] = 0


def plan(options: MadamOptions) -> Plan[Question, QuestionResult]:
    """Read the questions, and multiply them by the levels of section 6.2 or 6.3.

    Raises:
        InputError: The file or an option cannot be used.
        ServingError: There is no such model.
    """
    dataset, experiment = options.dataset, options.experiment
    if options.data is None and dataset != RAMDOCS:
        raise InputError(f"--dataset {dataset} needs its file; name it with --data")
    if experiment in _CONSTRUCTIONS and dataset != RAMDOCS:
        raise InputError(
            f"--experiment {experiment} is made from the kinds of documents that ramdocs names; "
            f"leave --dataset {dataset} out"
        )
    settings, often = options.debate, options.consolidations
    path = options.data or SAMPLES
    data = read(dataset, path, titles=options.titles)
    chosen = data.questions
    if options.sample is not None:
        chosen = sampled(chosen, options.sample, options.seed)
    questions = constructed(chosen, experiment, options.limit)
    if not questions:
        raise InputError(
            f"{path} has no question that --experiment {experiment} can be made of; see "
            "docs/madam-rag.md for what it needs"
        )
    names = COMPARED[experiment]

    varied = () if experiment == "methods" else (experiment,)
    entry = ".".join((EXPERIMENT.name, dataset, *varied))

    def work(models: Models) -> Sequence[Work[Question, QuestionResult]]:
        members = panel(models.asked, models.prompts)
        baselines = baseline_prompts(models.prompts)
        methods = Methods(names, members, baselines, settings, often)
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
        cost=partial(cost, names=names, settings=settings, consolidations=often),
        entries=lambda _: [entry],
    )


def constructed(
    questions: Sequence[Question], experiment: ExperimentName, limit: int | None = None
) -> list[Question]:
    """The questions of an experiment: as they are, or one for each level of section 6.2 or 6.3.

    The limit is on questions before they are multiplied by their levels; without one all are
    taken, or the 200 of section 6, which are never more.
    """
    if experiment not in _CONSTRUCTIONS:
        return list(questions[:limit])
    most = MOST if limit is None else min(limit, MOST)
    return _CONSTRUCTIONS[experiment](questions, most=most)


async def answered(question: Question, methods: Methods, *, stop: bool) -> QuestionResult:
    """What every method makes of a question, all agents and methods asked at the same time.

    A method that cannot be asked (all documents in one prompt may be too long where each alone is
    not) has an unreadable outcome with the reason, and the question is "incomplete". With `stop`,
    or where none can be asked, its error is raised.
    """

    async def attempt(name: str) -> Outcome | RequestError:
        try:
            return await outcome(name, question, methods)
        except RequestError as error:
            return error

    found = await asyncio.gather(*map(attempt, methods.names))
    refusals = [each for each in found if not isinstance(each, Outcome)]
    if refusals and (stop or len(refusals) == len(found)):
        raise refusals[0]
    outcomes = [
        each
        if isinstance(each, Outcome)
        else Outcome(concluded=Conclusion(problem=str(each)), calls=0)
        for each in found
    ]
    return QuestionResult(
        id=question.id,
        asked=question,
        status="incomplete" if refusals else "answered",
        outcomes=dict(zip(methods.names, outcomes, strict=True)),
    )


def _summary(data: Dataset, questions: Sequence[Question], names: Sequence[str]) -> str:
    documents = f"{sum(len(each.documents) for each in questions):,} documents"
    levels = len({each.level for each in questions})
    eligible = f" ({len(questions) // levels:,} at {levels} levels)" if levels > 1 else ""
    return (
        f"{len(questions):,} questions{eligible} from {data.file}, {documents}\n{', '.join(names)}"
    )


def _failed(question: Question, reason: str) -> QuestionResult:
    return QuestionResult(id=question.id, asked=question, status="failed", error=reason)


def _publication(runs: Runs[QuestionResult]) -> Publication:
    from pipelines.madam_rag.tables import all_tables
    from pipelines.madam_rag.view import view

    averages = runs.noted("statistics", tuple[Statistic, ...])
    file, counted = next(iter(averages.items()), ("", ()))
    models = {name: config["model"]["name"] for name, config in runs.configs.items()}
    made = all_tables(runs.results, models, counted, file)
    if any(config.get("titles") for config in runs.configs.values()):
        made = [replace(each, notes=(*each.notes, TITLED)) for each in made]
    return Publication(view(runs.results, made, runs.configs), made)


EXPERIMENT = Experiment(
    name="madam-rag",
    title="MADAM-RAG",
    help=HELP,
    counted="questions",
    options=MadamOptions,
    result=QuestionResult,
    plan=plan,
    failed=_failed,
    publish=_publication,
    metrics=METRICS,
    verdict=verdict_of_question,
    cluster=base_id,
)
