"""What the page offers: each task with its fields and choices, and why one is not to be had."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel

from pipelines.errors import InputError
from pipelines.experiment.options import ServerOptions, source_of
from pipelines.web.tasks import TASKS, Shown, Task
from serving import models
from serving.errors import ServingError
from serving.installed import engine_version

Kind = Literal["line", "text", "documents"]

KINDS: tuple[Kind, ...] = ("line", "text", "documents")
"""Of fields, in the order in which the page asks for them."""


class Value(BaseModel, frozen=True):
    """A value of a choice; `lacks` says why it is not to be had."""

    value: str | int
    label: str
    lacks: str = ""


class Choice(BaseModel, frozen=True):
    """A choice, and its usual value, which is to be had if any is."""

    name: str
    label: str
    usual: str | int
    values: tuple[Value, ...]


class Field(BaseModel, frozen=True):
    """A field to be filled in."""

    name: str
    label: str
    kind: Kind
    hint: str = ""


class Offer(BaseModel, frozen=True):
    """A task; `lacks` says why it is not to be had."""

    task: str
    title: str
    help: str
    command: str
    fields: tuple[Field, ...]
    choices: tuple[Choice, ...]
    lacks: str = ""


def offers(server: ServerOptions) -> tuple[Offer, ...]:
    """All tasks, as they can be done with the models that the program was started with."""
    return tuple(_offer(task, server) for task in TASKS)


def _offer(task: type[Task], server: ServerOptions) -> Offer:
    usually = lacking(task, server)

    def value(name: str, chosen: str | int, label: str) -> Value:
        usual = chosen == task.model_fields[name].default
        lacks = usually if usual else lacking(task, server, **{name: chosen})
        return Value(value=chosen, label=label, lacks=lacks)

    asked = {
        name: shown
        for name, known in task.model_fields.items()
        for shown in known.metadata
        if isinstance(shown, Shown)
    }
    choices = []
    for name, shown in asked.items():
        if shown.kind == "choice":
            values = tuple(value(name, *each) for each in shown.labels.items())
            usual = _usual(task.model_fields[name].default, values)
            choices.append(Choice(name=name, label=shown.label, usual=usual, values=values))
    had = any(not each.lacks for choice in choices for each in choice.values)
    return Offer(
        task=task.model_fields["task"].default,
        title=task.TITLE,
        help=task.HELP,
        command=task.COMMAND,
        fields=tuple(
            Field(name=name, label=shown.label, kind=kind, hint=shown.hint)
            for kind in KINDS
            for name, shown in asked.items()
            if shown.kind == kind
        ),
        choices=tuple(choices),
        lacks="" if had else usually,
    )


def _usual(default: str | int, values: Sequence[Value]) -> str | int:
    """The default of a choice, or where that is not to be had, what is, if anything."""
    had = [each.value for each in values if not each.lacks]
    return default if default in had or not had else had[0]


def lacking(task: type[Task], server: ServerOptions, **chosen: Any) -> str:
    """Why a task cannot be done as chosen, in a line; empty where it can."""
    try:
        # Texts, which this lacks, do not decide which models are needed.
        check(task.model_construct(**chosen), server)
    except (InputError, ServingError) as error:
        return str(error)
    return ""


def check(asked: Task, server: ServerOptions) -> None:
    """Look for the models that are needed; an endpoint is asked when the job is done.

    Raises:
        InputError, ServingError: One is not to be had.
    """
    needs = asked.needs(server)
    if needs.role is None or server.endpoint:
        return
    source = source_of(server, needs.role)
    models.find(source.model or source.profiled, source.models_dir)
    engine_version()
