"""The page's queue: jobs stored on disk, run one after another in a separate thread.

FOLDER/jobs/ID/job.json    the job and its state
               asked.json  the form it was created with, including texts
               found.json  the result
               page.html   the result as a standalone page

Each file is written atomically. After a restart on the same folder, finished jobs are still there,
and those that were queued or running are run.
"""

import asyncio
import secrets
import shutil
import threading
import traceback
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ValidationError

from nli.errors import is_fault
from pipelines.errors import FIXABLE, InputError
from pipelines.files import hold, open_unfollowed, refuse_links, replace_text
from pipelines.inspection.task import Tell
from pipelines.loopback import STOP_S
from pipelines.report.glance import ModelUsed
from pipelines.report.texts import one_line, visible
from serving.connect import shared_servers

if TYPE_CHECKING:
    from pipelines.web.tasks import Form

State = Literal["queued", "running", "done", "failed", "cancelled"]

ENDED: frozenset[State] = frozenset({"done", "failed", "cancelled"})
WAITING = 100
"""Maximum number of queued jobs."""

LONGEST = 300
"""Maximum characters of a subject or of progress; an error may have twice as many."""


class Job(BaseModel, frozen=True):
    """A job, as the list shows it.

    Attributes:
        id: Name of its folder; ids sort by creation time.
        task: Name of the task.
        subject: The beginning of its first text.
        created, ended: In UTC.
        progress: What it is doing.
        error: Why it failed, in one line.
    """

    id: str
    task: str
    subject: str
    state: State = "queued"
    created: datetime
    ended: datetime | None = None
    progress: str = ""
    error: str = ""


class Found(BaseModel, frozen=True):
    """The result of a job.

    Attributes:
        title: Heading.
        cost: Its cost, in one line.
        blocks: What the page draws; kinds and fields are those of `pipelines.report.blocks`.
        result: The result as the command prints it with `--json`.
    """

    title: str
    cost: str
    models: tuple[ModelUsed, ...]
    blocks: list[dict[str, Any]]
    result: Any


Perform = Callable[[Any, Tell], Awaitable[tuple[Found, str]]]
"""(form, progress callback) -> the result, and its page."""


class Cancelled(Exception):  # noqa: N818  not an error
    """Raised when a job that was stopped reports progress."""


@dataclass(frozen=True)
class _Running:
    """The running job. Stopping cancels its task, and raises where its threads report progress."""

    id: str
    loop: asyncio.AbstractEventLoop
    task: "asyncio.Task[Any]"
    over: threading.Event

    def stop(self) -> None:
        self.over.set()
        with suppress(RuntimeError):  # its loop has already ended
            self.loop.call_soon_threadsafe(self.task.cancel)


