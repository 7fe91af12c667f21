"""Commands whose parameters are settings: each field becomes an option of its own."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Annotated, Any

import typer
from annotated_types import Ge, Le
from pydantic import BaseModel, ValidationError

from pipelines.errors import InputError
from pipelines.option import OptionField, in_order, nested, options_of, refuse_idle

CONTEXT = "context"


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

    @wraps(command)
    def called(**values: Any) -> Any:
        context: typer.Context = values[CONTEXT] if CONTEXT in own else values.pop(CONTEXT)
        given = {
            name
            for name in values
            if (source := context.get_parameter_source(name)) and source.name != "DEFAULT"
        }
        made = {name: _made(settings, values, given) for name, settings in groups.items()}
        for settings in made.values():
            refuse_idle(settings)
        return command(**{name: made[name] if name in made else values[name] for name in own})

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {}
    return called


def _parameters(
    settings: type[BaseModel], items: str, standing: BaseModel | None = None
) -> Iterator[inspect.Parameter]:
    """An option for each field, with the defaults of `standing`; those inside where they stand."""
    given = {each.name: each for each in options_of(settings)}
    inside = dict(nested(settings))
    for name in in_order(settings):
        if name in inside:
            yield from _parameters(inside[name], items, _default(settings, name))
        elif name in given:
            yield _parameter(given[name], items, standing)


def _default(settings: type[BaseModel], name: str) -> BaseModel | None:
    """What settings inside others are, before anything is given."""
    found = settings.model_fields[name].get_default(call_default_factory=True)
    return found if isinstance(found, BaseModel) else None


def _parameter(each: OptionField, items: str, standing: BaseModel | None) -> inspect.Parameter:
    option, field = each.option, each.field
    bounds: dict[str, Any] = {}
    # Typer knows closed bounds; open ones are pydantic's to refuse.
    for limit in field.metadata:
        if isinstance(limit, Ge):
            bounds["min"] = limit.ge
        elif isinstance(limit, Le):
            bounds["max"] = limit.le
    info = typer.Option(
        each.flag,
        help=option.help.replace("{items}", items),
        rich_help_panel=option.panel,
        metavar=option.metavar,
        show_default=True if option.shown is None else option.shown,
        **bounds,
    )
    if option.typed is not None:
        return _keyword(each.name, Annotated[option.typed, info], None)
    default = inspect.Parameter.empty
    if not field.is_required():
        default = field.get_default(call_default_factory=True)
    if standing is not None:
        default = getattr(standing, each.name)
    return _keyword(each.name, Annotated[field.annotation, info], default)


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=annotation, default=default)


def _made(
    settings: type[BaseModel],
    values: Mapping[str, Any],
    given: set[str],
    standing: BaseModel | None = None,
) -> BaseModel:
    """Settings from what was given, and else from their defaults."""
    fields: dict[str, Any] = {
        name: _made(inside, values, given, _default(settings, name))
        for name, inside in nested(settings)
    }
    known = {*given, *fields}
    if standing is not None:
        usual = settings()
        fields |= {name: value for name, value in standing if value != getattr(usual, name)}
    fields |= {each.name: values[each.name] for each in options_of(settings) if each.name in given}
    try:
        made = settings.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        flags = {each.name: each.flag for each in options_of(settings)}
        named = f"{flags.get(str(first['loc'][0]), first['loc'][0])}: " if first["loc"] else ""
        raise InputError(f"{named}{first['msg'].removeprefix('Value error, ')}") from error
    made.model_fields_set.intersection_update(known)
    return made


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
