"""Settings that declare their command-line options.

A settings field annotated with an `Option` is an option of every command that takes the settings,
with the field's type, bounds and default:

    judge: Annotated[Judge, Option("Who judges claims by documents.")] = "model"

A field whose type is a settings model contributes that model's options. A field without `Option` or
a description is not an option.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import get_annotations
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo

from pipelines.errors import InputError
from serving.errors import in_our_words

NameT = TypeVar("NameT", bound=str)
SettingsT = TypeVar("SettingsT", bound=BaseModel)


class Options(BaseModel):
    """Settings of a command; unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True)
class Only:
    """When an option has an effect, given the settings it belongs to.

    `without` says what makes it idle, for the error message: "--judge model", or a function of the
    settings.
    """

    when: Callable[[Any], bool]
    without: str | Callable[[Any], str]


@dataclass(frozen=True)
class Option:
    """How a field is set on the command line.

    Attributes:
        help: What it does, for `--help`.
        name: "--on-overflow"; derived from the field's name by default.
        panel: Heading in `--help`.
        metavar: Placeholder for the value in `--help`.
        shown: The default as shown in `--help`; the field's default if not given.
        only: When it has an effect; by default always.
        typed: Its type on the command line (None if not given), if a validator or `read` converts
            it to the field's type.
        read: Converts the command-line value to the field's value, for instance by reading a file.
        argument: Whether it is positional.
        greedy: Whether it takes all words that follow: `--documents a.txt b.txt`.
    """

    help: str
    name: str = ""
    panel: str | None = None
    metavar: str | None = None
    shown: str | None = None
    only: Only | None = None
    typed: Any = None
    read: Callable[[Any], Any] | None = None
    argument: bool = False
    greedy: bool = False


LARGEST_SEED = 2**32 - 1
"""Largest seed that numpy, and with it scikit-learn, accepts; torch accepts more."""

OnError = Literal["stop", "skip"]
"""What to do at a record that cannot be used."""

Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED), Option("Seed of all random draws.")]


class OptionField(NamedTuple):
    """A field that is an option: its name, flag, option and declaration."""

    name: str
    flag: str
    option: Option
    field: FieldInfo


def options_of(settings: type[BaseModel]) -> Iterator[OptionField]:
    """The fields of a model that are options, in order; not those of nested models.

    A field with a description is also an option, for settings of packages that do not know
    `Option`. Unless it is required, its panel in `--help` is the model's title.
    """
    for name in in_order(settings):
        field, flag = settings.model_fields[name], f"--{name.replace('_', '-')}"
        for option in field.metadata:
            if isinstance(option, Option):
                yield OptionField(name, option.name or flag, option, field)
        if field.description:
            panel = None if field.is_required() else settings.model_config.get("title")
            yield OptionField(name, flag, Option(field.description, panel=panel), field)


def in_order(settings: type[BaseModel]) -> list[str]:
    """Names of a model's fields: a class's fields before inherited ones."""
    names = (name for kind in settings.__mro__ for name in get_annotations(kind))
    return [name for name in dict.fromkeys(names) if name in settings.model_fields]


def nested(settings: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """The fields of a model that are settings models themselves, in order."""
    for name, field in settings.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield name, field.annotation


def standing(settings: type[BaseModel], name: str) -> BaseModel | None:
    """The default of nested settings."""
    default = settings.model_fields[name].get_default(call_default_factory=True)
    return default if isinstance(default, BaseModel) else None


def all_options(settings: type[BaseModel]) -> Iterator[OptionField]:
    """The options of settings, then those of nested models."""
    yield from options_of(settings)
    for _, inside in nested(settings):
        yield from all_options(inside)


def made(
    settings: type[SettingsT], given: Mapping[str, Any], usual: BaseModel | None = None
) -> SettingsT:
    """Build settings from options by field name, at any level of nesting.

    Options of other settings are ignored. `model_fields_set` holds the fields that were given.
    Fields that were not given are taken from `usual`.

    Raises:
        InputError: A value is invalid, or a field without a default is missing.
    """
    fields: dict[str, Any] = {
        name: made(inside, given, standing(settings, name)) for name, inside in nested(settings)
    }
    known = {*given, *fields}
    if usual is not None:
        defaults = settings()
        fields |= {name: value for name, value in usual if value != getattr(defaults, name)}
    options = {option.name: option for option in options_of(settings)}
    fields |= {name: given[name] for name in options if name in given}
    try:
        instance = settings.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0]) if first["loc"] else ""
        flag = f"{options[name].flag if name in options else name}: " if name else ""
        raise InputError(f"{flag}{in_our_words(first['msg'])}") from error
    instance.model_fields_set.intersection_update(known)
    return instance


