"""Tasks that inspect one example in depth: for the terminal, the page and the library.

A task is declared once: its command, its form on the page and its function in `contested` are made
from its inputs and its options.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel

from pipelines.data.records import Document, NonEmpty
from pipelines.errors import InputError
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import ProfileOptions
from pipelines.files import or_sample
from pipelines.judge.tagger import TaggerFolder, Tagging
from pipelines.option import Option, Options

if TYPE_CHECKING:
    from nli.pairs import Pair
    from nli.tagger import Tag
    from pipelines.report.explorer import ExperimentView
    from pipelines.report.glance import ModelUsed
    from serving.calls import ServedIdentity

Tell = Callable[[str], None]
"""Receives a line saying what the user is waiting for."""

AskedT = TypeVar("AskedT", bound=BaseModel)
OptionsT = TypeVar("OptionsT", bound=ProfileOptions)
ResultT = TypeVar("ResultT", bound=BaseModel)
Kind = Literal["line", "text", "lines", "documents"]


@dataclass(frozen=True)
class Shown:
    """How the page asks for a field: as a `line`, a `text`, `lines` of values, or `documents`."""

    kind: Kind
    label: str = ""


@dataclass(frozen=True)
class Inspection(Generic[ResultT]):
    """The outcome for one example.

    Attributes:
        result: All details.
        cost: Cost in one line.
        title: Heading of the page.
        view: Makes the page's content, around the picture if one is drawn; it may load numpy.
        picture: Draws the map as a PNG; None without a map.
        about: What was asked, folded at the end of the page.
        problem: Why the outcome is incomplete; empty if all is well.
        exit_code: Exit code of the command.
    """

    result: ResultT
    cost: str
    title: str
    view: "Callable[[bytes | None], ExperimentView]"
    picture: Callable[[], bytes] | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""
    exit_code: int = 0


@dataclass(frozen=True)
class Task(Generic[AskedT, OptionsT, ResultT]):
    """An inspection of one example.

    Attributes:
        name: Name of the command, also used in addresses.
        title: Title on the page.
        asked: The inputs.
        options: How it is done, and with which models.
        needs: Finds the models. It raises InputError for options without effect, ServingError if a
            model is missing.
        inspect: Runs it. Its docstring is the command's help, and its first line the page's.
        form: Options that the page offers.
        maps: Whether a map can be drawn as a picture.
    """

    name: str
    title: str
    asked: type[AskedT]
    options: type[OptionsT]
    needs: Callable[[OptionsT], Needs]
    inspect: Callable[[AskedT, OptionsT, Models, Tell], Awaitable[Inspection[ResultT]]]
    form: tuple[str, ...] = ()
    maps: bool = False

    @property
    def help(self) -> str:
        """What the task does, with examples of the command."""
        return getdoc(self.inspect) or ""


def read_documents(paths: Sequence[Path]) -> tuple[Document, ...]:
    """Documents from text files, or from all text files of a folder, named after the files.

    Raises:
        InputError: A file cannot be read, is given twice or has a name that no document can have,
            or a folder has no text files.
    """
    from pipelines.retrieval.documents import MARKDOWN, TEXT, document_in, files_of

    files = [file for path in paths for file in files_of(or_sample(path), (*MARKDOWN, *TEXT))]
    names = [path.stem for path in files]
    documents: dict[str, Document] = {}
    for name, path in zip(names, files, strict=True):
        id_ = name if names.count(name) == 1 else str(path)
        if id_ in documents:
            raise InputError(f"the document {id_} is given twice; name each file once")
        documents[id_] = document_in(path, id_)
    return tuple(documents.values())


def one_line_of(query: str) -> str:
    """A query without extra white space; InputError if it is empty or not UTF-8."""
    text = " ".join(query.split())
    if text.encode("utf-8", "replace").decode() != text:
        raise InputError("the query is not UTF-8; set the terminal to UTF-8")
    if not text:
        raise InputError("the query is empty; give a claim, or a question")
    return text


Query = Annotated[str, AfterValidator(one_line_of)]
"""A claim or question, in one line."""


def documents_option(help_: str, typed: Any = list[Path]) -> Option:
    """The option that takes documents: files on the command line."""
    return Option(help_, typed=typed, read=read_documents, greedy=True)


class QuestionAsked(Options):
    """A question, and documents that answer it."""

    question: Annotated[Query, Option("The question.", argument=True), Shown("line")]
    documents: Annotated[
        NonEmpty[Document],
        documents_option("The documents: text files, or folders of them: --documents a.txt b.txt"),
        Shown("documents"),
    ]


def models_used(**roles: "ServedIdentity | TaggerFolder | None") -> "list[ModelUsed]":
    """Models and their roles, for the page; roles without a model are left out."""
    from pipelines.report.glance import ModelUsed
    from serving.connect import UNVERIFIED

    return [
        ModelUsed(role, model.name, None if model.digest.startswith(UNVERIFIED) else model.digest)
        for role, model in roles.items()
        if model is not None
    ]


def telling(models: Models, tell: Tell) -> Models:
    """The same models, with a tagger that reports how many pairs it has read."""
    return loaded_by(models, lambda folder: _TellingTagger(folder.load(), tell))


def loaded_by(models: Models, loading: Callable[[TaggerFolder], Tagging]) -> Models:
    """The same models, with the tagger, if any, loaded by `loading`."""
    folder = models.tagger
    if folder is None:
        return models
    known = {field.name: getattr(folder, field.name) for field in fields(TaggerFolder)}
    return replace(models, tagger=_OtherwiseLoaded(**known, loading=lambda: loading(folder)))


@dataclass(frozen=True, kw_only=True)
class _OtherwiseLoaded(TaggerFolder):
    loading: Callable[[], Tagging]

    def load(self) -> Tagging:
        return self.loading()


class _TellingTagger:
    def __init__(self, tagger: Tagging, tell: Tell) -> None:
        self._tagger, self._tell = tagger, tell
        self.device = tagger.device

    def tag(
        self,
        pairs: "Sequence[Pair]",
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


TASKS: Final = {
    "score": "score.SCORE",
    "screen": "screen.SCREEN",
    "ask": "ask.ASK",
    "debate": "debate.DEBATE",
    "resolve": "resolve.RESOLVE",
    "answer-npov": "npov.ANSWER_NPOV",
    "check-npov": "npov.CHECK_NPOV",
    "salience": "salience.SALIENCE",
}
"""Tasks, in the order of the page -> where each is declared in this package; its module is imported
on first use."""


def task(name: str) -> Task[Any, Any, Any]:
    """The declaration of one of `TASKS`."""
    module, _, declared = TASKS[name].partition(".")
    found: Task[Any, Any, Any] = getattr(import_module(f"{__package__}.{module}"), declared)
    return found
