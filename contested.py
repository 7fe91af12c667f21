"""What documents that disagree make of an answer, a claim or a question.

    import contested

    documents = {"guide": "It opened in 1932.", "study": "It did not open in 1932."}
    found = contested.score("It opened in 1932.", documents)
    print(found)
    print(found.result.cs_c, found.result.both_sides)

Each function has a twin for event loops, with an "a" before its name: `contested.ascore`. Documents
are plain texts, or a mapping of names to texts. A notebook shows results as the page does. Whatever
a person can mend is a `contested.Error`, of one line.
"""

import asyncio
import html
import io
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
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

from nli.errors import TaggerError
from pipelines.errors import InputError
from salience.errors import SalienceError
from serving.errors import ServingError
from serving.offline import go_offline

if TYPE_CHECKING:  # loaded where they are used, so that `import contested` is quick
    from pipelines.conflicts.result import QueryResult
    from pipelines.conflictscore.result import Result
    from pipelines.conrag.answer import Answer
    from pipelines.data.records import Document
    from pipelines.experiment.experiment import Models
    from pipelines.experiment.needs import Needs
    from pipelines.experiment.options import ModelOptions
    from pipelines.inspection.found import Inspection, Tell
    from pipelines.judge.judgement import Judgement
    from pipelines.madam_rag.replies import Debate
    from pipelines.npov.check import ResponseErrors
    from pipelines.report.explorer import ExperimentView

__all__ = [
    "Error",
    "Found",
    "aask",
    "acheck",
    "adebate",
    "aresolve",
    "ascore",
    "ask",
    "atag",
    "check",
    "debate",
    "resolve",
    "score",
    "tag",
]

Error = (InputError, ServingError, TaggerError, SalienceError)
"""What is raised: `except contested.Error`."""

P = ParamSpec("P")
ResultT = TypeVar("ResultT")
Given = Mapping[str, str] | Sequence[str]
"""Documents: names with texts, or texts, which are then called d1, d2 and so on."""


class Where(TypedDict, total=False):
    """Which models: `model` is registered, or a folder, in place of the `profile`'s.

    An `endpoint` is a server that runs already; its key is in CONTESTED_API_KEY.
    """

    model: str
    profile: str
    endpoint: str


Judge = Literal["tagger", "model", "cascade"]

WIDTH: Final = 100
"""Columns of a result that is printed."""


@dataclass(frozen=True)
class Found(Generic[ResultT]):
    """What was found: a `result` with all of it, and what it cost in a line.

    It prints as the command does, and a notebook shows it as the page does.
    """

    result: ResultT
    cost: str
    _view: "Callable[[], ExperimentView]" = field(repr=False)

    def __str__(self) -> str:
        """As the command prints it."""
        from rich.console import Console

        from pipelines.report.terminal import show

        said = io.StringIO()
        (example,) = self._view().examples
        show(Console(file=said, width=WIDTH, emoji=False), example.blocks())
        return said.getvalue().rstrip()

    def _repr_html_(self) -> str:
        from pipelines.report.explorer import render

        view = self._view()
        page = html.escape(render(view.title, [view], {}))
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'

    def model_dump(self) -> dict[str, Any]:
        """The result as plain data, fit for JSON."""
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
    """Score a response by its documents (ConflictScore).

    Args:
        response: The answer to look at.
        documents: What it was written from.
        question: What was asked.
        judge: Who says what a document makes of a claim; the profile's unless given.
        claims: The claims themselves, or how they are made: "sentences", "whole", "atomic",
            "salient"; as the profile has it unless given.
        **where: Which models; see `Where`.

    Returns:
        With `cs_c`, `cs_r`, `evidence` and `both_sides` in [0, 1], each None if nothing can be
        said, and a judgement per claim and document.

    Raises:
        InputError, ServingError, TaggerError: See `Error`.
    """
    from pipelines.data.records import Example
    from pipelines.inspection.score import (
        AnswerScoreOptions,
        ExplainedSettings,
        score,
        score_needs,
    )

    statements = None if claims is None or isinstance(claims, str) else tuple(claims)
    chosen = {
        "judge": judge,
        "claims": claims if statements is None else "whole",
    }
    settings = {name: value for name, value in chosen.items() if value is not None}
    options = AnswerScoreOptions(
        metric=ExplainedSettings.model_validate(settings), **_options(where)
    )
    example = Example(
        id="response",
        group="response",
        question=question,
        response=response,
        documents=_documents(documents),
        claims=statements,
    )
    return await _found(
        options,
        score_needs(options, claims_given=statements is not None),
        lambda models, tell: score(example, options, models, tell),
    )