def refuse_idle(settings: BaseModel) -> None:
    """Raise InputError if an option was given and has no effect.

    A user who gives an option expects it to do something. An idle option would also be recorded in
    the run's settings, and the run could not be resumed without it.
    """
    for option in options_of(type(settings)):
        only = option.option.only
        if (
            only is not None
            and option.name in settings.model_fields_set
            and not only.when(settings)
        ):
            without = only.without if isinstance(only.without, str) else only.without(settings)
            raise InputError(f"{option.flag} has no effect with {without}; leave it out")
    for name, _ in nested(type(settings)):
        refuse_idle(getattr(settings, name))


def refuse_given(settings: BaseModel, names: Iterable[str], without: str) -> None:
    """Raise InputError if one of these options was given, for a reason outside the settings.

    Args:
        settings: The settings that the options belong to.
        names: Fields; those that the model lacks are ignored.
        without: What makes them idle: "--strategy none, which asks no language model".
    """
    wanted = set(names)
    for option in options_of(type(settings)):
        if option.name in wanted and option.name in settings.model_fields_set:
            raise InputError(f"{option.flag} has no effect with {without}; leave it out")


def one_of(given: Sequence[str] | None, known: Iterable[NameT], flag: str) -> tuple[NameT, ...]:
    """The values of a repeatable option, in the order of `known`.

    None selects all known values; an unknown value raises InputError.
    """
    names = tuple(known)
    for value in given or ():
        if value not in names:
            raise InputError(f"{flag} is '{value}'; it can be {', '.join(names)}")
    return tuple(name for name in names if given is None or name in given)


@dataclass(frozen=True)
class Choice:
    """A setting that a preset fixes, usually to a value other than our default.

    docs/differences.md says why our defaults differ.

    Attributes:
        field: Name of the field; "metric.claims" for a nested one.
        value: The preset's value.
        where: Another field and its values, if the choice applies only with these.
    """

    field: str
    value: Any
    where: tuple[str, tuple[str, ...]] | None = None

    def holds(self, settings: type[BaseModel], given: Mapping[str, Any]) -> bool:
        """Whether the choice applies to settings with these values."""
        if self.where is None:
            return True
        name, values = self.where
        default = settings.model_fields[name].get_default(call_default_factory=True)
        return given.get(name, default) in values


@dataclass(frozen=True)
class Difference:
    """Where a default differs from a preset, with the option's flag."""

    flag: str
    ours: Any
    preset: Any
    choice: Choice

    @property
    def told(self) -> str:
        """The preset's value for the user, with its condition: "all (of --dataset scifact)"."""
        where = self.choice.where
        only = f" (of {_flag(where[0])} {', '.join(where[1])})" if where else ""
        return f"{shown(self.preset)}{only}"


class WithPresets(BaseModel):
    """Settings with switches that reproduce a paper's settings, or its released code's.

        AS_IN_PAPER = (
            Choice("debate.replies", "text"),  # appendix C
        )

        class MadamOptions(RunOptions, ...):
            PRESETS = {"as_in_paper": AS_IN_PAPER}

    A switch is a field that is False by default; `PRESETS` maps it to its choices. With
    `as_in_paper=True`, `debate.replies` is "text"; the run uses, records and reports these values.
    InputError if two switches are on, or if an option was given a value that conflicts with the
    switch.
    """

    PRESETS: ClassVar[Mapping[str, Sequence[Choice]]] = {}

    @model_validator(mode="before")
    @classmethod
    def _chosen(cls, data: Any) -> Any:
        on = [name for name in cls.PRESETS if isinstance(data, dict) and data.get(name)]
        if not on:
            return data
        if len(on) > 1:
            raise InputError(f"{_flag(on[0])} and {_flag(on[1])} cannot be combined")
        chosen = dict(data)
        for choice in cls.PRESETS[on[0]]:
            if not choice.holds(cls, data):
                continue
            _choose(cls, chosen, choice.field.split("."), choice.value, on[0])
        return chosen


