"""Score, question and compare documents that disagree, from Python.

    import contested

    documents = {"guide": "It opened in 1932.", "study": "It did not open in 1932."}
    found = contested.score("It opened in 1932.", documents)
    print(found)
    print(found.result.cs_c, found.result.both_sides)

Every function has an async twin whose name starts with "a": `contested.ascore`. Documents are plain
texts, or a mapping from names to texts. A notebook shows a result as an HTML page. `except
contested.Error` catches the errors that a user can fix; their messages are one line.
"""

import asyncio
import html
import io
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial, wraps
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Generic,
    Literal,
    ParamSpec,
    TypedDict,
    TypeVar,
    Unpack,
)

from pipelines.errors import FIXABLE, InputError
from serving.errors import in_our_words
from serving.offline import go_offline

if TYPE_CHECKING:  # imported lazily, to keep `import contested` fast
    from pipelines.conflicts.result import QueryResult
    from pipelines.conflictscore.result import Result
    from pipelines.conrag.answer import Answer
    from pipelines.data.records import Document
    from pipelines.inspection.task import Task
    from pipelines.judge.judgement import Judgement
    from pipelines.madam_rag.replies import Debate
    from pipelines.npov.check import ResponseErrors
    from pipelines.report.explorer import ExperimentView
    from pipelines.screening import Screening

__all__ = [
    "Error",
    "Found",
    "aask",
    "acheck",
    "adebate",
    "aresolve",
    "ascore",
    "ascreen",
    "ask",
    "atag",
    "check",
    "debate",
    "resolve",
    "score",
    "screen",
    "tag",
]

Error = FIXABLE
"""The errors to catch: `except contested.Error`."""

P = ParamSpec("P")
ResultT = TypeVar("ResultT")
AskedT = TypeVar("AskedT")
Given = Mapping[str, str] | Sequence[str]
"""Documents: a mapping from names to texts, or plain texts, which are named d1, d2 and so on."""


class Where(TypedDict, total=False):
    """Which models to use: `model` is a registered name or a folder, and overrides the `profile`'s.

    `endpoint` is a server that is already running; its API key is in CONTESTED_API_KEY. `tagger` is
    a registered tagger or a folder, for functions that use one.
    """

    model: str
    tagger: str
    profile: str
    endpoint: str


Judge = Literal["tagger", "model", "cascade"]

WIDTH: Final = 100
"""Width of a printed result, in columns."""


@dataclass(frozen=True)
class Found(Generic[ResultT]):
    """A `result` with all its details, and its cost in one line.

    It prints as the command does; a notebook shows it as an HTML page.
    """

    result: ResultT
    cost: str
    _view: "Callable[[], ExperimentView]" = field(repr=False)

    def __str__(self) -> str:
        """The text that the command prints."""
        from rich.console import Console

        from pipelines.report.terminal import show

        output = io.StringIO()
        (example,) = self._view().examples
        show(Console(file=output, width=WIDTH, emoji=False), example.blocks())
        return output.getvalue().rstrip()

    def _repr_html_(self) -> str:
        from pipelines.report.explorer import render

        view = self._view()
        page = html.escape(render(view.title, [view], {}))
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'

    def model_dump(self) -> dict[str, Any]:
        """The result as plain data, ready for JSON."""
        dumped: dict[str, Any] = self.result.model_dump(mode="json")  # type: ignore[attr-defined]
        return dumped


async def ascore(
    response: str,
    documents: Given,
    *,
    question: str | None = None,
    judge: Judge | None = None,
    claims: str | Sequence[str] | None = None,
    **where: Unpack[Where],
) -> "Found[Result]":
    """Score a response against its documents (ConflictScore).

    Args:
        response: The answer to score.
        documents: The documents it was written from.
        question: The question it answers.
        judge: How claims are labelled against documents; defaults to the profile's judge.
        claims: The claims themselves, or how to extract them: "sentences", "whole", "atomic",
            "salient"; defaults to the profile's setting.
        **where: Which models to use; see `Where`.

    Returns:
        `cs_c`, `cs_r`, `evidence` and `both_sides`, in [0, 1] or None if undefined, and one
        judgement per claim and document.

    Raises:
        InputError, ServingError, TaggerError: See `Error`.
    """
    from pipelines.inspection.score import SCORE

    statements = None if claims is None or isinstance(claims, str) else tuple(claims)
    return await _found(
        SCORE,
        {
            "response": response,
            "documents": _documents(documents),
            "question": question,
            "claims": statements,
        },
        {"judge": judge, "claims": claims if statements is None else "whole", **where},
    )


