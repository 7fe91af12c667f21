"""One self-contained page for a run: every pipeline contributes sections.

The page fetches nothing: style, script and data stand inside it, and its content security policy
forbids everything else. Text from documents and models is escaped by the template, and scripts
write it as text only (the policy demands trusted types, of which there are none).
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from pipelines.files import replace_text
from pipelines.report.glance import FEW_EXAMPLES, Finding, rests_on_few
from pipelines.report.text import visible

_HERE = Path(__file__).parent
# On every page, before what the sections bring.
_STYLES = ("page.css", "listing.css")
_SCRIPTS = ("page.js", "elements.js", "listing.js")

SEVERAL = "Results"
"""Title of a page with several experiments: their names stand in its first section."""

_LONG_ROLE = 30
"""Characters of a role that fit before a model's name."""


@dataclass(frozen=True)
class Section:
    """What one pipeline puts on the page.

    Attributes:
        anchor: Id of the section within the page; prefix the ids inside it by this.
        title: Heading.
        body: HTML, made by `fragment` so that text in it is escaped. No `style`
            attributes and no event handlers: the page's policy ignores them.
        contents: (id, title) of the parts that the page's navigation names.
        data: Element id -> value, embedded as JSON for the script to parse when it needs it.
        style: CSS of this section.
        script: JavaScript of this section. `elements` and `listing` are there for it.
    """

    anchor: str
    title: str
    body: Markup
    contents: tuple[tuple[str, str], ...] = ()
    data: tuple[tuple[str, Any], ...] = ()
    style: str = ""
    script: str = ""


@dataclass(frozen=True)
class ModelUsed:
    """A model named at the head of the page.

    Attributes:
        role: What it did: "judge".
        name: Its name.
        digest: SHA-256 of its folder as hex, shown by its first 12 digits; None for an endpoint
            whose weights are not known.
    """

    role: str
    name: str
    digest: str | None = None


def title_of(sections: Sequence[Section]) -> str:
    """The page's title: that of its only section, or a general one."""
    return sections[0].title if len(sections) == 1 else SEVERAL


def by_model(used: Sequence[tuple[str, Sequence[ModelUsed]]]) -> list[ModelUsed]:
    """The models of several experiments, each once, its roles with the experiments they are of.

    Args:
        used: Title of an experiment, and its models. A single experiment's are left as they are.
    """
    if len(used) == 1:
        return list(used[0][1])
    roles: dict[tuple[str, str | None], dict[str, list[str]]] = {}
    for title, models in used:
        for model in models:
            of = roles.setdefault((model.name, model.digest), {}).setdefault(model.role, [])
            if title not in of:
                of.append(title)
    return [
        ModelUsed("; ".join(f"{role} ({', '.join(of)})" for role, of in own.items()), *model)
        for model, own in roles.items()
    ]


def environment(folder: Path) -> Environment:
    """Templates of `folder` and of the report, with everything escaped and made visible."""

    def finalize(value: Any) -> Any:
        # Markup is a subclass of str: what is HTML already passes as it is.
        return visible(value) if type(value) is str else value

    return Environment(
        loader=ChoiceLoader([FileSystemLoader(folder), FileSystemLoader(_HERE / "templates")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def fragment(folder: Path, template: str, **values: Any) -> Markup:
    """The body of a section from a template of `folder`, everything in `values` escaped."""
    # S704: the template escapes what it is given.
    return Markup(environment(folder).get_template(template).render(values))  # noqa: S704


def render(
    title: str,
    sections: Sequence[Section],
    provenance: Mapping[str, Any],
    *,
    models: Sequence[ModelUsed] = (),
    facts: Sequence[tuple[str, str]] = (),
    findings: Sequence[Finding] = (),
) -> str:
    """The page as HTML; see `write`."""
    style = _joined(*map(_asset, _STYLES), *(section.style for section in sections))
    script = _joined(*map(_asset, _SCRIPTS), *(section.script for section in sections))
    policy = "; ".join(
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
    template = environment(_HERE / "templates").get_template("page.html.j2")
    return template.render(
        title=title,
        findings=findings,
        few=FEW_EXAMPLES if rests_on_few(findings) else "",
        models=models,
        wide=any(len(model.role) > _LONG_ROLE for model in models),
        facts=facts,
        sections=sections,
        embedded=embedded,
        provenance=json.dumps(provenance, indent=2, ensure_ascii=False, default=str),
        # S704: our own files, which the policy's hashes pin.
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        policy=policy,
    )


def write(
    path: Path,
    title: str,
    sections: Sequence[Section],
    provenance: Mapping[str, Any],
    *,
    models: Sequence[ModelUsed] = (),
    facts: Sequence[tuple[str, str]] = (),
    findings: Sequence[Finding] = (),
) -> None:
    """Writes the page in one step.

    Args:
        path: Where, usually RUN/report.html.
        title: Heading of the page.
        sections: What the pipelines contribute, in order.
        provenance: The content of run.json, folded at the end of the page.
        models: Named large at the head: whose answers these are decides what they are worth.
        facts: (label, value) pairs below the models: data, profile, date, versions.
        findings: What came of each experiment, below the title.

    Raises:
        InputError: The file cannot be written.
    """
    text = render(title, sections, provenance, models=models, facts=facts, findings=findings)
    replace_text(path, text)


def embedded(value: Any) -> Markup:
    """JSON that may stand inside a script element: `<`, `>` and `&` are written as escapes."""
    return htmlsafe_json_dumps(_visible(value), ensure_ascii=False, separators=(",", ":"))


def _visible(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {key: _visible(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_visible(item) for item in value]
    return value


def _asset(name: str) -> str:
    return (_HERE / "assets" / name).read_text(encoding="utf-8")


def _joined(*parts: str) -> str:
    return "\n" + "\n".join(dict.fromkeys(part.strip() for part in parts if part)) + "\n"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
