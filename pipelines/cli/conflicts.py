"""`contested conflicts`: what predicted types of conflict are worth."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from pydantic import Field
from rich.console import Console

from pipelines.cli.flat import flat
from pipelines.cli.progress import progress
from pipelines.cli.tagging import LARGEST_SEED, show
from pipelines.conflicts import further as further_queries
from pipelines.conflicts import measuring
from pipelines.conflicts.aside import set_aside
from pipelines.conflicts.combination import FOLDS
from pipelines.conflicts.datasets import read
from pipelines.conflicts.question import Query
from pipelines.conflicts.result import QueryResult
from pipelines.conflicts.signals import Read, read_evidence, read_question
from pipelines.conflicts.writer import BY_CHOICE
from pipelines.data.released import read_records
from pipelines.errors import InputError
from pipelines.evidence.nli import TaggerFolder, nli_labeller
from pipelines.evidence.store import JudgementStore, default_store, stored
from pipelines.experiment.options import (
    Cache,
    ProfileOptions,
    TaggerOptions,
    device_of,
    source_of,
    tagger_named,
)
from pipelines.files import check_writable, replace_text
from pipelines.option import Option, refuse_given
from pipelines.report.table import write
from pipelines.retrieval.dense import Embedder, default_embedder
from pipelines.runs.folder import RunFolder
from pipelines.runs.runner import IN_FLIGHT, run_examples

app = typer.Typer(
    no_args_is_help=True,
    help="Measure what predicted types of conflict are worth.",
)
app.callback()(lambda: None)  # keeps `measure` a subcommand while it is the only one


class MeasuringOptions(TaggerOptions, ProfileOptions):
    """What is measured, and by which models the sources are read."""

    types: Annotated[
        Path | None,
        Option(
            "The results of `contested run conflicts --classifier choice` on the same queries, "
            "`conflicts.NAME.jsonl`; the model's probabilities are measured, and combined.",
            metavar="FILE",
        ),
    ] = None
    correction: Annotated[
        Path | None,
        Option(
            "File to write the best correction of the model's types to, for `contested run "
            "conflicts --prior`; it is learned from the queries that are not set aside.",
            metavar="FILE",
        ),
    ] = None
    aside: Annotated[
        bool, Option("Measure on the third that is set aside, once all is decided.", name="--aside")
    ] = False
    ramdocs: Annotated[
        Path | None,
        Option("RAMDocs: learn from its training half as well.", metavar="FILE"),
    ] = None
    wikicontradict: Annotated[
        Path | None,
        Option("WikiContradict: learn from its training half as well.", metavar="FILE"),
    ] = None
    question_alone: Annotated[
        bool, Option("Read no source: learn from the question alone.", name="--question-alone")
    ] = False
    embedder: Annotated[
        Path | None,
        Option("Embedding model.", shown="all-MiniLM-L6-v2, where its package is installed"),
    ] = None
    seed: Annotated[
        int, Field(ge=0, le=LARGEST_SEED), Option("Decides which query is in which fold.")
    ] = 0
    tables: Annotated[Path | None, Option("Folder to write the table to as well.")] = None
    limit: Annotated[int | None, Field(ge=1), Option("Take only the first N queries.")] = None
    dry_run: Annotated[bool, Option("Say what there is to measure; read nothing.")] = False
    cache: Cache = None


@app.command("measure")
@flat
def measure_types(
    data: Annotated[
        Path,
        typer.Option(help="Labelled queries, in the format of CONFLICTS.", show_default=False),
    ],
    options: MeasuringOptions,
) -> None:
    """Say what types are worth that are told from the evidence, from a model, or from both.

    No language model is asked. A small logistic regression learns from what the tagger says of the
    sources, from dates, numbers and embeddings, and with --types from a language model's
    probabilities. All that is chosen is chosen in inner folds; a third of the queries is set aside.

    Examples:
        contested conflicts measure --data conflicts.jsonl --question-alone

        contested conflicts measure --data conflicts.jsonl --types out/conflicts.types.jsonl --aside
    """
    if options.question_alone:
        needless = ("tagger", "cache", "ramdocs", "wikicontradict")
        refuse_given(options, needless, "--question-alone, which reads no source")
    if options.correction is not None and options.types is None:
        raise InputError("--correction is of a model's types; name its results by --types")
    dataset = read(data)
    queries = [each for each in dataset.queries if each.conflict_type is not None][: options.limit]
    chances = None if options.types is None else _chances(options.types, queries)
    _check_files(options.tables, "conflicts_measured")
    asked = None
    if options.correction is not None and options.types is not None:
        check_writable(options.correction)
        asked = _asked(options.types)
    path = options.embedder or default_embedder()
    if path is None:
        raise InputError("there is no embedding model; name the folder of one by --embedder")
    embedder = Embedder(path, device=device_of("embedder", source_of(options, "judge")))
    embedder.digest  # noqa: B018  refuses what is no model
    tagger = tagger_named(options.tagger, source_of(options, "judge"))
    kept = sum(set_aside(each.query) for each in queries)
    further = []
    if options.ramdocs:
        further += further_queries.from_ramdocs(options.ramdocs)
    if options.wikicontradict:
        further += further_queries.from_wikicontradict(options.wikicontradict)
    if options.dry_run:
        print(f"{len(queries):,} queries from {dataset.file}, {kept:,} of them set aside")
        if further:
            print(f"{len(further):,} further queries to learn from")
        return
    wanted = [each for each in queries if options.aside or not set_aside(each.query)]
    reads = (
        [read_question(each, embedder) for each in wanted]
        if options.question_alone
        else _evidence([*wanted, *further], tagger, embedder, options.cache)
    )
    labelled = [
        measuring.Labelled(query, query.conflict_type, read, (chances or {}).get(query.query))
        for query, read in zip([*wanted, *further], reads, strict=True)
        if query.conflict_type is not None
    ]
    rows, more = labelled[: len(wanted)], labelled[len(wanted) :]

    from pipelines.conflicts.tables.measured import measured_table

    sources = not options.question_alone
    methods = (2 if chances else 1) * (2 if sources else 1) + bool(more)
    trainings = methods * (1 if options.aside else FOLDS)
    with progress("trainings", trainings) as bar:
        found = measuring.measure(
            rows,
            sources=sources,
            further=more,
            aside=options.aside,
            seed=options.seed,
            on_fold=bar.advance,
        )
    table = measured_table(rows, found)
    show(table, Console())
    for note in table.notes:
        print(note)
    if options.tables is not None:
        write(table, options.tables)
    if options.correction is not None and asked is not None:
        fitted = measuring.correction_of(rows, seed=options.seed).model_copy(
            update={**asked._asdict(), "pairs": dataset.file}
        )
        replace_text(options.correction, fitted.model_dump_json(indent=2) + "\n")
        print(f"correction of {asked.name}: {fitted.correction.in_words()}")


class Asked(NamedTuple):
    """Which model gave types, and by which prompt: its name, and digests."""

    name: str
    model: str
    prompt: str


def _asked(types: Path) -> Asked:
    """Whose types a file of results has, from the `run.json` beside it."""
    entry = RunFolder(types.parent).about().get("pipelines", {}).get(types.stem)
    try:
        config = entry["config"]
        return Asked(
            config["model"]["name"],
            config["model"]["digest"],
            config["prompts"][f"conflicts/{BY_CHOICE}"],
        )
    except (KeyError, TypeError) as error:
        raise InputError(
            f"{types.parent} has no run.json that says which model gave {types.name}; name the "
            "results in their run folder"
        ) from error


def _chances(path: Path, queries: Sequence[Query]) -> dict[str, measuring.Chances]:
    """The language model's probabilities of every query, from the results of a run."""
    found = measuring.chances_of(read_records(path, QueryResult, "CONFLICTS results"))
    missing = [each for each in queries if each.query not in found]
    if missing:
        raise InputError(
            f"{path} has no probabilities for {len(missing):,} of {len(queries):,} queries, "
            f"'{missing[0].query}' among them; run them all with --classifier choice"
        )
    return found


def _evidence(
    queries: Sequence[Query], judge: TaggerFolder, embedder: Embedder, cache: Path | None
) -> list[Read]:
    """What is read of the queries' evidence, in order."""
    found: dict[str, Read] = {}

    async def read_all() -> None:
        with (
            JudgementStore(default_store(cache)) as store,
            progress("queries", len(queries)) as bar,
        ):
            labeller = stored(nli_labeller(judge), store)

            async def work(query: Query) -> None:
                found[query.id] = await read_evidence(query, labeller, embedder)

            await run_examples(
                queries, work, in_flight=IN_FLIGHT, on_result=lambda _: bar.advance()
            )

    asyncio.run(read_all())
    return [found[query.id] for query in queries]


def _check_files(folder: Path | None, table: str) -> None:
    """Refuse before long work what cannot be written at its end."""
    if folder is not None:
        check_writable(folder / f"{table}.json")
