"""Settings as text, for a process elsewhere."""

import json
from typing import Any, TypeVar

from pydantic import BaseModel

from pipelines.option import nested

SettingsT = TypeVar("SettingsT", bound=BaseModel)


def sent(settings: BaseModel) -> str:
    """The settings, and which of them were given, as JSON."""
    return json.dumps([settings.model_dump(mode="json"), _given(settings)])


def received(kind: type[SettingsT], text: str) -> SettingsT:
    """The settings that `sent` wrote: options without effect are refused there as here."""
    values, given = json.loads(text)
    settings = kind.model_validate(values)
    _give(settings, given)
    return settings


def _given(settings: BaseModel) -> dict[str, Any]:
    inside = {name: _given(getattr(settings, name)) for name, _ in nested(type(settings))}
    return {"given": sorted(settings.model_fields_set), "inside": inside}


def _give(settings: BaseModel, given: dict[str, Any]) -> None:
    settings.model_fields_set.intersection_update(given["given"])
    for name, own in given["inside"].items():
        _give(getattr(settings, name), own)
