"""inspect_ai for `client.py`, in an environment of its own; see `common.other`.

A line of JSON is one round of questions; the answer is its cost.
"""

import asyncio
import json
import os
import sys
import time
from importlib.metadata import version
from typing import Any


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
        await asyncio.gather(*(model.generate(prompt) for prompt in prompts))

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