async def aask(
    query: str,
    documents: Given,
    *,
    judge: Judge = "tagger",
    writes: bool = False,
    **where: Unpack[Where],
) -> "Found[Answer]":
    """Say what documents hold for a claim and against it, with cited sentences (ConRAG).

    Args:
        query: A claim, or a question of yes or no; any other question only with `writes`.
        documents: Cut into passages, of which the best by words are read.
        judge: Who says which side a passage is on.
        writes: Whether a language model writes the answer; else a template quotes.
        **where: Which models; see `Where`.

    Raises:
        InputError, ServingError, TaggerError: See `Error`.
    """
    from pipelines.conrag.settings import AnswerOptions, TaggingSettings
    from pipelines.inspection.ask import ask, claim_of, search
    from pipelines.inspection.found import one_line_of
    from pipelines.retrieval.documents import cut
    from pipelines.retrieval.index import build

    options = AnswerOptions.model_validate(
        {
            "judging": TaggingSettings(judge=judge),
            "generator": "model" if writes else "template",
            "method": "bm25",
            **_options(where),
        }
    )
    text = one_line_of(query)
    claim = claim_of(text, options)
    with tempfile.TemporaryDirectory() as folder:
        index = build(cut(_documents(documents)), Path(folder) / "index")
        retrieved = search(index, claim or text, options)
    return await _found(
        options,
        options.needs(),
        lambda models, tell: ask(text, retrieved, options, models, tell, index="the documents"),
    )


async def adebate(
    question: str,
    documents: Given,
    *,
    rounds: int = 3,
    **where: Unpack[Where],
) -> "Found[Debate]":
    """Let an agent for each document debate a question (MADAM-RAG).

    Args:
        question: What is asked.
        documents: One agent reads each.
        rounds: The most, at least 1.
        **where: Which models; see `Where`.

    Raises:
        InputError, ServingError: See `Error`.
    """
    from pipelines.inspection.debate import PanelOptions, debate, debate_needs
    from pipelines.madam_rag.data import GivenDocument, Question
    from pipelines.madam_rag.settings import DebateSettings

    options = PanelOptions.model_validate(
        {"debate": DebateSettings(rounds=rounds), **_options(where)}
    )
    given = tuple(GivenDocument(document=document) for document in _documents(documents))
    asked = Question(id="question", question=question, documents=given)
    return await _found(
        options,
        debate_needs(options),
        lambda models, tell: debate(asked, options, models, tell),
    )


async def aresolve(
    question: str,
    documents: Given,
    *,
    strategy: Literal["pipeline", "vanilla", "taxonomy-aware", "none"] = "pipeline",
    judge: Literal["tagger", "model", "none"] = "tagger",
    **where: Unpack[Where],
) -> "Found[QueryResult]":
    """Name the conflict between sources, and answer as its type wants (CONFLICTS).

    Args:
        question: What is asked.
        documents: The sources, which an answer cites by number.
        strategy: How an answer is asked for; "none" names the type alone.
        judge: Who says whether sources support each sentence.
        **where: Which models; see `Where`.

    Raises:
        InputError, ServingError, TaggerError: See `Error`.
    """
    from pipelines.conflicts.data import Query, Source
    from pipelines.conflicts.experiment import needs_of
    from pipelines.inspection.resolve import TypedAnswerOptions, methods_of, resolve

    options = TypedAnswerOptions.model_validate(
        {
            "strategy": strategy,
            **({} if strategy == "none" else {"judge": judge}),
            **_options(where),
        }
    )
    given = tuple(Source(text=one.text, title=one.id) for one in _documents(documents))
    asked = Query(id="query", query=question, sources=given)
    methods = methods_of(options)
    return await _found(
        options,
        needs_of(methods, options),
        lambda models, tell: resolve(asked, options, methods, models, tell),
    )


