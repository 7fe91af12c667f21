"""How far a judge agrees with a person, and what a person would have found in the whole run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pipelines.annotation.labels import Labels, people
from pipelines.annotation.sample import UNREADABLE, Sample, read, strata_of
from pipelines.annotation.subject import Subject
from pipelines.metrics.confusion import Counts, confusion
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.ppi import Predicted, power_tuning, ppi_share
from pipelines.metrics.proportion import proportion
from pipelines.metrics.stratified_kappa import stratified_kappa


@dataclass(frozen=True)
class Ratings:
    """What one person said of a sample, beside what the judge says of everything.

    Figures are of all items of the run: each stratum counts by its share of them, however many were
    drawn. They are None until every stratum has a label.
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
    def strata(self) -> dict[str, list[str]]:
        """The items of the run by stratum."""
        return strata_of(self.subject.items, self.sample.by)

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
        pairs = {
            name: [(self.given[item], self.judge(item)) for item in items if item in self.given]
            for name, items in self.strata.items()
        }
        if not all(pairs.values()):
            return None
        return stratified_kappa(pairs, {name: len(own) for name, own in self.strata.items()})

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
        samples = self._predicted(label)
        return power_tuning(samples) if all(each.labels for each in samples) else None

    def _predicted(self, label: str) -> list[Predicted]:
        """Whether a label is given, predicted by the judge's probability, else by its label."""
        items = self.subject.items
        known = all(each.probabilities is not None for each in items.values())

        def prediction(item: str) -> float:
            if known:
                return (items[item].probabilities or {}).get(label, 0.0)
            return float(items[item].label == label)

        return self._samples(lambda item: self.given[item] == label, prediction)

    def _share(self, holds: Callable[[str], bool]) -> Estimate | None:
        return ppi_share(self._samples(holds, lambda _: 0.0), lam=0.0)

    def _samples(
        self, holds: Callable[[str], bool], prediction: Callable[[str], float]
    ) -> list[Predicted]:
        found = []
        for items in self.strata.values():
            labelled = [item for item in items if item in self.given]
            others = [item for item in items if item not in self.given]
            found.append(
                Predicted(
                    [float(holds(item)) for item in labelled],
                    list(map(prediction, labelled)),
                    list(map(prediction, others)),
                )
            )
        return found


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
