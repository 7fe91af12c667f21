"""`contested web`: a local page to try things on."""

import os
import signal
import sys
import threading
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from pydantic import Field

from pipelines.cli.flat import flat
from pipelines.experiment.options import ServerOptions, source_of, tagger_named
from pipelines.option import Option
from serving.home import default_home, write

SCREENS = {"DISPLAY", "WAYLAND_DISPLAY"}


class WebOptions(ServerOptions):
    """Where the page is served, and the models that do its tasks."""

    port: Annotated[
        int, Field(ge=0, le=65535), Option("Port on 127.0.0.1; 0 picks a free one.")
    ] = 8765
    open_page: Annotated[
        bool, Option("Open a browser, if there is a screen.", name="--open/--no-open")
    ] = True
    out: Annotated[Path | None, Option("Folder for jobs.", shown="web in CONTESTED_HOME")] = None


@flat
def web(options: WebOptions) -> None:
    """Open a page in the browser: paste texts, drop documents, and look at the results.

    It scores a response, asks documents, lets them debate, names the type of their conflict, checks
    a neutral response, and shows what its words rest on. The server answers only this machine, and
    only with the key in the printed address. Jobs run one at a time, and are kept.

    Examples:
        contested web

        contested web --profile one-gpu-7b --port 8080 --no-open
    """
    tagger_named(options.tagger, source_of(options, "generator"))  # refuse a bad tagger first
    from functools import partial

    from pipelines.loopback import Door, listening, serve_until_interrupted
    from pipelines.web.app import Limits, application
    from pipelines.web.jobs import Jobs
    from pipelines.web.tasks import FORM, perform

    os.umask(0o077)  # jobs and their results are private to the user
    listener = listening(options.port)
    jobs = Jobs(options.out or default_home() / "web", FORM.validate_json)
    limits = Limits()
    door = Door(listener.getsockname()[1], limits.bytes)
    app = application(options, jobs, door, limits)
    page = default_home() / f"open-{door.port}.html"
    # Both signals end it cleanly, even in the background, where shells ignore SIGINT.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    with suppress(KeyboardInterrupt), jobs.working(partial(perform, options)):
        print(f"{door.url}\nFor scripts: Authorization: Bearer {door.key}", flush=True)
        print("Ctrl-C stops it; unfinished jobs start again next time.", file=sys.stderr)
        if options.open_page and SCREENS & os.environ.keys():  # no text browser in the terminal
            # Some browsers return only when they are closed.
            threading.Thread(target=_open, args=(door.url, page), daemon=True).start()
        serve_until_interrupted(app, listener)
    page.unlink(missing_ok=True)
    # A normal exit would wait for threads that still compute; model servers end with this process.
    sys.stdout.flush()
    os._exit(0)


def _open(url: str, page: Path) -> None:
    """Open the address via a private file: other users can see a browser's arguments."""
    with suppress(OSError):  # the address is printed, too
        write(page, f'<!doctype html><meta http-equiv="refresh" content="0; url={url}">\n')
        webbrowser.open(page.as_uri())
