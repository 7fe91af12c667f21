"""Commands whose parameters are settings: each field becomes an option of its own."""

import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from annotated_types import Ge, Le
from pydantic import BaseModel

from pipelines.option import OptionField, in_order, made, nested, options_of, refuse_idle, standing

CONTEXT, MORE = "context", "more"


def flat(command: Callable[..., Any], items: str = "items") -> Callable[..., Any]:
    """A command for typer, with an option for each field of its parameters that are settings.

    The settings that the command is called with know in `model_fields_set` what was given on the
    command line; defaults are not in it. Options without effect are refused. `items` is what the
    command counts, for "{items}" in the help of options: "questions". It is a ValueError if two
    options have one name.
    """
    own = inspect.signature(command, eval_str=True).parameters
    groups = {
        name: parameter.annotation
        for name, parameter in own.items()
        if isinstance(parameter.annotation, type) and issubclass(parameter.annotation, BaseModel)
    }
    parameters: list[inspect.Parameter] = []
    for name, parameter in own.items():
        if name in groups:
            parameters += _parameters(groups[name], items)
        else:
            parameters.append(_keyword(name, parameter.annotation, parameter.default))
    if CONTEXT not in own:
        parameters.insert(0, _keyword(CONTEXT, typer.Context, inspect.Parameter.empty))
    options = [option for settings in groups.values() for option in _all_options(settings)]
    greedy = next((option.name for option in options if option.option.greedy), None)
    if greedy is not None:
        rest = Annotated[list[Path] | None, typer.Argument(hidden=True)]
        parameters.append(_keyword(MORE, rest, None))

    @wraps(command)
    def called(**values: Any) -> Any:
        context: typer.Context = values[CONTEXT] if CONTEXT in own else values.pop(CONTEXT)
        if greedy is not None and (more := values.pop(MORE)):
            values[greedy] = [*(values[greedy] or ()), *more]
        given = {
            name: value
            for name, value in values.items()
            if (source := context.get_parameter_source(name)) and source.name != "DEFAULT"
        }
        for option in options:
            if option.option.read is not None and option.name in given:
                given[option.name] = option.option.read(given[option.name])
        known = {name: made(settings, given) for name, settings in groups.items()}
        for settings in known.values():
            refuse_idle(settings)
        return command(**{name: known[name] if name in known else values[name] for name in own})

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {}
    return called


def _all_options(settings: type[BaseModel]) -> Iterator[OptionField]:
    """The options of settings and of those inside."""
    yield from options_of(settings)
    for _, inside in nested(settings):
        yield from _all_options(inside)


def _parameters(
    settings: type[BaseModel], items: str, usual: BaseModel | None = None
) -> Iterator[inspect.Parameter]:
    """An option for each field, with the defaults of `usual`; those inside where they stand."""
    given = {option.name: option for option in options_of(settings)}
    inside = dict(nested(settings))
    for name in in_order(settings):
        if name in inside:
            yield from _parameters(inside[name], items, standing(settings, name))
        elif name in given:
            yield _parameter(given[name], items, usual)


def _parameter(found: OptionField, items: str, usual: BaseModel | None) -> inspect.Parameter:
    option, field = found.option, found.field
    shown: dict[str, Any] = {
        "help": option.help.replace("{items}", items),
        "metavar": option.metavar,
        "show_default": True if option.shown is None else option.shown,
    }
    # Typer knows closed bounds; open ones are pydantic's to refuse.
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
    default = inspect.Parameter.empty
    if not field.is_required():
        default = field.get_default(call_default_factory=True)
    if usual is not None:
        default = getattr(usual, found.name)
    if option.typed is not None:
        default = default if field.is_required() else None
    return _keyword(found.name, Annotated[option.typed or field.annotation, info], default)


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=annotation, default=default)


def words(settings: BaseModel, *names: str) -> tuple[str, ...]:
    """Fields that were given, as words of a command line for another command."""
    flags = {each.name: each.flag for each in options_of(type(settings))}
    found: list[str] = []
    for name in names:
        value = getattr(settings, name)
        if name not in settings.model_fields_set or value is False:
            continue
        if value is True:
            found.append(flags[name])
            continue
        several = value if isinstance(value, list) else [value]
        found += [word for one in several for word in (flags[name], str(one))]
    return tuple(found)
