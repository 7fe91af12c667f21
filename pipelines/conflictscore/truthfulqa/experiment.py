"""TruthfulQA from documents: does feedback by ConflictScore make answers truer (section 6)?"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pipelines.conflictscore.pipeline import scorer_of, scoring
from pipelines.conflictscore.settings import Settings, TruthJudgeName, TruthOptions
from pipelines.conflictscore.truthfulqa.pipeline import (
    METRICS,
    TruthJudge,
    answer_question,
    failed,
    prepare,
    truth_judge,
    verdict,
)
from pipelines.conflictscore.truthfulqa.result import Item, TruthResult, items_of
from pipelines.conflictscore.truthfulqa.view import PAGE
from pipelines.data.truthfulqa import digest, read
from pipelines.experiment.cost import Cost, calls
from pipelines.experiment.experiment import Experiment, Plan, RunModels, Work
from pipelines.experiment.needs import writer_needs
from pipelines.experiment.options import source_of, tagger_named
from pipelines.judge.run_judge import model_of, tagger_of
from pipelines.judge.store import stored
from pipelines.judge.tagger import tagger_judge


def cost(item: Item, settings: Settings, answer_tokens: int, truth: TruthJudgeName) -> Cost:
    """Cost of two answers, and two more if the first is in conflict, all of them scored.

    Free-form answers are also judged, identical ones once: by the language model with two calls per
    answer, or by the tagger with one pair per known right or wrong answer.
    """
    documents = len(item.documents)
    if item.options is not None:
        claims = [f"{item.options.a} {item.options.b}"]
        judged = scoring(settings, "", documents, claims)
        return calls(4, 2) + Cost((0, 4 * judged.calls[1]), 4 * judged.pairs)
    known = len(item.asked.correct_answers) + len(item.asked.incorrect_answers)
    verdicts = Cost(pairs=known) if truth == "tagger" else calls(2, 0)
    return calls(4, 2) + (scoring(settings, answer_tokens, documents) + verdicts).times(4)


def plan(options: TruthOptions) -> Plan[Item, TruthResult]:
    """Find documents for the questions; each is answered under all conditions in each setting.

    Raises:
        InputError: A file, the index or an option cannot be used.
        ServingError: The profile or the tagger is missing.
    """
    metric, by_model = options.scoring, options.truth == "model"
    needs = writer_needs(options, metric, options.judge_model, splits=metric.splits or by_model)
    if not by_model and needs.tagger is None:
        where = source_of(options, "generator")
        needs = replace(needs, tagger=tagger_named(options.tagger, where))
    items, left_out = items_of(
        read(options.data, options.documents),
        documents=options.most_documents,
        index=options.index,
        limit=options.limit,
    )
    options.entry(EXPERIMENT.name, "")  # refuses a bad name before a server is started

    def work(models: RunModels) -> Sequence[Work[Item, TruthResult]]:
        scorer = scorer_of(metric, models)
        judge, judging = _judge(options, models)
        methods = prepare(
            models.asked,
            scorer,
            judge,
            models.prompts,
            tokens=options.answer_tokens,
            hedged=options.hedge,
        )
        config = {
            **scorer.config(
                options.data.name, digest(options.data, options.documents), *methods.prompts
            ),
            "asked": options.model_dump(
                include={"most_documents", "answer_tokens", "hedge", "truth"}
            ),
            "index": str(options.index) if options.index else None,
            "writer": model_of(models.asked),
            **judging,
        }
        return [
            Work(
                options.entry(EXPERIMENT.name, models.asked.model.name),
                config,
                partial(answer_question, methods=methods),
                facts={"left_out": left_out._asdict()},
                judge=scorer.judge,
            )
        ]

    choices = sum(item.options is not None for item in items)
    return Plan(
        items,
        needs,
        work,
        f"{options.data.name}: {left_out.questions:,} questions, {left_out.undocumented:,} of them "
        f"left out because they have no documents; {len({item.asked.id for item in items}):,} are "
        f"asked, {len(items) - choices:,} in free form and {choices:,} with two options",
        cost=partial(
            cost, settings=metric, answer_tokens=options.answer_tokens, truth=options.truth
        ),
        entries=lambda model: [options.entry(EXPERIMENT.name, model)],
    )


def _judge(options: TruthOptions, models: RunModels) -> tuple[TruthJudge, dict[str, Any]]:
    """The judge of free-form answers, and its description for `run.json`."""
    if options.truth == "model":
        assert models.judging is not None  # noqa: S101 - the plan needs it
        judge = truth_judge(models.judging, overrides=models.prompts)
        return judge, {"judge": model_of(models.judging)}
    assert models.tagger is not None  # noqa: S101 - the plan needs it
    judge = truth_judge(None, stored(tagger_judge(models.tagger), models.store))
    return judge, {"tagger": tagger_of(models.tagger)}


EXPERIMENT = Experiment(
    name="truthfulqa",
    title="TruthfulQA",
    options=TruthOptions,
    result=TruthResult,
    plan=plan,
    failed=failed,
    page=PAGE,
    metrics=METRICS,
    verdict=verdict,
    cluster=lambda result: result.group,
)
