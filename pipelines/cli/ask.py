"""`contested ask`: what a user's documents say of a claim, both sides of it."""

from pathlib import Path
from typing import Annotated

import typer

from pipelines.cli.flat import flat
from pipelines.cli.inspection import PageOptions, inspect
from pipelines.conrag.settings import AnswerOptions
from pipelines.inspection.ask import ask as ask_one
from pipelines.inspection.ask import claim_of, search
from pipelines.inspection.found import one_line_of
from pipelines.option import Option
from pipelines.retrieval.dense import Embedder
from pipelines.retrieval.index import Index


class AskOptions(AnswerOptions, PageOptions):
    """What a user may choose about one query."""

    index: Annotated[Path, Option("The index, from `contested index build`.")] = Path("index")


@flat
def ask(
    query: Annotated[
        str,
        typer.Argument(
            help="A claim or a question. Questions of yes or no are put as claims; others need "
            "--generator model."
        ),
    ],
    options: AskOptions,
) -> None:
    """Say what documents hold for a claim and against it, with every sentence cited.

    Passages are found, tagged as supporting or refuting, and grouped; how evenly the two sides are
    balanced is the conflict score. The tagger that comes with the program is asked unless
    `--judge` says otherwise, and the answer quotes them; then no server is needed.

    Examples:
        contested ask "The Vinland Map is a genuine fifteenth-century map."

        contested ask "Did humans hunt the mammoth to extinction?" --html mammoth.html

        contested ask "When did the last mammoths die?" --generator model --packet 4
    """
    text = one_line_of(query)
    needs = options.needs()
    claim = claim_of(text, options)
    index = Index(options.index, Embedder(options.embedder) if options.embedder else None)
    retrieved = search(index, claim or text, options)
    inspect(
        options,
        needs,
        lambda models, tell: ask_one(
            text, retrieved, options, models, tell, index=str(options.index)
        ),
        as_json=options.as_json,
        html=options.html,
    )
