"""Whether a neutral response is faithful: by gradients, or by leaving out each argument."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pipelines.experiment.cost import cost_line
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs
from pipelines.inspection.found import Inspection, Tell, models_used
from pipelines.npov.example import SIDES, NpovExample
from pipelines.npov.settings import SalienceSettings

if TYPE_CHECKING:  # numpy
    from pipelines.npov.check import AblationErrors, ResponseErrors
    from pipelines.npov.soft_prompt import SoftPrompt
    from pipelines.report.explorer import ExperimentView
    from salience.decoder import Decoder
    from salience.maps import WordMap

Detector = Literal["salience", "ablation"]

ABLATION_NEEDS: Final = Needs(role="generator", untagged="--detector ablation")


class CheckedBySalience(NamedTuple):
    """A checked response.

    `shown` is the map that a page shows; `view` puts it there, with its picture where one is drawn.
    """

    errors: "ResponseErrors"
    shown: "WordMap"
    view: "Callable[[bytes | None], ExperimentView]"


def by_salience(
    example: NpovExample,
    decoder: "Decoder",
    settings: SalienceSettings,
    *,
    by_tokens: bool = False,
    soft_prompt: "SoftPrompt | None" = None,
    model: str | None = None,
    on_progress: Callable[[int, int], None] = lambda *_: None,
) -> CheckedBySalience:
    """Take the gradients, and score by them; it raises what `argument_map` does."""
    from pipelines.npov.check import argument_map, check
    from pipelines.npov.view import by_token, response_view

    found = argument_map(
        example,
        decoder,
        settings,
        on_progress,
        every_token=by_tokens,
        soft_prompt=soft_prompt,
        model=model,
    )
    checked = check(example, found, settings)
    shown = by_token(example, found) if by_tokens else found
    return CheckedBySalience(
        checked, shown, partial(response_view, checked, example, shown, settings)
    )


async def by_ablation(
    example: NpovExample, models: Models, tell: Tell
) -> "Inspection[AblationErrors]":
    """Ask how likely the response is without each argument; it raises what `ablation` does."""
    from pipelines.npov.check import ablation, ablation_errors
    from pipelines.npov.view import CHECKED, ablation_picture, ablation_view

    client = models.asked
    tell(f"leaving out each of {sum(len(example.arguments(side)) for side in SIDES)} arguments")
    checked = ablation_errors(example, await ablation(example, client.log_probabilities))
    used = models_used(**{"log-probabilities": client.model})
    return Inspection(
        checked,
        cost_line(client),
        title=CHECKED,
        view=partial(ablation_view, checked, used),
        picture=partial(ablation_picture, checked),
        about={"detector": "ablation"},
    )
