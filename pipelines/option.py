"""Settings that say themselves how they are given on the command line.

A field of a settings model that is annotated with an `Option` is an option of every command that
takes the model, with the field's type, bounds and default:

    judge: Annotated[Judge, Option("Who judges claims by documents.")] = "model"

A field whose type is such a model brings its options along; one without `Option` or a description
is none.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import get_annotations
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo

from pipelines.errors import InputError

NameT = TypeVar("NameT", bound=str)
SettingsT = TypeVar("SettingsT", bound=BaseModel)


class Options(BaseModel):
    """Settings of a command that take no names but their own."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True)
class Only:
    """When an option has an effect, told the settings that it is of.

    `without` is what makes it idle, for the refusal: "--judge model", or made from the settings.
    """

    when: Callable[[Any], bool]
    without: str | Callable[[Any], str]


@dataclass(frozen=True)
class Option:
    """How a field is given on the command line.

    Attributes:
        help: What it does, for `--help`.
        name: "--on-overflow"; made from the field's name unless given.
        panel: Heading in `--help`.
        metavar: What stands for the value in `--help`.
        shown: The default, as `--help` tells it; the field's own unless given.
        only: When it has an effect; always unless given.
        typed: Its type on the command line, None where it is not given, if a validator or `read`
            makes the field's of it.
        read: Makes the field's value of what the command line gives: a text of a file.
        argument: Whether it is given without its name, by its place.
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
"""What numpy, and with it scikit-learn, takes; torch takes more."""

OnError = Literal["stop", "skip"]
"""What to do at a record that cannot be used."""

Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED), Option("Seed of all random draws.")]


class OptionField(NamedTuple):
    """A field by its name, and the option that it is by its flag."""

    name: str
    flag: str
    option: Option
    field: FieldInfo


def options_of(settings: type[BaseModel]) -> Iterator[OptionField]:
    """The fields of a model that are options, in order; not those of models inside it.

    A field with a description is one, too, for settings of rooms that know nothing of options;
    unless it is required it stands under the title of the model.
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
    """Names of a model's fields: a class's own before those it inherits."""
    names = (name for each in settings.__mro__ for name in get_annotations(each))
    return [name for name in dict.fromkeys(names) if name in settings.model_fields]


def nested(settings: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """The fields of a model that are settings themselves, in order."""
    for name, field in settings.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield name, field.annotation


def standing(settings: type[BaseModel], name: str) -> BaseModel | None:
    """What settings inside others are, before anything is given."""
    default = settings.model_fields[name].get_default(call_default_factory=True)
    return default if isinstance(default, BaseModel) else None


def made(
    settings: type[SettingsT], given: Mapping[str, Any], usual: BaseModel | None = None
) -> SettingsT:
    """Settings from options by the names of their fields, in whichever settings these lie.

    Options of other settings are passed over. `model_fields_set` has what was given. Fields that
    were not given are as in `usual`.

    Raises:
        InputError: A value is wrong, or a field without a default is missing.
    """
    fields: dict[str, Any] = {
        name: made(inside, given, standing(settings, name)) for name, inside in nested(settings)
    }
    known = {*given, *fields}
    if usual is not None:
        own = settings()
        fields |= {name: value for name, value in usual if value != getattr(own, name)}
    options = {option.name: option for option in options_of(settings)}
    fields |= {name: given[name] for name in options if name in given}
    try:
        found = settings.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0]) if first["loc"] else ""
        flag = f"{options[name].flag if name in options else name}: " if name else ""
        raise InputError(f"{flag}{first['msg'].removeprefix('Value error, ')}") from error
    found.model_fields_set.intersection_update(known)
    return found


def refuse_idle(settings: BaseModel) -> None:
    """Refuse options that were given and do nothing, with an InputError.

    Who gives one expects that it does something. An idle option would also stand in a run's
    settings, and keep it from being resumed without it.
    """
    for each in options_of(type(settings)):
        only = each.option.only
        if only is not None and each.name in settings.model_fields_set and not only.when(settings):
            without = only.without if isinstance(only.without, str) else only.without(settings)
            raise InputError(f"{each.flag} has no effect with {without}; leave it out")
    for name, _ in nested(type(settings)):
        refuse_idle(getattr(settings, name))


def refuse_given(settings: BaseModel, names: Iterator[str] | tuple[str, ...], without: str) -> None:
    """Refuse options that were given, for a reason that the settings alone do not tell.

    Args:
        settings: Whose options.
        names: Fields; those that the model lacks are passed over.
        without: What makes them idle: "--strategy none, which asks no language model".
    """
    wanted = set(names)
    for each in options_of(type(settings)):
        if each.name in wanted and each.name in settings.model_fields_set:
            raise InputError(f"{each.flag} has no effect with {without}; leave it out")


def one_of(given: Sequence[str] | None, known: Iterable[NameT], flag: str) -> tuple[NameT, ...]:
    """The values of an option that can be given several times, in the order of `known`.

    Given None, these are all that are known; one that is not known is an InputError.
    """
    names = tuple(known)
    for each in given or ():
        if each not in names:
            raise InputError(f"{flag} is '{each}'; it can be {', '.join(names)}")
    return tuple(name for name in names if given is None or name in given)


