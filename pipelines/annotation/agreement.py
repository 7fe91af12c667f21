"""How far a judge agrees with a person, and what a person would have found in the whole run."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum

from pipelines.annotation.labels import Labels, people
from pipelines.annotation.sample import UNREADABLE, Sample, read, strata_of
from pipelines.annotation.subject import Subject, Unit
from pipelines.experiment.labelled import WholeScore
from pipelines.metrics.confusion import Counts, confusion
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.ppi import Predicted, power_tuning, ppi_share
from pipelines.metrics.proportion import proportion
from pipelines.metrics.stratified_kappa import stratified_kappa


@dataclass(frozen=True)
class Ratings:
    """What one person said of a sample, beside what the judge says of everything.

    Figures are of all items of the run: each stratum counts by its share of them, however many were
    drawn. They are None until every stratum has a unit that is labelled, with all its items.
    """

    subject: Subject
    sample: Sample
    annotator: str
    given: Mapping[str, str]

    @property
    def title(self) -> str:
        """Which labels of the folder these are: "conflictscore.relation"."""
        return self.subject.path.name

    @cached_property
    def strata(self) -> list[list[Unit]]:
        """What could be drawn, by stratum."""
        units = self.subject.units(self.sample.whole)
        return [[units[name] for name in own] for own in strata_of(units, self.sample.by).values()]

    def labelled(self, unit: Unit) -> bool:
        """Whether all of a unit is labelled."""
        return all(item in self.given for item in unit.items)

    def judge(self, item: str) -> str:
        """The judge's label, or that there is none."""
        return self.subject.items[item].label or UNREADABLE

    def agrees(self, item: str) -> bool:
        """Whether the judge says the same of a labelled item."""
        return self.judge(item) == self.given[item]

    @property
    def accuracy(self) -> Estimate | None:
        """Share of items on which the judge says what this person says, or would say."""
        return self._share(self.agrees)

    @property
    def always(self) -> tuple[str, Estimate] | tuple[None, None]:
        """The label that agrees most where it is given to every item, and how far it does."""
        every = [(label, self.labelled_alone(label)) for label in self.subject.labelling.labels]
        known = [(label, found) for label, found in every if found is not None]
        return max(known, key=lambda each: each[1].value, default=(None, None))

    @cached_property
    def kappa(self) -> Estimate | None:
        """Cohen's kappa of person and judge."""
        pairs, sizes = {}, {}
        for place, units in enumerate(self.strata):
            labelled = [unit.items for unit in units if self.labelled(unit)]
            if not labelled:
                return None
            pairs[str(place)] = [
                [(self.given[item], self.judge(item)) for item in own] for own in labelled
            ]
            sizes[str(place)] = sum(len(unit.items) for unit in units)
        return stratified_kappa(pairs, sizes)

    def confusion(self) -> Counts:
        """The labelled items: a row for each label of the person, a column for each of the judge.

        The last row and column are of what the judge left without a label.
        """
        labels = (*self.subject.labelling.labels, UNREADABLE)
        return confusion(list(self.given.values()), list(map(self.judge, self.given)), labels)

    def by_judge(self, label: str) -> Estimate | None:
        """Share of items that the judge gives a label."""
        every = self.subject.items
        return proportion(sum(self.judge(item) == label for item in every), len(every))

    def labelled_alone(self, label: str) -> Estimate | None:
        """Share of items that this person would give a label, by what they labelled alone."""
        return self._share(lambda item: self.given[item] == label)

    def corrected(self, label: str) -> Estimate | None:
        """That share by their labels and the judge's of all items, by `ppi_share`."""
        return ppi_share(self._predicted(label))

    def trust(self, label: str) -> float | None:
        """The lambda of `corrected`: how far it goes by the judge, in [0, 1]."""
        return _trust(self._predicted(label))

    @property
    def scores(self) -> tuple[WholeScore, ...]:
        """The scores of the run that the sample can correct: those of whole claims."""
        wholes = self.subject.labelling.wholes
        return wholes.scores if wholes is not None and self.sample.whole else ()

    @property
    def claims(self) -> tuple[int, int]:
        """How many units are labelled, and how many the run has."""
        units = [unit for own in self.strata for unit in own]
        return sum(map(self.labelled, units)), len(units)

    def score_by_judge(self, score: WholeScore) -> float:
        """A score of the run by the judge's labels alone."""
        units = [unit for own in self.strata for unit in own]
        weights = list(map(self._weight(score), units))
        values = [w * self._by_judge(score, u) for w, u in zip(weights, units, strict=True)]
        return fsum(values) / fsum(weights)

    def score_alone(self, score: WholeScore) -> Estimate | None:
        """A score of the run by what this person labelled alone."""
        return ppi_share(self._scored(score), lam=0.0)

    def score_corrected(self, score: WholeScore) -> Estimate | None:
        """A score of the run as this person would find it, by `ppi_share`."""
        return ppi_share(self._scored(score))

    def score_trust(self, score: WholeScore) -> float | None:
        """The lambda of `score_corrected`."""
        return _trust(self._scored(score))

    def _scored(self, score: WholeScore) -> list[Predicted]:
        return self._samples(
            lambda unit: score.value([self.given[item] for item in unit.items]),
            lambda unit: self._by_judge(score, unit),
            self._weight(score),
        )

    def _by_judge(self, score: WholeScore, unit: Unit) -> float:
        return score.value([self.subject.items[item].label for item in unit.items])

    def _weight(self, score: WholeScore) -> Callable[[Unit], float]:
        """How much a claim counts: of a mean over responses, by how many its response has."""
        if not score.by_result:
            return lambda _: 1.0
        claims = Counter(unit.result for own in self.strata for unit in own)
        return lambda unit: 1 / claims[unit.result]

    def _predicted(self, label: str) -> list[Predicted]:
        """Whether a label is given, predicted by the judge's probability, else by its label."""
        items = self.subject.items
        known = all(each.probabilities is not None for each in items.values())

        def prediction(item: str) -> float:
            if known:
                return (items[item].probabilities or {}).get(label, 0.0)
            return float(items[item].label == label)

        return self._samples(
            lambda unit: _mean(self.given[item] == label for item in unit.items),
            lambda unit: _mean(map(prediction, unit.items)),
        )

    def _share(self, holds: Callable[[str], bool]) -> Estimate | None:
        """The share of items for which it holds, by what is labelled alone."""
        samples = self._samples(lambda unit: _mean(map(holds, unit.items)), lambda _: 0.0)
        return ppi_share(samples, lam=0.0)

    def _samples(
        self,
        value: Callable[[Unit], float],
        prediction: Callable[[Unit], float],
        weight: Callable[[Unit], float] = lambda unit: len(unit.items),
    ) -> list[Predicted]:
        found = []
        for units in self.strata:
            labelled = [unit for unit in units if self.labelled(unit)]
            others = [unit for unit in units if not self.labelled(unit)]
            found.append(
                Predicted(
                    list(map(value, labelled)),
                    list(map(prediction, labelled)),
                    list(map(prediction, others)),
                    list(map(weight, labelled)),
                    list(map(weight, others)),
                )
            )
        return found


def _trust(samples: Sequence[Predicted]) -> float | None:
    return power_tuning(samples) if all(each.labels for each in samples) else None


def _mean(values: Iterable[float]) -> float:
    every = list(values)
    return fsum(every) / len(every)


def ratings(every: Sequence[Subject]) -> list[Ratings]:
    """Everybody's labels of the samples in a folder; people without any are left out.

    Raises:
        InputError: A sample or a file of labels is damaged, or of other results.
    """
    found = []
    for subject in every:
        sample = read(subject)
        if sample is None:
            continue
        for name in people(subject):
            given = Labels(subject, sample.items, name).given
            if given:
                found.append(Ratings(subject, sample, name, given))
    return found
