"""The tasks of the page: what each is asked, which models it needs, and the function that does it.

Each is a record of what a user gives. Its fields say how the page asks for them; those with a
`Literal` are choices. The functions are those of the commands.
"""

import asyncio
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Field, RootModel, TypeAdapter, model_validator

from pipelines.conflicts.data import Query, Source
from pipelines.conflicts.experiment import needs_of
from pipelines.conflicts.settings import AnswerSettings
from pipelines.conflictscore.settings import ClaimSource
from pipelines.conrag.settings import AnswerOptions, TaggingSettings, WriterName
from pipelines.data.records import Document, Example, NonEmpty, Text
from pipelines.errors import InputError
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import ServerOptions
from pipelines.inspection.ask import ask, claim_of, search
from pipelines.inspection.debate import PanelOptions, debate, debate_needs, debate_settings
from pipelines.inspection.found import Inspection, Tell, one_line_of
from pipelines.inspection.npov import ABLATION_NEEDS, Detector, by_ablation, by_salience
from pipelines.inspection.resolve import TypedAnswerOptions, methods_of, resolve
from pipelines.inspection.salience import as_data, salience
from pipelines.inspection.score import (
    AnswerScoreOptions,
    ExplainedSettings,
    score,
    score_needs,
)
from pipelines.judge.settings import JudgeName
from pipelines.madam_rag.data import GivenDocument, Question
from pipelines.madam_rag.settings import DebateSettings
from pipelines.npov.decoder import DecoderOptions, decoder_folder
from pipelines.npov.example import NpovExample
from pipelines.npov.settings import GradientSettings, SalienceSettings
from pipelines.option import Options
from pipelines.report.glance import ModelUsed
from pipelines.retrieval.documents import cut
from pipelines.retrieval.index import build
from pipelines.web.documents import GivenText
from pipelines.web.jobs import Asked
from pipelines.web.warm import decoder_of, embedder_of
from serving.models import Model

if TYPE_CHECKING:  # torch
    from salience.decoder import Decoder

OptionsT = TypeVar("OptionsT", bound=Options)
FoundT = TypeVar("FoundT")


@dataclass(frozen=True)
class Shown:
    """How the page asks for a field: one `line`, a `text`, `documents`, or a choice by `labels`."""

    label: str
    kind: Literal["line", "text", "documents", "choice"] = "choice"
    hint: str = ""
    labels: Mapping[Any, str] = field(default_factory=dict)


Documents = Annotated[
    NonEmpty[GivenText],
    Shown("Documents", "documents", "What the answer was, or is to be, written from."),
]

JUDGES = {
    "tagger": "the tagger",
    "model": "the language model, with reasons",
    "cascade": "the tagger; the language model where it is unsure",
}
Judged = Annotated[JudgeName, Shown("Judged by", labels=JUDGES)]


class Task(Asked, frozen=True, extra="forbid"):
    """A task: its name for addresses and people, and what it needs and does."""

    TITLE: ClassVar[str]
    HELP: ClassVar[str]
    COMMAND: ClassVar[str]
    SUBJECT: ClassVar[str]
    """The field that says what was asked."""

    def subject(self) -> str:
        """What was asked."""
        return str(getattr(self, self.SUBJECT))

    def needs(self, server: ServerOptions) -> Needs:
        """The models; texts do not matter to it. InputError, ServingError where there are none."""
        raise NotImplementedError

    def texts(self) -> list[str]:
        """All texts that were given."""
        return [value for value in vars(self).values() if isinstance(value, str)]

    async def inspect(self, server: ServerOptions, models: Models, tell: Tell) -> Inspection[Any]:
        """Do it; it raises what the command does."""
        raise NotImplementedError


class OfDocuments(Task, frozen=True):
    """A task whose texts are judged by documents."""

    documents: Documents

    @model_validator(mode="after")
    def _distinct(self) -> "OfDocuments":
        names = Counter(each.name for each in self.documents)
        twice = next((name for name, times in names.items() if times > 1), None)
        if twice is not None:
            raise ValueError(f"two documents are called '{twice}'; rename one")
        return self

    def texts(self) -> list[str]:
        """Those of documents with the others."""
        return [*super().texts(), *(each.text for each in self.documents)]

    def as_documents(self) -> tuple[Document, ...]:
        """The documents as pipelines take them."""
        return tuple(Document(id=each.name, text=each.text) for each in self.documents)


