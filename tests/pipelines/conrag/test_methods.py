"""Baselines and ablations on passages whose labels are known."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.conrag.answer import Outcome
from pipelines.conrag.evidence import STANCE_OF, Stance, TaggedPassage
from pipelines.conrag.methods import (
    ALL_METHODS,
    Ruling,
    by_template,
    case_of,
    most_relevant,
    support_share,
    without_tags,
)
from pipelines.conrag.packet import PacketSettings
from pipelines.conrag.settings import ConragSettings
from pipelines.data.records import Document
from pipelines.judge.judgement import Relation

S, C, I, X = Relation  # noqa: E741
SETTINGS = ConragSettings()
NEITHER = Ruling(Stance.NOT_ENOUGH_INFO, 0.1)
WORDS = [
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "jetty",
    "knoll", "ledge",
]  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """A claim with tagged passages, what both packets say read as one text, and gold relations."""

    tagged: tuple[TaggedPassage, ...]
    relevant: Ruling = NEITHER
    untagged: Ruling = NEITHER
    truth: dict[str, Relation] = field(default_factory=dict)
    text: str = "The amber stands."


def passage(name: str, relevance: float, confidence: float = 0.8) -> TaggedPassage:
    relation = {"s": S, "c": C, "i": I}[name[0]]
    number = int(name[1:])
    text = f"The {WORDS[number % 12]} stands by the {WORDS[(number + 5) % 12]} {name}."
    return TaggedPassage(Document(id=name, text=text), relevance, relation, confidence)


def claim_with(
    *names: str, together: Relation = S, truth: dict[str, Relation] | None = None
) -> Claim:
    tagged = tuple(passage(name, 1 - n / 100) for n, name in enumerate(names))
    known = {each.id: each.relation for each in tagged} if truth is None else truth
    reading = Ruling(STANCE_OF[together], {S: 0.7, C: 0.2}.get(together, 0.1))
    return Claim(tagged, reading, reading, known)


def outcome(method: str, claim: Claim, settings: ConragSettings = SETTINGS) -> Outcome:
    case = case_of(claim.text, claim.tagged, claim.truth, settings)
    made = by_template(case, claim.relevant, claim.untagged)
    assert tuple(made) == ALL_METHODS
    return made[method]


def test_relrag_takes_the_stance_of_the_joined_text_and_cites_all_of_it() -> None:
    found = outcome("RelRAG", claim_with("s1", "c2", "i3", together=C))
    assert found.stance is Stance.REFUTE
    assert found.cited == ("s1", "c2", "i3")
    assert {each.about for each in found.statements} == {"refute"}


def test_nli_rag_counts_votes_and_not_confidences() -> None:
    tagged = (passage("s1", 1.0, 0.99), passage("c2", 0.9, 0.4), passage("c3", 0.8, 0.4))
    found = outcome("NLI-RAG", Claim(tagged, text="It is so."))
    assert found.stance is Stance.REFUTE
    assert found.cited == ("c2", "c3")


@pytest.mark.parametrize(
    ("tags", "stance"),
    [
        ("s1 c2", Stance.NOT_ENOUGH_INFO),
        ("s1 s2 i3", Stance.SUPPORT),
        ("s1 i2 i3", Stance.NOT_ENOUGH_INFO),
        ("s1 s2 i3 i4", Stance.NOT_ENOUGH_INFO),
    ],
)
def test_irrelevant_passages_vote_in_nli_rag_and_equal_votes_decide_nothing(
    tags: str, stance: Stance
) -> None:
    assert outcome("NLI-RAG", claim_with(*tags.split())).stance is stance


def test_nli_rag_may_vote_by_passages_that_it_cannot_show() -> None:
    packet = ConragSettings(packet=PacketSettings(size=2))
    found = outcome("NLI-RAG", claim_with("c1", "i2", "s3", "s4"), packet)
    assert found.stance is Stance.SUPPORT
    assert found.statements[0].cites == ()


def test_citerag_never_abstains_where_a_side_is_ahead_by_a_hair() -> None:
    tagged = (passage("s1", 1.0, 0.80), passage("c2", 0.9, 0.79))
    given = Claim(tagged)
    assert outcome("CiteRAG", given).stance is Stance.SUPPORT
    assert outcome("ConRAG", given).stance is Stance.NOT_ENOUGH_INFO


def test_oracle_reads_the_truth_and_not_the_tags() -> None:
    found = outcome("Oracle", claim_with("s1", "s2", "i3", truth={"i3": C}))
    assert found.stance is Stance.REFUTE
    assert found.cited == ("i3",)


def test_without_tagging_nobody_asks_what_single_passages_say() -> None:
    tags = claim_with("s1", "c2", "i3", together=S)
    others = claim_with("i1", "i2", "s3", together=S)
    same = tuple(passage(f"i{n}", 1 - n / 100) for n in (1, 2, 3))
    first, second = (
        outcome("w/o conflict tagging", replace(each, tagged=same, truth={}))
        for each in (tags, others)
    )
    assert first == second
    assert first.stance is Stance.SUPPORT


def test_without_clustering_a_packet_may_be_all_of_one_kind() -> None:
    text = "The amber stands by the fjord, says {}."
    alike = tuple(
        TaggedPassage(Document(id=f"s{n}", text=text.format(n)), 1 - n / 9, S, 0.8)
        for n in range(8)
    )
    others = tuple(
        TaggedPassage(Document(id=f"o{n}", text=f"word{n} of thing{n}."), 0.1 - n / 99, S, 0.8)
        for n in range(6)
    )
    given = Claim(alike + others)
    shown = {
        method: sum(name.startswith("s") for name in outcome(method, given).packet)
        for method in ("ConRAG", "w/o evidence clustering")
    }
    most = SETTINGS.packet.per_cluster
    assert shown == {"ConRAG": most, "w/o evidence clustering": len(alike)}


def test_without_clustering_near_duplicates_are_kept_word_for_word() -> None:
    text = "The amber stands by the fjord."
    tagged = tuple(TaggedPassage(Document(id=f"s{n}", text=text), 1, S, 0.8) for n in range(3))
    shown = {
        method: len(outcome(method, Claim(tagged)).packet)
        for method in ("ConRAG", "w/o evidence clustering")
    }
    assert shown == {"ConRAG": 1, "w/o evidence clustering": 3}


def test_without_the_uncertainty_policy_a_side_is_taken_and_the_other_hidden() -> None:
    tagged = (passage("s1", 1.0, 0.80), passage("c2", 0.9, 0.79))
    found = outcome("w/o uncertainty policy", Claim(tagged, text="It is so."))
    assert found.stance is Stance.SUPPORT
    assert {each.about for each in found.statements} == {"support"}
    assert set(found.packet) == {"s1", "c2"}


def test_without_binding_the_answer_is_the_same_and_its_citations_are_not() -> None:
    given = claim_with("s1", "i2", "c3", "i4")
    ours, loose = outcome("ConRAG", given), outcome("w/o citation binding", given)
    assert (ours.stance, ours.packet) == (loose.stance, loose.packet)
    assert [each.text for each in ours.statements] == [each.text for each in loose.statements]
    assert ours.cited != loose.cited


def test_how_far_a_claim_is_held_to_be_supported_worked_by_hand() -> None:
    # Votes: one of all three. Of the packet, the two most relevant, 0.9 of 0.9 + 0.3; of all
    # passages, 0.9 of 0.9 + 0.3 + 0.6. The joined text is supporting with 0.7, whatever they say.
    tagged = (passage("s1", 1.0, 0.9), passage("c2", 0.9, 0.3), passage("c3", 0.8, 0.6))
    truth = {"c2": S, "c3": C}
    given = Claim(
        tagged, Ruling(Stance.SUPPORT, 0.7), Ruling(Stance.REFUTE, 0.2), truth, "It is so."
    )
    small = ConragSettings(packet=PacketSettings(size=2))
    assert {name: outcome(name, given, small).support for name in ALL_METHODS} == pytest.approx(
        {
            "RelRAG": 0.7,
            "NLI-RAG": 1 / 3,
            "CiteRAG": 0.9 / 1.2,
            "ConRAG": 0.9 / 1.8,
            "Oracle": 1 / 2,
            "w/o conflict tagging": 0.2,
            "w/o evidence clustering": 0.9 / 1.8,
            "w/o uncertainty policy": 0.9 / 1.8,
            "w/o citation binding": 0.9 / 1.8,
        }
    )


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_a_share_of_support_and_its_opposite(support: float, refute: float) -> None:
    share = support_share(support, refute)
    assert 0 <= share <= 1
    if support + refute > 0:
        assert share + support_share(refute, support) == pytest.approx(1)
    assert (share > 0.5) <= (support > refute)


NAMES = st.lists(
    st.tuples(st.sampled_from("sci"), st.integers(0, 40)).map(lambda pair: f"{pair[0]}{pair[1]}"),
    unique_by=lambda name: name[1:],
    max_size=14,
)


@given(NAMES, st.sampled_from(Relation), st.sampled_from(sorted(ALL_METHODS)))
def test_every_method_keeps_to_its_budget_and_to_its_packet(
    names: list[str], together: Relation, method: str
) -> None:
    found = outcome(method, claim_with(*names, together=together))
    assert len(found.packet) <= SETTINGS.packet.size
    assert set(found.packet) <= set(names)
    assert set(found.cited) <= set(found.packet)
    assert found.statements
    assert 0 <= found.support <= 1


@given(NAMES)
def test_no_method_depends_on_the_order_of_the_passages(names: list[str]) -> None:
    given = claim_with(*names)
    turned = replace(given, tagged=given.tagged[::-1])
    for name in ("RelRAG", "NLI-RAG", "ConRAG", "Oracle"):
        assert outcome(name, given) == outcome(name, turned)
    assert most_relevant(given.tagged, SETTINGS) == most_relevant(turned.tagged, SETTINGS)
    assert without_tags(given.tagged, SETTINGS) == without_tags(turned.tagged, SETTINGS)


@pytest.mark.parametrize(
    ("weights", "stance"),
    [({}, Stance.REFUTE), ({"c2": 0.5}, Stance.SUPPORT), ({"other": 0.5}, Stance.REFUTE)],
)
def test_passages_count_by_the_reliability_of_their_source(
    weights: dict[str, float], stance: Stance
) -> None:
    """0.6 for the claim, 0.9 or 0.45 against it."""
    given = Claim((passage("s1", 1.0, 0.6), passage("c2", 0.2, 0.9)), text="It is so.")
    assert outcome("ConRAG", given, ConragSettings(weights=weights)).stance is stance


@pytest.mark.parametrize("given", ["example.org", "=1", "example.org=-1", "example.org=nan"])
def test_what_is_no_weight_is_refused(given: str) -> None:
    assert ConragSettings.model_validate({"weights": ["a=b=0.5"]}).weights == {"a=b": 0.5}
    with pytest.raises(ValueError, match="no weight of a source; write SOURCE="):
        ConragSettings.model_validate({"weights": [given]})
