"""What `--as-in-paper` decides; docs/differences.md is made from it."""

from typing import Final

from pipelines.preset import Choice

AS_IN_PAPER: Final = (
    Choice(
        "detector",
        "salience",
        "section 3.2",
        "leaving arguments out finds more errors, and takes any model that is served",
    ),
    Choice(
        "design",
        "paper",
        "section 4.2",
        "lengths of responses and numbers of arguments would tell errors",
    ),
    Choice(
        "per_topic",
        18,
        "section 4.1",
        "gradients of a response take about a minute on two cores",
    ),
)
