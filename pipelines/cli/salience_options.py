"""Options of the commands that take gradients, and the model they take them of."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pipelines.cli import options
from pipelines.precision import native_format
from serving import models

if TYPE_CHECKING:
    from salience.decoder import Decoder

SALIENCE_PANEL = "Salience"

EngineOf = Annotated[
    Literal["batched", "captum"],
    typer.Option(
        "--engine",
        help="Who computes gradients: `batched`, many at once, or `captum`, one after the other. "
        "They agree to rounding.",
        rich_help_panel=SALIENCE_PANEL,
    ),
]
TargetOf = Annotated[
    Literal["logit", "log_probability"],
    typer.Option(
        "--target",
        help="What is differentiated: a token's logit, as in the paper, or its log-probability.",
        rich_help_panel=SALIENCE_PANEL,
    ),
]
MeasureOf = Annotated[
    Literal["input_x_gradient", "gradient_norm"],
    typer.Option(
        "--measure",
        help="Gradient times input, as in the paper, or the norm of the gradient.",
        rich_help_panel=SALIENCE_PANEL,
    ),
]
AverageOf = Annotated[
    Literal["geometric", "arithmetic"],
    typer.Option(
        "--average", help="How words' scores are averaged.", rich_help_panel=SALIENCE_PANEL
    ),
]
PrecisionOf = Annotated[
    Literal["auto", "fp32", "bf16"],
    typer.Option(
        "--precision",
        help="What the model computes in; `auto` is bf16 on a GPU and on processors that have it, "
        "where it is about twice as quick, else fp32.",
        rich_help_panel=SALIENCE_PANEL,
    ),
]
DeviceOf = Annotated[
    str | None,
    typer.Option(
        "--device",
        help="Where the model computes: `cpu`, `cuda`, `cuda:1`. It must fit on one device.",
        show_default="the CPU if the profile says so, else the first GPU",
        rich_help_panel=SALIENCE_PANEL,
    ),
]
Html = Annotated[
    Path | None, typer.Option(help="Write the heat map as a page that opens without a network.")
]
Png = Annotated[Path | None, typer.Option(help="Write the heat map as a picture.")]
LevelOf = Annotated[
    Literal["words", "tokens"],
    typer.Option(
        "--level",
        help="What page and picture show: content words, or the tokens that the model reads.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def decoder(
    *,
    profile: str | None,
    model: str | None,
    models_dir: Path | None,
    precision: Literal["auto", "fp32", "bf16"],
    device: str | None,
) -> "tuple[Decoder, models.Model]":
    """The model that gradients are taken of, loaded; see `find`.

    Returns:
        It, and what is known of its folder.

    Raises:
        ServingError: There is no such model.
        SalienceError: It cannot be loaded.
    """
    from salience.decoder import Decoder  # noqa: PLC0415  (torch)

    found, place = find(profile=profile, model=model, models_dir=models_dir, device=device)
    chosen = native_format(place) if precision == "auto" else precision
    return Decoder.load(found.path, precision=chosen, device=place), found


def find(
    *, profile: str | None, model: str | None, models_dir: Path | None, device: str | None
) -> tuple[models.Model, str | None]:
    """The model that gradients are taken of: the profile's for salience, else its generator.

    Returns:
        What is known of its folder, and the device, if it is known already.

    Raises:
        ServingError: There is no such model.
    """
    source = options.source(
        "generator",
        profile=profile,
        model=model,
        models_dir=models_dir,
        endpoint=None,
        strict=False,
    )
    roles = source.profile.roles
    found = models.find(model or roles.salience or roles.generator, source.models_dir)
    return found, device or ("cpu" if source.profile.device == "cpu" else None)
