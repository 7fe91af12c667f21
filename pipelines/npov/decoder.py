"""The model whose gradients are taken: options, folder, and loading."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from pipelines.experiment.options import ModelOptions, source_of
from pipelines.option import Option
from salience.variants import Measure, Precision

if TYPE_CHECKING:
    from salience.decoder import Decoder
    from serving.models import Model

SALIENCE_PANEL: Final = "Salience"

MeasureOption = Annotated[
    Measure,
    Option(
        "Gradient times input, as in the paper, or the norm of the gradient.",
        panel=SALIENCE_PANEL,
    ),
]
"""For the field `measure`."""


class DecoderOptions(ModelOptions):
    """The model whose gradients are taken, and how it computes."""

    precision: Annotated[
        Precision,
        Option(
            "Number format. `auto` is bf16 on GPUs and on processors that support it, where it "
            "is about twice as fast, else fp32.",
            panel=SALIENCE_PANEL,
        ),
    ] = "auto"
    device: Annotated[
        str | None,
        Option(
            "Where the model computes: `cpu`, `cuda`, `cuda:1`; `cuda:0,cuda:1` share a larger "
            "model.",
            shown="the CPU if the profile says so, else the first GPU",
            panel=SALIENCE_PANEL,
        ),
    ] = None


@dataclass(frozen=True)
class DecoderFolder:
    """A model on disk, not loaded yet; without a device, it takes the first GPU or the CPU.

    Several devices share its layers.
    """

    model: "Model"
    precision: Precision
    device: str | Sequence[str] | None

    @property
    def engine(self) -> str:
        """The engine's name in `run.json`; all GPUs are "cuda", since they compute the same."""
        from importlib.metadata import version

        from serving.installed import torch_device

        given = self.device or torch_device()
        first = given if isinstance(given, str) else given[0]
        kind = first.partition(":")[0]
        return f"transformers {version('transformers')}, {self.precision}, {kind}"

    def load(self) -> "Decoder":
        """The model, ready for gradients; SalienceError if it cannot be loaded."""
        from salience.decoder import Decoder

        return Decoder.load(self.model.path, precision=self.precision, device=self.device)


def decoder_folder(options: DecoderOptions) -> DecoderFolder:
    """The model whose gradients are taken: as named, or the profile's for salience or generator.

    Raises:
        ServingError: The model is missing, or no GPU has room for it.
    """
    from pipelines.judge.tagger import native_format
    from serving import models
    from serving.connect import devices
    from serving.placement import WORKING_GIB
    from serving.weights import weights_gib

    source = source_of(options, "generator")
    roles = source.profile.roles
    model = models.find(options.model or roles.salience or roles.generator, source.models_dir)
    if options.device:
        chosen = tuple(name.strip() for name in options.device.split(",") if name.strip())
    elif source.profile.device == "cpu":
        chosen = ("cpu",)
    else:
        profile = source.profile
        if options.model:
            need = round(weights_gib(model.path, "bfloat16") + WORKING_GIB, 1)
            profile = profile.model_copy(update={"local_gib": {"salience": need}})
        chosen = devices(profile, "salience")
    precision = options.precision
    if precision == "auto":
        precision = native_format(chosen[0] if chosen else None)
    return DecoderFolder(model, precision, chosen or None)
