"""The page on which a person labels, as one text with its content security policy."""

from pathlib import Path

from pipelines.report.template import assets, environment, policy

_HERE = Path(__file__).parent


def page(title: str) -> tuple[str, str]:
    """The page and its policy: one script, one style, and requests to where it comes from."""
    script, style = (
        (_HERE / "assets" / name).read_text("utf-8") for name in ("annotate.js", "annotate.css")
    )
    style = assets("page.css") + style
    template = (_HERE / "templates/annotate.html.j2").read_text("utf-8")
    text = environment().from_string(template).render(title=title, script=script, style=style)
    return text, f"{policy(script, style)}; connect-src 'self'; frame-ancestors 'none'"
