"""Facts beside people's: precision and recall, and every sentence on the page."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, Literal, NamedTuple

from pipelines.conflictscore.atomic_facts.matching import LEAST_SUPPORT, LEAST_WORDS, Match
from pipelines.conflictscore.atomic_facts.result import FactsResult, Split, Splitter
from pipelines.experiment.publish import Publication, Runs
from pipelines.metrics.clustered_ratio import clustered_ratio
from pipelines.metrics.estimate import Estimate
from pipelines.report import glance
from pipelines.report.blocks import Grid
from pipelines.report.explorer import Example, ExperimentView, Part
from pipelines.report.table import MISSING, Column, Measure, Table
from pipelines.report.texts import Block, Chip, Heading, Items, Trouble
from pipelines.report.views import FAILED, listed

Ruler = Literal["words", "tagger"]

_NAME = "atomic-facts"
_TITLES: Final[Mapping[Splitter, str]] = {
    "ours": "this program",
    "sentence": "the sentence itself",
    "conjunctions": "at conjunctions",
    "release": "the release's model",
}
_RULERS: Final[Mapping[Ruler, str]] = {"words": "content words", "tagger": "tagger, both ways"}


class Splits(NamedTuple):
    """How somebody splits the sentences of a run, and by what facts are the same."""

    by: Splitter
    ruler: Ruler
    results: Sequence[FactsResult]
    splits: Sequence[Split]

    def matches(self, split: Split) -> tuple[Match, ...]:
        """Its pairs with people's facts."""
        return split.words if self.ruler == "words" else split.tagger

    def ratio(self, part: int, wholes: Sequence[int]) -> Estimate | None:
        """So many times the pairs, over the facts of each sentence, clustered by topic."""
        found = [part * len(self.matches(each)) for each in self.splits]
        return clustered_ratio(found, wholes, [each.topic for each in self.results])

    @property
    def ours(self) -> list[int]:
        """Facts of each sentence by the splitter."""
        return [len(each.facts) for each in self.splits]

    @property
    def theirs(self) -> list[int]:
        """Facts of each sentence by people."""
        return [len(each.people) for each in self.results]


def precision(own: Splits) -> Estimate | None:
    """Pairs over the splitter's facts, of all sentences together, in [0, 1]."""
    return own.ratio(1, own.ours)


def recall(own: Splits) -> Estimate | None:
    """Pairs over people's facts, of all sentences together, in [0, 1]."""
    return own.ratio(1, own.theirs)


def f1(own: Splits) -> Estimate | None:
    """Harmonic mean of both: twice the pairs over all facts of splitter and people."""
    return own.ratio(2, [sum(each) for each in zip(own.ours, own.theirs, strict=True)])


def splits_of(results: Sequence[FactsResult]) -> list[Splits]:
    """Each splitter by each ruler, over the sentences that it split."""
    names = dict.fromkeys(split.by for each in results for split in each.splits)
    return [
        Splits(by, ruler, *map(list, zip(*found, strict=True)))
        for ruler in _RULERS
        for by in names
        if (found := [(each, split) for each in results for split in each.splits if split.by == by])
    ]


def fact_table(results: Mapping[str, Sequence[FactsResult]], splitters: Mapping[str, str]) -> Table:
    """Precision and recall of every splitter; `splitters` names the model of each run."""
    rows = [(run, each) for run, own in results.items() for each in splits_of(own)]
    seen: set[tuple[str, Ruler]] = set()
    kept = []
    for run, each in rows:
        name = _TITLES[each.by] + (f", {splitters[run]}" if each.by == "ours" else "")
        if (name, each.ruler) not in seen:  # those without a model are the same in every run
            seen.add((name, each.ruler))
            kept.append((name, run, each))
    return Table.of(
        kept,
        name="atomic_facts",
        title="Facts beside people's",
        caption="Facts matched one to one with those that people see in the same sentence.",
        columns=[
            Column("by", "Split by", lambda row: row[0]),
            Column("ruler", "The same by", lambda row: _RULERS[row[2].ruler]),
            Measure("precision", "Precision", lambda row: precision(row[2])),
            Measure("recall", "Recall", lambda row: recall(row[2])),
            Measure("f1", "F1", lambda row: f1(row[2])),
            Column("facts", "Facts", lambda row: sum(row[2].ours)),
            Column("people", "People's facts", lambda row: sum(row[2].theirs)),
            Column("sentences", "Sentences", lambda row: len(row[2].results)),
            Column("unread", "Not split", lambda row: _lost(results[row[1]], row[2])),
        ],
        notes=(
            "Over all facts; in brackets 95 % intervals of a bootstrap over the people written "
            "about.",
            f"Two facts are the same where their content words have a Dice coefficient of "
            f"{LEAST_WORDS:g}, or where the tagger finds support of {LEAST_SUPPORT:g} both ways. "
            "Both numbers were fixed before anything was measured.",
            "People made their facts from those of the release's model, so that these are near.",
        ),
    )


