"""`contested debate`: one question, one agent for each document, round by round."""

from pathlib import Path
from typing import Annotated

import typer

from pipelines.cli.flat import flat
from pipelines.cli.inspection import PageOptions, inspect
from pipelines.cli.score import read_documents
from pipelines.inspection.debate import PanelOptions, debate_needs, debate_settings
from pipelines.inspection.debate import debate as debate_one
from pipelines.inspection.found import one_line_of
from pipelines.madam_rag.data import GivenDocument, Question


class DebatePageOptions(PanelOptions, PageOptions):
    """How a question is debated, and how the result is printed."""


@flat
def debate(
    question: Annotated[str, typer.Argument(help="What is asked.")],
    documents: Annotated[
        list[Path],
        typer.Option(
            help="Text files with the documents, one agent for each; all that follow are taken: "
            "--documents a.txt b.txt c.txt"
        ),
    ],
    options: DebatePageOptions,
    more: Annotated[list[Path] | None, typer.Argument(hidden=True)] = None,
) -> None:
    """Let agents debate a question, one for each document, until nobody changes their answer.

    Every agent answers from its own document; an aggregator brings the answers together, all right
    ones where the question can be meant in several ways; the agents hear of it and answer again.

    Example:
        contested debate "When was the bridge opened?" --documents guide.txt study.txt leaflet.txt
    """
    asked = Question(
        id="question",
        question=one_line_of(question),
        documents=tuple(
            GivenDocument(document=each) for each in read_documents([*documents, *(more or [])])
        ),
    )
    debate_settings(options)  # said before a model is looked for
    inspect(
        options,
        debate_needs(options),
        lambda models, tell: debate_one(asked, options, models, tell),
        as_json=options.as_json,
        html=options.html,
    )