async def acheck(
    question: str,
    pro: Sequence[str],
    con: Sequence[str],
    response: str,
    **where: Unpack[Where],
) -> "Found[ResponseErrors]":
    """Find what a neutral response leaves out of its arguments, and what it adds (NPOV).

    A server is asked how likely the response is without each argument, which finds more errors than
    the gradients of the paper (see docs/results.md).

    Args:
        question: What it answers.
        pro: The arguments for it that it was written from, at least one.
        con: Those against it.
        response: What was written.
        **where: Which models; see `Where`.

    Raises:
        InputError, ServingError: See `Error`.
    """
    from pipelines.experiment.options import ServedOptions
    from pipelines.inspection.npov import ABLATION_NEEDS, by_ablation
    from pipelines.npov.example import NpovExample

    options = ServedOptions.model_validate(_options(where))
    asked = NpovExample(question=question, pro=tuple(pro), con=tuple(con), response=response)
    return await _found(
        options, ABLATION_NEEDS, lambda models, tell: by_ablation(asked, models, tell)
    )


async def atag(
    claims: Sequence[str], documents: Given, *, tagger: str | None = None
) -> "list[list[Judgement]]":
    """Label claims by documents with the tagger: a row per claim, a judgement per document.

    Args:
        claims: Statements.
        documents: Texts that support, contradict, or say nothing of them.
        tagger: A registered tagger, or a folder of one, in place of the profile's.

    Raises:
        InputError, TaggerError: See `Error`.
    """
    from pipelines.experiment.options import ProfileOptions, source_of, tagger_named
    from pipelines.judge.store import JudgementStore, default_store, stored
    from pipelines.judge.tagger import tagger_judge

    go_offline()
    given = _documents(documents)
    folder = tagger_named(tagger, source_of(ProfileOptions(), "judge"))
    with JudgementStore(default_store()) as store:
        labelled = await stored(tagger_judge(folder), store)(list(claims), given)
    width = len(given)
    return [
        list(labelled.judgements[row * width : (row + 1) * width]) for row in range(len(claims))
    ]


async def _found(
    options: "ModelOptions",
    needs: "Needs",
    work: "Callable[[Models, Tell], Awaitable[Inspection[Any]]]",
) -> Found[Any]:
    """Do the work with the models that it needs."""
    from pipelines.experiment.execute import models_for
    from pipelines.experiment.needs import refuse_unneeded

    go_offline()
    refuse_unneeded(options, needs)
    async with models_for(options, needs, lambda _: None) as models:
        found = await work(models, lambda _: None)
    assert found.view is not None  # noqa: S101  (each of these has one)
    return Found(found.result, found.cost, found.view)


def _options(where: Where) -> dict[str, Any]:
    """Options of a command: those that were given alone, so that none is idle."""
    given: dict[str, Any] = {**where}
    if "endpoint" in given:
        given["endpoint"] = [given["endpoint"]]
    return given


def _documents(given: Given) -> "tuple[Document, ...]":
    from pydantic import ValidationError

    from pipelines.data.records import Document

    named = given if isinstance(given, Mapping) else {f"d{n}": t for n, t in enumerate(given, 1)}
    if not named:
        raise InputError("there are no documents; give one or more texts")
    made = []
    for name, text in named.items():
        try:
            made.append(Document(id=name, text=text))
        except ValidationError as error:
            raise InputError(f"document '{name}': {error.errors()[0]['msg']}") from error
    return tuple(made)


def _waiting(job: Callable[P, Coroutine[Any, Any, ResultT]]) -> Callable[P, ResultT]:
    """The same for code without an event loop, and safe where one runs, as in a notebook."""

    @wraps(job)
    def waited(*args: P.args, **options: P.kwargs) -> ResultT:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(job(*args, **options))
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, job(*args, **options)).result()

    return waited


score = _waiting(ascore)
ask = _waiting(aask)
debate = _waiting(adebate)
resolve = _waiting(aresolve)
check = _waiting(acheck)
tag = _waiting(atag)
