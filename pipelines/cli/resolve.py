"""`contested resolve`: one question, its sources, the type of their conflict, a fitting answer."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from nli.pairs import Pair
from pipelines.cli.ask import one_line_of
from pipelines.cli.flat import flat
from pipelines.cli.progress import STDERR, waiting
from pipelines.cli.terminal import plain
from pipelines.conflicts.dates import written
from pipelines.conflicts.judges.verdicts import Verdicts
from pipelines.conflicts.needs import ClassifierFile, classifier_of, doubts, needs_of, refuse_idle
from pipelines.conflicts.pipeline import CLASSIFIERS, Methods, examine
from pipelines.conflicts.prediction import Prediction
from pipelines.conflicts.question import Query, Source
from pipelines.conflicts.result import Answer, Outcome, QueryResult
from pipelines.conflicts.settings import (
    ANSWERS_PANEL,
    JUDGES_PANEL,
    AnswerSettings,
    ConflictsSettings,
)
from pipelines.conflicts.taxonomy import CATEGORY
from pipelines.data.text import read_text
from pipelines.errors import InputError
from pipelines.evidence.nli import NliLabeller, TaggerFolder, Tagging
from pipelines.evidence.store import stored
from pipelines.experiment.cost import cost_line
from pipelines.experiment.execute import models_for
from pipelines.experiment.needs import Needs, refuse_unneeded
from pipelines.experiment.options import Overflow, ServerOptions
from pipelines.files import check_writable
from pipelines.option import Option, refuse_given
from pipelines.report.explorer import write
from pipelines.report.glance import ModelUsed
from pipelines.runs.provenance import provenance

if TYPE_CHECKING:  # numpy
    from nli.tagger import Tag

MANY_PAIRS = 1_000
"""From so many pairs of answers on it is said beforehand that they take their time."""


class ResolveOptions(ServerOptions):
    """How a question is answered, and by which models."""

    strategy: Annotated[
        Literal["pipeline", "vanilla", "taxonomy-aware", "none"],
        Option(
            "Answer with the predicted type (`pipeline`), without (`vanilla`), with type and "
            "answer in one reply (`taxonomy-aware`), or predict the type alone (`none`).",
            panel=ANSWERS_PANEL,
        ),
    ] = "pipeline"
    classifier_file: ClassifierFile = None
    answering: AnswerSettings = AnswerSettings()
    judge: Annotated[
        Literal["nli", "llm", "none"],
        Option(
            "Who judges the grounding of each sentence: the tagger or the language model. The "
            "latter judges behaviour, too. `none` leaves the answer unjudged.",
            panel=JUDGES_PANEL,
        ),
    ] = "nli"
    on_overflow: Overflow = "error"


@flat
def resolve(
    query: Annotated[str, typer.Argument(help="What is asked.")],
    documents: Annotated[
        list[Path],
        typer.Option(
            help="Text files with the sources; all that follow are taken: --documents a.txt b.txt. "
            "A file may begin with lines 'Date: 2021-03-01', 'Title: ...', 'URL: ...'."
        ),
    ],
    options: ResolveOptions,
    more: Annotated[list[Path] | None, typer.Argument(hidden=True)] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a page that opens without a network.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Say how sources disagree over a question, and answer as that type of disagreement wants.

    No conflict is answered plainly; complementary answers are brought together; of opinions both
    sides are told; of outdated information the latest counts; misinformation is passed over. Every
    sentence of the answer cites sources, and is judged by them.

    Examples:
        contested resolve "When was the bridge opened?" --documents guide.txt study.txt leaflet.txt

        contested resolve "Is it tolled?" --documents guide.txt leaflet.txt --strategy none
    """
    asked = Query(
        id="query", query=one_line_of(query), sources=_sources([*documents, *(more or [])])
    )
    methods = _methods(options)
    needs = needs_of(methods, options)
    refuse_unneeded(options, needs)
    if html is not None:
        check_writable(html)
    _announce(asked, methods)
    result, used, cost = asyncio.run(_resolved(asked, methods, needs, options))
    try:
        if html is not None:
            write_page(html, result, used)
    finally:  # the answer is shown though the page cannot be written
        if as_json:
            print(result.model_dump_json(indent=2))
        else:
            show(result, Console(emoji=False))
    for doubt in doubts(methods, needs):
        STDERR.print(escape(doubt), soft_wrap=True)
    if cost:
        STDERR.print(f"[dim]{escape(cost)}[/dim]", soft_wrap=True)
    if html is not None:
        STDERR.print(f"page: {escape(str(html))}", soft_wrap=True)


def _announce(asked: Query, methods: Methods) -> None:
    """Say beforehand that very many pairs take their time."""
    pairs = len(asked.sources) * (len(asked.sources) - 1)
    if "nli" in methods.asked and pairs >= MANY_PAIRS:
        STDERR.print(
            f"{len(asked.sources):,} documents make up to {pairs:,} pairs of answers, which the "
            "tagger compares one by one; fewer documents are much faster",
            soft_wrap=True,
        )


def _methods(options: ResolveOptions) -> Methods:
    """Who predicts and answers; options that do nothing then are refused.

    Raises:
        InputError: One was given, or the classifier's file is none.
    """
    settings = ConflictsSettings(
        **options.answering.model_dump(),
        # Without a model to judge, "llm" leaves answers unjudged.
        judge="nli" if options.judge == "nli" else "llm",
        cut=options.on_overflow == "cut",
    )
    itself = options.strategy == "taxonomy-aware"
    methods = Methods(
        () if options.strategy == "none" else (options.strategy,),
        () if itself else (settings.types,),
        settings,
        trained=classifier_of(options.classifier_file),
    )
    if itself:
        without = "--strategy taxonomy-aware, which names the type itself"
        refuse_given(options.answering, ("types",), without)
    refuse_idle(options, options.answering, methods)
    return methods


