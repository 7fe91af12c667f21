"""`contested lab ramdocs`: questions with ambiguity, misinformation and noise, as in RAMDocs."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from pipelines.cli.flat import flat
from pipelines.option import Option, Options, Seed
from pipelines.report.progress import STDERR, say, show


class BuildOptions(Options):
    """What is built, and from what."""

    ambigdocs: Annotated[Path, Option("test.json of AmbigDocs, or another of its splits.")]
    passages: Annotated[
        list[Path] | None,
        Option(
            "Files and folders to search for more support and for noise.",
            shown="AmbigDocs' documents",
        ),
    ] = None
    out: Annotated[Path, Option("The file to write, JSON Lines.")] = Path("ramdocs.jsonl")
    questions: Annotated[int, Field(ge=1), Option("Draw at most N questions.")] = 500
    seed: Seed = 0


@flat
def ramdocs(options: BuildOptions) -> None:
    """Build data like RAMDocs, for `contested run madam-rag`, from AmbigDocs.

    A question keeps one to three right answers, with one to three documents per answer. Up to two
    documents give a wrong answer instead; up to two answer nothing.

    Examples:
        contested lab ramdocs --ambigdocs ambigdocs.json

        contested lab ramdocs --ambigdocs ambigdocs.json --passages notes --questions 2
    """
    from pipelines.madam_rag.build import build_file
    from pipelines.madam_rag.data import statistics
    from pipelines.madam_rag.tables import averages

    with STDERR.status("building"):
        questions = build_file(
            options.ambigdocs,
            options.passages or (),
            options.out,
            most=options.questions,
            seed=options.seed,
        )
    show(averages(statistics(questions), options.out.name))
    if len(questions) < options.questions:
        say(f"only {len(questions):,} of {options.questions:,} questions could be built")
    say(f"{len(questions):,} questions: {options.out}")
