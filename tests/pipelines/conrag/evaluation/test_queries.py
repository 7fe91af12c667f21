"""Claims to be measured on, from small files of the releases' own formats and from real ones."""

from pathlib import Path

from pipelines.conrag.evaluation.queries import (
    from_climate_fever,
    from_fool_me_twice,
    from_scifact,
    from_wice,
)
from pipelines.conrag.stance import Stance
from pipelines.data import climate_fever, fool_me_twice, wice
from pipelines.data.scifact import Abstract, ScientificClaim
from pipelines.evidence.judgement import Relation


def test_gold_sentences_are_in_the_pool_though_they_were_not_retrieved() -> None:
    claim = fool_me_twice.GameClaim.model_validate(
        {
            "id": "x", "text": "It was built in 1902.", "label": "REFUTES",
            "gold_evidence": [{"text": "It was built in 1911."}],
            "retrieved_evidence": [{"text": "It is of brick."}, {"text": "It is  of brick."}],
            "wikipedia_page": "Dam",
        }
    )  # fmt: skip
    (query,) = from_fool_me_twice([claim])
    assert {each.text for each in query.passages} == {"It was built in 1911.", "It is  of brick."}
    assert query.stance is Stance.REFUTE
    (gold,) = query.evidence
    assert {each.text for each in query.passages if each.id in gold} == {"It was built in 1911."}
    assert set(query.relations.values()) == {Relation.CONTRADICTS}


def test_rationales_of_abstracts() -> None:
    corpus = {"7": Abstract(doc_id=7, title="T", abstract=("One.", "Two.", " "))}
    claim = ScientificClaim.model_validate(
        {
            "id": 1, "claim": "So it is.", "cited_doc_ids": [7, 8],
            "evidence": {"7": [{"label": "CONTRADICT", "sentences": [1]}]},
        }
    )  # fmt: skip
    silent = ScientificClaim.model_validate({"id": 2, "claim": "Or not.", "evidence": {}})
    query, other = from_scifact([claim, silent], corpus)
    assert [each.id for each in query.passages] == ["7:0", "7:1"]
    assert (query.stance, query.evidence) == (Stance.REFUTE, (frozenset({"7:1"}),))
    assert (other.stance, other.evidence, other.passages) == (Stance.NOT_ENOUGH_INFO, (), ())


def test_the_real_sets(released_data: Path) -> None:
    climate = from_climate_fever(
        climate_fever.read(released_data / "climate_fever" / "climate-fever.jsonl.gz")
    )
    assert len(climate) == 1535
    assert sum(bool(query.disputed) for query in climate) == 154
    assert all(
        {Relation.SUPPORTS, Relation.CONTRADICTS} <= set(query.relations.values())
        for query in climate
        if query.disputed
    )
    pages = from_wice(wice.read(released_data / "wice" / "claim_dev.jsonl.gz"))
    games = from_fool_me_twice(fool_me_twice.read(released_data / "fm2" / "dev.jsonl.gz"))
    for query in (*climate, *pages, *games):
        ids = [each.id for each in query.passages]
        assert len(set(ids)) == len(ids)
        assert all(units <= set(ids) for units in query.evidence)
