"""What `--as-in-paper` decides; docs/differences.md is made from it."""

from typing import Final

from pipelines.preset import Choice

AS_IN_PAPER: Final[tuple[Choice, ...]] = ()
