"""Commands whose parameters are settings: each field becomes an option."""

import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from annotated_types import Ge, Le
from pydantic import BaseModel

from pipelines.cli.command import show_whole_help
from pipelines.option import (
    Option,
    OptionField,
    all_options,
    in_order,
    made,
    nested,
    options_of,
    refuse_idle,
    standing,
)

CONTEXT, MORE, WHOLE_HELP = "context", "more", "whole_help"

_WHOLE_HELP = typer.Option(
    "--help-all",
    is_eager=True,
    callback=show_whole_help,
    help="Show this message with all options and exit.",
    show_default=False,
)


def flat(command: Callable[..., Any], items: str = "items") -> Callable[..., Any]:
    """A command for typer, with an option for each field of its parameters, which are settings.

    In the settings passed to the command, `model_fields_set` holds only what was given on the
    command line. Options without effect are refused. `items` ("questions") replaces "{items}" in
    the help of options. Raises ValueError if two options have the same name.
    """
    declared = inspect.signature(command, eval_str=True).parameters
    groups: dict[str, type[BaseModel]] = {name: declared[name].annotation for name in declared}
    parameters = [_keyword(CONTEXT, typer.Context, inspect.Parameter.empty)]
    for settings in groups.values():
        parameters += _parameters(settings, items)
    options = [option for settings in groups.values() for option in all_options(settings)]
    if any(option.option.panel for option in options):
        parameters.append(_keyword(WHOLE_HELP, Annotated[bool, _WHOLE_HELP], False))
    greedy = next((option.name for option in options if option.option.greedy), None)
    if greedy is not None:
        rest = Annotated[list[Path] | None, typer.Argument(hidden=True)]
        parameters.append(_keyword(MORE, rest, None))

    @wraps(command)
    def called(**values: Any) -> Any:
        values.pop(WHOLE_HELP, None)
        context: typer.Context = values.pop(CONTEXT)
        more = values.pop(MORE, None)
        given = {
            name: value
            for name, value in values.items()
            if (source := context.get_parameter_source(name)) and source.name != "DEFAULT"
        }
        if greedy is not None and more:
            given[greedy] = [*(values[greedy] or ()), *more]
        for option in options:
            if option.option.read is not None and option.name in given:
                given[option.name] = option.option.read(given[option.name])
        known = {name: made(settings, given) for name, settings in groups.items()}
        for settings in known.values():
            refuse_idle(settings)
        return command(**known)

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {}
    return called


def _parameters(
    settings: type[BaseModel], items: str, usual: BaseModel | None = None
) -> Iterator[inspect.Parameter]:
    """An option for each field, with the defaults of `usual`; nested settings expand in place."""
    given = {option.name: option for option in options_of(settings)}
    inside = dict(nested(settings))
    for name in in_order(settings):
        if name in inside:
            yield from _parameters(inside[name], items, standing(settings, name))
        elif name in given:
            yield _parameter(given[name], items, usual)


def _parameter(found: OptionField, items: str, usual: BaseModel | None) -> inspect.Parameter:
    option, field = found.option, found.field
    default: Any = inspect.Parameter.empty
    if field.default_factory_takes_validated_data:
        default = None
    elif not field.is_required():
        default = field.get_default(call_default_factory=True)
    if usual is not None:
        default = getattr(usual, found.name)
    kind = option.typed or field.annotation
    shown: dict[str, Any] = {
        "help": _help(option, kind, default).replace("{items}", items),
        "metavar": option.metavar or (found.name.upper() if option.argument else _metavar(kind)),
        "show_default": isinstance(default, bool),
    }
    # Typer checks closed bounds; open ones are left to pydantic.
    for limit in field.metadata:
        if isinstance(limit, Ge):
            shown["min"] = limit.ge
        elif isinstance(limit, Le):
            shown["max"] = limit.le
    info = (
        typer.Argument(**shown)
        if option.argument
        else typer.Option(found.flag, rich_help_panel=option.panel, **shown)
    )
    if option.typed is not None:
        default = default if field.is_required() else None
    return _keyword(found.name, Annotated[kind, info], default)


def _choices(kind: Any) -> tuple[Any, ...]:
    """The values that a `Literal` allows, also inside a list or an optional type."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return next(filter(None, map(_choices, get_args(kind))), ())


def _help(option: Option, kind: Any, default: Any) -> str:
    """The help text with choices and default inline, which takes less room than separate lines."""
    choices = _choices(kind)
    text = option.help
    if any(f"`{choice}`" not in text for choice in choices):
        text += f" One of {', '.join(map(str, choices))}."
    usual = option.shown
    if usual is None and not (
        default is None or default is inspect.Parameter.empty or isinstance(default, bool)
    ):
        usual = str(default)
    return f"{text} (default: {usual})" if usual else text


def _metavar(kind: Any) -> str | None:
    """A short placeholder for a value, which leaves more width to the help text."""
    if kind is bool:
        return None
    if _choices(kind):
        return "NAME"
    types = {kind, *get_args(kind)} | {
        part for argument in get_args(kind) for part in get_args(argument)
    }
    names = {int: "N", float: "X", Path: "PATH"}
    return next((name for known, name in names.items() if known in types), "TEXT")


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=annotation, default=default)
