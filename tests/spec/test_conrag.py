"""ConRAG, section 2: conflict score, graph, clusters, packet, stance, by hand and by property."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.conrag.evidence import (
    DELTA,
    Cluster,
    EdgeWeights,
    Stance,
    TaggedPassage,
    adjudicate,
    clusters,
    communities,
    conflict_score,
    delta_rule,
    dominant_tag,
    edge_weight,
    evidence_mass,
    jaccard,
    kappa,
    key_phrases,
    semantic_agreement,
    similarity_graph,
    word_cosine,
)
from pipelines.conrag.packet import PacketSettings, select, side_budget
from pipelines.data.records import Document
from pipelines.judge.judgement import RELATIONS, Relation
from pipelines.text.words import content_words

S, R, I = RELATIONS  # noqa: E741


def passage(
    name: str,
    relation: Relation,
    confidence: float = 0.9,
    relevance: float = 1.0,
    text: str | None = None,
    quality: float = 1.0,
) -> TaggedPassage:
    document = Document(id=name, text=text or f"Text of {name}.")
    return TaggedPassage(document, relevance, relation, confidence, quality=quality)


def apart(tagged: Sequence[TaggedPassage]) -> list[Cluster]:
    """One cluster per passage."""
    return clusters(tagged, [frozenset({each.id}) for each in tagged])


SHARES = st.floats(0, 1)
WORDS = st.lists(
    st.sampled_from(["dam", "river", "flood", "gate", "1902", "1911", "Aldham"]), min_size=1
)
TAGGED = st.lists(
    st.tuples(st.sampled_from(RELATIONS), st.floats(0.34, 1), SHARES, WORDS), max_size=20
).map(
    lambda rows: [
        passage(f"p{number:02}", relation, sure, relevance, " ".join(words))
        for number, (relation, sure, relevance, words) in enumerate(rows)
    ]
)


def grouped(tagged: Sequence[TaggedPassage]) -> list[Cluster]:
    """Clusters as ConRAG makes them."""
    return clusters(tagged, communities(similarity_graph(tagged, EdgeWeights())))


def packet_of(tagged: Sequence[TaggedPassage], settings: PacketSettings) -> list[TaggedPassage]:
    return select(tagged, grouped(tagged), conflict_score(tagged), settings)


# Conflict score


def test_kappa_by_hand() -> None:
    # U_sup = 0.9 + 0.8 = 1.7, U_ref = 0.7: 1 - 1.0 / 2.4.
    tagged = [passage("a", S, 0.9), passage("b", S, 0.8), passage("c", R, 0.7), passage("d", I)]
    assert evidence_mass(tagged, S) == pytest.approx(1.7)
    assert conflict_score(tagged) == pytest.approx(1 - 1.0 / 2.4, abs=1e-6)
    # A passage's confidence is multiplied by its quality.
    doubted = [passage("a", S, 0.8), passage("b", R, 0.8, quality=0.5)]
    assert conflict_score(doubted) == pytest.approx(1 - 0.4 / 1.2, abs=1e-6)


def test_kappa_without_evidence_is_zero_though_the_formula_gives_one() -> None:
    assert kappa(0, 0) == conflict_score([]) == conflict_score([passage("a", I)]) == 0


# Graph


def test_agreement_joins_sides_and_parts_them() -> None:
    one, other, third = passage("a", S, 0.9), passage("b", S, 0.5), passage("c", R, 0.8)
    assert semantic_agreement(one, other) == pytest.approx(0.45)
    assert semantic_agreement(one, third) == pytest.approx(-0.72)
    assert semantic_agreement(one, passage("d", I)) == 0


def test_names_numbers_and_years_are_key_phrases() -> None:
    text = "The bridge in Upper Aldham cost 1,200 pounds. It was opened by Ada Lovelace in 1936."
    assert key_phrases(text) == {"upper aldham", "1200", "ada lovelace", "1936"}
    text = "Aldham\n\nShe met Ada Lovelace. Then The Aldham dam broke. Émile Zola, Ada"
    assert key_phrases(text) == {"aldham", "ada lovelace", "émile zola", "ada"}


def test_similarity_of_words_and_names_by_hand() -> None:
    assert jaccard(frozenset("ab"), frozenset("bc")) == pytest.approx(1 / 3)
    assert jaccard(frozenset(), frozenset()) == 0
    rows = word_cosine(["the dam at Aldham", "Aldham dam", "cheese"])
    assert rows[0][1:] == pytest.approx([1, 0])
    assert word_cosine(["the", "of", "the"]) == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]


def test_an_edge_by_hand() -> None:
    text = "Ada Lovelace opened it in 1936."
    two = [passage("a", S, 0.8, text=text), passage("b", S, 0.5, text=text)]
    graph = similarity_graph(two, EdgeWeights(topical=0.2, entities=0.3, agreement=0.5))
    # Equal words and names, 0.2 + 0.3, raised by half of an agreement of 0.8 * 0.5.
    assert graph["a"]["b"]["weight"] == pytest.approx(0.5 * (1 + 0.5 * 0.4))
    assert edge_weight(0.6, 0.2, -0.81, EdgeWeights()) == pytest.approx(0.48 * 0.19)


def test_sure_passages_of_opposite_sides_are_not_joined() -> None:
    text = "The dam at Aldham was built in {}."
    two = [
        passage(name, side, 0.95, text=text.format(year))
        for name, side, year in (("a", S, 1902), ("b", R, 1911))
    ]
    assert similarity_graph(two, EdgeWeights()).number_of_edges() == 0
    joined = similarity_graph(two, EdgeWeights(agreement=0))
    assert joined.number_of_edges() == 1


@given(TAGGED, st.integers(1, 4))
def test_edges_go_to_nearest_neighbours_alone(tagged: list[TaggedPassage], neighbours: int) -> None:
    graph = similarity_graph(tagged, EdgeWeights(neighbours=neighbours))
    assert sorted(graph) == sorted(each.id for each in tagged)
    assert graph.number_of_edges() <= neighbours * len(tagged)
    assert all(data["weight"] >= 0.1 for *_, data in graph.edges(data=True))


# Clusters


def test_the_tag_with_the_largest_sum_dominates() -> None:
    members = [passage("a", S, 0.9), passage("b", R, 0.5), passage("c", R, 0.6)]
    assert dominant_tag(members) is R
    (one,) = clusters(members, [frozenset("abc")])
    assert one == Cluster("R1", ("c", "b", "a"), R, pytest.approx(1.1))  # type: ignore[arg-type]


def test_two_sides_of_one_topic_become_two_clusters() -> None:
    built = "The dam at Aldham was built in {} by the river board."
    tagged = [
        *(passage(f"s{n}", S, 0.9, text=built.format("1902")) for n in range(3)),
        *(passage(f"r{n}", R, 0.9, text=built.format("1911")) for n in range(3)),
        passage("i", I, 0.9, text="Cheese is made of milk."),
    ]
    assert [(one.name, one.members) for one in grouped(tagged)] == [
        ("S1", ("s0", "s1", "s2")), ("R1", ("r0", "r1", "r2")), ("I1", ("i",)),
    ]  # fmt: skip


@given(TAGGED, st.integers(0, 3))
def test_clusters_are_a_partition_whatever_the_order(
    tagged: list[TaggedPassage], seed: int
) -> None:
    found = grouped(tagged)
    assert sorted(name for one in found for name in one.members) == [one.id for one in tagged]
    assert grouped(Random(seed).sample(tagged, len(tagged))) == found


# Packet


def test_below_tau_a_side_is_shown_though_others_are_more_relevant_or_not_at_all() -> None:
    tagged = [passage(f"i{n}", I, 0.7, relevance=0.9 - n / 10, text=f"word{n}") for n in range(4)]
    tagged.append(passage("s", S, 0.9, relevance=0.1, text="other"))
    for below, shown in (("sides", ["s", "i0", "i1"]), ("relevance", ["i0", "i1", "i2"])):
        settings = PacketSettings.model_validate({"size": 3, "below_tau": below})
        packet = select(tagged, apart(tagged), 0.49, settings)
        assert [one.id for one in packet] == shown


def test_what_is_surely_irrelevant_is_no_evidence_unless_asked_for_as_in_the_paper() -> None:
    tagged = [
        passage(name, tag, sure, text=name)
        for name, tag, sure in (("at", I, 0.8), ("side", R, 0.95), ("surely", I, 0.81))
    ]
    for above, shown in ((0.8, ["at", "side"]), (1.0, ["at", "side", "surely"])):
        packet = select(tagged, apart(tagged), 0.0, PacketSettings(irrelevant_above=above))
        assert sorted(one.id for one in packet) == shown


def test_with_m_of_one_every_cluster_gives_one_passage_before_one_gives_two() -> None:
    tagged = [
        passage("a", S, 0.9, 0.9, text="one"),
        passage("b", S, 0.8, 0.8, text="two"),
        passage("c", R, 0.9, 0.7, text="three"),
        passage("d", I, 0.7, 0.6, text="four"),
    ]
    found = clusters(tagged, [frozenset("ab"), frozenset("c"), frozenset("d")])
    for size, shown in ((3, ["a", "c", "d"]), (4, ["a", "c", "d", "b"])):
        packet = select(tagged, found, 0.6, PacketSettings(per_cluster=1, size=size))
        assert [each.id for each in packet] == shown


def test_with_conflict_both_sides_get_their_budget() -> None:
    # Supporting passages are much more relevant; each side still gets floor((8 - 2) / 2) = 3.
    tagged = [
        *(passage(f"s{n}", S, 0.9, 0.9 - n / 100, text=f"for{n}") for n in range(8)),
        *(passage(f"r{n}", R, 0.5 + n / 10, 0.2, text=f"against{n}") for n in range(5)),
        passage("i", I, 0.7, 0.85, text="other"),
    ]
    packet = select(tagged, apart(tagged), 0.6, PacketSettings())
    assert side_budget(PacketSettings()) == 3
    assert [each.id for each in packet] == [
        "s0", "r4", "s1", "r3", "s2", "r2", "s3", "s4",
    ]  # fmt: skip


def test_near_duplicates_of_one_side_are_one_and_of_both_sides_a_conflict() -> None:
    text = "The dam at Aldham was built by the river board with red bricks in 1902."
    tagged = [
        passage(name, side, 0.9, relevance, text=text)
        for name, side, relevance in (("a", S, 0.9), ("b", S, 0.8), ("c", R, 0.7))
    ]
    packet = select(tagged, apart(tagged), 0.7, PacketSettings())
    assert [each.id for each in packet] == ["a", "c"]


@given(TAGGED, st.integers(2, 10), st.integers(1, 4), st.integers(0, 3), SHARES, st.integers(0, 3))
def test_what_holds_of_every_packet(
    tagged: list[TaggedPassage], size: int, most: int, irrelevant: int, tau: float, seed: int
) -> None:
    settings = PacketSettings(
        size=size, per_cluster=most, irrelevant=irrelevant, tau=tau, near_duplicate=1
    )
    packet = packet_of(tagged, settings)
    ids = [each.id for each in packet]
    different = {
        (each.relation, frozenset(content_words(each.passage.text)))
        for each in tagged
        if each.relation is not I or each.confidence <= settings.irrelevant_above
    }
    assert len(set(ids)) == len(ids) == min(size, len(different)), "the cap leaves no place empty"
    both = {S, R} <= {each.relation for each in tagged}
    if both and conflict_score(tagged) >= tau and most > 1:
        assert {S, R} <= {each.relation for each in packet}
    shuffled = Random(seed).sample(tagged, len(tagged))
    assert packet_of(shuffled, settings) == packet


# Stance


SUPPORT, REFUTE, NEITHER = Stance


@pytest.mark.parametrize(
    ("support", "refute", "delta", "stance"),
    [
        (0.9, 0.7, DELTA, SUPPORT),
        (0.7, 0.9, DELTA, REFUTE),
        (0.8, 0.75, DELTA, NEITHER),
        (0.0, 0.0, DELTA, NEITHER),
        (0.75, 0.5, 0.25, NEITHER),  # exactly delta
        (0.75, 0.5, 0.24, SUPPORT),
        (0.8, 0.7, DELTA, NEITHER),  # 0.10000000000000009
        (0.9, 0.8, DELTA, NEITHER),  # 0.09999999999999998
    ],
)
def test_the_delta_rule(support: float, refute: float, delta: float, stance: Stance) -> None:
    assert delta_rule(support, refute, delta=delta) is stance


def test_a_dispute_of_many_passages_still_has_a_side() -> None:
    tagged = [passage(f"s{n}", S, 0.9) for n in range(6)]
    tagged += [passage(f"r{n}", R, 0.9) for n in range(5)]
    score = conflict_score(tagged)
    by_sum = adjudicate(tagged, score)
    assert (by_sum.stance, by_sum.status) == (Stance.SUPPORT, "supported by evidence")
    assert by_sum.disputed
    even = adjudicate([*tagged, passage("r5", R, 0.9)], 1)
    assert (even.stance, even.status) == (Stance.NOT_ENOUGH_INFO, "disputed")
    assert adjudicate([], 0).status == "insufficient evidence"
