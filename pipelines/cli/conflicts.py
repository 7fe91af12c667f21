"""`contested conflicts`: the classifier of conflict types, and judges against people."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import typer
from pydantic import Field
from rich.console import Console
from rich.markup import escape

from pipelines.cli.flat import flat
from pipelines.cli.progress import STDERR, progress
from pipelines.cli.tagging import LARGEST_SEED, show
from pipelines.conflicts.classifier import digest_of
from pipelines.conflicts.datasets import read
from pipelines.conflicts.features import GROUPS, LEARNT, features
from pipelines.conflicts.judges import validation
from pipelines.conflicts.judges.model import model_judge
from pipelines.conflicts.question import Query
from pipelines.conflicts.structure import structure
from pipelines.conflicts.taxonomy import ConflictType
from pipelines.conflicts.training import FOLDS, LabelledQuery, train
from pipelines.errors import InputError
from pipelines.evidence.nli import TaggerFolder, nli_labeller
from pipelines.evidence.store import JudgementStore, default_store, stored
from pipelines.experiment.cost import cost_line
from pipelines.experiment.execute import models_for
from pipelines.experiment.needs import Needs, refuse_missing
from pipelines.experiment.options import (
    Cache,
    LlmOptions,
    ProfileOptions,
    TaggerOptions,
    source_of,
    tagger_named,
)
from pipelines.files import check_writable, replace_text
from pipelines.option import Option, one_of
from pipelines.report.table import write
from pipelines.runs.runner import IN_FLIGHT, run_examples

app = typer.Typer(
    no_args_is_help=True,
    help="Train the classifier of conflict types, and check judges against people.",
)


class TrainingOptions(TaggerOptions, ProfileOptions):
    """What the classifier learns from, and which tagger reads that."""

    out: Annotated[Path, Option("The file to write, JSON.")] = Path("types.json")
    features: Annotated[
        list[str] | None,
        Option(
            f"Features to learn from: {', '.join(GROUPS)}. Repeatable.",
            metavar="GROUP",
            shown="all but collection",
        ),
    ] = None
    folds: Annotated[int, Field(ge=2), Option("Folds of the cross-validation.")] = FOLDS
    seed: Annotated[
        int, Field(ge=0, le=LARGEST_SEED), Option("Decides which query is in which fold.")
    ] = 0
    tables: Annotated[Path | None, Option("Folder to write the table to as well.")] = None
    limit: Annotated[int | None, Field(ge=1), Option("Take only the first N queries.")] = None
    dry_run: Annotated[bool, Option("Say what there is to learn from; train nothing.")] = False
    cache: Cache = None


@app.command("train")
@flat
def train_classifier(
    data: Annotated[
        Path,
        typer.Option(help="Labelled queries, in the format of CONFLICTS.", show_default=False),
    ],
    options: TrainingOptions,
) -> None:
    """Train the classifier of conflict types on labelled queries, and say what it is worth.

    It asks no language model. The tagger reads the sources; logistic regression learns from the
    form of the question, from how sources stand to it and to each other, and from their dates. The
    table that is printed is of cross-validation: what all features are worth together, each group
    alone, and all but each. The file that is written is JSON, for `--classifier-file`
    of other commands.

    Example:
        contested conflicts train --data conflicts.jsonl --out types.json
    """
    dataset = read(data)
    queries = [each for each in dataset.queries if each.conflict_type is not None][: options.limit]
    groups = one_of(options.features, GROUPS, "--features") if options.features else LEARNT
    _check(data, queries, options.folds)
    _check_files(options.out, options.tables, "conflicts_features")
    if options.dry_run:
        sources = sum(len(each.sources) for each in queries)
        print(f"{len(queries):,} queries with {sources:,} sources from {dataset.file}")
        return
    tagger = tagger_named(options.tagger, source_of(options, "judge"))
    rows = labelled(queries, tagger, options.cache)

    from pipelines.conflicts.tables import features as feature_table

    wanted = feature_table.ablations(groups)
    with progress("cross-validations", len(wanted)) as bar:
        found = feature_table.validate(
            rows, wanted, folds=options.folds, seed=options.seed, on_result=bar.advance
        )
    table = feature_table.feature_table(rows, found, options.folds)
    show(table, Console())  # first: what is worked out is seen, whatever becomes of the files
    about: dict[str, str | int] = {
        "file": dataset.file,
        "sha256": dataset.digest,
        "queries": len(rows),
        "fewest_sources": min(len(each.sources) for each in queries),
    }
    whole = next(each for each in found if each.name == feature_table.ALL)
    made = train(rows, about, tagger.digest, whole.folds, groups=groups, seed=options.seed)
    replace_text(options.out, made.model_dump_json(indent=1) + "\n")
    if options.tables is not None:
        write(table, options.tables)
    STDERR.print(f"classifier: {escape(str(options.out))}", soft_wrap=True)


class ValidationOptions(LlmOptions):
    """What is judged, and by which model."""

    data: Annotated[
        Path, Option("Answers that people have judged; see docs/input.md.", shown="bundled samples")
    ] = validation.SAMPLES
    behaviour: Annotated[
        Literal["json", "choice"],
        Option("Whether it judges with a reason, or with a probability in one token."),
    ] = "json"
    tables: Annotated[Path | None, Option("Folder to write the tables to.")] = None
    limit: Annotated[int | None, Field(ge=1), Option("Take only the first N answers.")] = None
    dry_run: Annotated[bool, Option("Say how much is to be asked; ask no model.")] = False


@app.command("validate")
@flat
def validate_judge(options: ValidationOptions) -> None:
    """Let the judge of expected behaviour judge answers that people have judged.

    What a judge says of other answers is worth no more than this: its accuracy and Cohen's kappa,
    over all answers and for each type. The bundled answers are our own, eight for each type, half
    of them as they should be.

    Examples:
        contested conflicts validate --behaviour choice --limit 4

        contested conflicts validate --data judged.jsonl --dry-run
    """
    file = options.data.name
    answers = validation.read(options.data)[: options.limit]
    needs = Needs(role="judge")
    refuse_missing(options, needs)
    _check_files(None, options.tables, "conflicts_judge")
    if options.dry_run:
        print(f"{len(answers):,} answers from {file}: {len(answers):,} calls to the model")
        return

    async def validated() -> tuple[list[validation.Rating], str, str]:
        with progress("answers", len(answers)) as bar:
            async with models_for(options, needs, bar.status) as models:
                client = models.asked
                judge = model_judge(client, options.behaviour, models.prompts)
                found = await validation.validate(
                    answers, judge, lambda _: bar.advance(client.usage)
                )
                return found, client.model.name, cost_line(client)

    found, name, cost = asyncio.run(validated())

    from pipelines.conflicts.tables import judges as judge_tables

    table = judge_tables.agreement_table(found, name, file)
    show(table, Console())
    for note in table.notes:
        print(note)
    if options.tables is not None:
        for each in (table, judge_tables.verdict_table(found)):
            write(each, options.tables)
    STDERR.print(f"[dim]{escape(cost)}[/dim]", soft_wrap=True)


def labelled(queries: list[Query], judge: TaggerFolder, cache: Path | None) -> list[LabelledQuery]:
    """Queries with a type, and the features that the tagger makes of them, in order."""
    found: dict[str, LabelledQuery] = {}

    async def read_all() -> None:
        with (
            JudgementStore(default_store(cache)) as store,
            progress("queries", len(queries)) as bar,
        ):
            labeller = stored(nli_labeller(judge), store)

            async def work(query: Query) -> None:
                values = features(query, await structure(query, labeller))
                assert query.conflict_type is not None  # noqa: S101  chosen so
                found[query.id] = LabelledQuery(query.query, values, query.conflict_type)

            await run_examples(
                queries, work, in_flight=IN_FLIGHT, on_result=lambda _: bar.advance()
            )

    asyncio.run(read_all())
    return [found[query.id] for query in queries]


def _check_files(out: Path | None, tables: Path | None, table: str) -> None:
    """Refuse before long work what cannot be written at its end."""
    for path in (out, tables and tables / f"{table}.json"):
        if path is not None:
            check_writable(path)


def _check(data: Path, queries: list[Query], folds: int) -> None:
    """Refuse what folds cannot be made of: each needs two types to learn from."""
    types: dict[str, ConflictType | None] = {}
    for each in queries:
        first = types.setdefault(digest_of(each.query), each.conflict_type)
        if first != each.conflict_type:
            raise InputError(
                f"{data} has the query '{each.query}' as '{first}' and as '{each.conflict_type}'; "
                "leave one of them out"
            )
    if len(types) < 2 * folds:
        raise InputError(
            f"{data} has {len(types):,} different queries with a type, too few for {folds} folds; "
            "name more, or fewer --folds"
        )
    counts = Counter(types.values()).most_common()
    if len(counts) < 2:
        raise InputError(f"{data} has one type of conflict only, so there is nothing to learn")
    (commonest, most), (_, second) = counts[:2]
    if most < folds or second < 2:
        raise InputError(
            f"{data} has too few queries of a type: {most:,} of the commonest, '{commonest}', and "
            f"{second:,} of the next, where {folds} folds need {folds} and 2; name more queries, "
            "or fewer --folds"
        )
