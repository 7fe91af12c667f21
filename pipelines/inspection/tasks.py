"""The tasks, in the order of the page."""

from typing import Any, Final

from pipelines.inspection.answer_npov import ANSWER_NPOV
from pipelines.inspection.ask import ASK
from pipelines.inspection.debate import DEBATE
from pipelines.inspection.npov import CHECK_NPOV
from pipelines.inspection.resolve import RESOLVE
from pipelines.inspection.salience import SALIENCE
from pipelines.inspection.score import SCORE
from pipelines.inspection.screen import SCREEN
from pipelines.inspection.task import Task

TASKS: Final[tuple[Task[Any, Any, Any], ...]] = (
    SCORE,
    SCREEN,
    ASK,
    DEBATE,
    RESOLVE,
    ANSWER_NPOV,
    CHECK_NPOV,
    SALIENCE,
)
