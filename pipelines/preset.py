"""Settings that one switch puts as a paper, or its released code, has them.

    AS_IN_PAPER = (
        Choice("debate.replies", "text", "appendix C", "JSON by schema always parses"),
    )

    class MadamOptions(RunOptions, ...):
        PRESETS = {"as_in_paper": AS_IN_PAPER}

With `as_in_paper=True` the settings are made with `debate.replies="text"`; what is run, noted and
published is what they then say. Where our defaults differ, and why, is read off the same choices.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, model_validator

from pipelines.errors import InputError
from pipelines.option import nested, options_of


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
    """Settings with switches, each a field that is False unless given.

    `PRESETS` has the choices of each switch. It is an InputError if two switches are on, or if an
    option was given another value than the switch makes it.
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
        *inside, name = choice.field.split(".")
        kind: type[BaseModel] = settings
        for each in inside:
            kind = dict(nested(kind))[each]
        default: Any = settings.model_fields[(*inside, name)[0]].get_default(
            call_default_factory=True
        )
        for each in (*inside, name)[1:]:
            default = getattr(default, each)
        if default == choice.value:
            continue
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
    standing, found = _default(kind, name), values.get(name)
    if isinstance(found, BaseModel):
        standing, known = dict(found), set(found.model_fields_set)
        # A model within it may hold what the preset decided before.
        given = {
            field: kept
            for field, kept in standing.items()
            if field in known or isinstance(kept, BaseModel)
        }
    else:
        given = dict(found or {})
        known = set(given)
    _choose(inner := dict(nested(kind))[name], given, rest, value, preset)
    made = inner.model_validate(standing | given)
    # What a preset decides does not count as given: see `refuse_idle`.
    made.model_fields_set.intersection_update(known)
    values[name] = made


def _default(kind: type[BaseModel], name: str) -> dict[str, Any]:
    found = kind.model_fields[name].get_default(call_default_factory=True)
    return dict(found) if isinstance(found, BaseModel) else {}


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _flag_of(settings: type[BaseModel], name: str) -> str:
    flags = {each.name: each.flag for each in options_of(settings)}
    return flags.get(name, name)
