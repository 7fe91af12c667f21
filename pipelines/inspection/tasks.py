"""The tasks, in the order of the page; their modules are imported when they are asked for."""

from importlib import import_module
from typing import Any, Final

from pipelines.inspection.task import Task

TASKS: Final = {
    "score": "score.SCORE",
    "screen": "screen.SCREEN",
    "ask": "ask.ASK",
    "debate": "debate.DEBATE",
    "resolve": "resolve.RESOLVE",
    "answer-npov": "answer_npov.ANSWER_NPOV",
    "check-npov": "npov.CHECK_NPOV",
    "salience": "salience.SALIENCE",
}
"""Name -> where it is declared, in this package."""


def task(name: str) -> Task[Any, Any, Any]:
    """The declaration of one of `TASKS`."""
    module, _, declared = TASKS[name].partition(".")
    found: Task[Any, Any, Any] = getattr(import_module(f"{__package__}.{module}"), declared)
    return found
