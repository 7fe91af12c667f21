"""Did a model use the argument that another detector calls support?

Salience and ablation say what a model's words rest on, and the tagger what would support them. They
need not agree: a model may write what an argument says without having looked at it.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipelines.metrics.cohen_kappa import clustered_kappa
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.mean import mean
from pipelines.npov.result import EMBEDDINGS, SUPPORT, NpovResult
from pipelines.npov.use import Values
from pipelines.report.table import Column, Measure, Table

SUPPORTED = 0.5
"""From which p(support) on an argument counts as support of a sentence."""


class Agreement(NamedTuple):
    """Of a detector and a tagger on a test set."""

    test_set: str
    detector: str
    tagger: str
    correlation: Estimate | None
    used: Estimate | None
    by_chance: Estimate | None
    kappa: Estimate | None
    responses: int


def correlation(one: Values, other: Values) -> float | None:
    """Spearman's rho of two (arguments, sentences); None where one of them is the same all over."""
    from scipy.stats import spearmanr

    if min(np.ptp(one), np.ptp(other)) == 0:
        return None
    return float(spearmanr(one, other, axis=None).statistic)


def most_used(rests: Values) -> NDArray[np.bool_]:
    """Which argument each sentence rests on most, (arguments, sentences); of equals the first."""
    found = np.zeros(rests.shape, dtype=bool)
    found[rests.argmax(axis=0), np.arange(rests.shape[1])] = True
    return found


def agreement_of_use(results: Mapping[str, Sequence[NpovResult]]) -> Table:
    """Of each detector that says what sentences rest on with each tagger, by test set."""
    return Table.of(
        list(_agreements(results)),
        name="npov_use",
        title="Arguments used, and arguments that support",
        columns=[
            Column("test_set", "Test set"),
            Column("detector", "Detector"),
            Column("tagger", "Tagger"),
            Measure("correlation", "Spearman"),
            Measure("used", "Supporting argument used most"),
            Measure("by_chance", "By chance"),
            Measure("kappa", "Kappa"),
            Column("responses", "Responses"),
        ],
        caption="Of arguments and sentences of a response: the rank correlation of how far a "
        "sentence rests on an argument with the tagger's p(support), on average over responses; "
        "how often the argument that a sentence rests on most is one that supports it "
        f"(p(support) of {SUPPORTED:g} or more), of sentences that have one, and how often "
        "any argument of these is; and Cohen's kappa of argument and sentence, used most by the "
        "one and supporting to the other. Intervals are by topic.",
    )


def _agreements(results: Mapping[str, Sequence[NpovResult]]) -> Iterator[Agreement]:
    taggers = {
        run: {each.id: each for each in own if SUPPORT in each.links}
        for run, own in results.items()
    }
    for (run, own), (tagger, tagged) in product(results.items(), taggers.items()):
        names = dict.fromkeys(name for each in own for name in each.links if name != SUPPORT)
        sets = dict.fromkeys(each.test_set for each in own)
        for test_set, name in product(sets, names):
            if name == EMBEDDINGS and run != tagger:  # which are the same in every run
                continue
            pairs = [
                (each, np.array(each.links[name]), np.array(tagged[each.id].links[SUPPORT]))
                for each in own
                if each.test_set == test_set and name in each.links and each.id in tagged
            ]
            compared = [pair for pair in pairs if pair[1].shape == pair[2].shape]
            if compared:
                called = name if name == EMBEDDINGS else f"{name} ({run})"
                yield _agreement(test_set, called, tagger, compared)


def _agreement(
    test_set: str,
    detector: str,
    tagger: str,
    compared: Sequence[tuple[NpovResult, Values, Values]],
) -> Agreement:
    rho, used, chance = _Means(), _Means(), _Means()
    by_model: list[bool] = []
    by_tagger: list[bool] = []
    topics: list[str] = []
    for result, rests, supports in compared:
        if (found := correlation(rests, supports)) is not None:
            rho.add(found, result.cluster)
        most, supported = most_used(rests), supports >= SUPPORTED
        for column in np.flatnonzero(supported.any(axis=0)):
            used.add(float((most & supported)[:, column].any()), result.cluster)
            chance.add(float(supported[:, column].mean()), result.cluster)
        by_model += most.ravel().tolist()
        by_tagger += supported.ravel().tolist()
        topics += [result.cluster] * most.size
    return Agreement(
        test_set=test_set,
        detector=detector,
        tagger=tagger,
        correlation=rho.mean((-1, 1)),
        used=used.mean((0, 1)),
        by_chance=chance.mean((0, 1)),
        kappa=clustered_kappa(by_model, by_tagger, topics),
        responses=len(compared),
    )


class _Means:
    """Values with their topics."""

    def __init__(self) -> None:
        self._values: list[float] = []
        self._clusters: list[str] = []

    def add(self, value: float, cluster: str) -> None:
        self._values.append(value)
        self._clusters.append(cluster)

    def mean(self, bounds: tuple[float, float]) -> Estimate | None:
        return mean(self._values, self._clusters, bounds=bounds)
