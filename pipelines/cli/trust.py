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
    """Who is tried, by how many hostile texts, and how the result is printed."""

    anyway: bool = True  # a weak judge may be tried, too
    judging: JudgeSettings = JudgeSettings()
    limit: Annotated[
        int | None,
        Field(ge=1),
        Option("Try the first N of 72 texts; the first 12 are of all families.", metavar="N"),
    ] = None


@flat
def trust(options: TrustOptions, page: PageOptions) -> None:
    """Try a judge with hostile documents: can they forge a verdict, or sway one?

    72 texts of 12 families are added to documents that anyone can check: instructions, forged
    replies and citations, role markers, fences, letters that look alike, invisible signs, escapes
    and markup, formulas and paths, what is huge or broken, documents that outvote (shown to
    `--evidence together` alone), and denials.
    None of them changes what is true.

    Examples:
        contested trust --judge tagger

        contested trust --judge model --limit 12
    """
    from pipelines.experiment.cost import spent
    from pipelines.experiment.needs import judge_needs
    from pipelines.judge.run_judge import judge_of
    from pipelines.trust.cases import cases
    from pipelines.trust.trial import try_all, view

    async def work(models: "Models", tell: Tell) -> "Inspection[Trust]":
        # No store: what is tried is how verdicts are read from replies.
        judge = judge_of(options.judging, models.client, models.prompts, tagger=models.tagger)
        found = await try_all(judge, models.client, cases()[: options.limit], tell)
        return Inspection(
            found, spent(models.client, judge), title="Hostile texts", view=partial(view, found)
        )

    inspect(options, partial(judge_needs, options, options.judging), work, page)