class ScoreTask(OfDocuments, frozen=True):
    """How much of a response is disputed by its documents."""

    TITLE = "Score a response"
    HELP = "Its claims, what each document says of them, and what that makes of the response."
    COMMAND = "contested score"
    SUBJECT = "response"

    task: Literal["score"] = "score"
    response: Annotated[Text, Shown("Response", "text", "The answer to look at.")]
    judge: Judged = "tagger"
    claims: Annotated[
        ClaimSource,
        Shown(
            "Claims",
            labels={
                "sentences": "each sentence",
                "whole": "the response as a whole",
                "atomic": "all claims, split by the language model",
                "statements": "all claims, list items and dates together, by the language model",
                "salient": "the three most salient, by the language model",
            },
        ),
    ] = "sentences"

    def needs(self, server: ServerOptions) -> Needs:
        """See `Task`."""
        return score_needs(self._options(server))

    async def inspect(self, server: ServerOptions, models: Models, tell: Tell) -> Inspection[Any]:
        """See `Task`."""
        example = Example(
            id="response",
            group="response",
            response=self.response,
            documents=self.as_documents(),
        )
        return await score(example, self._options(server), models, tell)

    def _options(self, server: ServerOptions) -> AnswerScoreOptions:
        metric = ExplainedSettings(judge=self.judge, claims=self.claims)
        return of_server(server, AnswerScoreOptions, metric=metric)


class ClaimTask(OfDocuments, frozen=True):
    """What each document says of one claim."""

    TITLE = "Judge a claim"
    HELP = "Whether each document supports or contradicts one claim, and whether they conflict."
    COMMAND = "contested score --claims whole"
    SUBJECT = "claim"

    task: Literal["claim"] = "claim"
    claim: Annotated[Text, Shown("Claim", "line", "One statement, as a sentence.")]
    judge: Judged = "tagger"

    def needs(self, server: ServerOptions) -> Needs:
        """See `Task`."""
        return score_needs(self._options(server), claims_given=True)

    async def inspect(self, server: ServerOptions, models: Models, tell: Tell) -> Inspection[Any]:
        """See `Task`."""
        example = Example(
            id="claim",
            group="claim",
            response=self.claim,
            documents=self.as_documents(),
            claims=(self.claim,),
        )
        return await score(example, self._options(server), models, tell)

    def _options(self, server: ServerOptions) -> AnswerScoreOptions:
        metric = ExplainedSettings(judge=self.judge, claims="whole")
        return of_server(server, AnswerScoreOptions, metric=metric)


class AskTask(OfDocuments, frozen=True):
    """What documents hold for and against a claim (ConRAG)."""

    TITLE = "Ask documents"
    HELP = "Which passages are for a claim and which against it, and an answer that cites them."
    COMMAND = "contested ask"
    SUBJECT = "query"

    task: Literal["ask"] = "ask"
    query: Annotated[
        Text,
        Shown(
            "Claim or question",
            "line",
            "A question that is no yes or no needs the language model to answer it.",
        ),
    ]
    judge: Judged = "tagger"
    generator: Annotated[
        WriterName,
        Shown(
            "Answer",
            labels={"template": "quoted by a template", "model": "written by the language model"},
        ),
    ] = "template"

    def needs(self, server: ServerOptions) -> Needs:
        """See `Task`."""
        return self._options(server).needs()

    async def inspect(self, server: ServerOptions, models: Models, tell: Tell) -> Inspection[Any]:
        """See `Task`."""
        options, text = self._options(server), one_line_of(self.query)
        claim = claim_of(text, options)
        path = options.embedding()
        tell("indexing the documents")
        with tempfile.TemporaryDirectory() as folder:
            embedder = None if path is None else embedder_of(path)
            index = build(cut(self.as_documents()), Path(folder) / "index", embedder)
            retrieved = search(index, claim or text, options)
        return await ask(text, retrieved, options, models, tell, index="the documents given")

    def _options(self, server: ServerOptions) -> AnswerOptions:
        judge = TaggingSettings(judge=self.judge)
        return of_server(server, AnswerOptions, judging=judge, generator=self.generator)


