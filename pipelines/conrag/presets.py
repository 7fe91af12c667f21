"""What `--as-in-paper` decides; docs/differences.md is made from it."""

from typing import Final

from pipelines.preset import Choice

AS_IN_PAPER: Final = (
    Choice(
        "generator",
        "llm",
        "section II",
        "a template needs no language model, and leaves the evidence packet to be measured alone",
    ),
    Choice(
        "half",
        "all",
        "section III",
        "the shipped tagger learned from the training half of some sets, so that it knows it",
    ),
)