async def _resolved(
    asked: Query, methods: Methods, needs: Needs, options: ResolveOptions
) -> tuple[QueryResult, list[ModelUsed], str]:
    """The query examined; which models that took, and what it cost."""
    with waiting() as tell:
        async with models_for(options, needs, tell) as models:
            client, tagger = models.client, models.tagger
            tell("reading")
            ready = methods.ready(
                client,
                client if options.judge == "llm" else None,
                None if tagger is None else stored(_telling(tagger, tell), models.store),
                models.prompts,
            )
            result = await examine(asked, ready)
    used = []
    if client is not None:
        used.append(ModelUsed("answers", client.model.name, client.model.digest))
    if tagger is not None:
        used.append(ModelUsed("tagger", tagger.name, tagger.digest))
    return result, used, cost_line(client) if client else ""


def write_page(path: Path, result: QueryResult, models: list[ModelUsed]) -> None:
    """The query as a self-contained page.

    Raises:
        InputError: The file cannot be written.
    """
    from pipelines.conflicts.view import query_view

    made_with = {"query": result.asked.query} | provenance()
    write(path, result.asked.query, [query_view(result, models)], made_with)


def show(result: QueryResult, console: Console) -> None:
    """Print the type, the answer with its verdicts, and the sources."""
    asked = result.asked
    console.print(f"[italic]{plain(asked.query)}[/italic]")
    for prediction in result.predictions.values():
        _show_type(prediction, console)
    for outcome in result.outcomes.values():
        if outcome.answer.prediction is not None:
            _show_type(outcome.answer.prediction, console)
        console.print()
        _show_answer(outcome, console)
    table = Table(title="sources", title_justify="left")
    table.add_column("")
    table.add_column("date")
    table.add_column("text", ratio=1)
    for number, source in enumerate(asked.sources, 1):
        date = written(source)
        table.add_row(
            str(number), date.as_text() if date else "–", plain(" ".join(source.text.split()))[:300]
        )
    console.print()
    console.print(table)


def _show_type(found: Prediction, console: Console) -> None:
    by = CLASSIFIERS[found.by]
    if found.problem is not None:
        console.print(f"[yellow]type: could not be read ({plain(found.problem)})[/yellow]")
        return
    named = "not sure enough" if found.type is None else CATEGORY[found.type].label
    console.print(f"type: [bold]{named}[/bold] [dim]({by})[/dim]")
    if found.probabilities:
        shares = ", ".join(
            f"{CATEGORY[each].short.lower()} {share:.2f}"
            for each, share in sorted(found.probabilities.items(), key=lambda pair: -pair[1])
        )
        console.print(f"[dim]{shares}[/dim]")
    if found.explanation:
        console.print(f"[dim]{plain(found.explanation)}[/dim]")


def _show_answer(outcome: Outcome, console: Console) -> None:
    answer, judged = outcome.answer, outcome.judged
    if answer.problem is not None:
        console.print(f"[yellow]answer: could not be read ({plain(answer.problem)})[/yellow]")
        return
    for sentence, verdict in zip(answer.sentences, _verdicts(answer, judged), strict=True):
        cites = "".join(f"[{number}]" for number in sentence.cites)
        unknown = "".join(f"[{number}?]" for number in sentence.unknown)
        console.print(f"{plain(sentence.text)} {escape(cites + unknown)} [dim]{verdict}[/dim]")
    if not answer.finished:
        console.print("[yellow]cut: the answer was longer than --answer-tokens[/yellow]")
    if judged.grounding is not None and judged.grounding.share is not None:
        console.print(f"[dim]factual grounding: {judged.grounding.share:.2f}[/dim]")
    if judged.adherence is not None and judged.adherence.adheres is not None:
        said = "behaves" if judged.adherence.adheres else "does not behave"
        why = plain(judged.adherence.reason)
        console.print(f"[dim]{said} as '{judged.adherence.type}' wants: {why}[/dim]")


def _verdicts(answer: Answer, judged: Verdicts) -> list[str]:
    if judged.grounding is None:
        return [""] * len(answer.sentences)
    return [each.grounds or "not judged" for each in judged.grounding.sentences]


def _telling(folder: TaggerFolder, tell: Callable[[str], None]) -> NliLabeller:
    """The tagger, which says how far it is: long documents take minutes."""
    return NliLabeller(folder.identity, lambda: _Telling(folder.load(), tell))


class _Telling:
    """A tagger that says how many pairs it has read."""

    def __init__(self, tagger: Tagging, tell: Callable[[str], None]) -> None:
        self._tagger, self._tell = tagger, tell

    def tag(
        self,
        pairs: Sequence[Pair],
        on_progress: Callable[[int], None] | None = None,
        *,
        rationale: bool = False,
    ) -> "list[Tag]":
        """See `nli.tagger.Tagger`."""
        characters = sum(len(pair.premise) for pair in pairs)
        done = 0

        def moved(more: int) -> None:
            nonlocal done
            done += more
            self._tell(
                f"the tagger has read {done:,} of {len(pairs):,} pairs ({characters:,} characters)"
            )
            if on_progress is not None:
                on_progress(more)

        return self._tagger.tag(pairs, moved, rationale=rationale)


def _sources(paths: list[Path]) -> tuple[Source, ...]:
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise InputError(f"the document {twice} is given twice; name each file once")
    return tuple(_source(path) for path in paths)


def _source(path: Path) -> Source:
    text = read_text(path)
    try:
        return Source.from_text(text)
    except ValidationError as error:
        raise InputError(f"{path} has no text below its first lines; give it some") from error
