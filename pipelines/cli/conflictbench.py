"""`contested conflictbench`: examples of Conflict Detection from released data sets."""

import asyncio
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import typer
from pydantic import Field
from rich.console import Console

from pipelines.cli.flat import flat
from pipelines.cli.progress import STDERR
from pipelines.cli.tagging import show
from pipelines.conflictscore.detection import bench
from pipelines.conflictscore.detection.questions import QuestionAnswer
from pipelines.conflictscore.settings import BENCH_AS_IN_PAPER
from pipelines.data.released import Part
from pipelines.errors import InputError
from pipelines.experiment.cost import cost_line
from pipelines.experiment.execute import models_for
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import AsInPaper, LlmOptions
from pipelines.judge.examples import write
from pipelines.option import Option, Options, WithPresets, refuse_given, told
from pipelines.report.terminal import plain

app = typer.Typer(
    no_args_is_help=True,
    help="Build ConflictBench, the data of Conflict Detection, from the files of its sources.",
)

RELEASES = "Released files"


app.callback()(lambda: None)  # keeps `build` a subcommand while it is the only one


def _release(help_: str) -> Option:
    return Option(help_, panel=RELEASES)


class Releases(Options):
    """The released files, by source."""

    ambigdocs: Annotated[Path | None, _release("test.json of AmbigDocs.")] = None
    contraqa: Annotated[Path | None, _release("queries.json of ContraQA.")] = None
    contraqa_corpus: Annotated[Path | None, _release("corpus.json of its noisy corpus.")] = None
    contraqa_links: Annotated[
        Path | None, _release("q_rel_dev.tsv of its older release, which has links.")
    ] = None
    macnoise_nq: Annotated[Path | None, _release("A file of MacNoise on Natural Questions.")] = None
    macnoise_tqa: Annotated[Path | None, _release("A file of MacNoise on TriviaQA.")] = None
    conflictingqa: Annotated[Path | None, _release("ConflictingQA as JSON Lines.")] = None
    ramdocs: Annotated[Path | None, _release("RAMDocs_test.jsonl.")] = None
    conflictqa: Annotated[Path | None, _release("A file of ConflictQA.")] = None
    climate_fever: Annotated[Path | None, _release("climate-fever.jsonl.")] = None
    wikicontradict: Annotated[Path | None, _release("wiki_contradict_refined.jsonl.")] = None

    def files(self) -> dict[str, list[Path]]:
        """Source -> its files, of those that are named; InputError if ContraQA lacks one of two."""
        if (self.contraqa is None) != (self.contraqa_corpus is None):
            raise InputError("--contraqa and --contraqa-corpus go together; name both")
        if self.contraqa_links is not None and self.contraqa is None:
            raise InputError("--contraqa-links goes with --contraqa; name queries and corpus, too")
        found = {
            name.replace("_", "-"): [path]
            for name, path in self
            if path is not None and name not in {"contraqa_corpus", "contraqa_links"}
        }
        for path in (self.contraqa_corpus, self.contraqa_links):
            if path is not None:
                found["contraqa"].append(path)
        return found


class BenchOptions(WithPresets, LlmOptions):
    """What is built, and who writes its claims."""

    PRESETS: ClassVar = {"as_in_paper": BENCH_AS_IN_PAPER}

    as_in_paper: AsInPaper = False
    out: Annotated[Path, Option("The file to write, JSON Lines.")] = Path("bench.jsonl")
    releases: Releases = Releases()
    half: Annotated[
        Part | None,
        Option(
            "Which half of the questions. Nothing is trained or tuned on the test halves.",
            shown="test of ramdocs, conflictqa, climate-fever and wikicontradict, else all",
        ),
    ] = None
    seed: Annotated[int, Option("Decides the random documents.")] = 0
    questions: Annotated[
        int | None,
        Field(ge=3),
        Option("Take at most N questions of each source, drawn by the seed."),
    ] = None
    claims_by: Annotated[
        Literal["rules", "model"], Option("Who puts question and answer as a claim.")
    ] = "rules"


@app.command("build")
@flat
def build(options: BenchOptions) -> None:
    """Write the examples of Conflict Detection that released files give, and count them.

    Examples:
        contested conflictbench build --ramdocs RAMDocs_test.jsonl --out bench.jsonl

        contested conflictbench build --ramdocs RAMDocs_test.jsonl --half train --out train.jsonl
    """
    if decided := told(options):
        STDERR.print(plain(decided), soft_wrap=True)
    if options.claims_by == "rules":
        refuse_given(options, tuple(LlmOptions.model_fields), "--claims-by rules")
    questions = bench.read(options.releases.files())
    claims: dict[QuestionAnswer, str] = {}
    if options.claims_by == "model":
        asked = bench.asked(questions, options.half, options.seed, options.questions)
        claims = asyncio.run(_claims(asked, options))
        by_rules = len(asked) - len(claims)
        STDERR.print(f"{len(claims):,} claims by the model, {by_rules:,} by rules")
    examples = bench.build(
        questions, part=options.half, seed=options.seed, most=options.questions, claims=claims
    )
    write(options.out, examples)
    halves = ", ".join(f"{bench.part_of(name, options.half)} of {name}" for name in questions)
    made = f"halves: {halves}; claims by {options.claims_by}"
    STDERR.print(made, soft_wrap=True)
    show(bench.counts(examples), Console())
    STDERR.print(f"{len(examples):,} examples: {plain(str(options.out))}", soft_wrap=True)


async def _claims(asked: list[QuestionAnswer], options: LlmOptions) -> dict[QuestionAnswer, str]:
    prompt = bench.claim_prompt(options.prompts)
    with STDERR.status("") as status:
        async with models_for(options, Needs(role="judge"), status.update) as models:
            status.update("claims")
            made = await bench.claims_by_model(asked, models.asked, prompt)
            STDERR.print(f"[dim]{plain(cost_line(models.asked))}[/dim]", soft_wrap=True)
            return made
