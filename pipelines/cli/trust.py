"""`contested trust`: what a judge of claims makes of hostile documents."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from pipelines.cli.flat import flat
from pipelines.cli.tasks import PageOptions, inspect
from pipelines.experiment.options import JudgedOptions
from pipelines.inspection.task import Inspection, Tell
from pipelines.judge.settings import JudgeSettings
from pipelines.option import Option

if TYPE_CHECKING:
    from pipelines.experiment.experiment import Models
    from pipelines.trust.trial import Trust


class TrustOptions(JudgedOptions):
    """Which judge is tested, and with how many hostile texts."""

    anyway: bool = True  # weak judges may be tested too
    judging: JudgeSettings = JudgeSettings()
    limit: Annotated[
        int | None,
        Field(ge=1),
        Option("Try the first N of 72 texts; the first 12 cover all families.", metavar="N"),
    ] = None


@flat
def trust(options: TrustOptions, page: PageOptions) -> None:
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
    from pipelines.experiment.needs import judge_needs
    from pipelines.judge.run_judge import judge_of
    from pipelines.trust.trial import cases, try_all, view

    async def work(models: "Models", tell: Tell) -> "Inspection[Trust]":
        # No store: this tests how verdicts are read from replies.
        judge = judge_of(options.judging, models.client, models.prompts, tagger=models.tagger)
        found = await try_all(judge, models.client, cases()[: options.limit], tell)
        return Inspection(
            found, spent(models.client, judge), title="Hostile texts", view=partial(view, found)
        )

    inspect(options, partial(judge_needs, options, options.judging), work, page)
