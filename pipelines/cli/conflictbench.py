"""`contested conflictbench`: examples of Conflict Detection from released data sets."""

import asyncio
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Printed

from pipelines.cli import options
from pipelines.cli.progress import STDERR, cost_line
from pipelines.conflictscore.detection import bench
from pipelines.conflictscore.detection.claims import Made, claim_prompt, claims_by_model
from pipelines.conflictscore.detection.posed import Asked
from pipelines.data.released import Part
from pipelines.errors import InputError
from pipelines.evidence.examples import write
from pipelines.report.table import Table, shown
from serving.connect import Source, connect

app = typer.Typer(
    no_args_is_help=True,
    help="Build ConflictBench, the data of Conflict Detection, from the files of its sources.",
)

RELEASES = "Released files"


@app.callback()
def group() -> None:
    """Keep `build` a subcommand while it is the only one."""


@app.command("build")
def build(
    out: Annotated[Path, typer.Option(help="The file to write, JSON Lines.")] = Path("bench.jsonl"),
    ambigdocs: Annotated[
        Path | None, typer.Option(help="test.json of AmbigDocs.", rich_help_panel=RELEASES)
    ] = None,
    contraqa: Annotated[
        Path | None, typer.Option(help="queries.json of ContraQA.", rich_help_panel=RELEASES)
    ] = None,
    contraqa_corpus: Annotated[
        Path | None,
        typer.Option(help="corpus.json of its noisy corpus.", rich_help_panel=RELEASES),
    ] = None,
    macnoise_nq: Annotated[
        Path | None,
        typer.Option(help="A file of MacNoise on Natural Questions.", rich_help_panel=RELEASES),
    ] = None,
    macnoise_tqa: Annotated[
        Path | None, typer.Option(help="A file of MacNoise on TriviaQA.", rich_help_panel=RELEASES)
    ] = None,
    conflictingqa: Annotated[
        Path | None,
        typer.Option(help="ConflictingQA as JSON Lines.", rich_help_panel=RELEASES),
    ] = None,
    ramdocs: Annotated[
        Path | None, typer.Option(help="RAMDocs_test.jsonl.", rich_help_panel=RELEASES)
    ] = None,
    conflictqa: Annotated[
        Path | None, typer.Option(help="A file of ConflictQA.", rich_help_panel=RELEASES)
    ] = None,
    climate_fever: Annotated[
        Path | None, typer.Option(help="climate-fever.jsonl.", rich_help_panel=RELEASES)
    ] = None,
    half: Annotated[
        Part,
        typer.Option(
            help="Which half of the questions. Nothing is trained or tuned on the test halves."
        ),
    ] = "test",
    seed: Annotated[int, typer.Option(help="Decides the random documents.")] = 0,
    questions: Annotated[
        int | None,
        typer.Option(min=3, help="Take at most N questions of each source, drawn by the seed."),
    ] = None,
    claims_by: Annotated[
        Literal["rules", "llm"],
        typer.Option(help="Who puts question and answer as a claim."),
    ] = "rules",
    prompts: options.Prompts = None,
    profile: options.Profile = None,
    model: options.ModelName = None,
    models_dir: options.ModelsDir = None,
    endpoint: options.Endpoint = None,
    strict: options.Strict = False,
    cache: options.Cache = None,
    concurrency: options.Concurrency = None,
) -> None:
    """Write the examples of Conflict Detection that released files give, and count them.

    Examples:
        contested conflictbench build --ramdocs RAMDocs_test.jsonl --out bench.jsonl

        contested conflictbench build --ramdocs RAMDocs_test.jsonl --half train --out train.jsonl
    """
    if (contraqa is None) != (contraqa_corpus is None):
        raise InputError("--contraqa and --contraqa-corpus go together; name both")
    named = {
        "ambigdocs": [ambigdocs],
        "contraqa": [contraqa, contraqa_corpus],
        "macnoise-nq": [macnoise_nq],
        "macnoise-tqa": [macnoise_tqa],
        "conflictingqa": [conflictingqa],
        "ramdocs": [ramdocs],
        "conflictqa": [conflictqa],
        "climate-fever": [climate_fever],
    }
    files = {
        name: [path for path in paths if path is not None]
        for name, paths in named.items()
        if paths[0] is not None
    }
    given = {
        "--model": model, "--endpoint": endpoint, "--strict": strict, "--prompts": prompts,
        "--concurrency": concurrency, "--profile": profile, "--models-dir": models_dir,
        "--cache": cache,
    }  # fmt: skip
    if claims_by == "rules" and (idle := [name for name, value in given.items() if value]):
        raise InputError(f"{idle[0]} has no effect with --claims-by rules; leave it away")
    posed = bench.pose(files)
    claims: dict[Asked, str] = {}
    if claims_by == "llm":
        source = options.source(
            "judge",
            profile=profile,
            model=model,
            models_dir=models_dir,
            endpoint=endpoint,
            strict=strict,
        )
        asked = bench.asked(posed, half, seed, questions)
        made = asyncio.run(_claims(asked, source, prompts, cache, concurrency))
        claims = made.claims
        STDERR.print(f"{len(claims):,} claims by the model, {made.refused:,} by rules")
    examples = bench.build(posed, part=half, seed=seed, questions=questions, claims=claims)
    write(out, examples)
    _print(bench.counts(examples))
    STDERR.print(f"{len(examples):,} examples: {escape(str(out))}", soft_wrap=True)


async def _claims(
    asked: list[Asked],
    source: Source,
    prompts: Path | None,
    cache: Path | None,
    concurrency: int | None,
) -> Made:
    prompt = claim_prompt(prompts)
    with STDERR.status("") as status:
        async with connect(
            source, cache=cache, concurrency=concurrency, on_status=status.update
        ) as client:
            status.update("claims")
            made = await claims_by_model(asked, client, prompt)
            STDERR.print(f"[dim]{escape(cost_line(client))}[/dim]", soft_wrap=True)
            return made


def _print(table: Table) -> None:
    printed = Printed(box=None, pad_edge=False)
    for place, column in enumerate(table.columns):
        printed.add_column(column.title, justify="left" if place < 2 else "right")
    for row in (*table.rows, *table.quoted):
        printed.add_row(*(escape(shown(cell)) for cell in row))
    Console().print(printed)
