"""Templates of the page: text is escaped, and only our own script and style may run.

The page fetches nothing: style, script and data are embedded in it, and its content security policy
forbids everything else. Text from documents and models is escaped by the templates; scripts write
it as text only (the policy demands trusted types, and no type is trusted).
"""

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from pipelines.report.table import shown
from pipelines.report.texts import visible

_HERE = Path(__file__).parent


@cache
def environment() -> Environment:
    """Templates of the report, with everything escaped and made visible."""

    def finalize(value: Any) -> Any:
        # Markup, a subclass of str, is HTML already: it passes unchanged.
        return visible(value) if type(value) is str else value

    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["shown"] = shown
    return made


def macro(name: str, *arguments: Any) -> Markup:
    """The output of a macro of `plots.html.j2`."""
    drawn: Markup = getattr(environment().get_template("plots.html.j2").module, name)(*arguments)
    return drawn


def assets(*names: str) -> str:
    """The named files of the report's assets, one after another."""
    texts = ((_HERE / "assets" / name).read_text(encoding="utf-8").strip() for name in names)
    return "\n" + "\n".join(texts) + "\n"


def policy(script: str, style: str) -> str:
    """The content security policy of a page with only this script and this style."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def embedded(value: Any) -> Markup:
    """JSON that is safe inside a script element: `<`, `>` and `&` are written as escapes."""
    return htmlsafe_json_dumps(made_visible(value), ensure_ascii=False, separators=(",", ":"))


def made_visible(value: Any) -> Any:
    """A JSON value with all its texts made visible."""
    return with_texts(value, visible)


def with_texts(value: Any, change: Callable[[str], Any]) -> Any:
    """A JSON value with each text in it, but no key, replaced by what `change` makes of it."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: with_texts(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [with_texts(item, change) for item in value]
    return value


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