async def ascreen(
    documents: Given,
    *,
    threshold: float | None = None,
    tagger: str | None = None,
    profile: str | None = None,
) -> "Found[Screening]":
    """Find statements in documents that contradict each other, before any answer is written.

    Args:
        documents: Two or more. Sentences that share words are compared in both directions.
        threshold: Lowest probability, in [0, 1], at which a contradiction is reported; defaults to
            the command's threshold.
        tagger: A registered tagger or a tagger folder; overrides the profile's tagger.
        profile: Which model plays which role.

    Returns:
        `contradictions`, most likely first: two quotes and a probability for each.

    Raises:
        InputError, ServingError, TaggerError: See `Error`.
    """
    from pipelines.inspection.screen import SCREEN

    return await _found(
        SCREEN,
        {"documents": _documents(documents)},
        {"threshold": threshold, "tagger": tagger, "profile": profile},
    )


async def aask(
    query: str,
    documents: Given,
    *,
    judge: Judge = "tagger",
    writes: bool = False,
    **where: Unpack[Where],
) -> "Found[Answer]":
    """Answer with the evidence for and against a claim, in cited sentences (ConRAG).

    Args:
        query: A claim or a yes-or-no question; other questions need `writes`.
        documents: Split into passages; the best lexical matches are read.
        judge: Decides which side a passage is on.
        writes: Whether a language model writes the answer; otherwise a template quotes passages.
        **where: Which models to use; see `Where`.

    Raises:
        InputError, ServingError, TaggerError: See `Error`.
    """
    from pipelines.inspection.ask import ASK

    return await _found(
        ASK,
        {"query": query, "documents": _documents(documents)},
        {"judge": judge, "generator": "model" if writes else None, "method": "bm25", **where},
    )


async def adebate(
    question: str,
    documents: Given,
    *,
    rounds: int = 3,
    **where: Unpack[Where],
) -> "Found[Debate]":
    """Let agents debate a question, one agent per document (MADAM-RAG).

    Args:
        question: The question to answer.
        documents: One per agent.
        rounds: Maximum number of rounds, at least 1.
        **where: Which models to use; see `Where`.

    Raises:
        InputError, ServingError: See `Error`.
    """
    from pipelines.inspection.debate import DEBATE

    return await _found(
        DEBATE,
        {"question": question, "documents": _documents(documents)},
        {"rounds": rounds, **where},
    )


async def aresolve(
    question: str,
    documents: Given,
    *,
    strategy: Literal["pipeline", "vanilla", "taxonomy-aware", "none"] = "pipeline",
    judge: Literal["tagger", "model", "none"] = "tagger",
    **where: Unpack[Where],
) -> "Found[QueryResult]":
    """Classify the type of conflict between sources, and answer as that type requires (CONFLICTS).

    Args:
        question: The question to answer.
        documents: The sources, which the answer cites by number.
        strategy: How the model is prompted for the answer; "none" only classifies the conflict.
        judge: Decides whether sources support a sentence.
        **where: Which models to use; see `Where`.

    Raises:
        InputError, ServingError, TaggerError: See `Error`.
    """
    from pipelines.inspection.resolve import RESOLVE

    return await _found(
        RESOLVE,
        {"question": question, "documents": _documents(documents)},
        {"strategy": strategy, "judge": None if strategy == "none" else judge, **where},
    )


async def acheck(
    question: str,
    pro: Sequence[str],
    con: Sequence[str],
    response: str,
    **where: Unpack[Where],
) -> "Found[ResponseErrors]":
    """Find arguments that a neutral response omits, and content that it adds (NPOV).

    A server scores the response with each argument left out in turn. This finds more errors than
    the paper's gradients do (see docs/results.md).

    Args:
        question: The question that the response answers.
        pro: Arguments for it, at least one, that the response was written from.
        con: Arguments against it.
        response: The response to check.
        **where: Which models to use; see `Where`.

    Raises:
        InputError, ServingError: See `Error`.
    """
    from pipelines.inspection.npov import CHECK_NPOV

    return await _found(
        CHECK_NPOV,
        {
            "question": question,
            "pro": _texts("pro", pro),
            "con": _texts("con", con),
            "response": response,
        },
        {"detector": "ablation", **where},
    )


