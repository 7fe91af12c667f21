"""ConRAG's parameters: Table III of the paper, and all others under `--as-in-paper`."""

from collections.abc import Callable

import pytest

from pipelines.conrag.settings import ConragOptions, ConragSettings
from pipelines.errors import InputError

TABLE_III: dict[str, tuple[Callable[[ConragSettings], float], float]] = {
    "retrieval depth (k)": (lambda own: own.depth, 20),
    "evidence packet size (k')": (lambda own: own.packet.size, 8),
    "conflict threshold (tau)": (lambda own: own.packet.tau, 0.50),
    "margin for stance decision (delta)": (lambda own: own.delta, 0.10),
    "max passages per cluster (m)": (lambda own: own.packet.per_cluster, 2),
}


def test_table_iii_is_what_is_done_by_default_and_as_in_the_paper() -> None:
    for settings in (ConragSettings(), ConragOptions(as_in_paper=True).settings):
        for of, value in TABLE_III.values():
            assert of(settings) == value


def test_as_in_the_paper() -> None:
    """Section II: a cross-encoder tags, a prompted model sorts and writes, sums decide."""
    made = ConragOptions(as_in_paper=True)
    settings = made.settings
    assert (made.judging.judge, made.writes, settings.sort) == ("tagger", True, "model")
    assert settings.weights == {}
    assert (settings.packet.below_tau, settings.policy.numbers) == ("relevance", "free")
    assert (settings.policy.sources, settings.packet.irrelevant_above) == (1, 1)
    for dataset, among in (("fever", "all"), ("scifact", "all"), ("ragtruth", "own")):
        searched = ConragOptions.model_validate({"dataset": dataset, "as_in_paper": True})
        assert searched.among == among
    assert (made.part, made.limit) == ("all", None)
    questions = ConragOptions.model_validate({"dataset": "alce", "as_in_paper": True})
    assert (questions.citing.judged_by, made.citing.judged_by) == ("model", "tagger")


def test_as_in_the_paper_sources_count_alike() -> None:
    with pytest.raises(InputError, match="--weight"):
        ConragOptions.model_validate({"settings": {"weights": ["a=0.5"]}, "as_in_paper": True})
