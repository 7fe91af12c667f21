"""`contested fit-combination`."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from rich.console import Console
from rich.markup import escape

from nli.labels import LABELS
from nli.pairs import LabelledPair, read_pairs
from pipelines.cli.flat import flat
from pipelines.cli.progress import STDERR, progress
from pipelines.cli.tagging import PairFile, Seed, drawn, show
from pipelines.data.records import Document
from pipelines.evidence.combination import UNFITTED, Combination, Judging
from pipelines.evidence.combined import CombinedLabeller, shares_of
from pipelines.evidence.judge import Judge
from pipelines.evidence.nli import RELATION_OF
from pipelines.evidence.settings import JudgeSettings
from pipelines.experiment.cost import spent
from pipelines.experiment.execute import models_for
from pipelines.experiment.needs import judge_needs, refuse_missing
from pipelines.experiment.options import Overflow, ServerOptions, judging
from pipelines.files import check_writable, replace_text
from pipelines.option import Option
from pipelines.report.table import Table, write
from pipelines.runs.runner import IN_FLIGHT, run_examples

if TYPE_CHECKING:  # numpy
    from pipelines.evidence.combining import Answered

SPARED = 0.8
"""Chosen on held-out pairs of RAMDocs' and ConflictQA's training halves. Up to 0.5 the shipped
tagger spares 37 % of the calls and misses 8 % of what is relevant; up to 0.8, 31 % and 3.5 %."""


class FitOptions(ServerOptions):
    """What is fitted to which pairs, by which judges."""

    pairs: PairFile
    out: Annotated[Path, Option("The file to write, JSON.")] = Path("combination.json")
    spare: Annotated[
        float,
        Field(ge=0.5, le=1),
        Option(
            "Pairs to which the tagger gives a higher probability of irrelevance are not asked of "
            "the model, neither now nor later."
        ),
    ] = SPARED
    tables: Annotated[Path | None, Option("Folder to write the table to as well.")] = None
    limit: Annotated[int | None, Field(ge=1), Option("Take N of the pairs, drawn at random.")] = (
        None
    )
    seed: Seed = 42
    dry_run: Annotated[bool, Option("Say how much there is to ask; ask no model.")] = False
    on_overflow: Overflow = "error"


@flat
def fit_combination(options: FitOptions) -> None:
    """Fit how tagger and language model are combined, by pairs with known labels.

    It is for `--labeller combined --combination FILE`, with this tagger, model and prompt. The
    table shows what it is worth by cross-validation: accuracy, ECE and Brier score of either judge,
    of both unfitted, and fitted. A second call asks only what is not yet judged.

    Example:
        contested fit-combination --pairs own-pairs.jsonl --out combination.json
    """
    rows = drawn(read_pairs(options.pairs), options.limit, options.seed)
    # Uncorrected, as a run with --combination asks: the fit takes back what the model favours.
    settings = judging(
        JudgeSettings(labeller="combined", combination="none", prior="none"), options.on_overflow
    )
    needs = judge_needs(options, settings)
    refuse_missing(options, needs)
    for path in (options.out, options.tables and options.tables / "combination-fit.json"):
        if path is not None:
            check_writable(path)
    if options.dry_run:
        counts = Counter(row.label for row in rows)
        told = ", ".join(f"{counts[label]:,} {label}" for label in LABELS)
        print(f"{len(rows):,} pairs from {options.pairs.name} ({told}) to tag")
        print(f"at most {len(rows):,} calls to the model")
        return

    async def asked() -> "tuple[list[Answered], Judge, str]":
        with progress("pairs", len(rows)) as bar:
            async with models_for(options, needs, bar.status) as models:
                judge, client = models.judge(settings), models.asked
                found = await answered(rows, judge, options.spare, bar.advance)
                return found, judge, spent(client, judge)

    found, judge, cost = asyncio.run(asked())

    from pipelines.evidence.combining import combine

    made, fit, checked = combine(found)
    table = worth(found, options.pairs.name)
    show(table, Console())
    assert judge.llm and judge.tagger  # noqa: S101  both are asked
    kept = made.model_copy(
        update={
            "spared": options.spare,
            "fitted_for": Judging(
                judge.tagger.digest, judge.llm.client.model.digest, judge.llm.prompt.digest
            ),
            "names": (judge.tagger.name, judge.llm.client.model.name),
            "fitted_on": f"{options.pairs.name}: {fit:,} pairs; risk counted on {checked:,} others",
        }
    )
    replace_text(options.out, kept.model_dump_json(indent=1) + "\n")
    if options.tables is not None:
        write(table, options.tables)
    spared = sum(each.model is None for each in found)
    share = f"{spared / len(found):.0%}"
    print(f"{spared:,} of {len(found):,} pairs were not asked of the model ({share})")
    STDERR.print(f"[dim]{escape(cost)}[/dim]", soft_wrap=True)
    STDERR.print(f"combination: {escape(str(options.out))}", soft_wrap=True)


async def answered(
    rows: Sequence[LabelledPair], judge: Judge, spare: float, done: Callable[[], None]
) -> "list[Answered]":
    """What tagger and model say of labelled pairs, in order; `done` is called for each.

    Raises:
        InputError: A hypothesis is too long for the tagger.
        ServingError: No server can be had, or a premise does not fit the context.
    """
    from pipelines.evidence.combining import Answered

    both, llm = judge.labeller, judge.llm
    assert isinstance(both, CombinedLabeller) and llm  # noqa: S101  so are the settings
    spares = Combination(spared=spare).spares
    found: dict[int, Answered] = {}

    async def ask(place: int) -> None:
        row = rows[place]
        claims, documents = [row.hypothesis], [Document(id=f"pair {place}", text=row.premise)]
        (tagged,) = (await both.nli(claims, documents)).judgements
        own, model = shares_of(tagged), None
        if not spares(own):
            (said,) = (await both.llm(claims, documents)).judgements
            model = shares_of(said)
        found[place] = Answered(row, own, model)

    await run_examples(
        range(len(rows)),
        ask,
        in_flight=max(llm.client.concurrency, IN_FLIGHT),
        room=llm.client.room,
        on_result=lambda _: done(),
    )
    return [found[place] for place in range(len(rows))]


def worth(rows: "Sequence[Answered]", data: str) -> Table:
    """Tagger, model and both, unfitted and fitted, on all pairs and on those that were asked."""
    from pipelines.evidence.combining import cross_validated
    from pipelines.report.combination import combination_table
    from pipelines.report.tagger import Named, Predictions

    fitted = [row.shares(own) for row, own in zip(rows, cross_validated(rows), strict=True)]
    series: list[Named] = []
    for kind, places in (
        ("", range(len(rows))),
        (", where asked", [n for n, row in enumerate(rows) if row.model is not None]),
    ):
        own = [rows[n] for n in places]
        judges = {
            "tagger": [row.tagger for row in own],
            "model": [row.model or row.tagger for row in own],
            "both, unfitted": [row.shares(UNFITTED) for row in own],
            "both, fitted": [fitted[n] for n in places],
        }
        for name, shares in judges.items():
            said = [[each[RELATION_OF[label]] for label in LABELS] for each in shares]
            series.append((f"{name}{kind}", Predictions([row.pair for row in own], said)))
    return combination_table(series, data)
