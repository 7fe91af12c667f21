"""Evidence among other sentences of its page."""

import random

from nli.labels import Label
from nli.pairs import LabelledPair
from pipelines.supervision import context

OTHERS = (
    "Its towers were painted green by hundreds of volunteers.",
    "Ferries crossed here until somebody drowned.",
    "Pigeons nest below every arch.",
)


def revised(
    sentence: str, label: Label, claim: str = "Wharton Bridge opened in 1932."
) -> LabelledPair:
    return LabelledPair(
        premise=sentence, hypothesis=claim, label=label, source="wiki", group="vc:Wharton Bridge"
    )


PAGE = [
    revised("Wharton Bridge was opened to traffic in 1932.", Label.SUPPORT),
    revised("Wharton Bridge was opened to traffic in 1936.", Label.REFUTE),
    *(revised(text, Label.SUPPORT, f"Claim number {n}.") for n, text in enumerate(OTHERS)),
]


def test_evidence_stands_among_others_of_its_page_and_keeps_its_label() -> None:
    made = [p for seed in range(30) for p in context.in_context(PAGE, random.Random(seed))]
    about = [pair for pair in made if pair.hypothesis == PAGE[0].hypothesis]
    assert {pair.source for pair in made} == {"wiki-context"}
    for pair in about:
        years = [year for year in ("1932", "1936") if year in pair.premise]
        expected = {"1932": Label.SUPPORT, "1936": Label.REFUTE, None: Label.IRRELEVANT}
        assert len(years) <= 1, "a revision of the evidence is no neighbour"
        assert pair.label is expected[years[0] if years else None]
        assert any(other in pair.premise for other in OTHERS)
        assert pair.group == "vc:Wharton Bridge"
    assert {pair.label for pair in about} == set(Label)
    places = {p.premise.index("Wharton") == 0 for p in about if p.label is Label.SUPPORT}
    assert places == {True, False}, "it is not always first"


def test_a_sentence_that_may_speak_of_the_claim_is_in_no_passage_without_evidence() -> None:
    speaks = revised("Traffic on it opened late in 1932 they say.", Label.SUPPORT, "Another claim.")
    made = [p for n in range(30) for p in context.in_context([*PAGE, speaks], random.Random(n))]
    silent = [p for p in made if p.label is Label.IRRELEVANT and p.hypothesis == PAGE[0].hypothesis]
    assert silent
    assert not [pair for pair in silent if "1932" in pair.premise]