@dataclass(frozen=True)
class Choice:
    """A setting that a preset decides, in most cases otherwise than our default.

    Attributes:
        field: Of the settings, "metric.claims" for one inside others.
        value: What the preset makes it.
        source: Where the paper says so: "section 4.2", "appendix C", or "released code".
        why: Why our default is another; nothing where it is the same, and only to be held to.
        where: Another field and its values, where the choice is for these alone.
    """

    field: str
    value: Any
    source: str
    why: str = ""
    where: tuple[str, tuple[str, ...]] | None = None

    def holds(self, settings: type[BaseModel], given: Mapping[str, Any]) -> bool:
        """Whether it is for settings of which this was given."""
        if self.where is None:
            return True
        name, values = self.where
        default = settings.model_fields[name].get_default(call_default_factory=True)
        return given.get(name, default) in values


@dataclass(frozen=True)
class Difference:
    """How a default differs from a preset, by the option's flag."""

    flag: str
    ours: Any
    preset: Any
    choice: Choice

    @property
    def told(self) -> str:
        """The preset's value for people, and what it is for: "all (of --dataset scifact)"."""
        where = self.choice.where
        only = f" (of {_flag(where[0])} {', '.join(where[1])})" if where else ""
        return f"{shown(self.preset)}{only}"


class WithPresets(BaseModel):
    """Settings with switches that put them as a paper, or its released code, has them.

        AS_IN_PAPER = (
            Choice("debate.replies", "text", "appendix C", "JSON by schema always parses"),
        )

        class MadamOptions(RunOptions, ...):
            PRESETS = {"as_in_paper": AS_IN_PAPER}

    A switch is a field that is False unless given; `PRESETS` has the choices of each. With
    `as_in_paper=True` the settings are made with `debate.replies="text"`; what is run, noted and
    published is what they then say. It is an InputError if two switches are on, or if an option was
    given another value than the switch makes it.
    """

    PRESETS: ClassVar[Mapping[str, Sequence[Choice]]] = {}

    @model_validator(mode="before")
    @classmethod
    def _chosen(cls, data: Any) -> Any:
        on = [name for name in cls.PRESETS if isinstance(data, dict) and data.get(name)]
        if not on:
            return data
        if len(on) > 1:
            raise InputError(f"{_flag(on[0])} and {_flag(on[1])} exclude each other")
        chosen = dict(data)
        for choice in cls.PRESETS[on[0]]:
            if not choice.holds(cls, data):
                continue
            _choose(cls, chosen, choice.field.split("."), choice.value, on[0])
        return chosen


def switched(settings: BaseModel) -> str | None:
    """The preset that is on: "as-in-paper"; None where none is."""
    presets = settings.PRESETS if isinstance(settings, WithPresets) else {}
    on = (name for name in presets if getattr(settings, name))
    found = next(on, None)
    return found and found.replace("_", "-")


def told(settings: BaseModel) -> str:
    """What the preset that is on has decided, in one line; empty where none is on.

    As in "--as-in-paper: --claims atomic, --k 5".
    """
    preset = switched(settings)
    if preset is None or not isinstance(settings, WithPresets):
        return ""
    decided = differences(type(settings), preset.replace("-", "_"))
    own = dict(settings)
    parts = (
        f"{each.flag} {shown(each.preset)}"
        for each in decided
        if each.choice.holds(type(settings), own)
    )
    return f"--{preset}: {', '.join(parts) or 'our defaults are the same'}"


def shown(value: Any) -> str:
    """A setting's value for people: "all, test", "yes", "not given"."""
    if isinstance(value, tuple | list):
        return ", ".join(map(shown, value))
    if value is None:
        return "not given"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def differences(settings: type[WithPresets], preset: str) -> Iterator[Difference]:
    """Where the defaults differ from a preset, in its order."""
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
    """Put a value where a path leads; an InputError if another one was given there."""
    name, *rest = path
    if not rest:
        if name in values and values[name] != value:
            raise InputError(
                f"{_flag(preset)} decides {_flag_of(kind, name)}; leave one of the two out"
            )
        values[name] = value
        return
    usual, found = dict(standing(kind, name) or {}), values.get(name)
    if isinstance(found, BaseModel):
        usual, known = dict(found), set(found.model_fields_set)
        # A model within it may hold what the preset decided before.
        given = {
            field: kept
            for field, kept in usual.items()
            if field in known or isinstance(kept, BaseModel)
        }
    else:
        given = dict(found or {})
        known = set(given)
    _choose(inner := dict(nested(kind))[name], given, rest, value, preset)
    made = inner.model_validate(usual | given)
    # What a preset decides does not count as given: see `refuse_idle`.
    made.model_fields_set.intersection_update(known)
    values[name] = made


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _flag_of(settings: type[BaseModel], name: str) -> str:
    flags = {each.name: each.flag for each in options_of(settings)}
    return flags.get(name, name)


def named(
    given: Iterable[str], flag: str, known: Iterable[str], form: str = "NAME=PATH"
) -> list[tuple[str, str]]:
    """The names and values of an option that is given as "wice=claims.jsonl", in their order.

    Raises:
        InputError: One lacks its name or value, or the name is not known.
    """
    names, found = list(known), []
    for text in given:
        name, _, value = text.partition("=")
        if not (name and value):
            raise InputError(f"{flag} {text}: write {form}")
        if name not in names:
            near = get_close_matches(name, names, n=1)
            there = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(names)}"
            raise InputError(f"{flag} {text}: '{name}' is not known; {there}")
        found.append((name, value))
    return found


def listed(known: Mapping[str, str]) -> str:
    """What names stand for, for the help of such an option: "`wice`: a .jsonl of WiCE; ..."."""
    return "; ".join(f"`{name}`: {what}" for name, what in known.items()) + "."


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