class DebateTask(OfDocuments, frozen=True):
    """An agent for each document debates a question (MADAM-RAG)."""

    TITLE = "Let documents debate"
    HELP = "One agent per document answers a question, hears the others, and answers again."
    COMMAND = "contested debate"
    SUBJECT = "question"

    task: Literal["debate"] = "debate"
    question: Annotated[Text, Shown("Question", "line")]
    rounds: Annotated[
        Literal[1, 2, 3],
        Shown("Rounds, at most", labels={1: "1", 2: "2", 3: "3"}),
    ] = 3

    def needs(self, server: ServerOptions) -> Needs:
        """See `Task`."""
        return debate_needs(self._options(server))

    async def inspect(self, server: ServerOptions, models: Models, tell: Tell) -> Inspection[Any]:
        """See `Task`."""
        asked = Question(
            id="question",
            question=one_line_of(self.question),
            documents=tuple(GivenDocument(document=each) for each in self.as_documents()),
        )
        return await debate(asked, self._options(server), models, tell)

    def _options(self, server: ServerOptions) -> PanelOptions:
        options = of_server(server, PanelOptions, debate=DebateSettings(rounds=self.rounds))
        debate_settings(options)
        return options


class TypeTask(OfDocuments, frozen=True):
    """The type of conflict between sources, and an answer that fits (CONFLICTS)."""

    TITLE = "Name the conflict"
    HELP = "How sources disagree over a question: complementary, opinions, outdated, wrong, or not."
    COMMAND = "contested resolve"
    SUBJECT = "question"

    task: Literal["conflict-type"] = "conflict-type"
    question: Annotated[Text, Shown("Question", "line")]
    strategy: Annotated[
        Literal["none", "pipeline"],
        Shown("Answer", labels={"none": "the type alone", "pipeline": "one that fits the type"}),
    ] = "none"
    types: Annotated[
        Literal["choice", "json"],
        Shown("Type", labels={"choice": "with probabilities", "json": "with an explanation"}),
    ] = "choice"

    def needs(self, server: ServerOptions) -> Needs:
        """See `Task`."""
        options = self._options(server)
        return needs_of(methods_of(options), options)

    async def inspect(self, server: ServerOptions, models: Models, tell: Tell) -> Inspection[Any]:
        """See `Task`."""
        options = self._options(server)
        asked = Query(id="query", query=one_line_of(self.question), sources=self._sources())
        return await resolve(asked, options, methods_of(options), models, tell)

    def _sources(self) -> tuple[Source, ...]:
        found = []
        for each in self.documents:
            try:
                source = Source.from_text(each.text)
            except ValueError as error:
                raise InputError(
                    f"{each.name} has no text below its first lines; give it some"
                ) from error
            found.append(source if source.title else source.model_copy(update={"title": each.name}))
        return tuple(found)

    def _options(self, server: ServerOptions) -> TypedAnswerOptions:
        return of_server(
            server,
            TypedAnswerOptions,
            strategy=self.strategy,
            answering=AnswerSettings(types=self.types),
        )


class NpovTask(Task, frozen=True):
    """Whether a neutral response is faithful to its arguments (NPOV)."""

    TITLE = "Check a neutral response"
    HELP = "Which of the arguments given it leaves out, and what it adds to them."
    COMMAND = "contested check-npov"
    SUBJECT = "question"

    task: Literal["npov"] = "npov"
    question: Annotated[Text, Shown("Question", "line")]
    pro: Annotated[Text, Shown("Arguments for it", "text", "Each on a line of its own.")]
    con: Annotated[Text, Shown("Arguments against it", "text", "Likewise.")]
    response: Annotated[Text, Shown("Response", "text", "What was written from them.")]
    detector: Annotated[
        Detector,
        Shown(
            "Found by",
            labels={
                "salience": "gradients, as in the paper",
                "ablation": "leaving out each argument, which finds more errors",
            },
        ),
    ] = "salience"

    def needs(self, server: ServerOptions) -> Needs:
        """See `Task`; a model that gradients are taken of is not served."""
        if self.detector == "ablation":
            return ABLATION_NEEDS
        decoder_folder(_decoding(server))
        return Needs()

    async def inspect(self, server: ServerOptions, models: Models, tell: Tell) -> Inspection[Any]:
        """See `Task`."""
        asked = NpovExample(
            question=one_line_of(self.question),
            pro=_lines(self.pro),
            con=_lines(self.con),
            response=self.response,
        )
        if self.detector == "ablation":
            return await by_ablation(asked, models, tell)
        known, checked = await _by_gradients(
            server,
            tell,
            lambda decoder, reached: by_salience(
                asked, decoder, SalienceSettings(), on_progress=reached
            ),
        )
        used = (ModelUsed("gradients", known.name, known.digest),)
        view = replace(checked.view(None), models=used)
        return Inspection(
            checked.errors,
            f"gradients of {known.name}",
            title=view.title,
            view=lambda: view,
            about={"detector": "salience"},
        )


