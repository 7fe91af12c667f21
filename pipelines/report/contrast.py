"""Whether a tagger gets all of the pairs right that differ in one text and in their labels."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, NamedTuple

from nli.pairs import LabelledPair
from pipelines.metrics.estimate import Estimate, proportion
from pipelines.report.table import Column, Measure, Table
from pipelines.report.tagger import ALL, Predictions

Kept = Literal["hypothesis", "premise"]

_SETS: dict[Kept, str] = {
    "hypothesis": "one claim, several texts",
    "premise": "one text, several claims",
}


class ContrastSets(NamedTuple):
    """Of one source, sets of pairs that share a text and differ in their labels.

    Attributes:
        kept: The text that the pairs of a set share: revisions of a sentence share the claim.
        right: Set by set, whether each of its pairs is labelled right.
    """

    source: str
    kept: Kept
    right: Sequence[Sequence[bool]]

    @property
    def pairs(self) -> list[bool]:
        """Whether each pair of all sets is right."""
        return [one for own in self.right for one in own]


def contrast_sets(predictions: Predictions, kept: Kept) -> list[ContrastSets]:
    """The sets of all sources together, then of each by name; none where there are none.

    A set is all pairs of a source that share the text, where they have two labels or more.
    """
    found: dict[tuple[str, str], list[tuple[LabelledPair, bool]]] = defaultdict(list)
    for pair, right in zip(predictions.pairs, predictions.correct, strict=True):
        found[pair.source, getattr(pair, kept)].append((pair, right))
    by_source: dict[str, list[list[bool]]] = defaultdict(list)
    for (source, _), own in sorted(found.items()):
        if len({pair.label for pair, _ in own}) > 1:
            by_source[source].append([right for _, right in own])
    everything = [own for each in by_source.values() for own in each]
    rows = [(ALL, everything), *by_source.items()] if len(by_source) > 1 else by_source.items()
    return [ContrastSets(source, kept, sets) for source, sets in rows]


def consistency(sets: ContrastSets) -> Estimate | None:
    """Share of sets with every pair right: contrast consistency (Gardner et al. 2020)."""
    return proportion(sum(map(all, sets.right)), len(sets.right))


def contrast_table(predictions: Predictions) -> Table | None:
    """A row per source and kind of set; None where no two pairs share a text but not the label."""
    rows = [row for kept in _SETS for row in contrast_sets(predictions, kept)]
    if not rows:
        return None
    return Table.of(
        rows,
        name="tagger-contrast",
        title="Tagger on minimal pairs",
        columns=[
            Column("source", "Source", lambda own: own.source),
            Column("sets_of", "Sets of", lambda own: _SETS[own.kept]),
            Column("sets", "Sets", lambda own: len(own.right)),
            Column("pairs", "Pairs", lambda own: len(own.pairs)),
            Measure("accuracy", "Accuracy", lambda own: proportion(sum(own.pairs), len(own.pairs))),
            Measure("all_right", "All right", consistency),
        ],
        notes=(
            "Pairs of one source that share a text and differ in their labels, as revisions of a "
            "sentence do beside one claim. A tagger that gives all pairs of a set the same label "
            "gets no set right. Intervals (95 %): Wilson.",
        ),
    )
