"""Evidence among other sentences of its page, and claims beside texts that nobody labelled."""

import random
from pathlib import Path

from nli.labels import Label
from nli.pairs import LabelledPair, write_pairs
from nli.sentences import sentences
from pipelines.data import fool_me_twice
from pipelines.data.released import half
from pipelines.supervision import context, recipes
from pipelines.supervision.context import normal
from pipelines.supervision.settings import PairSettings

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


def test_unlabelled_pairs_show_nothing_of_a_test_half(released_data: Path, tmp_path: Path) -> None:
    fm2 = released_data / "fm2" / "dev.jsonl.gz"
    six = PairSettings(unlabelled=6)
    made = recipes.build_unlabelled({"fool-me-twice": fm2}, six)
    assert len(made) > 1000
    claims = fool_me_twice.read(fm2)
    hidden = {
        text
        for claim in claims
        if half(claim.text) == "test"
        for text in (
            claim.text,
            *(s.text for s in (*claim.gold_evidence, *claim.retrieved_evidence)),
        )
    }
    parts = {normal(text[each.start : each.end]) for text in hidden for each in sentences(text)}
    hidden = {normal(text) for text in hidden}
    seen = "\n".join(normal(text) for pair in made for text in pair.pair)
    assert not [text for text in hidden | parts if len(text.split()) > 8 and text in seen]
    assert made == recipes.build_unlabelled({"fool-me-twice": fm2}, six)
    first = made[0]
    measured = LabelledPair(**first.model_dump(), label=Label.SUPPORT)
    write_pairs(tmp_path / "dev.jsonl", [measured])
    less = recipes.build_unlabelled(
        {"fool-me-twice": fm2}, PairSettings(unlabelled=6, keep_from=[tmp_path / "dev.jsonl"])
    )
    assert not {first.hypothesis} & {pair.hypothesis for pair in less}