class SalienceTask(Task, frozen=True):
    """Which words of a prompt a response rests on."""

    TITLE = "See what words rest on"
    HELP = "Which words of a prompt each word of a response rests on, by a model's gradients."
    COMMAND = "contested salience"
    SUBJECT = "response"

    task: Literal["salience"] = "salience"
    prompt: Annotated[Text, Shown("Prompt", "text", "What the model read.")]
    response: Annotated[Text, Shown("Response", "text", "What was answered.")]
    target: Annotated[
        Literal["logit", "contrast"],
        Shown(
            "Gradient of",
            labels={"logit": "each token's logit", "contrast": "its lead over the likeliest other"},
        ),
    ] = "logit"

    def needs(self, server: ServerOptions) -> Needs:
        """See `Task`; the model is no role's that is served."""
        decoder_folder(_decoding(server))
        return Needs()

    async def inspect(self, server: ServerOptions, models: Models, tell: Tell) -> Inspection[Any]:
        """See `Task`."""
        gradients = GradientSettings(target=self.target)
        known, found = await _by_gradients(
            server,
            tell,
            # The response continues the prompt.
            lambda decoder, reached: salience(
                self.prompt, f" {self.response}", decoder, gradients, on_progress=reached
            ),
        )
        used = (ModelUsed("gradients", known.name, known.digest),)
        return Inspection(
            RootModel[dict[str, Any]](as_data(found.words)),
            f"gradients of {known.name}",
            title="What the response rests on",
            view=lambda: replace(found.view(None), models=used),
        )


def of_server(server: ServerOptions, options: type[OptionsT], **chosen: Any) -> OptionsT:
    """Options of a task: those that the program was started with, and what was chosen."""
    known = ServerOptions.model_fields.keys() & options.model_fields.keys()
    given = {name: getattr(server, name) for name in known & server.model_fields_set}
    return options.model_validate({**given, **chosen})


def _decoding(server: ServerOptions) -> DecoderOptions:
    return of_server(server, DecoderOptions)


async def _by_gradients(
    server: ServerOptions,
    tell: Tell,
    work: "Callable[[Decoder, Callable[[int, int], None]], FoundT]",
) -> tuple[Model, FoundT]:
    """What is found by gradients, in a thread, and of which model they are.

    Work that tells how many tokens are done ends there once the job is over.
    """
    folder = decoder_folder(_decoding(server))
    over = threading.Event()

    def reached(done: int, total: int) -> None:
        if over.is_set():
            raise InputError("the job was stopped")
        tell(f"gradients of {done:,} of {total:,} tokens")

    tell(f"loading {folder.model.name}")
    try:
        return folder.model, await asyncio.to_thread(lambda: work(decoder_of(folder), reached))
    finally:
        over.set()


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line for line in text.splitlines() if line.strip())


TASKS: tuple[type[Task], ...] = (
    ScoreTask,
    ClaimTask,
    AskTask,
    DebateTask,
    TypeTask,
    NpovTask,
    SalienceTask,
)

AnyTask = Annotated[
    ScoreTask | ClaimTask | AskTask | DebateTask | TypeTask | NpovTask | SalienceTask,
    Field(discriminator="task"),
]

ANY_TASK: TypeAdapter[AnyTask] = TypeAdapter(AnyTask)
