"""inspect_ai for `client.py`, from an environment of its own: both ends of a pipe.

Its interpreter runs this file, which imports nothing of the project, and the benchmark talks to it
by lines of JSON: a round of questions, then what they took.
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
"""What `_serve` reads -> what it writes."""


@contextmanager
def started(python: Path) -> Iterator[Ask]:
    """Start it; `python` is an interpreter that has inspect_ai.

    Raises:
        InspectError: There is no such interpreter, no inspect_ai in it, or it fails.
    """
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as errors:
        where = dict.fromkeys(("INSPECT_CACHE_DIR", "INSPECT_LOG_DIR", "TMPDIR"), folder)
        try:
            # -I: neither this folder's modules nor PYTHONPATH's are theirs.
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
                last = next((each for each in map(str.strip, said[::-1]) if each), "without a word")
                raise InspectError(f"inspect_ai's process ended: {last[:300]}")
            return dict(json.loads(line))

        with process:
            try:
                yield ask
            finally:
                process.kill()


def _serve() -> None:
    """What inspect_ai's own interpreter runs."""
    # Libraries print; whatever they say goes to standard error.
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
