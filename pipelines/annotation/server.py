"""The labelling page, served only to the person who labels on this machine."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from pipelines.annotation.sample import Labels, Subject
from pipelines.loopback import Door, guarded, listening, serve_until_interrupted
from pipelines.report.template import assets, environment, made_visible, policy
from pipelines.report.texts import cut

if TYPE_CHECKING:
    from starlette.types import ASGIApp


_HERE = Path(__file__).parent


def page(title: str) -> tuple[str, str]:
    """The page and its content security policy.

    The policy allows one script, one style, and requests to the page's origin.
    """
    script, style = (
        (_HERE / "assets" / name).read_text("utf-8") for name in ("annotate.js", "annotate.css")
    )
    style = assets("page.css") + style
    template = (_HERE / "templates/annotate.html.j2").read_text("utf-8")
    text = environment().from_string(template).render(title=title, script=script, style=style)
    return text, f"{policy(script, style)}; connect-src 'self'; frame-ancestors 'none'"


LARGEST = 10_000
"""Maximum size, in bytes, of a request with a label."""


class Given(BaseModel):
    """A label sent by the page: the item's index in the sample, and the label or None."""

    model_config = ConfigDict(extra="forbid", strict=True)

    item: int
    label: str | None


def contents(subject: Subject, items: Sequence[str], labels: Labels) -> dict[str, Any]:
    """The page's data, as JSON, without the judge's labels and the strata."""
    places = {item: place for place, item in enumerate(items)}
    return {
        "asked": subject.labelling.asked,
        "labels": list(subject.labelling.labels.items()),
        "annotator": labels.annotator,
        "items": [
            [(heading, cut(text)) for heading, text in subject.items[item].shown] for item in items
        ],
        "given": [(places[item], label) for item, label in labels.given.items() if item in places],
    }


def application(subject: Subject, items: Sequence[str], labels: Labels, door: Door) -> "ASGIApp":
    """The page, its data, and the endpoint for labels, guarded by `door`."""
    from fastapi import FastAPI, HTTPException
    from fastapi.responses import HTMLResponse, JSONResponse

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    text, policy = page(f"{subject.entry}: {subject.kind}")

    @app.get("/")
    def shown() -> HTMLResponse:
        return HTMLResponse(text)

    @app.get("/contents")
    def data() -> JSONResponse:
        return JSONResponse(made_visible(contents(subject, items, labels)))

    @app.post("/label", status_code=204)
    def labelled(given: Given) -> None:
        known = given.label is None or given.label in subject.labelling.labels
        if not (0 <= given.item < len(items) and known):
            raise HTTPException(422, "no such item or label")
        labels.give(items[given.item], given.label)

    return guarded(app, door, policy)


def serve(
    subject: Subject, items: Sequence[str], labels: Labels, port: int, told: Callable[[str], None]
) -> None:
    """Serve the page until Ctrl-C; `told` is called with its address once it is reachable.

    Port 0 picks a free one.

    Raises:
        InputError: The port is taken.
    """
    with listening(port) as opened:
        door = Door(opened.getsockname()[1], LARGEST)
        app = application(subject, items, labels, door)
        told(door.url)
        serve_until_interrupted(app, opened)
