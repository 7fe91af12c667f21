"""`contested plant`: conflicts of known truth in a user's own documents."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import Field
from rich.console import Console
from rich.markup import escape

from pipelines.cli.flat import flat
from pipelines.cli.index import SAMPLES
from pipelines.cli.progress import STDERR, progress
from pipelines.cli.tagging import show
from pipelines.conflictscore.planted import rewriting
from pipelines.conflictscore.planted.change import Kind
from pipelines.conflictscore.planted.checking import Checked, check, counts
from pipelines.conflictscore.planted.planting import BY_RULE, KINDS, Pair, pairs
from pipelines.errors import InputError
from pipelines.evidence.examples import write
from pipelines.evidence.settings import JudgeSettings
from pipelines.experiment.cost import spent
from pipelines.experiment.execute import models_for
from pipelines.experiment.needs import Needs, judge_needs, refuse_missing, refuse_unneeded
from pipelines.experiment.options import ServerOptions
from pipelines.files import check_writable
from pipelines.option import Option, one_of
from pipelines.retrieval.chunks import WORDS
from pipelines.retrieval.documents import cut, read_documents
from pipelines.runs.runner import IN_FLIGHT, run_examples
from serving.client import Client

TAGGER = JudgeSettings(labeller="nli")


class PlantOptions(ServerOptions):
    """What is planted, and who checks and rewrites it."""

    out: Annotated[Path, Option("The file to write, JSON Lines.")] = Path("planted.jsonl")
    kinds: Annotated[
        str | None,
        Option(
            f"What is changed, with commas between: {', '.join(KINDS)}. Opinions need --rewrite.",
            metavar="KIND,...",
            shown="all that can be",
        ),
    ] = None
    limit: Annotated[
        int | None,
        Field(ge=1),
        Option("Make at most N pairs of examples, by turns of the kinds.", metavar="N"),
    ] = None
    seed: Annotated[int, Option("Decides everything that is drawn.")] = 0
    words: Annotated[
        int, Field(ge=20), Option("Most words of a passage; documents are cut into such.")
    ] = WORDS
    rewrite: Annotated[
        bool,
        Option(
            "Have a language model put changed sentences in its own words. What does not keep the "
            "changed value stays as the rule has it."
        ),
    ] = False
    keep_unchecked: Annotated[
        bool, Option("Keep plants whose conflict the tagger does not see, marked as such.")
    ] = False
    dry_run: Annotated[bool, Option("Say what could be planted; ask no model.")] = False


@flat
def plant(
    options: PlantOptions,
    documents: Annotated[
        list[Path] | None,
        typer.Option(
            help="Files and folders: Markdown, text, JSON Lines; all that follow are taken: "
            "--documents notes report.txt",
            show_default="bundled documents",
        ),
    ] = None,
    more: Annotated[list[Path] | None, typer.Argument(hidden=True)] = None,
) -> None:
    """Plant conflicts in documents of your own, to measure who notices them.

    Takes sentences that state a fact, and makes of each a pair of examples: the passage beside a
    copy with the fact changed, which contradicts it, and the passage beside a document that does
    not. The tagger checks that the conflict can be seen; what it does not see is left out, or kept
    and marked. `contested run planted` measures labellers, or answers of yours, on the file.

    Examples:
        contested plant --documents guide.txt study.txt leaflet.txt --out planted.jsonl

        contested plant --kinds numbers,dates --limit 20 --keep-unchecked

        contested run planted --data planted.jsonl --labeller nli
    """
    kinds = _kinds(options)
    inputs = [*(documents or []), *(more or [])] or [SAMPLES]
    if options.out.resolve() in {path.resolve() for path in inputs}:
        raise InputError(f"--out {options.out} is a file that is read; name another")
    passages = cut(read_documents(inputs), words=options.words, overlap=0)
    made = pairs(passages, kinds, seed=options.seed, limit=options.limit)
    if not made:
        raise InputError(
            f"no fact was found in {len(passages):,} passages that {', '.join(kinds)} could "
            "change, with another document or fact to set beside it; name more documents, or "
            "other --kinds"
        )
    needs = judge_needs(
        options,
        TAGGER,
        role="generator",
        asks=options.rewrite,
        unasked="a run without --rewrite, which asks no language model",
    )
    refuse_unneeded(options, needs)
    refuse_missing(options, needs)
    if options.dry_run:
        _forecast(made, len(passages), rewrite=options.rewrite)
        return
    check_writable(options.out)
    checked, cost = asyncio.run(_checked(made, options, needs))
    keep = options.keep_unchecked
    taken = [each for each in checked if each.took or keep]
    if not taken:
        raise InputError(
            f"the tagger sees none of {len(made):,} planted conflicts, so nothing is written; "
            "--keep-unchecked keeps them"
        )
    examples = [
        example
        for each in taken
        for example in each.pair.examples(checked=each.took, seed=options.seed)
    ]
    write(options.out, examples)
    table = counts(checked, keep=keep)
    show(table, Console())
    if lost := len(made) - len(checked):
        STDERR.print(f"{lost:,} opinions of which the model wrote no opposite are left out")
    STDERR.print(f"[dim]{escape(cost)}[/dim]", soft_wrap=True)
    STDERR.print(
        f"{len(examples):,} examples, half of them with a conflict: {escape(str(options.out))}",
        soft_wrap=True,
    )


def _kinds(options: PlantOptions) -> tuple[Kind, ...]:
    """The kinds that are wanted; InputError for one that there is not, or cannot be had."""
    if options.kinds is None:
        return KINDS if options.rewrite else BY_RULE
    given = [each.strip() for each in options.kinds.split(",")]
    kinds = one_of(given, KINDS, "--kinds")
    if "opinions" in kinds and not options.rewrite:
        raise InputError(
            "--kinds opinions needs a language model, which writes the opposite one; "
            "add --rewrite, or leave opinions out"
        )
    return kinds


def _forecast(made: Sequence[Pair], passages: int, *, rewrite: bool) -> None:
    by_kind = Counter(each.kind for each in made)
    told = ", ".join(f"{number:,} of {kind}" for kind, number in by_kind.items())
    print(f"{passages:,} passages; {len(made):,} pairs could be planted: {told}")
    print(f"{2 * len(made):,} pairs of claim and passage for the tagger to check")
    if rewrite:
        print(f"{len(made):,} calls to the language model")


async def _checked(
    made: Sequence[Pair], options: PlantOptions, needs: Needs
) -> tuple[list[Checked], str]:
    """The pairs, rewritten where that is wanted, as the tagger sees them; and what that cost.

    What was judged and answered is kept, so that the same command resumes it.
    """
    with progress("plants", len(made)) as bar:
        async with models_for(options, needs, bar.status) as models:
            found, judge = {}, models.judge(TAGGER)
            asked = rewriting.load(options.prompts) if options.rewrite else None

            async def one(pair: Pair) -> None:
                written: Pair | None = pair
                if asked is not None:
                    written = await rewriting.rewritten(pair, models.asked, asked)
                if written is not None:
                    found[pair.id] = await check(written, judge.labeller)

            await run_examples(
                made, one, in_flight=_in_flight(models.client), on_result=lambda _: bar.advance()
            )
            ordered = [found[each.id] for each in made if each.id in found]
            return ordered, spent(models.client, judge)


def _in_flight(client: Client | None) -> int:
    return max(client.concurrency, IN_FLIGHT) if client else IN_FLIGHT
