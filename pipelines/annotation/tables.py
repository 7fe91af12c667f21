"""Tables of how far a judge agrees with people, and of what people would have found."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from pipelines.annotation.agreement import Figure, Ratings, ratings
from pipelines.annotation.sample import UNREADABLE
from pipelines.annotation.subject import FOLDER, subjects
from pipelines.errors import InputError
from pipelines.experiment.experiment import Experiment
from pipelines.experiment.publish import Runs
from pipelines.metrics.agreement import cohen_kappa, nominal_alpha
from pipelines.metrics.estimate import Estimate, share
from pipelines.report.explorer import Part
from pipelines.report.table import Column, Measure, Table
from pipelines.runs.folder import RunFolder


def all_tables(every: Sequence[Ratings]) -> list[Table]:
    """Estimates first, then what they rest on."""
    return [
        *([score_table(every)] if any(own.scores for own in every) else []),
        estimate_table(every),
        agreement_table(every),
        *map(confusion_table, every),
        *([people_table(every)] if several(every) else []),
    ]


class Row(NamedTuple):
    """A figure of the run that a person's labels correct."""

    ratings: Ratings
    name: str
    figure: Figure


def _columns(title: str) -> list[Column[Row]]:
    """What every such figure has, named by the title."""
    return [
        Column("labels", "Labels", lambda row: row.ratings.title),
        Column("annotator", "Annotator", lambda row: row.ratings.annotator),
        Column(title.lower(), title, lambda row: row.name),
        Measure("judge", "By the judge", lambda row: row.figure.judge),
        Measure("alone", "By the person's labels", lambda row: row.figure.alone),
        Measure("corrected", "Corrected", lambda row: row.figure.corrected),
        Column("lambda", "Lambda", lambda row: row.figure.trust),
    ]


def score_table(every: Sequence[Ratings]) -> Table:
    """The run's scores: by the judge, by people alone, and corrected."""
    return Table.of(
        [Row(own, each.title, own.score(each)) for own in every for each in own.scores],
        name="annotation_scores",
        title="Scores, corrected by people",
        caption="Over all claims of the run.",
        columns=[
            *_columns("Score"),
            Column("claims", "Claims labelled", lambda row: row.ratings.units[0]),
            Column("of", "Of", lambda row: row.ratings.units[1]),
        ],
        notes=(
            "Corrected as the shares of labels are. CS-C and CS-R are means over responses, so a "
            "claim counts less, the more claims its response has. A claim counts once all its "
            "documents are labelled.",
            "What the judge left unreadable is neither support nor contradiction here.",
        ),
    )


def estimate_table(every: Sequence[Ratings]) -> Table:
    """The run's shares of each label: by the judge, by people alone, and corrected."""
    return Table.of(
        [
            Row(own, label, own.share(label))
            for own in every
            for label in own.subject.labelling.labels
        ],
        name="annotation_estimates",
        title="Shares of labels, corrected by people",
        caption="Over everything that the judge labelled in the run.",
        columns=[
            *_columns("Label"),
            Column("labelled", "Labelled", lambda row: len(row.ratings.given)),
            Column("items", "Of", lambda row: len(row.ratings.subject.items)),
        ],
        notes=(
            "Corrected: what this person would find, by prediction-powered inference (PPI++) from "
            "their labels and the judge's probabilities, or labels, of everything. Lambda says how "
            "far it goes by the judge: 0 is by the person's labels alone.",
            "In brackets 95 % intervals, those of Price and Bonett (2004) over the strata of the "
            "sample; they know nothing of the person's own mistakes. That of the judge's share "
            "(Wilson) knows nothing of the judge's.",
        ),
    )


def agreement_table(every: Sequence[Ratings]) -> Table:
    """How far the judge says what people say."""
    return Table.of(
        every,
        name="annotation_agreement",
        title="Agreement of the judge",
        columns=[
            Column("labels", "Labels", lambda own: own.title),
            Column("annotator", "Annotator"),
            Column("labelled", "Labelled", lambda own: len(own.given)),
            Column("items", "Of", lambda own: len(own.subject.items)),
            Measure("accuracy", "Accuracy", lambda own: own.accuracy),
            Measure("kappa", "Kappa", lambda own: own.kappa),
            Column("always", "Best single label", lambda own: own.always[0]),
            Measure("always_accuracy", "Its accuracy", lambda own: own.always[1]),
        ],
        notes=(
            "Over everything in the run: each stratum of the sample counts by its share of the "
            "run. Kappa is Cohen's, its interval a bootstrap within strata. What the judge left "
            "unreadable agrees with nobody.",
        ),
    )


def confusion_table(own: Ratings) -> Table:
    """The labelled items: the person's label down, the judge's across."""
    labels = (*own.subject.labelling.labels, UNREADABLE)
    counts = dict(zip(labels, own.confusion(), strict=True))

    def count(place: int) -> Column[str]:
        return Column(labels[place], labels[place], lambda label: counts[label][place])

    return Table.of(
        labels[:-1],
        name=f"annotation_confusion-{own.title}-{own.annotator}",
        title=f"{own.title}: {own.annotator} down, the judge across",
        columns=[Column("label", "Label", lambda label: label), *map(count, range(len(labels)))],
        notes=("Counts of the sample, which need not have labels in the run's shares.",),
    )


def several(every: Sequence[Ratings]) -> list[list[Ratings]]:
    """The ratings of each sample that more than one person labelled."""
    found: dict[str, list[Ratings]] = defaultdict(list)
    for own in every:
        found[own.title].append(own)
    return [own for own in found.values() if len(own) > 1]


def people_table(every: Sequence[Ratings]) -> Table:
    """How far people agree with each other."""

    def units(own: Sequence[Ratings]) -> list[list[str]]:
        items = own[0].sample.items
        both = [[each.given[item] for each in own if item in each.given] for item in items]
        return [unit for unit in both if len(unit) > 1]

    def kappa(own: Sequence[Ratings]) -> Estimate | None:
        pairs = units(own)
        if len(own) > 2 or not pairs:
            return None
        return cohen_kappa([one for one, _ in pairs], [other for _, other in pairs])

    return Table.of(
        several(every),
        name="annotation_people",
        title="Agreement of people",
        columns=[
            Column("labels", "Labels", lambda own: own[0].title),
            Column("annotators", "Annotators", lambda own: ", ".join(e.annotator for e in own)),
            Column("both", "Labelled by several", lambda own: len(units(own))),
            Measure("agree", "All agree", lambda own: share([len({*u}) == 1 for u in units(own)])),
            Measure("kappa", "Kappa of two", kappa),
            Measure("alpha", "Krippendorff's alpha", lambda own: nominal_alpha(units(own))),
        ],
        notes=("Over the sample as it was drawn.",),
    )


TITLE = "Judge and people"


def parts(folder: RunFolder, experiment: Experiment[Any, Any], runs: Runs[Any]) -> Sequence[Part]:
    """What people's labels of an experiment come to, as a part of its page; none without any.

    Labels that no longer belong to the run keep nobody from the rest of the page: it says so.
    """
    if not (folder.path / FOLDER).exists():
        return ()
    try:
        found = ratings(subjects(folder, [(experiment, runs)]))
    except InputError as error:
        return (Part(TITLE, remarks=(f"What people labelled is left out: {error}.",)),)
    return (Part(TITLE, tuple(all_tables(found))),) if found else ()
