"""How steady judges are that were measured here: a file for each in the home of this program.

`contested run drift` leaves it, and the report of every run shows that of its own judge.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from pipelines.files import replace_text
from serving.home import default_home


class MeasuredDrift(BaseModel):
    """What became of a judge's labels when it was asked again.

    Attributes:
        judge: For people.
        data: Name of the file.
        pairs: Claims and documents that were asked about again.
        flipped: Those with another label in some run.
        shift: Largest change of a probability, in [0, 1]; None where the judge gives none.
        conditions: Under which it was asked again, and how often in all.
    """

    model_config = ConfigDict(frozen=True)

    judge: str
    data: str
    pairs: int
    flipped: int
    shift: float | None
    conditions: tuple[str, ...]
    runs: int

    @property
    def asked(self) -> int:
        """How often a pair was asked about again, in all."""
        return self.pairs * self.runs

    def in_words(self) -> str:
        """All of it in one line."""
        moved = "" if self.shift is None else f", probabilities shift by up to {self.shift:.4f}"
        times = "once" if self.runs == 1 else f"{self.runs:,} times"
        return (
            f"{self.judge}: {self.flipped:,} of {self.pairs:,} labels flip{moved}, asked again "
            f"{times} ({', '.join(self.conditions)}) on {self.data}"
        )


def judge_key(config: Mapping[str, Any]) -> str | None:
    """A name for who judges claims in a run, from its configuration in `run.json`.

    Models with their engines, the prompt, and how two judges are joined decide it. None where
    nobody judges claims.
    """
    tagger, model = config.get("tagger"), config.get("model")
    if tagger and model and model["digest"] == tagger["digest"]:
        model = None  # the tagger judges alone
    prompts = sorted(
        digest
        for name, digest in config.get("prompts", {}).items()
        if name.startswith("evidence/relation")
    )
    if not tagger and not prompts:
        return None
    parts = {
        "models": [(each["digest"], each["engine"]) for each in (tagger, model) if each],
        "prompts": prompts,
        "joined": [how for how in ("cascade", "combination") if how in config],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def known_drift(config: Mapping[str, Any]) -> MeasuredDrift | None:
    """What was measured of the judge of a run; None where nothing was."""
    key = judge_key(config)
    return None if key is None else _read(_path(key))


def keep_drift(config: Mapping[str, Any], measured: MeasuredDrift) -> None:
    """Keep what was measured of the judge of a run, unless what is there rests on more.

    Raises:
        InputError: The file cannot be written.
    """
    key = judge_key(config)
    if key is None:
        return
    before = _read(_path(key))
    if before is None or measured.asked >= before.asked:
        replace_text(_path(key), measured.model_dump_json(indent=1) + "\n")


def _path(key: str) -> Path:
    return default_home() / "drift" / f"{key}.json"


def _read(path: Path) -> MeasuredDrift | None:
    """A file that is damaged counts as none: it is only shown, and can be made again."""
    try:
        return MeasuredDrift.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
