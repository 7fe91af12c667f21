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
)

AS_RELEASED: Final = (
    Choice("debate.history", "agents", _CODE, "section 4 tells agents what the aggregator said"),
    Choice(
        "debate.agreement",
        "contained",
        _CODE,
        "section 4 asks for the same answer; 19 is part of 1911, and all contains an empty one",
    ),
    Choice("debate.closing", "previous", _CODE, "section 4 has the aggregate of the last round"),
    Choice("debate.replies", "text", _CODE, "a reply held to a schema can always be read"),
    Choice("debate.agent_tokens", 128, _CODE, "an explanation step by step needs more room"),
    Choice("debate.conclusion_tokens", 128, _CODE, "it explains what it makes of every agent"),
)
