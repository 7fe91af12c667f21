"""`contested serve`: a model's server in the foreground, or left running."""

import asyncio
import shlex
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from pipelines.cli.flat import flat
from pipelines.errors import InputError
from pipelines.experiment.options import ModelOptions, source_of
from pipelines.option import Option
from serving import detached, models, weights
from serving.connect import KEY_VARIABLE
from serving.home import default_models_dir
from serving.offline import go_offline
from serving.placement import Seat
from serving.profile import EngineOptions, Role
from serving.server import LocalServer, start_all


class ServeOptions(ModelOptions):
    """Which model is served, and how; or what becomes of servers that run."""

    role: Annotated[Role, Option("Serve the model of this role.")] = "judge"
    port: Annotated[
        int | None, Field(ge=1, le=65535), Option("Port on 127.0.0.1; a free one by default.")
    ] = None
    detach: Annotated[bool, Option("Leave the server running and return.")] = False
    stop: Annotated[bool, Option("Stop detached servers: all, or those of --model.")] = False
    status: Annotated[bool, Option("List detached servers.")] = False
    strict: Annotated[
        bool, Option("32-bit floats, one request at a time, no prefix cache: repeatable.")
    ] = False


@flat
def serve(options: ServeOptions) -> None:
    """Serve a model with vLLM on this machine.

    Without --detach the server runs until Ctrl-C and its address and key are printed, for other
    programs. With --detach it is left running; the commands that follow find it by themselves.

    For example:

    * `contested serve` serves the judge of this machine's default profile.

    * `contested serve --profile one-gpu-7b --detach` leaves it running.

    * `contested serve --status` lists what runs; `contested serve --stop` ends it.
    """
    if options.detach + options.stop + options.status > 1:
        raise InputError("--detach, --stop and --status exclude each other; give one of them")
    if options.status:
        _show()
        return
    if options.stop:
        _stop(options.model)
        return
    go_offline()
    source = source_of(options, options.role)
    if options.strict:
        profile = weights.strict(source.profile, source.models_dir)
        source = replace(source, profile=profile)
    found = models.find(options.model or source.profiled, source.models_dir)
    engine = source.options(found.name)
    if options.detach:
        started = asyncio.run(
            detached.start(found, engine, seats=source.seats(), port=options.port, on_status=_say)
        )
        for endpoint in started:
            print(f"{found.name} runs at {endpoint.url}")
        print("Commands with this profile use it from now on. Stop it: contested serve --stop")
    else:
        asyncio.run(_foreground(found, engine, source.seats(), options.port))


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _show() -> None:
    states = detached.running()
    for state in states:
        answering = len(asyncio.run(detached.answering(state)))
        ready = "ready" if 0 < answering == len(state.endpoints) else "not answering"
        owner = "" if state.job.owner is None else f"  ends with process {state.job.owner}"
        urls = " ".join(endpoint.url for endpoint in state.endpoints)
        print(f"{state.model}  {urls}  {ready}  pid {state.pid}  logs {state.job.logs}{owner}")
    if not states:
        print("No detached server runs.")


def _stop(model: str | None) -> None:
    stopped = detached.stop(model)
    for state in stopped:
        urls = " ".join(endpoint.url for endpoint in state.endpoints)
        print(f"stopped {state.model} ({urls or 'which did not answer yet'})")
    if not stopped:
        print(f"No detached server{f' of {model}' if model else ''} runs.")


async def _foreground(
    model: models.Model, options: EngineOptions, seats: Sequence[Seat], port: int | None
) -> None:
    """Serves until a signal; raises the failure of a server that is given up."""
    this = asyncio.current_task()
    loop = asyncio.get_running_loop()
    servers: list[LocalServer] = []
    if this is not None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, this.cancel)
    try:
        logs = default_models_dir().parent / "logs"
        servers = await start_all(model, options, logs, seats=seats, port=port, on_status=_say)
        for server in servers:
            print(f"URL    {server.endpoint.url}")
            print(f"model  {server.endpoint.model}")
            print(f"export {KEY_VARIABLE}={shlex.quote(server.endpoint.key)}", flush=True)
        _say("Ctrl-C stops it.")
        over = [asyncio.create_task(server.until_given_up()) for server in servers]
        done, _ = await asyncio.wait(over, return_when=asyncio.FIRST_COMPLETED)
        raise done.pop().result()
    except asyncio.CancelledError:
        _say("stopping")
    finally:
        await asyncio.gather(*(server.stop() for server in servers))
