"""Baselines and ablations on passages whose labels are known."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.conrag.answer import Outcome
from pipelines.conrag.evidence import STANCE_OF, Stance, TaggedPassage
from pipelines.conrag.methods import ABLATIONS, METHODS, Case, Ruling, by_template
from pipelines.conrag.packet import PacketSettings
from pipelines.conrag.settings import ConragSettings
from pipelines.data.records import Document
from pipelines.judge.judgement import Relation

S, C, I, X = Relation  # noqa: E741
RELATION = {"s": S, "c": C, "i": I}
SETTINGS = ConragSettings()
SUPPORTED = Ruling(Stance.SUPPORT, 0.7)
WORDS = [
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "jetty",
    "knoll", "ledge",
]  # fmt: skip


def passage(name: str, relevance: float, confidence: float = 0.8, text: str = "") -> TaggedPassage:
    number = int(name[1:])
    own = f"The {WORDS[number % 12]} stands by the {WORDS[(number + 5) % 12]} {name}."
    document = Document(id=name, text=text or own)
    return TaggedPassage(document, relevance, RELATION[name[0]], confidence)


def tagged(names: str | Sequence[str]) -> list[TaggedPassage]:
    """Passages "s1", "c2", ... by relevance."""
    split = names.split() if isinstance(names, str) else names
    return [passage(name, 1 - n / 100) for n, name in enumerate(split)]


CLOSE = (passage("s1", 1.0, 0.80), passage("c2", 0.9, 0.79))
"""Two sides, of which one is ahead by a hair."""


def outcomes(
    passages: Sequence[TaggedPassage],
    relevant: Ruling = SUPPORTED,
    untagged: Ruling | None = None,
    *,
    truth: Mapping[str, Relation] | None = None,
    settings: ConragSettings = SETTINGS,
) -> dict[str, Outcome]:
    """What methods make of a claim, the packets read as one text being ruled so."""
    known = {one.id: one.relation for one in passages} if truth is None else truth
    case = Case("The amber stands.", passages, known, settings)
    return by_template(case, relevant, untagged or relevant)


@pytest.mark.parametrize(
    ("tags", "stance"),
    [
        ("s1 c2", Stance.NOT_ENOUGH_INFO),
        ("s1 s2 i3", Stance.SUPPORT),
        ("s1 i2 i3", Stance.NOT_ENOUGH_INFO),
        ("s1 s2 i3 i4", Stance.NOT_ENOUGH_INFO),
        ("c1 i2 s3 s4", Stance.SUPPORT),
    ],
)
def test_all_k_passages_vote_in_nli_rag_also_irrelevant_and_unshown_ones(
    tags: str, stance: Stance
) -> None:
    small = ConragSettings(packet=PacketSettings(size=2))
    found = outcomes(tagged(tags), settings=small)["NLI-RAG"]
    assert found.stance is stance
    assert set(found.cited) <= set(tags.split()[:2])


def test_nli_rag_counts_votes_and_relrag_reads_all_as_one_text() -> None:
    passages = [passage("s1", 1.0, 0.99), passage("c2", 0.9, 0.4), passage("c3", 0.8, 0.4)]
    found = outcomes(passages)
    assert (found["NLI-RAG"].stance, found["NLI-RAG"].cited) == (Stance.REFUTE, ("c2", "c3"))
    assert (found["RelRAG"].stance, found["RelRAG"].cited) == (Stance.SUPPORT, ("s1", "c2", "c3"))
    assert {said.about for said in found["RelRAG"].statements} == {"support"}


def test_who_always_takes_a_side_takes_the_one_that_is_ahead_by_a_hair() -> None:
    found = outcomes(CLOSE)
    stances = {name: found[name].stance for name in ("CiteRAG", "ConRAG", "w/o uncertainty policy")}
    assert [*stances.values()] == [Stance.SUPPORT, Stance.NOT_ENOUGH_INFO, Stance.SUPPORT]
    forced = found["w/o uncertainty policy"]
    assert {said.about for said in forced.statements} == {"support"}
    assert set(forced.packet) == {"s1", "c2"}, "the other side is hidden"


def test_oracle_reads_the_truth_and_not_the_tags() -> None:
    found = outcomes(tagged("s1 s2 i3"), truth={"i3": C})["Oracle"]
    assert (found.stance, found.cited) == (Stance.REFUTE, ("i3",))


def test_without_tagging_nobody_asks_what_single_passages_say() -> None:
    given = tagged("s1 c2 i3")
    other = [replace(one, relation=I, confidence=0.5) for one in given]
    first, second = (outcomes(passages)["w/o conflict tagging"] for passages in (given, other))
    assert first == second
    assert first.stance is Stance.SUPPORT


def test_without_clustering_a_packet_may_be_all_of_one_kind_word_for_word() -> None:
    text = "The amber stands by the fjord, says {}."
    alike = [passage(f"s{n}", 1 - n / 9, text=text.format(n)) for n in range(8)]
    others = [passage(f"s{n}", 0.1 - n / 999, text=f"word{n} of thing{n}.") for n in range(10, 16)]
    equal = [passage(f"s{n}", 1, text=text) for n in range(3)]
    for passages, ours, apart in ((alike + others, SETTINGS.packet.per_cluster, 8), (equal, 1, 3)):
        found = outcomes(passages)
        shown = [
            sum(int(name[1:]) < 10 for name in found[method].packet)
            for method in ("ConRAG", "w/o evidence clustering")
        ]
        assert shown == [ours, apart]


def test_without_binding_the_answer_is_the_same_and_its_citations_are_not() -> None:
    found = outcomes(tagged("s1 i2 c3 i4"))
    ours, loose = found["ConRAG"], found["w/o citation binding"]
    assert (ours.stance, ours.packet) == (loose.stance, loose.packet)
    assert [said.text for said in ours.statements] == [said.text for said in loose.statements]
    assert ours.cited != loose.cited


def test_how_far_a_claim_is_held_to_be_supported_worked_by_hand() -> None:
    # Votes: one of all three. Of the packet, the two most relevant, 0.9 of 0.9 + 0.3; of all
    # passages, 0.9 of 0.9 + 0.3 + 0.6. The joined text is supporting with 0.7, whatever they say.
    passages = [passage("s1", 1.0, 0.9), passage("c2", 0.9, 0.3), passage("c3", 0.8, 0.6)]
    small = ConragSettings(packet=PacketSettings(size=2))
    refuted = Ruling(Stance.REFUTE, 0.2)
    found = outcomes(passages, SUPPORTED, refuted, truth={"c2": S, "c3": C}, settings=small)
    assert {name: outcome.support for name, outcome in found.items()} == pytest.approx(
        dict.fromkeys((*METHODS, *ABLATIONS), 0.9 / 1.8)
        | {
            "RelRAG": 0.7,
            "NLI-RAG": 1 / 3,
            "CiteRAG": 0.9 / 1.2,
            "Oracle": 1 / 2,
            "w/o conflict tagging": 0.2,
        }
    )


NAMES = st.lists(
    st.tuples(st.sampled_from("sci"), st.integers(0, 40)).map(lambda pair: f"{pair[0]}{pair[1]}"),
    unique_by=lambda name: name[1:],
    max_size=14,
)


@given(NAMES, st.sampled_from(Relation))
def test_every_method_keeps_to_its_budget_and_to_its_packet_whatever_the_order(
    names: list[str], together: Relation
) -> None:
    ruled = Ruling(STANCE_OF[together], 0.5)
    found = outcomes(tagged(names), ruled)
    assert list(found) == [*METHODS, *ABLATIONS]
    for outcome in found.values():
        assert len(outcome.packet) <= SETTINGS.packet.size
        assert set(outcome.cited) <= set(outcome.packet) <= set(names)
        assert outcome.statements
        assert 0 <= outcome.support <= 1
    assert outcomes(tagged(names)[::-1], ruled) == found


@pytest.mark.parametrize(
    ("weights", "stance"),
    [({}, Stance.REFUTE), ({"c2": 0.5}, Stance.SUPPORT), ({"other": 0.5}, Stance.REFUTE)],
)
def test_passages_count_by_the_reliability_of_their_source(
    weights: dict[str, float], stance: Stance
) -> None:
    """0.6 for the claim, 0.9 or 0.45 against it."""
    passages = [passage("s1", 1.0, 0.6), passage("c2", 0.2, 0.9)]
    found = outcomes(passages, settings=ConragSettings(weights=weights))
    assert found["ConRAG"].stance is stance


@pytest.mark.parametrize("given", ["example.org", "=1", "example.org=-1", "example.org=nan"])
def test_what_is_no_weight_is_refused(given: str) -> None:
    assert ConragSettings.model_validate({"weights": ["a=b=0.5"]}).weights == {"a=b": 0.5}
    with pytest.raises(ValueError, match="is not a source's weight; write SOURCE="):
        ConragSettings.model_validate({"weights": [given]})
