"""A package named like vLLM, for the program to start, watch and stop as a server.

It accepts vLLM's command line and answers at once by schema, from the prompt alone.
"""

import argparse
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import by_schema
import psutil
import pytest
from scripted import Scripted

MODULE = "vllm.entrypoints.launchers.api_server.entry"
"""The module that `serving.command` starts if vLLM for CPUs is installed."""


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the package, and put it before vLLM on the path of new processes.

    In the folder, `begun` gets one byte per start and `asked` one per request. If a file `broken`
    exists, the next start removes it and fails.
    """
    program = folder.joinpath(*MODULE.split(".")).with_suffix(".py")
    program.parent.mkdir(parents=True)
    (folder / "vllm" / "__init__.py").touch()
    program.write_text("from stand_in_vllm import main\nmain()\n")
    paths = [str(folder), str(Path(__file__).parent), str(Path(__file__).parents[1])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.setenv("STAND_IN", str(folder))
    (folder / "asked").touch()
    (folder / "begun").touch()


def processes(folder: Path, module: str = "") -> list[psutil.Process]:
    """Running processes started since then, frozen or not: all, or those that run a module."""
    found = []
    for process in psutil.process_iter():
        try:
            ours = process.environ().get("STAND_IN") == str(folder) and process.pid != os.getpid()
            command = process.cmdline()
            if ours and (not module or command[1:3] == ["-m", module]):
                found.append(process)
        except psutil.Error:
            continue
    return found


def main() -> None:
    """Serve according to the command line, until killed."""
    parser = argparse.ArgumentParser()
    for name in ("--model", "--served-model-name", "--port"):
        parser.add_argument(name)
    told, _ = parser.parse_known_args()
    folder = Path(os.environ["STAND_IN"])
    print("INFO 01-01 00:00:00 [x.py:1] Starting to load model", told.model, flush=True)
    if (folder / "broken").exists():
        (folder / "broken").unlink()
        sys.exit("RuntimeError: CUDA out of memory")

    with (folder / "begun").open("ab") as begun:
        begun.write(b".")
    while (folder / "begun").stat().st_size < int(os.environ.get("STAND_IN_TOGETHER", "1")):
        time.sleep(0.02)

    def noted(answer: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
        def answered(request: dict[str, Any]) -> Any:
            with (folder / "asked").open("ab") as asked:
                asked.write(b".")
            return answer(request)

        return answered

    with Scripted(
        reply=noted(by_schema.reply),
        weigh=noted(by_schema.weigh),
        delay_s=float(os.environ.get("STAND_IN_DELAY_S", "0")),
        root=told.model,
        key=os.environ["VLLM_API_KEY"],
        model=told.served_model_name,
        port=int(told.port),
    ):
        threading.Event().wait()
