"""What was found of one example, whoever shows it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pydantic import BaseModel

from pipelines.errors import InputError
from pipelines.evidence.nli import TaggerFolder
from pipelines.report.explorer import ExperimentView
from pipelines.report.glance import ModelUsed
from serving.calls import ServedIdentity
from serving.connect import UNVERIFIED

Tell = Callable[[str], None]
"""Told what is being waited for."""

ResultT = TypeVar("ResultT", bound=BaseModel)


@dataclass(frozen=True)
class Inspection(Generic[ResultT]):
    """What was found of one example.

    Attributes:
        result: All of it.
        cost: What it took, in a line.
        title: Heading of the page.
        view: Makes the page's content, for which it may load numpy.
        picture: Draws its map as a PNG, where it has one.
        about: What was asked, folded at the page's end.
    """

    result: ResultT
    cost: str
    title: str = ""
    view: Callable[[], ExperimentView] | None = None
    picture: Callable[[], bytes] | None = None
    about: Mapping[str, str] = field(default_factory=dict)


def models_used(**roles: ServedIdentity | TaggerFolder | None) -> list[ModelUsed]:
    """Who did what, for the page: role -> model, of those that are there."""
    return [
        ModelUsed(role, model.name, None if model.digest.startswith(UNVERIFIED) else model.digest)
        for role, model in roles.items()
        if model is not None
    ]


def one_line_of(query: str) -> str:
    """A query without superfluous white space; InputError if it is empty, or not UTF-8."""
    text = " ".join(query.split())
    if text.encode("utf-8", "replace").decode() != text:
        raise InputError("the query is not UTF-8; set the terminal to UTF-8")
    if not text:
        raise InputError("the query is empty; give a claim, or a question")
    return text
