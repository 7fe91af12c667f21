"""Models that stay loaded from one job to the next."""

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.experiment.experiment import Models
from pipelines.judge.tagger import TaggerFolder, Tagging
from pipelines.npov.decoder import DecoderFolder
from pipelines.retrieval.dense import Embedder

if TYPE_CHECKING:
    from salience.decoder import Decoder

_loaded: dict[tuple[str, str | None], Tagging] = {}


@dataclass(frozen=True, kw_only=True)
class WarmTagger(TaggerFolder):
    """A tagger that is loaded once."""

    folder: TaggerFolder

    def load(self) -> Tagging:
        """The tagger, as an earlier job left it; see `TaggerFolder.load`."""
        key = self.identity, self.device
        if key not in _loaded:
            _loaded.clear()
            _loaded[key] = self.folder.load()
        return _loaded[key]


def warm(models: Models) -> Models:
    """The same models, with a tagger that stays loaded."""
    if models.tagger is None:
        return models
    known = {each.name: getattr(models.tagger, each.name) for each in fields(TaggerFolder)}
    return replace(models, tagger=WarmTagger(**known, folder=models.tagger))


@lru_cache(maxsize=1)
def embedder_of(path: Path) -> Embedder:
    """The embedding model of a folder; it loads itself once."""
    return Embedder(path)


@lru_cache(maxsize=1)
def decoder_of(folder: DecoderFolder) -> "Decoder":
    """The model of a folder, as an earlier job left it."""
    return folder.load()