def switched(settings: BaseModel) -> str | None:
    """The active preset: "as-in-paper"; None if no switch is on."""
    presets = settings.PRESETS if isinstance(settings, WithPresets) else {}
    on = (name for name in presets if getattr(settings, name))
    preset = next(on, None)
    return preset and preset.replace("_", "-")


def told(settings: BaseModel) -> str:
    """What the active preset changes, in one line; empty without one.

    For example "--as-in-paper: --claims atomic, --k 5".
    """
    preset = switched(settings)
    if preset is None or not isinstance(settings, WithPresets):
        return ""
    decided = differences(type(settings), preset.replace("-", "_"))
    values = dict(settings)
    parts = (
        f"{difference.flag} {shown(difference.preset)}"
        for difference in decided
        if difference.choice.holds(type(settings), values)
    )
    return f"--{preset}: {', '.join(parts) or 'our defaults are the same'}"


def shown(value: Any) -> str:
    """A setting's value for the user: "all, test", "yes", "not given"."""
    if isinstance(value, tuple | list):
        return ", ".join(map(shown, value))
    if value is None:
        return "not given"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def differences(settings: type[WithPresets], preset: str) -> Iterator[Difference]:
    """Where the defaults differ from a preset, in the preset's order."""
    for choice in settings.PRESETS[preset]:
        name, *inside = choice.field.split(".")
        kind: type[BaseModel] = settings
        default: Any = kind.model_fields[name].get_default(call_default_factory=True)
        for name in inside:
            kind, default = type(default), getattr(default, name)
        if default != choice.value:
            yield Difference(_flag_of(kind, name), default, choice.value, choice)


def _choose(
    kind: type[BaseModel], values: dict[str, Any], path: Sequence[str], value: Any, preset: str
) -> None:
    """Set the value at a path; InputError if another value was given there."""
    name, *rest = path
    if not rest:
        if name in values and values[name] != value:
            raise InputError(
                f"{_flag(preset)} sets {_flag_of(kind, name)}; leave one of the two out"
            )
        values[name] = value
        return
    usual, earlier = dict(standing(kind, name) or {}), values.get(name)
    if isinstance(earlier, BaseModel):
        usual, known = dict(earlier), set(earlier.model_fields_set)
        # A nested model may hold earlier choices of the preset.
        given = {
            field: kept
            for field, kept in usual.items()
            if field in known or isinstance(kept, BaseModel)
        }
    else:
        given = dict(earlier or {})
        known = set(given)
    _choose(inner := dict(nested(kind))[name], given, rest, value, preset)
    made = inner.model_validate(usual | given)
    # Values that a preset sets do not count as given: see `refuse_idle`.
    made.model_fields_set.intersection_update(known)
    values[name] = made


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _flag_of(settings: type[BaseModel], name: str) -> str:
    flags = {option.name: option.flag for option in options_of(settings)}
    return flags.get(name, name)


def named(
    given: Iterable[str], flag: str, known: Iterable[str], form: str = "NAME=PATH"
) -> list[tuple[str, str]]:
    """The names and values of a repeatable option such as "wice=claims.jsonl", in order.

    Raises:
        InputError: A name or value is missing, or the name is unknown.
    """
    names, pairs = list(known), []
    for text in given:
        name, _, value = text.partition("=")
        if not (name and value):
            raise InputError(f"{flag} {text}: write {form}")
        if name not in names:
            near = get_close_matches(name, names, n=1)
            there = f"did you mean '{near[0]}'?" if near else f"choose from {', '.join(names)}"
            raise InputError(f"{flag} {text}: '{name}' is not known; {there}")
        pairs.append((name, value))
    return pairs


def listed(known: Mapping[str, str]) -> str:
    """What the names stand for, for an option's help: "`wice`: a .jsonl of WiCE; ..."."""
    return "; ".join(f"`{name}`: {what}" for name, what in known.items()) + "."


def words(settings: BaseModel, *names: str) -> tuple[str, ...]:
    """The fields that were given, as command-line words for another command."""
    flags = {option.name: option.flag for option in options_of(type(settings))}
    arguments: list[str] = []
    for name in names:
        value = getattr(settings, name)
        if name not in settings.model_fields_set or value is False:
            continue
        if value is True:
            arguments.append(flags[name])
            continue
        several = value if isinstance(value, list) else [value]
        arguments += [word for item in several for word in (flags[name], str(item))]
    return tuple(arguments)