def _lost(results: Sequence[FactsResult], own: Splits) -> int:
    return len(results) - len(own.results)


def publication(runs: Runs[FactsResult]) -> Publication:
    """Table and view of what a folder has."""
    splitters = {
        run: config.get("splitter", {}).get("name", "") for run, config in runs.configs.items()
    }
    table = fact_table(runs.results, splitters)
    every = [each for own in runs.results.values() for each in own]
    by_words = [each for each in splits_of(every) if each.ruler == "words"]
    figures = [(f"{_TITLES[each.by]}, F1", f1(each)) for each in by_words if each.by == "ours"]
    beside = [(f"{_TITLES[each.by]}, F1", f1(each)) for each in by_words if each.by != "ours"]
    shown = figures or beside
    lost = sum(each.status != "matched" for each in every)
    finding = glance.Finding(
        question="Are the claims that texts are split into the facts that people see?",
        data=glance.data_of(runs.results, runs.configs, "sentence"),
        models=", ".join(dict.fromkeys(name or "no language model" for name in splitters.values())),
        found=f"{glance.with_figures(shown, glance.figure) or MISSING}, by content words.",
        beside=glance.with_figures(beside, glance.figure) if figures else "",
        failed=glance.failed((lost, "sentences whose split could not be read: {}")),
        examples=glance.fewest(each for _, each in shown),
        figures=shown,
        baselines=beside if figures else (),
    )
    view = ExperimentView(
        name=_NAME,
        title="Atomic facts, by people",
        finding=finding,
        parts=(Part("By people", (table,)),),
        runs={run: run for run in runs.results},
        noun=("sentence", "sentences"),
        models=glance.models_used(
            runs.configs.values(), {"splitter": "splits sentences", "tagger": "compares facts"}
        ),
        **listed(runs.results, example),
    )
    return Publication(view, [table])


def example(run: str, result: FactsResult) -> Example:
    """A sentence in the list, with the F1 of our split, or of the sentence itself."""
    first = next((each for each in result.splits if each.by in ("ours", "sentence")), None)
    found = None if first is None else f1(Splits(first.by, "words", [result], [first]))
    failed = (FAILED,) if result.status == "failed" else ()
    return Example(
        id=result.id,
        run=run,
        title=result.sentence,
        status=result.status,
        blocks=partial(_content, result),
        about=(result.topic,),
        chips=(*failed, Chip(f"{len(result.people):,} facts")),
        figures={"F1": None if found is None else found.value},
    )


def _content(result: FactsResult) -> list[Block]:
    made: list[Block] = []
    if result.error:
        made.append(Trouble(result.status.capitalize(), result.error, result.raw))
    made += [Heading("People"), Items(tuple((fact,) for fact in result.people))]
    for split in result.splits:
        words, tagger = (
            {each.ours: result.people[each.people] for each in pairs}
            for pairs in (split.words, split.tagger)
        )
        rows = tuple(
            ((fact,), (words.get(place, MISSING),), (tagger.get(place, MISSING),))
            for place, fact in enumerate(split.facts)
        )
        columns = ("fact", *(f"the same by {name}" for name in _RULERS.values()))
        made += [Heading(_TITLES[split.by]), Grid(_TITLES[split.by], columns, rows)]
    return made
