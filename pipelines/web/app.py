"""The web application: the page and its API, with access control."""

import asyncio
import subprocess
from collections.abc import AsyncIterable
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Body, FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response
from fastapi.sse import EventSourceResponse
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp

from pipelines.errors import InputError
from pipelines.experiment.options import ServerOptions
from pipelines.loopback import Door, guarded
from pipelines.report.explorer import DRAWING, PREACT, STYLES
from pipelines.report.template import assets
from pipelines.report.texts import one_line, visible
from pipelines.web.jobs import Found, Job, Jobs
from pipelines.web.tasks import FORM, FORMS, READ, Form, GivenText, Offer, offers, read, refuse
from serving.errors import ServingError, in_our_words

KindT = TypeVar("KindT")

EVERY_S = 0.1
"""Seconds between checks for changed jobs, or for a client that has disconnected."""

FILES_AT_ONCE = 2
"""Maximum number of files that are read at a time."""

_HERE = Path(__file__).parent / "assets"


class Limits(BaseModel, frozen=True):
    """Limits of a request: bytes in total, documents, and characters of all texts together."""

    bytes: int = 100_000_000
    documents: int = 200
    characters: int = 5_000_000


class Setting(BaseModel, frozen=True):
    """What the page starts with: tasks, limits, and the extensions of files that can be read."""

    tasks: tuple[Offer, ...]
    limits: Limits
    files: tuple[str, ...]


class Changes(BaseModel, frozen=True):
    """The jobs that changed, and the ids of those removed."""

    jobs: tuple[Job, ...]
    removed: tuple[str, ...]


class Refusal(BaseModel, frozen=True):
    """Why a request is refused, in one line."""

    detail: str


def application(server: ServerOptions, jobs: Jobs, door: Door, limits: Limits) -> ASGIApp:
    """The application, offering what the models present now can do; `Jobs.working` runs jobs."""
    app = FastAPI(
        title="contested",
        description="Tasks on contested evidence, run one after another by local models.",
        docs_url=None,  # the pages would fetch scripts from other sites
        redoc_url=None,
        responses={status: {"model": Refusal} for status in (401, 403, 413, 422)},
    )
    files = {
        # Results are drawn as in a report.
        "blocks.js": (assets(PREACT, *DRAWING), "text/javascript"),
        "report.css": (assets(*STYLES), "text/css"),
        "web.js": ((_HERE / "web.js").read_text("utf-8"), "text/javascript"),
        "web.css": ((_HERE / "web.css").read_text("utf-8"), "text/css"),
        "": ((_HERE / "index.html").read_text("utf-8"), "text/html"),
    }

    reading = asyncio.Semaphore(FILES_AT_ONCE)
    offered = Setting(tasks=offers(server), limits=limits, files=READ)

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        return JSONResponse({"detail": _first(error.errors())}, 422)

    @app.exception_handler(InputError)
    @app.exception_handler(ServingError)
    async def refused(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": visible(one_line(str(error)))}, 422)

    @app.get("/", include_in_schema=False)
    @app.get("/assets/{name}", include_in_schema=False)
    def asset(name: str = "") -> Response:
        if name not in files:
            raise HTTPException(404, "there is no such file")
        content, kind = files[name]
        return Response(content, media_type=kind)

    @app.get("/api/setting")
    def setting() -> Setting:
        """Tasks with their fields and choices, and why any are unavailable; limits."""
        return offered

    @app.post(
        "/api/documents",
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {"application/octet-stream": {"schema": {"format": "binary"}}},
            }
        },
    )
    async def documents(
        request: Request, name: Annotated[str, Query(max_length=200)]
    ) -> list[GivenText]:
        """The texts of a file; the request's body is its bytes."""
        async with reading:
            texts = await _read_while_awaited(request, name)
        _check([text.text for text in texts], len(texts), limits)
        return texts

    app.include_router(_of_jobs(server, jobs, limits), prefix="/api")
    return guarded(app, door)


