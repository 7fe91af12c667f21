"""Judges of truth and information beside people's labels, on a file or on known answers."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from pipelines.conflictscore.presets import JUDGES_AS_IN_PAPER
from pipelines.conflictscore.truthfulqa.judging import TruthJudge, TruthJudgeName, truth_judge
from pipelines.conflictscore.truthfulqa.labelled import (
    Kind,
    LabelledAnswer,
    known_answers,
    read_labelled,
)
from pipelines.conflictscore.truthfulqa.result import Verdict
from pipelines.conflictscore.truthfulqa.trained import (
    EmbeddingJudge,
    question_digest,
    trained_judges,
)
from pipelines.data.sampling import sample
from pipelines.data.truthfulqa import SAMPLES, digest, read
from pipelines.errors import InputError
from pipelines.evidence.judge import model_of, tagger_of
from pipelines.evidence.nli import nli_labeller
from pipelines.evidence.store import stored
from pipelines.experiment.experiment import Experiment, Plan, RunModels, Work
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import RunOptions, ServerOptions, source_of, tagger_named
from pipelines.experiment.publish import Publication, Runs
from pipelines.experiment.scores import Score, of_each
from pipelines.metrics.cohen_kappa import clustered_kappa
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.mean import mean
from pipelines.option import Only, Option
from pipelines.report import glance
from pipelines.report.blocks import Facts, fact
from pipelines.report.explorer import Example, ExperimentView, Facet, Part
from pipelines.report.table import HERE, MISSING, Column, Measure, Table
from pipelines.report.texts import Block, Items, Note
from pipelines.report.views import RIGHT, UNREADABLE, WRONG, Mark, listed, words

NAME = "truth-judges"

HELP = """Measure judges of truthful and informative answers by people's labels.

The judges are those of `contested run truthfulqa`. Without `--labelled` they judge TruthfulQA's own
answers, each by the other ones; with it, answers of a file in the format of TruthfulQA's
`finetune_truth.jsonl` and `finetune_info.jsonl`. Beside the agreement stands that of a judge that
says yes to everything.

Examples:
    contested run truth-judges --truth nli --limit 20 --out results-judges

    contested run truth-judges --data TruthfulQA.csv --labelled finetune_truth.jsonl --dry-run
