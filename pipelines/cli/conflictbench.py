"""`contested lab conflictbench`: examples of Conflict Detection from released data sets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

from pydantic import Field

from pipelines.cli.flat import flat
from pipelines.conflictscore.settings import BENCH_AS_IN_PAPER
from pipelines.data.released import Part
from pipelines.experiment.options import AsInPaper, LlmOptions
from pipelines.option import Option, WithPresets, listed, named, refuse_given, told

if TYPE_CHECKING:
    from pipelines.conflictscore.detection.questions import QuestionAnswer

RELEASES: Final = {
    "ambigdocs": "test.json",
    "contraqa": "queries.json, then corpus.json of its noisy corpus",
    "macnoise-nq": "a file of MacNoise on Natural Questions",
    "macnoise-tqa": "a file of MacNoise on TriviaQA",
    "conflictingqa": "JSON Lines",
    "ramdocs": "RAMDocs_test.jsonl",
    "conflictqa": "a file of ConflictQA",
    "climate-fever": "climate-fever.jsonl",
    "wikicontradict": "wiki_contradict_refined.jsonl",
}
"""Sources -> their released files."""


class BenchOptions(WithPresets, LlmOptions):
    """What is built, and who writes the claims."""

    PRESETS: ClassVar = {"as_in_paper": BENCH_AS_IN_PAPER}

    as_in_paper: AsInPaper = False
    out: Annotated[Path, Option("The file to write, JSON Lines.")] = Path("bench.jsonl")
    release: Annotated[
        list[str] | None,
        Option(f"A released file of a source. Repeatable. {listed(RELEASES)}", metavar="NAME=FILE"),
    ] = None
    half: Annotated[
        Part | None,
        Option(
            "Which half of the questions. Test halves are never used for training or tuning.",
            shown="test of ramdocs, conflictqa, climate-fever and wikicontradict, else all",
        ),
    ] = None
    seed: Annotated[int, Option("Seed of the random documents.")] = 0
    questions: Annotated[
        int | None,
        Field(ge=3),
        Option("Take at most N random questions of a source."),
    ] = None
    claims_by: Annotated[
        Literal["rules", "model"], Option("How to turn a question and its answer into a claim.")
    ] = "rules"


@flat
def conflictbench(options: BenchOptions) -> None:
    """Build examples of Conflict Detection from released files, and count them.

    Examples:
        contested lab conflictbench --release ramdocs=RAMDocs_test.jsonl --out bench.jsonl

        contested lab conflictbench --release ramdocs=RAMDocs_test.jsonl --half train
    """
    import asyncio

    from pipelines.conflictscore.detection import bench
    from pipelines.judge.examples import write
    from pipelines.report.progress import say, show

    say(told(options))
    if options.claims_by == "rules":
        refuse_given(options, tuple(LlmOptions.model_fields), "--claims-by rules")
    files: dict[str, list[Path]] = {}
    for name, path in named(options.release or (), "--release", RELEASES, "NAME=FILE"):
        files.setdefault(name, []).append(Path(path))
    questions = bench.read(files)
    claims: dict[QuestionAnswer, str] = {}
    if options.claims_by == "model":
        asked = bench.asked(questions, options.half, options.seed, options.questions)
        claims = asyncio.run(_claims(asked, options))
        say(f"{len(claims):,} claims by the model, {len(asked) - len(claims):,} by rules")
    examples = bench.build(
        questions, part=options.half, seed=options.seed, most=options.questions, claims=claims
    )
    write(options.out, examples)
    halves = ", ".join(f"{bench.part_of(name, options.half)} of {name}" for name in questions)
    say(f"halves: {halves}; claims by {options.claims_by}")
    show(bench.counts(examples))
    say(f"{len(examples):,} examples: {options.out}")


async def _claims(
    asked: "list[QuestionAnswer]", options: LlmOptions
) -> "dict[QuestionAnswer, str]":
    from pipelines.conflictscore.detection import bench
    from pipelines.experiment.cost import cost_line
    from pipelines.experiment.execute import models_for
    from pipelines.experiment.needs import Needs
    from pipelines.report.progress import say, waiting

    prompt = bench.claim_prompt(options.prompts)
    with waiting() as tell:
        async with models_for(options, Needs(role="judge"), tell) as models:
            tell("claims")
            made = await bench.claims_by_model(asked, models.asked, prompt)
            say(cost_line(models.asked), "dim")
            return made
