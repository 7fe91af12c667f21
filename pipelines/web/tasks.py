"""The tasks on the page: forms built from their declarations, and running what a form sends.

A form has a task's texts and the options that the page offers for it. Other options are those that
the program was started with, or else the command's defaults.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache, reduce
from operator import or_
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, Literal, Self, get_args, get_origin

from annotated_types import Ge
from pydantic import BaseModel, Field, TypeAdapter, ValidationError, create_model, model_validator
from pydantic.fields import FieldInfo

from pipelines.data.extraction import Started
from pipelines.data.jsonl import MARK
from pipelines.data.records import Document, Identifier, NonEmpty, Text
from pipelines.data.released import entries_in, record
from pipelines.data.text import HTML, PDF, text_of
from pipelines.errors import InputError
from pipelines.experiment.execute import models_for
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import ProfileOptions, ServerOptions, source_of
from pipelines.inspection.task import TASKS, Kind, Shown, Task, Tell, loaded_by, task
from pipelines.judge.tagger import TaggerFolder, Tagging
from pipelines.option import OptionField, all_options, made, nested
from pipelines.report.blocks import encoded
from pipelines.report.explorer import render
from pipelines.report.template import made_visible
from pipelines.retrieval.documents import MARKDOWN, TEXT
from pipelines.runs.provenance import provenance
from pipelines.web.jobs import Found
from serving import models
from serving.errors import ServingError
from serving.installed import engine_version

LINES = (".jsonl",)
READ = (*TEXT, *MARKDOWN, *HTML, *PDF, *LINES)
"""Extensions of the files that can be read."""


class GivenText(BaseModel, frozen=True, extra="forbid"):
    """A document as given: a name, unique within its job, and its text."""

    name: Identifier
    text: Text


def read(name: str, data: bytes, started: Started = lambda _: None) -> list[GivenText]:
    """The documents in a file: one, or one per line of JSON Lines.

    `started` is passed to `text_of`.

    Raises:
        InputError: The file is of an unsupported kind, is damaged, or has no text.
    """
    name = PurePosixPath(name.replace("\\", "/")).name
    if name.lower().endswith(LINES):
        return _lines(name, data.removeprefix(MARK))
    if not name.lower().endswith(READ):
        raise InputError(f"{name} cannot be read; names of documents end in {', '.join(READ)}")
    text = text_of(name, data, started=started)
    try:
        return [GivenText(name=name, text=text)]
    except ValidationError as error:
        raise InputError(f"{name!r} cannot name a document; rename the file") from error


def _lines(name: str, data: bytes) -> list[GivenText]:
    entries = entries_in(data, name)
    documents = [record(entry, Document, "documents, docs/conrag.md") for entry in entries]
    return [
        GivenText(name=document.id, text="\n\n".join(filter(None, [document.title, document.text])))
        for document in documents
    ]


TASK: Final = {name: task(name) for name in TASKS}

KINDS: Final[tuple[Kind, ...]] = ("line", "lines", "text", "documents")
"""Kinds of fields, in the order in which the page asks for them."""


class Value(BaseModel, frozen=True):
    """A value of a choice; `lacks` says why it is unavailable."""

    value: str | int
    lacks: str = ""


class Choice(BaseModel, frozen=True):
    """A choice, and its default, which is an available value if there are any."""

    name: str
    label: str
    hint: str
    usual: str | int
    values: tuple[Value, ...]


class FormField(BaseModel, frozen=True):
    """A field to be filled in."""

    name: str
    label: str
    kind: Kind


class Offer(BaseModel, frozen=True):
    """A task; `lacks` says why it is unavailable."""

    task: str
    title: str
    help: str
    fields: tuple[FormField, ...]
    choices: tuple[Choice, ...]
    lacks: str = ""


class Form(BaseModel, frozen=True, extra="forbid"):
    """What a task's form sends; the base class of all forms."""

    task: str

    @property
    def files(self) -> tuple[GivenText, ...]:
        """The documents."""
        return getattr(self, "documents", ())

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = Counter(document.name for document in self.files)
        twice = next((name for name, times in names.items() if times > 1), None)
        if twice is not None:
            raise ValueError(f"two documents are called '{twice}'; rename one")
        return self

    def texts(self) -> list[str]:
        """All texts that were given."""
        given = [getattr(self, name) for name, _ in texts_of(TASK[self.task])]
        return [
            *(text for text in given if isinstance(text, str)),
            *(document.text for document in self.files),
        ]

    def subject(self) -> str:
        """The first text, which names the job in the list."""
        return self.texts()[0]


def texts_of(task: Task[Any, Any, Any]) -> list[tuple[str, Shown]]:
    """The texts that the page asks for, by the names of their fields."""
    shown = {
        name: note
        for name, field in task.asked.model_fields.items()
        for note in field.metadata
        if isinstance(note, Shown)
    }
    return sorted(shown.items(), key=lambda item: KINDS.index(item[1].kind))


def choices_of(task: Task[Any, Any, Any]) -> dict[str, OptionField]:
    """The options that the page offers, from any level of the task's options."""
    known = {option.name: option for option in all_options(task.options)}
    return {name: known[name] for name in task.form}


def values_of(field: FieldInfo) -> tuple[str | int, ...]:
    """The values to choose from; for a number, those from its minimum to its default."""
    least: Any = next((note.ge for note in field.metadata if isinstance(note, Ge)), None)
    if least is not None:
        return tuple(range(least, field.default + 1))
    kind = field.annotation
    named = kind if get_origin(kind) is Literal else get_args(kind)[0]  # of `Literal[...] | None`
    return get_args(named)


