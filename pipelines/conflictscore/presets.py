"""What `--as-in-paper` decides; docs/differences.md is made from it."""

from typing import Final

from pipelines.preset import Choice

_WHY_CHOICE: Final = "one token a label in place of about 115, and a probability of each label"

AS_IN_PAPER: Final = (
    Choice("metric.claims", "atomic", "appendix B, Table 6"),
    Choice("metric.labeller", "llm", "section 3"),
    Choice("metric.evidence", "json", "appendix B, Table 7", _WHY_CHOICE),
    Choice(
        "metric.unevidenced",
        "zero",
        "section 3",
        "a response that no document speaks to would have the score of a perfect one",
    ),
)

DETECTION_AS_IN_PAPER: Final = (
    Choice("judge.labeller", "llm", "section 4.1"),
    Choice("judge.evidence", "json", "appendix B", _WHY_CHOICE),
)

REPORTS_AS_IN_PAPER: Final = AS_IN_PAPER

TRUTHFULQA_AS_IN_PAPER: Final = (*AS_IN_PAPER, Choice("truth", "llm", "section 6.1"))

BENCH_AS_IN_PAPER: Final = (
    Choice(
        "half",
        "all",
        "appendix A",
        "the shipped tagger learned from the training half of some sources, so that it knows it",
    ),
    Choice(
        "claims_by",
        "llm",
        "appendix A",
        "rules give the same claim every time, need no model, and quote where they are unsure",
    ),
    Choice(
        "stances",
        "release",
        "appendix A",
        "some of MacNoise's and ContraQA's passages avoid the point, or say what they should deny",
    ),
)
