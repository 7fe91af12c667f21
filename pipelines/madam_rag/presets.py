"""What `--as-in-paper` and `--as-released` decide; docs/differences.md is made from it."""

from typing import Final

from pipelines.preset import Choice

_CODE = "released code"

AS_IN_PAPER: Final = (
    Choice(
        "debate.replies",
        "text",
        "appendix C",
        "a small model's free text often cannot be read, a reply held to a schema always can",
    ),
    Choice(
        "sample",
        1000,
        "section 5.1",
        "figures of a whole file have narrower intervals, and depend on no seed",
    ),
    Choice(
        "consolidations",
        2,
        "appendix B",
        "it repeats the step and gives no number; each costs one more reply for every question",
    ),
)

AS_RELEASED: Final = (
    Choice("debate.history", "agents", _CODE, "section 4 tells agents what the aggregator said"),
    Choice(
        "debate.agreement",
        "contained",
        _CODE,
        "section 4 asks for the same answer; 1911 contains 19, and all contains an empty one",
    ),
    Choice("debate.closing", "previous", _CODE, "section 4 has the aggregate of the last round"),
    Choice(
        "debate.replies",
        "released",
        _CODE,
        "it has no fences around documents and replies, and takes an answer from any reply",
    ),
    Choice("debate.agent_tokens", 128, _CODE, "an explanation step by step needs more room"),
    Choice("debate.conclusion_tokens", 128, _CODE, "it explains what it makes of every agent"),
)
