"""`contested serve`: a model's server in the foreground, or left running."""

import asyncio
import os
import shlex
import signal
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from pipelines.cli.flat import flat
from pipelines.errors import InputError
from pipelines.experiment.options import ModelOptions, source_of
from pipelines.option import Option
from pipelines.report.progress import say
from serving import detached, models, weights
from serving.connect import KEY_VARIABLE
from serving.endpoint import Endpoint
from serving.errors import ServingError
from serving.offline import go_offline
from serving.profile import Role


class ServeOptions(ModelOptions):
    """Which model is served, and how; or which servers are listed or stopped."""

    role: Annotated[Role, Option("Role of the profile whose model is served.")] = "judge"
    port: Annotated[
        int | None, Field(ge=1, le=65535), Option("Port on 127.0.0.1; by default a free one.")
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

    The server runs until Ctrl-C; its address and key are printed for other programs. With --detach
    it keeps running, and later commands find it. Without --profile, this machine's default is
    used.

    Examples:
        contested serve

        contested serve --profile one-gpu-7b --detach

        contested serve --status

        contested serve --stop
    """
    if options.detach + options.stop + options.status > 1:
        raise InputError("--detach, --stop and --status are mutually exclusive; give one of them")
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
    start = detached.start(
        found,
        engine,
        seats=source.seats(),
        port=options.port,
        owner=None if options.detach else os.getpid(),
        on_status=say,
    )
    if options.detach:
        for endpoint in asyncio.run(start):
            print(f"{found.name} runs at {endpoint.url}")
        print("Commands with this profile use it from now on. Stop it: contested serve --stop")
    else:
        asyncio.run(_foreground(start))


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


async def _foreground(start: Coroutine[Any, Any, Sequence[Endpoint]]) -> None:
    """Wait for a signal; ServingError if the server ends first."""
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    if task is not None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, task.cancel)
    try:
        endpoints = await start
        for endpoint in endpoints:
            print(f"URL    {endpoint.url}")
            print(f"model  {endpoint.model}")
            print(f"export {KEY_VARIABLE}={shlex.quote(endpoint.key)}", flush=True)
        say("Ctrl-C stops it.")
        while any({*endpoints} & {*state.endpoints} for state in detached.running()):  # noqa: ASYNC110
            await asyncio.sleep(1)
        raise ServingError(f"the server has stopped; see {detached.log_path()}")
    except asyncio.CancelledError:
        say("stopping")
    finally:
        detached.stop(owner=os.getpid())
