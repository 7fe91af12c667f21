"""A tagger that says how far it is: long documents take minutes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from nli.pairs import Pair
from pipelines.evidence.nli import TaggerFolder, Tagging
from pipelines.experiment.experiment import Models
from pipelines.inspection.found import Tell

if TYPE_CHECKING:  # numpy
    from nli.tagger import Tag


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
