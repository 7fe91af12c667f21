"""`contested conflicts`: the classifier of conflict types, and judges against people."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.markup import escape

from pipelines.cli import options
from pipelines.cli.conflicts_options import one_of
from pipelines.cli.progress import STDERR, Shown, cost_line, progress
from pipelines.cli.tagging import LARGEST_SEED, show
from pipelines.conflicts.classifier import digest_of
from pipelines.conflicts.evaluation.datasets import read
from pipelines.conflicts.features import GROUPS, LEARNT, features
from pipelines.conflicts.judges import validation
from pipelines.conflicts.judges.behaviour import behaviour_judge
from pipelines.conflicts.question import Query
from pipelines.conflicts.structure import structure
from pipelines.conflicts.taxonomy import ConflictType
from pipelines.conflicts.training import FOLDS, Labelled, train
from pipelines.conflictscore.settings import Settings
from pipelines.errors import InputError
from pipelines.evidence.nli import TaggerFolder, nli_labeller
from pipelines.evidence.store import JudgementStore, default_store, stored
from pipelines.files import check_writable, replace_text
from pipelines.report.table import write
from pipelines.runs.runner import IN_FLIGHT_UNSERVED, run_examples
from serving.connect import connect

app = typer.Typer(
    no_args_is_help=True,
    help="Train the classifier of conflict types, and check judges against people.",
)


@app.command("train")
def train_classifier(
    data: Annotated[
        Path, typer.Option(help="Labelled queries, in the format of CONFLICTS.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="The file to write, JSON.")] = Path("types.json"),
    features_of: Annotated[
        list[str] | None,
        typer.Option(
            "--features",
            metavar="GROUP",
            help=f"Features to learn from: {', '.join(GROUPS)}. Repeatable.",
            show_default="all but collection",
        ),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = FOLDS,
    seed: Annotated[
        int,
        typer.Option(min=0, max=LARGEST_SEED, help="Decides which query is in which fold."),
    ] = 0,
    tables: Annotated[
        Path | None, typer.Option(help="Folder to write the table to as well.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Take only the first N queries.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what there is to learn from; train nothing.")
    ] = False,
    tagger: options.Tagger = None,
    profile: options.Profile = None,
    models_dir: options.ModelsDir = None,
    cache: options.Cache = None,
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
    queries = [each for each in dataset.queries if each.conflict_type is not None][:limit]
    groups = one_of(features_of, GROUPS, "--features") if features_of else LEARNT
    _check(data, queries, folds)
    check_writable(out)
    if tables is not None:
        check_writable(tables / "conflicts_features.json")
    if dry_run:
        sources = sum(len(each.sources) for each in queries)
        print(f"{len(queries):,} queries with {sources:,} sources from {dataset.file}")
        return
    source = options.source(
        "generator", profile=profile, model=None, models_dir=models_dir, endpoint=None, strict=False
    )
    judge = options.tagger(tagger, Settings(labeller="nli"), source)
    assert judge is not None  # noqa: S101  asked for by name
    rows = labelled(queries, judge, cache)

    from pipelines.conflicts.evaluation import feature_table  # noqa: PLC0415  (report)

    wanted = feature_table.ablations(groups)
    with progress("cross-validations", len(wanted)) as shown:
        found = feature_table.validate(
            rows, wanted, folds=folds, seed=seed, on_result=shown.advance
        )
    table = feature_table.feature_table(rows, found, folds)
    show(table, Console())  # first: what is worked out is seen, whatever becomes of the files
    about: dict[str, str | int] = {
        "file": dataset.file,
        "sha256": dataset.digest,
        "queries": len(rows),
        "fewest_sources": min(len(each.sources) for each in queries),
    }
    whole = next(each for each in found if each.name == feature_table.ALL)
    made = train(rows, about, judge.digest, whole.folds, groups=groups, seed=seed)
    replace_text(out, made.model_dump_json(indent=1) + "\n")
    if tables is not None:
        write(table, tables)
    STDERR.print(f"classifier: {escape(str(out))}", soft_wrap=True)


@app.command("validate")
def validate_judge(
    data: Annotated[
        Path | None,
        typer.Option(
            help="Answers that people have judged; see docs/input.md.",
            show_default="bundled samples",
        ),
    ] = None,
    behaviour: Annotated[
        Literal["json", "choice"],
        typer.Option(help="Whether it judges with a reason, or with a probability in one token."),
    ] = "json",
    tables: Annotated[Path | None, typer.Option(help="Folder to write the tables to.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Take only the first N answers.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say how much is to be asked; ask no model.")
    ] = False,
    prompts: options.Prompts = None,
    profile: options.Profile = None,
    model: options.ModelName = None,
    models_dir: options.ModelsDir = None,
    endpoint: options.Endpoint = None,
    strict: options.Strict = False,
    cache: options.Cache = None,
) -> None:
    """Let the judge of expected behaviour judge answers that people have judged.

    What a judge says of other answers is worth no more than this: its accuracy and Cohen's kappa,
    over all answers and for each type. The bundled answers are our own, eight for each type, half
    of them as they should be.

    Examples:
        contested conflicts validate --behaviour choice --limit 4

        contested conflicts validate --data judged.jsonl --dry-run
    """
    path = data or validation.SAMPLES
    answers = validation.read(path)[:limit]
    source = options.source(
        "judge",
        profile=profile,
        model=model,
        models_dir=models_dir,
        endpoint=endpoint,
        strict=strict,
    )
    if tables is not None:
        check_writable(tables / "conflicts_judge.json")
    if dry_run:
        print(f"{len(answers):,} answers from {path.name}: {len(answers):,} calls to the model")
        return

    async def rated(shown: Shown) -> tuple[list[validation.Rated], str, str]:
        async with connect(source, cache=cache, on_status=shown.status) as client:
            by = behaviour_judge(client, behaviour, prompts)
            found = await validation.validate(answers, by, lambda _: shown.advance(client.usage))
            shown.status("")
            return found, client.model.name, cost_line(client)

    with progress("answers", len(answers)) as shown:
        found, name, cost = asyncio.run(rated(shown))

    from pipelines.conflicts.evaluation.judge_tables import (  # noqa: PLC0415  (report)
        agreement_table,
        verdict_table,
    )

    table = agreement_table(validation.agreement(found), name, path.name)
    show(table, Console())
    for note in table.notes:
        print(note)
    if tables is not None:
        for each in (table, verdict_table(found)):
            write(each, tables)
    STDERR.print(f"[dim]{escape(cost)}[/dim]", soft_wrap=True)


def labelled(
    queries: list[Query], judge: TaggerFolder, cache: Path | None = None
) -> list[Labelled]:
    """Queries with the features that the tagger makes of them, in order.

    Args:
        queries: Each with a type.
        judge: The tagger.
        cache: See `default_store`.

    Raises:
        PairError: A question does not fit the tagger.
    """
    found: dict[str, Labelled] = {}

    async def read_all() -> None:
        with (
            JudgementStore(default_store(cache)) as store,
            progress("queries", len(queries)) as shown,
        ):
            labeller = stored(nli_labeller(judge), store)

            async def work(query: Query) -> None:
                values = features(query, await structure(query, labeller))
                assert query.conflict_type is not None  # noqa: S101  chosen so
                found[query.id] = Labelled(query.query, values, query.conflict_type)

            await run_examples(
                queries,
                work,
                in_flight=IN_FLIGHT_UNSERVED,
                on_result=lambda _: shown.advance(),
            )

    asyncio.run(read_all())
    return [found[query.id] for query in queries]


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
