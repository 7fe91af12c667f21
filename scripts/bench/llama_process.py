"""llama.cpp's server for `engines.py`, from an environment of its own: both ends of a pipe.

Its interpreter has xllamacpp, llama.cpp's own server as a wheel. It runs this file, which imports
nothing of the project, is told the task as JSON, and says where it listens.
"""

import importlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

CONTEXT = 32768
"""Tokens of keys and values, shared by all requests in flight."""


class LlamaError(Exception):
    """llama.cpp's server cannot be run."""


@contextmanager
def started(
    python: Path, gguf: Path, name: str, *, slots: int, threads: int, openmp: Mapping[str, str]
) -> Iterator[str]:
    """Serve a GGUF file under a model's name on loopback, and give the URL.

    Args:
        python: An interpreter that has xllamacpp.
        gguf: The file.
        name: What the model is called in requests.
        slots: Requests computed together.
        threads: Cores to compute on.
        openmp: How they are bound and wait, as environment variables.

    Raises:
        LlamaError: There is no such interpreter, no xllamacpp in it, or the file cannot be served.
    """
    task = json.dumps({"gguf": str(gguf), "name": name, "slots": slots, "threads": threads})
    with tempfile.TemporaryFile() as errors:
        try:
            # -I: neither this folder's modules nor PYTHONPATH's are theirs.
            command = [str(python), "-I", __file__, task]
            environment = os.environ | openmp
            process = Popen(
                command, stdin=PIPE, stdout=PIPE, stderr=errors, text=True, env=environment
            )
        except OSError as error:
            raise LlamaError(f"{python} cannot be run ({error.strerror})") from error
        with process:
            try:
                assert process.stdout is not None
                address = process.stdout.readline().strip()
                if not address:
                    process.wait()
                    errors.seek(0)
                    lines = errors.read().decode(errors="replace").strip().splitlines()
                    why = lines[-1] if lines else f"code {process.returncode}"
                    raise LlamaError(
                        f"llama.cpp's server ended: {why}; {python} needs xllamacpp:"
                        " pip install xllamacpp"
                    )
                yield f"{address}/v1"
            finally:
                process.kill()


def _serve(gguf: str, name: str, slots: int, threads: int) -> None:
    xllamacpp: Any = importlib.import_module("xllamacpp")

    asked = xllamacpp.CommonParams()
    asked.model.path = gguf
    asked.model_alias = {name}
    asked.n_parallel, asked.kv_unified, asked.n_ctx = slots, True, CONTEXT
    asked.cpuparams.n_threads = asked.cpuparams_batch.n_threads = threads
    asked.port = 0
    server = xllamacpp.Server(asked)
    print(server.listening_address, flush=True)
    sys.stdin.read()  # until the benchmark ends, however it does
    del server


if __name__ == "__main__":
    _serve(**json.loads(sys.argv[1]))
