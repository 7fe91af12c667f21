"""inspect_ai for `client.py`, from a separate environment: both ends of a pipe.

Its interpreter runs this file, which imports nothing from the project. The benchmark sends it lines
of JSON, one round of questions each, and reads back their cost.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

Ask = Callable[[dict[str, Any]], dict[str, Any]]
"""Input of `_serve` -> its output."""


@contextmanager
def started(python: Path) -> Iterator[Ask]:
    """Start the process; `python` is an interpreter with inspect_ai.

    Raises:
        PeerError: The interpreter does not exist, lacks inspect_ai, or fails.
    """
    from common import peer

    with tempfile.TemporaryDirectory() as folder:
        where = dict.fromkeys(("INSPECT_CACHE_DIR", "INSPECT_LOG_DIR", "TMPDIR"), folder)
        with peer(python, __file__, "inspect_ai", where) as (_, ask):
            yield ask


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