def _form(task: Task[Any, Any, Any]) -> type[Form]:
    """The class of what a task's form sends."""
    kinds: Mapping[Kind, Any] = {"documents": NonEmpty[GivenText]}
    fields: dict[str, Any] = {name: (kinds.get(at.kind, Text), ...) for name, at in texts_of(task)}
    for name, option in choices_of(task).items():
        fields[name] = (option.field.rebuild_annotation() | None, None)
    fields["task"] = (Literal[task.name], task.name)
    return create_model(f"{task.name.title().replace('-', '')}Form", __base__=Form, **fields)


FORMS: Any = reduce(or_, map(_form, TASK.values()))
"""What forms send: the texts and choices of the task that `task` names."""

FORM: Final[TypeAdapter[Form]] = TypeAdapter(Annotated[FORMS, Field(discriminator="task")])
"""Parses what a form sent."""


def options_of(
    task: Task[Any, Any, Any], server: ServerOptions, chosen: Mapping[str, Any]
) -> ProfileOptions:
    """Options of a task: those that the program was started with, and what was chosen."""
    given = {name: getattr(server, name) for name in server.model_fields_set}
    usual = usual_of(made(task.options, given), task.form)
    # A choice of the default does not count as given, or it could be refused as idle.
    chosen = {
        name: chosen[name] for name in task.form if chosen.get(name) not in (None, usual[name])
    }
    options: ProfileOptions = made(task.options, {**given, **chosen})
    return options


def usual_of(options: BaseModel, names: Sequence[str]) -> dict[str, Any]:
    """The values of options by name, at any level of nesting."""
    values = {name: getattr(options, name) for name in names if name in type(options).model_fields}
    for name, _ in nested(type(options)):
        values = usual_of(getattr(options, name), names) | values
    return values


def offers(server: ServerOptions) -> tuple[Offer, ...]:
    """All tasks, with what the models that the program was started with can do."""
    return tuple(_offer(task, server) for task in TASK.values())


def _offer(task: Task[Any, Any, Any], server: ServerOptions) -> Offer:
    by_default = lacking(task, server)
    usual = usual_of(options_of(task, server, {}), task.form)
    choices = []
    for name, option in choices_of(task).items():
        values = tuple(
            Value(value=value, lacks=lacking(task, server, **{name: value}))
            for value in values_of(option.field)
        )
        available = [value.value for value in values if not value.lacks]
        choices.append(
            Choice(
                name=name,
                label=_label(name),
                hint=option.option.help.replace("`", ""),
                usual=usual[name] if usual[name] in available or not available else available[0],
                values=values,
            )
        )
    any_available = any(not value.lacks for choice in choices for value in choice.values)
    return Offer(
        task=task.name,
        title=task.title,
        help=task.help.partition("\n")[0],
        fields=tuple(
            FormField(name=name, label=shown.label or _label(name), kind=shown.kind)
            for name, shown in texts_of(task)
        ),
        choices=tuple(choices),
        lacks="" if any_available else by_default,
    )


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def lacking(task: Task[Any, Any, Any], server: ServerOptions, **chosen: Any) -> str:
    """Why a task cannot be run as chosen, in one line; empty if it can."""
    try:
        check(task, options_of(task, server, chosen))
    except (InputError, ServingError) as error:
        return str(error)
    return ""


def check(task: Task[Any, Any, Any], options: ProfileOptions) -> Needs:
    """Find the models that a task needs; an endpoint is contacted only when the job runs.

    Raises:
        InputError, ServingError: A model is unavailable.
    """
    needs = task.needs(options)
    if needs.role is not None:
        source = source_of(options, needs.role)
        if not source.endpoints:
            models.find(source.model or source.profiled, source.models_dir)
            engine_version()
    return needs


def refuse(sent: Form, server: ServerOptions) -> None:
    """Refuse a form that could not be run; raises InputError, or the errors of `check`."""
    task = TASK[sent.task]
    as_asked(task, sent)
    check(task, options_of(task, server, sent.model_dump()))


def as_asked(task: Task[Any, Any, Any], sent: Form) -> BaseModel:
    """The task's input from a form; InputError if it is invalid."""
    given: dict[str, Any] = {}
    for name, shown in texts_of(task):
        value = getattr(sent, name)
        if shown.kind == "documents":
            value = tuple(Document(id=entry.name, text=entry.text) for entry in value)
        elif shown.kind == "lines":
            value = [line for line in value.splitlines() if line.strip()]
        given[name] = value
    asked: BaseModel = made(task.asked, given)
    return asked


async def perform(server: ServerOptions, sent: Form, tell: Tell) -> tuple[Found, str]:
    """Run a task, and return its result and the result's page.

    Raises:
        InputError, ServingError, TaggerError, SalienceError: As for the command.
    """
    task = TASK[sent.task]
    options = options_of(task, server, sent.model_dump())
    async with models_for(options, task.needs(options), tell) as opened:
        warm = loaded_by(opened, kept_loaded)
        inspection = await task.inspect(as_asked(task, sent), options, warm, tell)
    view = inspection.view(inspection.picture() if inspection.picture else None)
    (example,) = view.examples
    return (
        Found(
            title=inspection.title,
            cost=inspection.cost,
            models=tuple(view.models),
            blocks=made_visible(encoded(example.blocks())),
            result=inspection.result.model_dump(mode="json"),
        ),
        render(inspection.title, [view], {**inspection.about, **provenance()}),
    )


@lru_cache(maxsize=1)
def kept_loaded(folder: TaggerFolder) -> Tagging:
    """The tagger of a folder, kept loaded between jobs; see `TaggerFolder.load`."""
    return folder.load()