"""


class AgreementOptions(RunOptions, ServerOptions):
    """What a user may choose about judges."""

    PRESETS: ClassVar = {"as_in_paper": JUDGES_AS_IN_PAPER}

    data: Annotated[
        Path,
        Option("TruthfulQA's CSV, or questions of your own.", shown="bundled questions"),
    ] = SAMPLES
    labelled: Annotated[
        Path | None, Option("Answers with labels.", shown="the known answers of --data")
    ] = None
    truth: Annotated[
        TruthJudgeName,
        Option(
            "Who judges: the language model, the tagger, which judges truth alone (`nli`), or "
            "judges that `train-judges` made, which are asked of questions they never saw."
        ),
    ] = "llm"
    judges: Annotated[
        Path | None,
        Option(
            "File of trained judges.",
            only=Only(lambda own: own.truth == "trained", lambda own: f"--truth {own.truth}"),
        ),
    ] = None
    sample: Annotated[int | None, Field(ge=1), Option("Draw so many answers by seed.")] = None
    seed: Annotated[int, Field(ge=0), Option("Decides which answers are drawn.")] = 0


class JudgedAnswer(BaseModel):
    """An answer with a person's label and a judge's verdict.

    Attributes:
        id, question, answer, kind, label: As in `LabelledAnswer`.
        status: "judged", or "failed".
        verdict: None of a failed one.
        error: One line for "failed".
    """

    model_config = ConfigDict(frozen=True)

    id: str
    question: str
    answer: str
    kind: Kind
    label: bool
    status: Literal["judged", "failed"]
    verdict: Verdict | None = None
    error: str | None = None

    @property
    def said(self) -> bool | None:
        """What the judge says; None where that cannot be read."""
        return self.verdict.verdict if self.verdict else None

    @property
    def right(self) -> bool | None:
        """Whether it says what the person says; None where it says nothing."""
        return None if self.said is None else self.said == self.label


def plan(options: AgreementOptions) -> Plan[LabelledAnswer, JudgedAnswer]:
    """Read labelled answers; each is judged once.

    Raises:
        InputError: A file cannot be used, or no answer is left to judge.
        ServingError: There is no such profile, or no such tagger.
    """
    questions = read(options.data)
    found = (
        known_answers(questions)
        if options.labelled is None
        else read_labelled(options.labelled, questions)
    )
    by_tagger, trained = options.truth == "nli", trained_judges(options.truth, options.judges)
    kept = [each for each in found.answers if not by_tagger or each.kind == "truthful"]
    if trained is not None:
        kept = [each for each in kept if _unseen(each, trained)]
    if not kept:
        raise InputError("no answer is labelled that this judge can judge; ask --truth llm")
    answers = sample(kept, options.sample, options.seed)[: options.limit]
    where = source_of(options, "judge")
    needs = Needs(
        role="judge" if options.truth == "llm" else None,
        tagger=tagger_named(options.tagger, where) if by_tagger else None,
        unasked=f"--truth {options.truth}, which asks no language model",
        untagged=f"--truth {options.truth}, which asks no tagger",
    )

    def work(models: RunModels) -> Sequence[Work[LabelledAnswer, JudgedAnswer]]:
        model: dict[str, Any]
        if trained is not None:
            judge = truth_judge(None, None, models.prompts, trained)
            model = {**trained.about(), "context": None}
        elif models.tagger is not None:
            labeller = stored(nli_labeller(models.tagger), models.store)
            judge = truth_judge(None, labeller, models.prompts)
            model = {**tagger_of(models.tagger), "context": None}
        else:
            judge = truth_judge(models.asked, None, models.prompts)
            model = model_of(models.asked)
        file = options.labelled or options.data
        config = {
            "data": {"name": file.name, "sha256": digest(options.data, options.labelled)},
            "truth": options.truth,
            "prompts": {prompt.name: prompt.digest for prompt in judge.prompts},
            "sampling": {"temperature": 0.0, "seed": 0},
            "model": model,
        }
        return [Work(f"{NAME}.{options.truth}", config, partial(_judged, judge=judge))]

    told = (
        f"{len(answers):,} labelled answers to {len({each.asked.id for each in answers}):,} "
        f"questions ({found.passed_over:,} rows passed over)"
    )
    return Plan(answers, needs, work, told)


def _unseen(answer: LabelledAnswer, trained: EmbeddingJudge) -> bool:
    """Whether trained judges judge such answers, and never saw one to the question."""
    known = question_digest(answer.asked.question) in trained.judges.questions
    return trained.judges.of(answer.kind) is not None and not known


async def _judged(item: LabelledAnswer, judge: TruthJudge) -> JudgedAnswer:
    ask = judge.is_truthful if item.kind == "truthful" else judge.is_informative
    return _result(item, status="judged", verdict=await ask(item.asked, item.answer))


def _result(item: LabelledAnswer, **outcome: object) -> JudgedAnswer:
    return JudgedAnswer.model_validate(
        {
            "id": item.id,
            "question": item.asked.question,
            "answer": item.answer,
            "kind": item.kind,
            "label": item.label,
            **outcome,
        }
    )


class Slice(NamedTuple):
    """The answers of a run that were judged for one thing."""

    run: str
    config: Mapping[str, Any]
    kind: Kind
    results: Sequence[JudgedAnswer]

    @property
    def readable(self) -> list[tuple[bool, bool, str]]:
        """(label, verdict, question) of each answer with a readable verdict."""
        return [(one.label, one.said, one.question) for one in self.results if one.said is not None]

    def share(self, of: Callable[[bool, bool], bool]) -> Estimate | None:
        """The share of these answers of whose label and verdict something holds."""
        held = [float(of(label, said)) for label, said, _ in self.readable]
        return mean(held, [question for *_, question in self.readable], bounds=(0, 1))


def agreement(parts: Sequence[Slice]) -> Table:
    """How far a judge agrees with people, beside one that always says yes."""
    return Table.of(
        parts,
        name="truth_judges_agreement",
        title="Judges beside people",
        caption="Agreement of verdicts with labels.",
        columns=[
            Column("judge", "Judge", lambda own: own.config["model"]["name"]),
            Column("data", "Data", lambda own: own.config["data"]["name"]),
            HERE,
            Column("kind", "Judged", lambda own: own.kind),
            Measure("accuracy", "Accuracy", accuracy),
            Measure(
                "always_yes",
                "Always yes",
                lambda own: own.share(lambda label, _: label),
            ),
            Measure(
                "kappa",
                "Cohen's kappa",
                lambda own: (
                    clustered_kappa(*map(list, zip(*own.readable, strict=True)))
                    if own.readable
                    else None
                ),
            ),
            Measure(
                "said_yes",
                "Says yes",
                lambda own: own.share(lambda _, said: said),
            ),
            Column("answers", "Answers", lambda own: len(own.results)),
            Column("unreadable", "No verdict", lambda own: len(own.results) - len(own.readable)),
        ],
        notes=(
            "Over answers with a readable verdict; in brackets 95 % intervals, clustered by "
            "question. An answer is not among the references it is judged by.",
        ),
    )


def accuracy(own: Slice) -> Estimate | None:
    """The share of verdicts that agree with the label."""
    return own.share(lambda label, said: label == said)


def _publication(runs: Runs[JudgedAnswer]) -> Publication:
    kinds: tuple[Kind, ...] = ("truthful", "informative")
    parts = [
        Slice(run, runs.configs[run], kind, found)
        for run, own in runs.results.items()
        for kind in kinds
        if (found := [each for each in own if each.kind == kind])
    ]
    table = agreement(parts)
    figures = [(f"{own.config['model']['name']}, {own.kind}", accuracy(own)) for own in parts]
    results = [each for own in runs.results.values() for each in own]
    unread = sum(each.said is None for each in results)
    finding = glance.Finding(
        question="Do judges of truth and information agree with people?",
        data=glance.data_of(runs.results, runs.configs, "answer"),
        models=", ".join(config["model"]["name"] for config in runs.configs.values()),
        found=f"Verdicts that agree: {glance.with_figures(figures) or MISSING}.",
        failed=glance.failed((unread, "answers without a readable verdict: {}")),
        examples=glance.fewest(each for _, each in figures),
        figures=tuple(figures),
    )
    view = ExperimentView(
        name=NAME,
        title=EXPERIMENT.title,
        finding=finding,
        parts=(Part("Agreement", (table,)),),
        facets=(
            Facet("Verdict", words((RIGHT, WRONG, UNREADABLE))),
            Facet("Judged", kinds),
        ),
        runs={run: run for run in runs.results},
        noun=("answer", "answers"),
        models=glance.models_used(runs.configs.values(), {"model": "judge"}),
        **listed(runs.results, _example),
    )
    return Publication(view, [table])


def _mark(result: JudgedAnswer) -> Mark:
    return {True: RIGHT, False: WRONG, None: UNREADABLE}[result.right]


def _example(run: str, result: JudgedAnswer) -> Example:
    return Example(
        id=result.id,
        run=run,
        title=result.question,
        status=result.status,
        blocks=partial(_content, result),
        about=(result.answer[:160],),
        chips=(_mark(result).chip,),
        facets={"Verdict": [_mark(result).words], "Judged": [result.kind]},
        words=result.answer,
    )


_YES = {True: "yes", False: "no", None: "unreadable"}


def _right(kind: Kind) -> Score[JudgedAnswer]:
    return Score(
        f"Verdicts that agree, {kind}",
        of_each(lambda result: result.right if result.kind == kind else None),
        test="McNemar",
    )


def _content(result: JudgedAnswer) -> list[Block]:
    made: list[Block] = [
        Items(((result.answer,),)),
        Facts(
            (fact(f"People: {result.kind}?", _YES[result.label]), fact("Judge", _YES[result.said]))
        ),
    ]
    verdict = result.verdict
    if verdict is not None:
        made.append(Note(verdict.explanation or verdict.problem or "", "Judge"))
    return made


EXPERIMENT = Experiment(
    name=NAME,
    title="Judges of truth",
    help=HELP,
    counted="answers",
    options=AgreementOptions,
    result=JudgedAnswer,
    plan=plan,
    failed=lambda item, reason: _result(item, status="failed", error=reason),
    publish=_publication,
    scores={"truthful": _right("truthful"), "informative": _right("informative")},
    verdict=lambda result: _YES[result.said],
    cluster=lambda result: result.question,
)