async def _read_while_awaited(request: Request, name: str) -> list[GivenText]:
    """The texts of the uploaded file; reading stops if the client disconnects."""
    processes: list[subprocess.Popen[bytes]] = []
    data = await request.body()
    work = asyncio.create_task(run_in_threadpool(read, name, data, processes.append))
    try:
        while not (await asyncio.wait([work], timeout=EVERY_S))[0]:
            if await request.is_disconnected():
                raise HTTPException(499, "the client has disconnected")
        return work.result()
    finally:
        for process in processes:
            process.kill()


def _of_jobs(server: ServerOptions, jobs: Jobs, limits: Limits) -> APIRouter:
    """The routes for jobs."""
    routes = APIRouter()

    def known(name: str) -> Job:
        job = jobs.get(name)
        if job is None:
            raise HTTPException(404, "there is no such job; it may have been removed")
        return job

    @routes.get("/jobs")
    def listed() -> list[Job]:
        """All jobs, oldest first."""
        return jobs.all()

    def add(sent: Any) -> Job:
        """Queue a job of the kind that `task` names."""
        _check(sent.texts(), len(sent.files), limits)
        refuse(sent, server)
        return jobs.add(sent)

    add.__annotations__["sent"] = Annotated[FORMS, Body(discriminator="task")]
    routes.post("/jobs", status_code=201)(add)

    @routes.get("/jobs/{name}")
    def job(name: str) -> Job:
        """A job, with its state and progress."""
        return known(name)

    @routes.get("/jobs/{name}/asked", response_model=FORMS)
    def asked_of(name: str) -> Form:
        """The form that the job was created with."""
        known(name)
        return _read(jobs, name, "asked.json", FORM)

    @routes.get("/jobs/{name}/found")
    def found_by(name: str) -> Found:
        """The job's result; 409 if the job is not done."""
        if known(name).state != "done":
            raise HTTPException(409, f"the job is {known(name).state}, and has no result")
        return _read(jobs, name, "found.json", TypeAdapter(Found))

    @routes.get("/jobs/{name}/page", response_class=FileResponse)
    def page_of(name: str) -> FileResponse:
        """The result as a standalone page to save; 409 if the job is not done."""
        if known(name).state != "done":
            raise HTTPException(409, f"the job is {known(name).state}, and has no page")
        path = jobs.file(name, "page.html")
        if not path.is_file():
            raise HTTPException(404, "the page of this job is gone; run it again")
        return FileResponse(path, filename=f"{name}.html")

    @routes.post("/jobs/{name}/cancel")
    def cancel(name: str) -> Job:
        """Cancel a job that is queued or running."""
        known(name)
        return jobs.cancel(name) or known(name)

    @routes.delete("/jobs/{name}", status_code=204)
    def remove(name: str) -> None:
        """Cancel a job unless it has ended, and delete its files."""
        known(name)
        jobs.remove(name)

    @routes.get("/events", response_class=EventSourceResponse)
    async def events() -> AsyncIterable[Changes]:
        """All jobs, then changes as they happen."""
        revision = -1
        while True:
            now, changed = jobs.since(revision)
            if changed or revision < 0:
                yield Changes(
                    jobs=tuple(current for current in changed.values() if current is not None),
                    removed=tuple(name for name, current in changed.items() if current is None),
                )
            revision = now
            await asyncio.sleep(EVERY_S)

    return routes


def _check(texts: list[str], documents: int, limits: Limits) -> None:
    """Refuse texts that exceed the limits."""
    if documents > limits.documents:
        raise HTTPException(
            422, f"{documents:,} documents exceed the limit, {limits.documents:,}; give fewer"
        )
    characters = sum(map(len, texts))
    if characters > limits.characters:
        raise HTTPException(
            413,
            f"{characters:,} characters of text exceed the limit, {limits.characters:,}; give less",
        )


def _read(jobs: Jobs, name: str, which: str, kind: TypeAdapter[KindT]) -> KindT:
    try:
        return kind.validate_json(jobs.file(name, which).read_bytes())
    except (OSError, ValidationError) as error:
        raise HTTPException(404, f"{which} of this job is gone or damaged; run it again") from error


def _first(errors: Any) -> str:
    """The first error in a request, in one line, with its field."""
    first = errors[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body")
    message = in_our_words(str(first["msg"]))
    return visible(one_line(f"{where}: {message}" if where else message, 300))
