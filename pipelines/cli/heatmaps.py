"""The files that `contested salience` and `contested check-npov` write: a page and a picture."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pipelines.errors import InputError
from pipelines.files import check_writable, replace_bytes
from pipelines.report.page import ModelUsed, Section, write
from pipelines.runs.provenance import provenance
from serving.models import Model

if TYPE_CHECKING:
    from salience.maps import WordMap


def refuse(*, html: Path | None, png: Path | None, level: Literal["words", "tokens"]) -> None:
    """Refuse files that cannot be written, and a level of nothing, before anything is computed.

    Raises:
        InputError: A path cannot be written, or no file would show the tokens.
    """
    for path in (html, png):
        if path is not None:
            check_writable(path)
    if level == "tokens" and html is None and png is None:
        raise InputError("--level tokens has no effect without --html or --png; give one of them")


def save(
    shown: "WordMap",
    section: Callable[[bytes | None], Section],
    *,
    html: Path | None,
    png: Path | None,
    title: str,
    question: str = "",
    settings: Mapping[str, Any],
    model: Model,
) -> None:
    """Write the map as the files that are asked for.

    Args:
        shown: The map.
        section: Makes it a section of a page, from its picture; without words there is none.
        html: The page.
        png: The picture.
        title: Of the page.
        question: Above the picture.
        settings: What the page says of how the map was made.
        model: Whose gradients these are.

    Raises:
        InputError: There are no words to draw, or a file cannot be written.
    """
    drawn = shown.picture(question) if (png or html) and shown.values.size else None
    if png is not None:
        if drawn is None:
            raise InputError(f"--png {png}: there are no words to draw")
        replace_bytes(png, drawn)
    if html is not None:
        used = [ModelUsed("gradients", model.name, model.digest)]
        write(html, title, [section(drawn)], {**settings, **provenance()}, models=used)
