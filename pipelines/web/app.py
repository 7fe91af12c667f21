"""The page and what it asks for: an application behind its door."""

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
from serving.errors import ServingError

KindT = TypeVar("KindT")

EVERY_S = 0.1
"""How often changes of jobs are looked for."""

FILES_AT_ONCE = 2
"""Files that are read at a time."""

_HERE = Path(__file__).parent / "assets"


class Limits(BaseModel, frozen=True):
    """How much a request may bring: bytes in all, documents, characters of all texts together."""

    bytes: int = 100_000_000
    documents: int = 200
    characters: int = 5_000_000


class Setting(BaseModel, frozen=True):
    """What the page begins with: tasks, limits, and how the names of files end that are read."""

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
    """The application, with the models that there are now; jobs are done by `Jobs.working`."""
    app = FastAPI(
        title="contested",
        description="Tasks on contested evidence, done one after the other by local models.",
        docs_url=None,  # these would fetch scripts from elsewhere
        redoc_url=None,
        responses={status: {"model": Refusal} for status in (401, 403, 413, 422)},
    )
    files = {
        # What a job found is drawn as a report draws it.
        "blocks.js": (assets(PREACT, *DRAWING), "text/javascript"),
        "report.css": (assets(*STYLES), "text/css"),
        "web.js": ((_HERE / "web.js").read_text("utf-8"), "text/javascript"),
        "web.css": ((_HERE / "web.css").read_text("utf-8"), "text/css"),
        "": ((_HERE / "index.html").read_text("utf-8"), "text/html"),
    }

    reading = asyncio.Semaphore(FILES_AT_ONCE)
    known = Setting(tasks=offers(server), limits=limits, files=READ)

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
        """Tasks with their fields and choices, and why one is not to be had."""
        return known

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
        """The texts of a file, whose bytes are the request's body."""
        async with reading:
            texts = await _read_while_awaited(request, name)
        _check([text.text for text in texts], len(texts), limits)
        return texts

    app.include_router(_of_jobs(server, jobs, limits), prefix="/api")
    return guarded(app, door)


async def _read_while_awaited(request: Request, name: str) -> list[GivenText]:
    """The texts of the file that is sent; its reading ends with whoever waits for it."""
    processes: list[subprocess.Popen[bytes]] = []
    data = await request.body()
    work = asyncio.create_task(run_in_threadpool(read, name, data, processes.append))
    try:
        while not (await asyncio.wait([work], timeout=EVERY_S))[0]:
            if await request.is_disconnected():
                raise HTTPException(499, "nobody waits for the file any more")
        return work.result()
    finally:
        for process in processes:
            process.kill()


def _of_jobs(server: ServerOptions, jobs: Jobs, limits: Limits) -> APIRouter:
    """What is asked about jobs."""
    routes = APIRouter()

    def known(name: str) -> Job:
        job = jobs.get(name)
        if job is None:
            raise HTTPException(404, "there is no such job; it may have been removed")
        return job

    @routes.get("/jobs")
    def listed() -> list[Job]:
        """All jobs, the oldest first."""
        return jobs.all()

    def add(sent: Any) -> Job:
        """Queue a job; `task` says which."""
        _check(sent.texts(), len(sent.files), limits)
        refuse(sent, server)
        return jobs.add(sent)

    add.__annotations__["sent"] = Annotated[FORMS, Body(discriminator="task")]
    routes.post("/jobs", status_code=201)(add)

    @routes.get("/jobs/{name}")
    def job(name: str) -> Job:
        """How far a job is."""
        return known(name)

    @routes.get("/jobs/{name}/asked", response_model=FORMS)
    def asked_of(name: str) -> Form:
        """What was asked."""
        known(name)
        return _read(jobs, name, "asked.json", FORM)

    @routes.get("/jobs/{name}/found")
    def found_by(name: str) -> Found:
        """What was found; 409 of a job that is not done."""
        if known(name).state != "done":
            raise HTTPException(409, f"the job is {known(name).state}, and has found nothing")
        return _read(jobs, name, "found.json", TypeAdapter(Found))

    @routes.get("/jobs/{name}/page", response_class=FileResponse)
    def page_of(name: str) -> FileResponse:
        """The same as a page of its own, to be kept; 409 of a job that is not done."""
        if known(name).state != "done":
            raise HTTPException(409, f"the job is {known(name).state}, and has no page")
        path = jobs.file(name, "page.html")
        if not path.is_file():
            raise HTTPException(404, "the page of this job is gone; ask again")
        return FileResponse(path, filename=f"{name}.html")

    @routes.post("/jobs/{name}/cancel")
    def cancel(name: str) -> Job:
        """End a job that waits or is under way."""
        known(name)
        return jobs.cancel(name) or known(name)

    @routes.delete("/jobs/{name}", status_code=204)
    def remove(name: str) -> None:
        """End a job, and delete its files."""
        known(name)
        jobs.remove(name)

    @routes.get("/events", response_class=EventSourceResponse)
    async def events() -> AsyncIterable[Changes]:
        """All jobs, and then those that change, as they do."""
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
    """Refuse more than is allowed."""
    if documents > limits.documents:
        raise HTTPException(
            422, f"{documents:,} documents are more than {limits.documents:,}; give fewer"
        )
    characters = sum(map(len, texts))
    if characters > limits.characters:
        raise HTTPException(
            413,
            f"{characters:,} characters of text are more than {limits.characters:,}; give less",
        )


def _read(jobs: Jobs, name: str, which: str, kind: TypeAdapter[KindT]) -> KindT:
    try:
        return kind.validate_json(jobs.file(name, which).read_bytes())
    except (OSError, ValidationError) as error:
        raise HTTPException(404, f"{which} of this job is gone or damaged; ask again") from error


def _first(errors: Any) -> str:
    """The first fault of a request, in one line: where, and what."""
    first = errors[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body")
    said = str(first["msg"]).removeprefix("Value error, ")
    return visible(one_line(f"{where}: {said}" if where else said, 300))