async def atag(
    claims: Sequence[str], documents: Given, *, tagger: str | None = None
) -> "list[list[Judgement]]":
    """Label claims against documents with the tagger: a row per claim, a judgement per document.

    Args:
        claims: Statements.
        documents: Texts that may support or contradict a claim, or be irrelevant to it.
        tagger: A registered tagger or a tagger folder; overrides the profile's tagger.

    Raises:
        InputError, TaggerError: See `Error`.
    """
    from pipelines.experiment.options import ProfileOptions, source_of, tagger_named
    from pipelines.judge.store import JudgementStore, default_store, stored
    from pipelines.judge.tagger import tagger_judge

    go_offline()
    given = _documents(documents)
    statements = _texts("claims", claims)
    folder = tagger_named(tagger, source_of(ProfileOptions(), "judge"))
    with JudgementStore(default_store()) as store:
        labelled = await stored(tagger_judge(folder), store)(statements, given)
    width = len(given)
    return [
        list(labelled.judgements[row * width : (row + 1) * width]) for row in range(len(statements))
    ]


async def _found(
    task: "Task[Any, Any, Any]", asked: Mapping[str, Any], options: Mapping[str, Any]
) -> Found[Any]:
    """Run a task with the given options.

    Raises:
        InputError: An option has no effect.
        TypeError: The task has no such option.
    """
    from pipelines.experiment.execute import models_for
    from pipelines.experiment.needs import refuse_unneeded
    from pipelines.option import all_options, made, refuse_idle

    go_offline()
    given = {name: value for name, value in options.items() if value is not None}
    names = {option.name for option in all_options(task.options)}
    for name in given.keys() - names:
        hints = [f"; did you mean '{near}'?" for near in get_close_matches(name, names, 1)]
        raise TypeError(f"there is no argument '{name}'{''.join(hints)}")
    if "endpoint" in given:
        given["endpoint"] = [given["endpoint"]]
    try:
        chosen = made(task.options, given)
        refuse_idle(chosen)
        texts = _asked(task.asked, asked)
        needs = task.needs(chosen)
        refuse_unneeded(chosen, needs)
        async with models_for(chosen, needs, lambda _: None) as models:
            inspection = await task.inspect(texts, chosen, models, lambda _: None)
    except FIXABLE as error:
        error.args = (_in_python(str(error)),)
        raise
    return Found(inspection.result, inspection.cost, partial(inspection.view, None))


def _asked(kind: "type[AskedT]", given: Mapping[str, Any]) -> "AskedT":
    from pydantic import ValidationError

    try:
        return kind(**given)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{first['loc'][0]}: {in_our_words(first['msg'])}") from error


_OPTION: Final = re.compile(r"(?:contested |scripts/)[^;,)]*|(?<![\w-])--([a-z][a-z-]*)")
"""A command to type, which stays as it is, or an option."""


def _in_python(message: str) -> str:
    """A message with Python's names: `judge` for --judge."""
    return _OPTION.sub(
        lambda found: f"`{found[1].replace('-', '_')}`" if found[1] else found[0],
        message.replace("--generator model", "writes=True"),
    )


def _texts(name: str, given: Sequence[str]) -> list[str]:
    """The texts of a list; InputError if it is one text, which is a sequence of characters."""
    if isinstance(given, str):
        raise InputError(f"{name}: give a list of texts, not a single text")
    return [*given]


def _documents(given: Given) -> "tuple[Document, ...]":
    from pydantic import ValidationError

    from pipelines.data.records import Document

    named = (
        given
        if isinstance(given, Mapping)
        else {f"d{number}": text for number, text in enumerate(_texts("documents", given), 1)}
    )
    if not named:
        raise InputError("there are no documents; give one or more texts")
    made = []
    for name, text in named.items():
        try:
            made.append(Document(id=name, text=text))
        except ValidationError as error:
            why = in_our_words(error.errors()[0]["msg"])
            raise InputError(f"document '{name}': {why}") from error
    return tuple(made)


def _waiting(job: Callable[P, Coroutine[Any, Any, ResultT]]) -> Callable[P, ResultT]:
    """A synchronous twin of an async function; safe inside a running event loop (a notebook)."""

    @wraps(job)
    def waited(*args: P.args, **options: P.kwargs) -> ResultT:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(job(*args, **options))
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, job(*args, **options)).result()

    waited.__name__ = waited.__qualname__ = job.__name__.removeprefix("a")
    return waited


score = _waiting(ascore)
screen = _waiting(ascreen)
ask = _waiting(aask)
debate = _waiting(adebate)
resolve = _waiting(aresolve)
check = _waiting(acheck)
tag = _waiting(atag)