class Jobs:
    """The jobs in a folder, run by `working`; safe to call from any thread.

    Args:
        folder: Created if missing, and locked for this process.
        read: Parses `asked.json`.

    Raises:
        InputError: The folder cannot be written, or another process has locked it.
    """

    def __init__(self, folder: Path, read: Callable[[bytes], Any]) -> None:
        self._folder, self._read = folder / "jobs", read
        refuse_links(self._folder)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._folder.chmod(0o700)  # texts may be private
            self._lock = open_unfollowed(self._folder / ".lock")
        except OSError as error:
            raise InputError(
                f"{folder} cannot be written ({error.strerror or error}); name another --out"
            ) from error
        hold(self._lock, f"another contested web is using {folder}; name another --out")
        self._changed = threading.Condition()
        self._revision = 0
        self._jobs: dict[str, tuple[int, Job | None]] = {}
        self._running: _Running | None = None
        self._stopping = False
        for job in self._kept():
            self._set(job if job.state in ENDED else job.model_copy(update={"state": "queued"}))

    def close(self) -> None:
        """Release the folder."""
        self._lock.close()

    def all(self) -> list[Job]:
        """All jobs, oldest first."""
        with self._changed:
            return [job for _, (_, job) in sorted(self._jobs.items()) if job is not None]

    def get(self, name: str) -> Job | None:
        """The job with this id; None if it does not exist."""
        with self._changed:
            return self._jobs.get(name, (0, None))[1]

    def since(self, revision: int) -> tuple[int, dict[str, Job | None]]:
        """The current revision, and the jobs changed since `revision`; None for those removed."""
        with self._changed:
            return self._revision, {
                name: job for name, (changed_at, job) in self._jobs.items() if changed_at > revision
            }

    def file(self, name: str, which: str) -> Path:
        """A file of a job."""
        return self._folder / name / which

    def add(self, asked: "Form") -> Job:
        """Queue a job; InputError if too many are queued."""
        with self._changed:
            if sum(job.state == "queued" for job in self.all()) >= WAITING:
                raise InputError(f"{WAITING} jobs are queued; let some end, or cancel them")
            now = datetime.now(UTC)
            job = Job(
                id=f"{now:%Y%m%d-%H%M%S-%f}-{secrets.token_hex(3)}",
                task=asked.task,
                subject=visible(one_line(asked.subject(), LONGEST)),
                created=now,
            )
            replace_text(self.file(job.id, "asked.json"), asked.model_dump_json())
            self._set(job)
            return job

    def cancel(self, name: str) -> Job | None:
        """Cancel a job that is queued or running; one that has ended is left unchanged."""
        with self._changed:
            job = self.get(name)
            if job is None or job.state in ENDED:
                return job
            running = self._running
            if running is not None and running.id == name:
                running.stop()
            return self._set(_ended(job, "cancelled"))

    def remove(self, name: str) -> None:
        """Cancel a job unless it has ended, and delete its files."""
        with self._changed:
            if self.cancel(name) is None:
                return
            self._revision += 1
            self._jobs[name] = (self._revision, None)
            shutil.rmtree(self._folder / name, ignore_errors=True)

    @contextmanager
    def working(self, perform: Perform) -> Iterator[None]:
        """Run jobs during the block. A job still running at its end is run again next time.

        Language model servers that a job starts are kept for later jobs, until the end.
        """
        thread = threading.Thread(target=self._work, args=(perform,), name="jobs", daemon=True)
        thread.start()
        try:
            yield
        finally:
            with self._changed:
                self._stopping = True
                if self._running is not None:
                    self._running.stop()
                self._changed.notify_all()
            thread.join(STOP_S)  # computations in threads cannot be stopped
            self.close()

    def _work(self, perform: Perform) -> None:
        with shared_servers():
            while (job := self._next()) is not None:
                asyncio.run(self._do(job, perform))

    def _next(self) -> Job | None:
        """Wait for a queued job and return the oldest; None when stopping."""
        with self._changed:
            while not self._stopping:
                for job in self.all():
                    if job.state == "queued":
                        return job
                self._changed.wait()
            return None

    async def _do(self, job: Job, perform: Perform) -> None:
        """Run a job, and record how it ends."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  for the type checker
        running = _Running(job.id, asyncio.get_running_loop(), task, threading.Event())
        with self._changed:
            current = self.get(job.id)
            if self._stopping or current is None or current.state != "queued":
                return
            self._running = running
            self._set(job.model_copy(update={"state": "running", "progress": "starting"}))

        def tell(text: str) -> None:
            if running.over.is_set():
                raise Cancelled
            self._progress(job.id, text)

        try:
            asked = self._read(self.file(job.id, "asked.json").read_bytes())
            found, page = await perform(asked, tell)
            self._finish(job.id, found, page)
        except (Cancelled, asyncio.CancelledError):
            pass  # its state is already set, or stays "running" when the program ends
        except BaseException as error:
            if not is_fault(error):
                raise
            if running.over.is_set():
                return  # a job may break in any way while it is being stopped
            if isinstance(error, FIXABLE):
                self._fail(job.id, str(error))
                return
            # A bug of ours must not stop the queue.
            with suppress(InputError):
                replace_text(self.file(job.id, "fault.txt"), traceback.format_exc())
            self._fail(
                job.id,
                f"a bug in this program ({type(error).__name__}: {error}); "
                f"see {self.file(job.id, 'fault.txt')}",
            )
        finally:
            with self._changed:
                self._running = None

    def _progress(self, name: str, text: str) -> None:
        with self._changed:
            job = self.get(name)
            if job is not None and job.state == "running":
                self._note(job.model_copy(update={"progress": one_line(visible(text), LONGEST)}))

    def _finish(self, name: str, found: Found, page: str) -> None:
        with self._changed:
            job = self.get(name)
            if job is None or job.state != "running":
                return  # cancelled or removed just before it was done
            replace_text(self.file(name, "found.json"), found.model_dump_json())
            replace_text(self.file(name, "page.html"), page)
            self._set(_ended(job, "done"))

    def _fail(self, name: str, why: str) -> None:
        with self._changed:
            job = self.get(name)
            if job is not None and job.state == "running":
                self._set(_ended(job, "failed", one_line(visible(why), 2 * LONGEST)))

    def _set(self, job: Job) -> Job:
        with suppress(InputError):  # a full disk must not stop the queue
            replace_text(self.file(job.id, "job.json"), job.model_dump_json(indent=2) + "\n")
        return self._note(job)

    def _note(self, job: Job) -> Job:
        with self._changed:
            self._revision += 1
            self._jobs[job.id] = (self._revision, job)
            self._changed.notify_all()
        return job

    def _kept(self) -> Iterator[Job]:
        """The jobs on disk; one that cannot be read is skipped, and its files are kept."""
        for path in sorted(self._folder.glob("*/job.json")):
            with suppress(OSError, ValidationError):
                job = Job.model_validate_json(path.read_bytes())
                if job.id == path.parent.name:
                    yield job


def _ended(job: Job, state: State, error: str = "") -> Job:
    ended: dict[str, Any] = {"state": state, "ended": datetime.now(UTC), "progress": ""}
    return job.model_copy(update=ended | {"error": error})
