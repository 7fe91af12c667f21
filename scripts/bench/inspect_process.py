"""inspect_ai for `client.py`, from a separate environment: both ends of a pipe.

Its interpreter runs this file, which imports nothing from the project. The benchmark sends it lines
of JSON, one round of questions each, and reads back their cost.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any


class InspectError(Exception):
    """inspect_ai cannot be run."""


Ask = Callable[[dict[str, Any]], dict[str, Any]]
"""Input of `_serve` -> its output."""


@contextmanager
def started(python: Path) -> Iterator[Ask]:
    """Start the process; `python` is an interpreter with inspect_ai.

    Raises:
        InspectError: The interpreter does not exist, lacks inspect_ai, or fails.
    """
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as errors:
        where = dict.fromkeys(("INSPECT_CACHE_DIR", "INSPECT_LOG_DIR", "TMPDIR"), folder)
        try:
            # -I: ignore this folder's modules and PYTHONPATH.
            process = subprocess.Popen(
                [str(python), "-I", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=os.environ | where,
            )
        except OSError as error:
            raise InspectError(f"{python} cannot be run ({error.strerror})") from error

        def ask(task: dict[str, Any]) -> dict[str, Any]:
            assert process.stdout is not None
            try:
                print(json.dumps(task), file=process.stdin, flush=True)
                line = process.stdout.readline()
            except BrokenPipeError:
                line = ""
            if not line:
                errors.seek(0)
                said = errors.read().decode(errors="replace").split("\n")
                last = next((text for text in map(str.strip, said[::-1]) if text), "without a word")
                raise InspectError(f"inspect_ai's process ended: {last[:300]}")
            return dict(json.loads(line))

        with process:
            try:
                yield ask
            finally:
                process.kill()


def _serve() -> None:
    """Runs in inspect_ai's interpreter."""
    # Libraries print; redirect their output to standard error.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    from inspect_ai.model import (  # type: ignore[import-not-found, unused-ignore]
        GenerateConfig,
        get_model,
    )

    async def asked(task: dict[str, Any]) -> None:
        model = get_model(
            "openai-api/stub/stub",
            base_url=task["url"],
            api_key="none",
            memoize=False,
            config=GenerateConfig(
                max_connections=task["in_flight"], max_tokens=512, temperature=0.0, seed=0
            ),
        )
        prompts = [
            f"{document}\n\n{claim}" for document in task["documents"] for claim in task["claims"]
        ]
        await asyncio.gather(*(model.generate(prompt, cache=task["cached"]) for prompt in prompts))

    for line in sys.stdin:
        task = json.loads(line)
        if not task:
            print(json.dumps({"version": version("inspect_ai")}), file=answers, flush=True)
            continue
        start, used = time.perf_counter(), time.process_time()
        asyncio.run(asked(task))
        said = {
            "seconds": time.perf_counter() - start,
            "cpu_s": time.process_time() - used,
        }
        print(json.dumps(said), file=answers, flush=True)


if __name__ == "__main__":
    _serve()
