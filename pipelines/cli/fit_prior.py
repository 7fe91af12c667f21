"""`contested fit-prior`: how a language model's label probabilities are best corrected."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field
from rich.console import Console
from rich.markup import escape

from nli.pairs import read_pairs
from pipelines.cli.flat import flat
from pipelines.cli.progress import STDERR, progress
from pipelines.cli.tagging import Seed, drawn, show
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.evidence.estimated import content_free_pairs, judged_pairs, raw_identity
from pipelines.evidence.judgement import Judgement
from pipelines.evidence.label_order import reversed_labels
from pipelines.evidence.labeller import ClaimAndDocument
from pipelines.evidence.llm import LlmLabeller, llm_labeller
from pipelines.evidence.nli import RELATION_OF
from pipelines.evidence.priors import FittedPrior, HeldOut, digest_of
from pipelines.evidence.store import stored
from pipelines.experiment.execute import models_for
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import LlmOptions
from pipelines.files import check_writable, replace_text
from pipelines.option import Option
from pipelines.report.table import Column, Measure, Table

Judged = Mapping[tuple[str, str], Judgement]

ORDER_PAIRS = 100
"""Most pairs that are asked once more with the labels in reverse order."""


class FitPriorOptions(LlmOptions):
    """Which pairs a correction is fitted on, and where it goes."""

    pairs: Annotated[Path, Option("File of labelled pairs, as of `contested nli pairs`.")]
    out: Annotated[Path, Option("File of the correction, for `--prior`.")] = Path("prior.json")
    method: Annotated[
        Literal["best", "none", "batch", "batch-mean", "contextual", "bias", "matrix"],
        Option(
            "What to keep; `best` is the simplest that makes held-out labels about as likely as "
            "any. See docs/labellers.md."
        ),
    ] = "best"
    limit: Annotated[int | None, Field(ge=1), Option("Take N of the pairs, drawn at random.")] = (
        None
    )
    seed: Seed = 42


@dataclass(frozen=True)
class Asked:
    """What the model said, by claim and document id, of what could be judged and read.

    Attributes:
        given: Of the labelled pairs.
        turned: Of some of them, with the labels in reverse order; None where the prompt has no
            list of labels to turn.
        content_free: Of texts without content.
        labeller: Whose probabilities they are.
        name, model, prompt: The model's name, and digests of model and prompt.
    """

    given: Judged
    turned: Judged | None
    content_free: Judged
    labeller: str
    name: str
    model: str
    prompt: str


@flat
def fit_prior(options: FitPriorOptions) -> None:
    """Learn from labelled pairs which labels a language model favours, and how to correct it.

    Every correction is measured by cross-validation, in which a group (or a claim, where pairs
    name no group) is never on both sides. What is kept is for runs that ask the same model by the
    same prompt: `--prior prior.json`.

    Example:
        contested fit-prior --pairs labelled.jsonl --out prior.json
    """
    from pipelines.evidence.fitted_priors import best, fits, held_out

    check_writable(options.out)
    rows = drawn(read_pairs(options.pairs), options.limit, options.seed)
    texts = {
        row.premise: Document(id=str(place), text=row.premise) for place, row in enumerate(rows)
    }
    asked = asyncio.run(_ask(options, [(row.hypothesis, texts[row.premise]) for row in rows]))
    known = [
        (row, judgement.probabilities)
        for row in rows
        if (judgement := asked.given.get((row.hypothesis, texts[row.premise].id)))
        and judgement.probabilities
    ]
    if not known:
        raise InputError(f"no pair of {options.pairs} could be judged; are they too long?")
    shares, gold = [share for _, share in known], [RELATION_OF[row.label] for row, _ in known]
    groups = [row.group or row.hypothesis for row, _ in known]
    blank = [each.probabilities for each in asked.content_free.values() if each.probabilities]
    ways = fits(blank)
    found = held_out(shares, gold, groups, ways, seed=options.seed)
    method = best(found, len(set(groups))) if options.method == "best" else options.method
    if method not in ways:
        raise InputError("no text without content could be judged; take another --method")
    correction = ways[method](shares, gold).learned(
        len(blank) if method == "contextual" else len(known),
        digest_of((row.hypothesis, row.premise, row.label) for row, _ in known),
        asked.labeller,
    )
    kept = FittedPrior(
        correction=correction,
        held_out=tuple(found),
        name=asked.name,
        model=asked.model,
        prompt=asked.prompt,
        pairs=options.pairs.name,
    )
    replace_text(options.out, kept.model_dump_json(indent=2) + "\n")
    show(_table(found, options.pairs.name), Console())
    said = [f"kept: {correction.in_words()}", _order(asked)]
    if left_out := len(rows) - len(known):
        said.append(f"{left_out:,} of {len(rows):,} pairs could not be judged and are left out")
    for line in said:
        Console().print(escape(line), soft_wrap=True)
    STDERR.print(f"correction: {escape(str(options.out))}", soft_wrap=True)


async def _ask(options: FitPriorOptions, pairs: Sequence[ClaimAndDocument]) -> Asked:
    """Ask for the pairs, for some of them in another order of labels, and for blank texts."""
    with progress("pairs", len(set(pairs))) as bar:
        async with models_for(options, Needs(role="judge"), bar.status) as models:
            llm = llm_labeller(models.asked, "choice", overrides=models.prompts)

            async def of(asked: LlmLabeller, some: Sequence[ClaimAndDocument]) -> Judged:
                return await judged_pairs(stored(asked, models.store), some)

            given = await judged_pairs(
                stored(llm, models.store), pairs, lambda: bar.advance(models.asked.usage)
            )
            turned = reversed_labels(llm.prompt)
            return Asked(
                given,
                await of(replace(llm, prompt=turned), pairs[:ORDER_PAIRS]) if turned else None,
                await of(llm, content_free_pairs()),
                raw_identity(llm),
                llm.client.model.name,
                llm.client.model.digest,
                llm.prompt.digest,
            )


def _table(found: Sequence[HeldOut], pairs: str) -> Table:
    return Table.of(
        found,
        name="label-priors",
        title=f"Corrections of label probabilities, by pairs of {pairs} that were held out",
        columns=(
            Column[HeldOut]("method", "Correction"),
            Measure[HeldOut]("log_likelihood", "Log-likelihood"),
            Measure[HeldOut]("accuracy", "Accuracy"),
        ),
    )


def _order(asked: Asked) -> str:
    """Whether the label hangs on the order in which the prompt names labels."""
    if asked.turned is None:
        return "the prompt lists no labels, so that their order cannot be reversed"
    both = [
        (asked.given[pair].relation, other.relation)
        for pair, other in asked.turned.items()
        if pair in asked.given
    ]
    same = sum(one is other for one, other in both)
    return f"labels asked in reversed order agree on {same:,} of {len(both):,} pairs"
