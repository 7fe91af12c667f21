"""What was found of one example, whoever shows it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import BaseModel

from nli.pairs import Pair
from pipelines.errors import InputError
from pipelines.experiment.experiment import Models
from pipelines.judge.tagger import TaggerFolder, Tagging
from pipelines.report.explorer import ExperimentView
from pipelines.report.glance import ModelUsed
from serving.calls import ServedIdentity
from serving.connect import UNVERIFIED

if TYPE_CHECKING:
    from nli.tagger import Tag


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


def telling(models: Models, tell: Tell) -> Models:
    """The same models, with a tagger that tells how many pairs it has read."""
    if models.tagger is None:
        return models
    known = {each.name: getattr(models.tagger, each.name) for each in fields(TaggerFolder)}
    return replace(models, tagger=_TellingFolder(**known, folder=models.tagger, tell=tell))


@dataclass(frozen=True, kw_only=True)
class _TellingFolder(TaggerFolder):
    folder: TaggerFolder
    tell: Tell

    def load(self) -> Tagging:
        return _TellingTagger(self.folder.load(), self.tell)


class _TellingTagger:
    def __init__(self, tagger: Tagging, tell: Tell) -> None:
        self._tagger, self._tell = tagger, tell
        self.device = tagger.device

    def tag(
        self,
        pairs: Sequence[Pair],
        on_progress: Callable[[int], None] | None = None,
        *,
        rationale: bool = False,
    ) -> "list[Tag]":
        """See `nli.tagger.Tagger`."""
        characters = sum(len(pair.premise) for pair in pairs)
        done = 0

        def moved(more: int) -> None:
            nonlocal done
            done += more
            self._tell(
                f"the tagger has read {done:,} of {len(pairs):,} pairs ({characters:,} characters)"
            )
            if on_progress is not None:
                on_progress(more)

        return self._tagger.tag(pairs, moved, rationale=rationale)
