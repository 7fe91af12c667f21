"""How far a judge agrees with a person, and what a person would have found in the whole run."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum

from pipelines.annotation.sample import UNREADABLE, Labels, Sample, people, read, strata_of
from pipelines.annotation.subject import Subject, Unit
from pipelines.experiment.labelled import WholeScore
from pipelines.metrics.agreement import stratified_kappa
from pipelines.metrics.estimate import Estimate, proportion
from pipelines.metrics.ppi import Predicted, power_tuning, ppi_share
from pipelines.metrics.rates import Counts, confusion


@dataclass(frozen=True)
class Figure:
    """A figure of the whole run, as three ways find it.

    Attributes:
        judge: By the judge's labels alone.
        samples: What the person labelled of each stratum, and what the judge says there.
    """

    judge: Estimate | None
    samples: Sequence[Predicted]

    @property
    def alone(self) -> Estimate | None:
        """By what the person labelled alone."""
        return ppi_share(self.samples, lam=0.0)

    @property
    def corrected(self) -> Estimate | None:
        """As this person would find it, by their labels and what the judge says of everything."""
        return ppi_share(self.samples)

    @property
    def trust(self) -> float | None:
        """The lambda of `corrected`: how far it goes by the judge, in [0, 1]."""
        known = all(each.labels for each in self.samples)
        return power_tuning(self.samples) if known else None


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
        samples = self._samples(lambda unit: _mean(map(self.agrees, unit.items)), lambda _: 0.0)
        return ppi_share(samples, lam=0.0)

    @property
    def always(self) -> tuple[str, Estimate] | tuple[None, None]:
        """The label that agrees most where it is given to every item, and how far it does."""
        every = [(label, self.share(label).alone) for label in self.subject.labelling.labels]
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

    def share(self, label: str) -> Figure:
        """Share of items that have a label, predicted by its probability, else by the label."""
        items = self.subject.items
        known = all(each.probabilities is not None for each in items.values())

        def prediction(item: str) -> float:
            if known:
                return (items[item].probabilities or {}).get(label, 0.0)
            return float(items[item].label == label)

        samples = self._samples(
            lambda unit: _mean(self.given[item] == label for item in unit.items),
            lambda unit: _mean(map(prediction, unit.items)),
        )
        judge = proportion(sum(self.judge(item) == label for item in items), len(items))
        return Figure(judge, samples)

    @property
    def scores(self) -> tuple[WholeScore, ...]:
        """The scores of the run that the sample can correct: those of whole claims."""
        wholes = self.subject.labelling.wholes
        return wholes.scores if wholes is not None and self.sample.whole else ()

    @property
    def units(self) -> tuple[int, int]:
        """How many units are labelled, and how many the run has."""
        units = [unit for own in self.strata for unit in own]
        return sum(map(self.labelled, units)), len(units)

    def score(self, score: WholeScore) -> Figure:
        """A score of the run, predicted for each claim by the judge's labels.

        Of a mean over responses a claim counts the less, the more of them its response has.
        """
        units = [unit for own in self.strata for unit in own]
        claims = Counter(unit.result for unit in units)

        def weight(unit: Unit) -> float:
            return 1 / claims[unit.result] if score.by_result else 1.0

        def prediction(unit: Unit) -> float:
            return score.value([self.subject.items[item].label for item in unit.items])

        samples = self._samples(
            lambda unit: score.value([self.given[item] for item in unit.items]),
            prediction,
            weight,
        )
        value = fsum(weight(unit) * prediction(unit) for unit in units) / fsum(map(weight, units))
        return Figure(Estimate(value, None, None, len(units)), samples)

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
