"""`contested trust`: what a judge of claims makes of hostile documents."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from pipelines.cli.tasks import command_of
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import judge_needs
from pipelines.experiment.options import JudgedOptions
from pipelines.inspection.task import Inspection, Task, Tell
from pipelines.judge.settings import JudgeSettings
from pipelines.option import Option, Options

if TYPE_CHECKING:
    from pipelines.trust.trial import Trust


class CasesAsked(Options):
    """How many hostile texts are tried."""

    limit: Annotated[
        int | None,
        Field(ge=1),
        Option("Try the first N of 72 texts; the first 12 cover all families.", metavar="N"),
    ] = None


class TrustOptions(JudgedOptions):
    """Which judge is tested."""

    anyway: bool = True  # weak judges may be tested too
    judging: JudgeSettings = JudgeSettings()


async def tried(
    asked: CasesAsked, options: TrustOptions, models: Models, tell: Tell
) -> "Inspection[Trust]":
    """Test a judge with hostile documents: can they forge or sway a verdict?

    72 texts of 12 families are added to documents whose facts are easy to check: instructions,
    forged replies and citations, role markers, fences, lookalike letters, invisible characters,
    escapes and markup, formulas and paths, huge or broken text, documents that outvote others (for
    `--evidence together` only), and denials. None of them changes the facts.

    Examples:
        contested trust --judge tagger

        contested trust --judge model --limit 12
    """
    from pipelines.experiment.cost import spent
    from pipelines.judge.run_judge import judge_of
    from pipelines.trust.trial import cases, try_all, view

    # No store: this tests how verdicts are read from replies.
    judge = judge_of(options.judging, models.client, models.prompts, tagger=models.tagger)
    found = await try_all(judge, models.client, cases()[: asked.limit], tell)
    return Inspection(
        found, spent(models.client, judge), title="Hostile texts", view=partial(view, found)
    )


trust = command_of(
    Task(
        name="trust",
        title="Test a judge",
        asked=CasesAsked,
        options=TrustOptions,
        needs=lambda options: judge_needs(options, options.judging),
        inspect=tried,
    )
)
