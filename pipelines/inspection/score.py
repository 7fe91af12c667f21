"""ConflictScore of one answer."""

from pipelines.conflictscore.pipeline import conflict_score, prepare
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.settings import Settings
from pipelines.data.records import Example
from pipelines.experiment.cost import spent
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs, judge_needs
from pipelines.experiment.options import JudgedOptions, Overflow, judging
from pipelines.inspection.found import Inspection, Tell, models_used, telling
from pipelines.judge.settings import Evidence
from pipelines.report.explorer import ExperimentView, single
from pipelines.report.glance import count
from pipelines.report.texts import Aside, Strong, line


class ExplainedSettings(Settings):
    """The metric of one answer, with judgements that explain themselves."""

    evidence: Evidence = "json"


class AnswerScoreOptions(JudgedOptions):
    """How one answer is scored."""

    metric: ExplainedSettings = ExplainedSettings()
    on_overflow: Overflow = "error"


def score_needs(options: AnswerScoreOptions, *, claims_given: bool = False) -> Needs:
    """The models that judge and split; it raises what `judge_needs` does."""
    asks = options.metric.needs_model(claims_given=claims_given)
    return judge_needs(options, options.metric, asks=asks)


async def score(
    example: Example, options: AnswerScoreOptions, models: Models, tell: Tell
) -> Inspection[Result]:
    """Score one answer; it raises what `conflict_score` does."""
    models = telling(models, tell)
    settings = judging(options.metric, options.on_overflow)
    scorer = prepare(
        settings, models.client, models.prompts, tagger=models.tagger, store=models.store
    )
    tell("judging")
    result = await conflict_score(example, scorer)
    judge = scorer.judge

    def view() -> ExperimentView:
        from pipelines.conflictscore.view import NAME, TITLE, content

        used = models_used(
            splits=models.client.model if models.client and scorer.decomposition else None,
            judges=judge.model.client.model if judge.model else None,
            tags=judge.tagger,
        )
        undetermined = result.undetermined_claims
        counted = f"{count(len(result.claims), 'claim')}"
        if undetermined:
            counted += f", {undetermined} of them undetermined"
        told = (
            f"{counted}, {count(len(result.documents), 'document')}; CS-C and CS-R: lower is better"
        )
        scores = line(*map(Strong, result.figures()), Aside(told))
        return single(NAME, TITLE, [scores, *content(result)], used)

    return Inspection(result, spent(models.client, judge), title="ConflictScore", view=view)
