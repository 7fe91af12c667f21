"""Agreement between a judge and people, and among people, as tables and on the HTML page."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pipelines.annotation.sample import (
    FOLDER,
    UNREADABLE,
    Labels,
    Sample,
    Subject,
    people,
    read,
    strata_of,
    subjects,
)
from pipelines.errors import InputError
from pipelines.experiment.experiment import Experiment
from pipelines.experiment.publish import Runs
from pipelines.metrics.agreement import nominal_alpha, stratified_kappa, stratified_share
from pipelines.metrics.estimate import Estimate, share
from pipelines.metrics.rates import confusion
from pipelines.report.explorer import Part
from pipelines.report.table import Column, Measure, Table
from pipelines.runs.folder import RunFolder


@dataclass(frozen=True)
class Ratings:
    """One person's labels of a sample, with the judge's.

    The figures are estimates for all items of the run: a stratum is weighted by its share of the
    run, not of the sample. They are None until every stratum has a labelled item.
    """

    subject: Subject
    sample: Sample
    annotator: str
    given: Mapping[str, str]

    @property
    def title(self) -> str:
        """Entry and kind of the labels: "conflictscore.relation"."""
        return self.subject.path.name

    @cached_property
    def strata(self) -> dict[str, list[str]]:
        """The items of each stratum, by stratum name."""
        return strata_of(self.subject, self.sample.by)

    def judge(self, item: str) -> str:
        """The judge's label, or "unreadable"."""
        return self.subject.items[item].label or UNREADABLE

    @property
    def accuracy(self) -> Estimate | None:
        """Estimated share of items on which the judge agrees with this person."""
        return self._share(lambda item: self.judge(item) == self.given[item])

    @property
    def always(self) -> tuple[str, Estimate] | tuple[None, None]:
        """The constant label with the highest agreement, and its agreement."""
        shares = {
            label: estimate
            for label in self.subject.labelling.labels
            if (estimate := self._given(label)) is not None
        }
        return max(shares.items(), key=lambda pair: pair[1].value, default=(None, None))

    @cached_property
    def kappa(self) -> Estimate | None:
        """Cohen's kappa of the person and the judge."""
        pairs = {
            name: [(self.given[item], self.judge(item)) for item in items if item in self.given]
            for name, items in self.strata.items()
        }
        if not all(pairs.values()):
            return None
        return stratified_kappa(pairs, {name: len(items) for name, items in self.strata.items()})

    def _given(self, label: str) -> Estimate | None:
        return self._share(lambda item: self.given[item] == label)

    def _share(self, holds: Callable[[str], bool]) -> Estimate | None:
        return stratified_share(
            [
                ([holds(item) for item in items if item in self.given], len(items))
                for items in self.strata.values()
            ]
        )


def all_ratings(found: Sequence[Subject]) -> list[Ratings]:
    """Everyone's labels of the samples in a folder; people without labels are skipped.

    Raises:
        InputError: A sample or a label file is damaged, or belongs to other results.
    """
    return [
        Ratings(subject, sample, name, given)
        for subject in found
        if (sample := read(subject)) is not None
        for name in people(subject)
        if (given := Labels(subject, sample.items, name).given)
    ]


def all_tables(every: Sequence[Ratings]) -> list[Table]:
    """Tables of the judge's agreement with each person, confusions, and agreement among people."""
    judged = [ratings for ratings in every if ratings.subject.judged]
    return [
        *([agreement_table(judged)] if judged else []),
        *map(confusion_table, judged),
        *([people_table(every)] if several(every) else []),
    ]


def agreement_table(every: Sequence[Ratings]) -> Table:
    """Agreement of the judge with each person."""
    return Table.of(
        every,
        name="annotation_agreement",
        title="Agreement with the judge",
        columns=[
            Column("labels", "Labels", lambda ratings: ratings.title),
            Column("annotator", "Annotator"),
            Column("labelled", "Labelled", lambda ratings: len(ratings.given)),
            Column("items", "Of", lambda ratings: len(ratings.subject.items)),
            Measure("accuracy", "Accuracy"),
            Measure("kappa", "Kappa"),
            Column("always", "Best single label", lambda ratings: ratings.always[0]),
            Measure("always_accuracy", "Its accuracy", lambda ratings: ratings.always[1]),
        ],
        notes=(
            "Estimates for the whole run: each stratum of the sample is weighted by its share of "
            "the run. In brackets: 95 % intervals, Price and Bonett's (2004) for accuracy, a "
            "bootstrap within strata for Cohen's kappa; neither covers the person's own mistakes. "
            "Where the judge's reply is unreadable, it agrees with nobody.",
        ),
    )


def confusion_table(ratings: Ratings) -> Table:
    """Confusion counts of the labelled items: the person's label by row, the judge's by column."""
    labels = (*ratings.subject.labelling.labels, UNREADABLE)
    items = list(ratings.given)
    counts = confusion(list(ratings.given.values()), list(map(ratings.judge, items)), labels)
    rows = dict(zip(labels, counts, strict=True))

    def count(place: int) -> Column[str]:
        return Column(labels[place], labels[place], lambda label: rows[label][place])

    return Table.of(
        labels[:-1],
        name=f"annotation_confusion-{ratings.title}-{ratings.annotator}",
        title=f"{ratings.title}: {ratings.annotator} down, the judge across",
        columns=[Column("label", "Label", lambda label: label), *map(count, range(len(labels)))],
        notes=("Counts in the sample; the run may have labels in other proportions.",),
    )


def several(every: Sequence[Ratings]) -> list[list[Ratings]]:
    """The ratings of every sample that more than one person labelled."""
    by_sample: dict[str, list[Ratings]] = defaultdict(list)
    for ratings in every:
        by_sample[ratings.title].append(ratings)
    return [group for group in by_sample.values() if len(group) > 1]


def people_table(every: Sequence[Ratings]) -> Table:
    """Agreement among people."""

    def units(group: Sequence[Ratings]) -> list[list[str]]:
        items = group[0].sample.items
        labels = [[person.given[i] for person in group if i in person.given] for i in items]
        return [unit for unit in labels if len(unit) > 1]

    return Table.of(
        several(every),
        name="annotation_people",
        title="Agreement among people",
        columns=[
            Column("labels", "Labels", lambda group: group[0].title),
            Column("annotators", "Annotators", lambda group: ", ".join(p.annotator for p in group)),
            Column("both", "Labelled by several", lambda group: len(units(group))),
            Measure(
                "agree", "All agree", lambda group: share([len({*u}) == 1 for u in units(group)])
            ),
            Measure("alpha", "Krippendorff's alpha", lambda group: nominal_alpha(units(group))),
        ],
        notes=("Over the sample as drawn, without weights.",),
    )


TITLE = "Judge and people"


def parts(folder: RunFolder, experiment: Experiment[Any, Any], runs: Runs[Any]) -> Sequence[Part]:
    """The section on human labels of an experiment's page; empty without labels.

    Labels that no longer match the run are left out, and the page says so.
    """
    if not (folder.path / FOLDER).exists():
        return ()
    try:
        ratings = all_ratings(subjects(folder, [(experiment, runs)]))
    except InputError as error:
        return (Part(TITLE, remarks=(f"Human labels are left out: {error}.",)),)
    return (Part(TITLE, tuple(all_tables(ratings))),) if ratings else ()
