"""What `--as-in-paper` decides; docs/differences.md is made from it."""

from typing import Final

from pipelines.preset import Choice

AS_IN_PAPER: Final[tuple[Choice, ...]] = ()
DETECTION_AS_IN_PAPER: Final[tuple[Choice, ...]] = ()
REPORTS_AS_IN_PAPER: Final[tuple[Choice, ...]] = ()
TRUTHFULQA_AS_IN_PAPER: Final[tuple[Choice, ...]] = ()
JUDGES_AS_IN_PAPER: Final[tuple[Choice, ...]] = ()
