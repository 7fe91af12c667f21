"""What `--as-in-paper` decides; docs/differences.md is made from it.

Table III (k, k', tau, delta, m), the cross-encoder that tags, and all other parameters are our
defaults. The paper gives no weights of edges, no B_irr, no tokens and no temperature.
"""

from typing import Final

from pipelines.preset import Choice

AS_IN_PAPER: Final = (
    Choice(
        "generator",
        "llm",
        "section 2",
        "a template needs no language model, and leaves the evidence packet to be measured alone",
    ),
    Choice(
        "settings.sort",
        "model",
        "section 2",
        "tags cost no call of a language model, and come with the confidence that sums are made of",
    ),
    Choice(
        "settings.packet.below_tau",
        "relevance",
        "section 2",
        "the one passage that a stance rests on may not be among the most relevant, and an answer "
        "without it cannot cite it",
    ),
    Choice(
        "settings.packet.irrelevant_above",
        1.0,
        "section 2",
        "passages on other subjects tell a reader nothing, and hide those that do",
    ),
    Choice(
        "settings.policy.numbers",
        "free",
        "section 2",
        "a passage that lacks a sentence's number does not bear that sentence out",
    ),
    Choice(
        "citing.judged_by",
        "llm",
        "section 3",
        "a tagger is there without a server; a language model is asked some hundred times for "
        "each question",
        where=("dataset", ("alce",)),
    ),
    Choice(
        "among",
        "all",
        "section 2",
        "passages of the claim alone are found in seconds, and leave the retriever out of it",
        where=("dataset", ("scifact",)),
    ),
    Choice(
        "among",
        "wiki",
        "section 3",
        "millions of pages take hours to index; those of the claim's own evidence are at hand",
        where=("dataset", ("fever",)),
    ),
    Choice(
        "half",
        "all",
        "section 3",
        "the shipped tagger learned from the training half of some sets, so that it knows it",
    ),
)
