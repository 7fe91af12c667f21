"""The files that `contested salience` and `contested check-npov` write: a page and a picture."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pipelines.cli.inspection import PageOptions
from pipelines.errors import InputError
from pipelines.files import check_writable, replace_bytes
from pipelines.option import Option
from pipelines.report.explorer import ExperimentView, write
from pipelines.report.glance import ModelUsed
from pipelines.runs.provenance import provenance
from serving.models import Model

if TYPE_CHECKING:
    from salience.maps import WordMap


class HeatMapOptions(PageOptions):
    """The files that show a map, and what is printed."""

    png: Annotated[Path | None, Option("Write the heat map as a picture.")] = None
    level: Annotated[
        Literal["words", "tokens"],
        Option("What page and picture show: content words, or the tokens that the model reads."),
    ] = "words"

    def refuse_unwritable(self) -> None:
        """Refuse files that cannot be written, and a level that no file would show."""
        for path in (self.html, self.png):
            if path is not None:
                check_writable(path)
        if self.level == "tokens" and self.html is None and self.png is None:
            raise InputError(
                "--level tokens has no effect without --html or --png; give one of them"
            )


def save(
    shown: "WordMap",
    view: Callable[[bytes | None], ExperimentView],
    files: HeatMapOptions,
    *,
    question: str = "",
    settings: Mapping[str, Any],
    model: Model,
    beside: Sequence[ModelUsed] = (),
) -> None:
    """Write the map as the files that are asked for.

    `view` puts it on a page, from its picture, which there is none of without words; `settings` is
    what the page says of how the map was made, `model` whose gradients these are, `beside` what it
    was tuned by.
    """
    html, png = files.html, files.png
    drawn = shown.picture(question) if (png or html) and shown.values.size else None
    if png is not None:
        if drawn is None:
            raise InputError(f"--png {png}: there are no words to draw")
        replace_bytes(png, drawn)
    if html is not None:
        used = ModelUsed("gradients", model.name, model.digest)
        made = replace(view(drawn), models=(used, *beside))
        write(html, made.title, [made], {**settings, **provenance()})
