"""What `--as-in-paper` decides; docs/differences.md is made from it."""

from typing import Final

from pipelines.preset import Choice

AS_IN_PAPER: Final = (
    Choice(
        "classifiers",
        ["json"],
        "section 5.1",
        "the others cost little beside it, and one gives probabilities",
    ),
    Choice(
        "settings.types",
        "json",
        "section 5.1",
        "one token, with probabilities, in place of an explanation",
    ),
    Choice(
        "settings.against",
        "all",
        "section 4",
        "a citation is to be right, and not only some source that was not cited",
    ),
    Choice("settings.judge", "llm", "section 4"),
    Choice("settings.behaviour", "json", "section 4"),
)
