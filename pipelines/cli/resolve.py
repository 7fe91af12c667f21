"""`contested resolve`: one question, its sources, the type of their conflict, a fitting answer."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Literal

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from nli.pairs import Pair
from nli.tagger import Tag
from pipelines.cli import conflicts_options, options
from pipelines.cli.ask import one_line_of
from pipelines.cli.conflicts_options import (
    ANSWERS_PANEL,
    DEFAULTS,
    JUDGES_PANEL,
    TYPES_PANEL,
    Effect,
)
from pipelines.cli.progress import STDERR, cost_line, waiting
from pipelines.cli.terminal import plain
from pipelines.conflicts.answer import Answer
from pipelines.conflicts.dates import written
from pipelines.conflicts.evaluation.methods import CLASSIFIERS, examine, prepare
from pipelines.conflicts.evaluation.result import Outcome, QueryResult, Strategy
from pipelines.conflicts.judges.verdicts import Judged
from pipelines.conflicts.prediction import Classifier, Prediction
from pipelines.conflicts.question import Query, Source
from pipelines.conflicts.settings import ConflictsSettings
from pipelines.conflicts.taxonomy import CATEGORY
from pipelines.conflictscore.settings import Settings
from pipelines.data.text import read_text
from pipelines.errors import InputError
from pipelines.evidence.nli import NliLabeller, TaggerFolder, Tagging
from pipelines.evidence.store import JudgementStore, default_store, stored
from pipelines.files import check_writable
from pipelines.report.page import ModelUsed, write
from pipelines.runs.provenance import provenance
from serving.connect import connect

Asked = Literal["pipeline", "vanilla", "taxonomy-aware", "none"]

MANY_PAIRS = 1_000
"""From so many pairs of answers on it is said beforehand that they take their time."""


def resolve(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="What is asked.")],
    documents: Annotated[
        list[Path],
        typer.Option(
            help="Text files with the sources; all that follow are taken: --documents a.txt b.txt. "
            "A file may begin with lines 'Date: 2021-03-01', 'Title: ...', 'URL: ...'."
        ),
    ],
    more: Annotated[list[Path] | None, typer.Argument(hidden=True)] = None,
    strategy: Annotated[
        Asked,
        typer.Option(
            help="Answer with the predicted type (`pipeline`), without (`vanilla`), with type and "
            "answer in one reply (`taxonomy-aware`), or predict the type alone (`none`).",
            rich_help_panel=ANSWERS_PANEL,
        ),
    ] = "pipeline",
    html: Annotated[
        Path | None, typer.Option(help="Write a page that opens without a network.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    types: Annotated[
        Classifier,
        typer.Option(
            help="Who predicts the type: a classifier of question and evidence (`nli`), or the "
            "language model, with an explanation (`json`) or with probabilities (`choice`).",
            rich_help_panel=TYPES_PANEL,
        ),
    ] = DEFAULTS.types,
    threshold: conflicts_options.Thresholds = None,
    classifier_file: conflicts_options.ClassifierFile = None,
    answer_tokens: conflicts_options.AnswerTokens = DEFAULTS.answer_tokens,
    dates: conflicts_options.Dates = False,
    judging: Annotated[
        Literal["nli", "llm", "none"],
        typer.Option(
            "--judge",
            help="Who judges the grounding of each sentence: the tagger or the language model. The "
            "latter judges behaviour, too. `none` leaves the answer unjudged.",
            rich_help_panel=JUDGES_PANEL,
        ),
    ] = "nli",
    on_overflow: options.OnOverflow = "error",
    tagger: options.Tagger = None,
    prompts: options.Prompts = None,
    profile: options.Profile = None,
    model: options.ModelName = None,
    models_dir: options.ModelsDir = None,
    endpoint: options.Endpoint = None,
    strict: options.Strict = False,
    cache: options.Cache = None,
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
    strategies: tuple[Strategy, ...] = () if strategy == "none" else (strategy,)
    # The type of the taxonomy-aware answer is its own.
    classifiers: tuple[Classifier, ...] = () if strategy == "taxonomy-aware" else (types,)
    settings = ConflictsSettings(
        types=types,
        thresholds=conflicts_options.thresholds(threshold),
        answer_tokens=answer_tokens,
        dates=dates,
        # Without a model to judge, "llm" leaves answers unjudged.
        judge="nli" if judging == "nli" else "llm",
        cut=on_overflow == "cut",
    )
    source = options.source(
        "generator",
        profile=profile,
        model=model,
        models_dir=models_dir,
        endpoint=endpoint,
        strict=strict,
    )
    trained = conflicts_options.classifier(classifier_file)
    judges = bool(strategies) and judging != "none"
    tags = "nli" in classifiers or (judges and judging == "nli")
    by_model = bool(strategies) or types != "nli"
    others = "a --strategy other than taxonomy-aware, which names the type itself"
    conflicts_options.refuse_idle(
        context,
        [
            Effect("types", bool(classifiers), f"name {others}"),
            Effect(
                "threshold",
                bool({"nli", "choice"} & {*classifiers}),
                f"have nli or choice predict the type: --types, and {others}",
            ),
            Effect(
                "classifier_file",
                "nli" in classifiers,
                f"have nli predict the type: --types nli, and {others}",
            ),
            Effect("dates", strategy == "pipeline", "name --strategy pipeline"),
            Effect("tagger", tags, "name --types nli, or --judge nli for an answer"),
            *conflicts_options.on_answers(bool(strategies), "answer_tokens", "judging"),
            *conflicts_options.on_the_model(
                by_model, "name another --strategy than none, or --types json or choice"
            ),
        ],
    )
    if html is not None:
        check_writable(html)
    found = options.tagger(tagger, Settings(labeller="nli" if tags else "llm"), source)

    async def examined() -> tuple[QueryResult, list[ModelUsed], str]:
        async with AsyncExitStack() as stack:
            tell = stack.enter_context(waiting())
            store = stack.enter_context(JudgementStore(default_store(cache)))
            labeller = None if found is None else stored(_telling(found, tell), store)
            client = None
            if by_model:
                client = await stack.enter_async_context(
                    connect(source, cache=cache, on_status=tell)
                )
            tell("reading")
            by = prepare(
                strategies,
                classifiers,
                settings,
                writing=client,
                judging=client if judging == "llm" else None,
                labeller=labeller,
                classifier=trained,
                overrides=prompts,
            )
            result = await examine(asked, by)
            used = []
            if client is not None:
                used.append(ModelUsed("answers", client.model.name, client.model.digest))
            if found is not None:
                used.append(ModelUsed("tagger", found.name, found.digest))
            return result, used, "" if client is None else cost_line(client)

    pairs = len(asked.sources) * (len(asked.sources) - 1)
    if "nli" in classifiers and pairs >= MANY_PAIRS:
        STDERR.print(
            f"{len(asked.sources):,} documents make up to {pairs:,} pairs of answers, which the "
            "tagger compares one by one; fewer documents are much faster",
            soft_wrap=True,
        )
    result, used, cost = asyncio.run(examined())
    try:
        if html is not None:
            write_page(html, result, used)
    finally:  # the answer is shown though the page cannot be written
        if as_json:
            print(result.model_dump_json(indent=2))
        else:
            show(result, Console(emoji=False))
    if "nli" in classifiers:
        conflicts_options.tell_of_another_tagger(trained, found)
    if cost:
        STDERR.print(f"[dim]{escape(cost)}[/dim]", soft_wrap=True)
    if html is not None:
        STDERR.print(f"page: {escape(str(html))}", soft_wrap=True)


def write_page(path: Path, result: QueryResult, models: list[ModelUsed]) -> None:
    """The query as a self-contained page.

    Raises:
        InputError: The file cannot be written.
    """
    from pipelines.conflicts.evaluation.page import one_query  # noqa: PLC0415  (only for a page)

    made_with = {"query": result.asked.query} | provenance()
    write(path, result.asked.query, [one_query(result)], made_with, models=models)


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


def _verdicts(answer: Answer, judged: Judged) -> list[str]:
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
    ) -> list[Tag]:
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
