"""The trace of one example: everything that a run folder knows of it, as one JSON to send."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from pipelines.errors import InputError
from pipelines.experiment.publish import Runs


def trace(example: str, found: Iterable[Runs[Any]]) -> dict[str, Any]:
    """What each run of a folder has of an example.

    Returns:
        `example`, and `runs`: the entry of `run.json` -> `made`, that entry with its settings,
        prompts, models and machine, and `result`, the record as it stands in the results.

    Raises:
        InputError: No run has an example of that id.
    """
    runs: dict[str, Mapping[str, Any]] = {}
    ids: set[str] = set()
    for each in found:
        for name, results in each.results.items():
            ids.update(str(result.id) for result in results)
            runs |= {
                f"{each.experiment}.{name}".rstrip("."): {
                    "made": each.entries[name],
                    "result": result.model_dump(mode="json"),
                }
                for result in results
                if str(result.id) == example
            }
    if not runs:
        near = get_close_matches(example, sorted(ids), n=3) or sorted(ids)[:3]
        some = f"; some that it has: {', '.join(near)}" if near else ""
        raise InputError(f"no example '{example}' in this run{some}")
    return {"example": example, "runs": runs}
