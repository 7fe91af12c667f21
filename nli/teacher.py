"""A teacher's probabilities of pairs: computed once, kept in a file, resumed after a kill."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from nli.errors import TaggerError
from nli.folder import read_whole
from nli.pairs import Pair, SourcedPair
from nli.passes import TrainingSettings, passed
from nli.tagger import Tagger

AT_ONCE = 512
"""Pairs between two writes, the most that a kill may cost."""


UNASKED = (1 / 3, 1 / 3, 1 / 3)
"""Placeholder for pairs that no pass takes."""


class Kept(BaseModel):
    """A pair's probabilities in the order of `LABELS`; teacher and pair are known by digests."""

    model_config = ConfigDict(frozen=True)

    teacher: str
    pair: str
    shares: tuple[float, float, float]


def taught(
    teacher: Tagger,
    settings: TrainingSettings,
    pairs: Sequence[SourcedPair],
    file: Path,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[tuple[float, float, float]]:
    """A teacher's probabilities of pairs, (n, 3); it is not asked about pairs that no pass takes.

    `on_progress` gets the number done and the total; otherwise as `teachings`.
    """
    asked = passed(settings, [pair.source for pair in pairs])
    done = 0

    def moved(more: int) -> None:
        nonlocal done
        done += more
        on_progress(done, len(asked))

    said = teachings(teacher, [pairs[place].pair for place in asked], file, moved)
    known = dict(zip(asked, said, strict=True))
    return [known.get(place, UNASKED) for place in range(len(pairs))]


def teachings(
    teacher: Tagger,
    pairs: Sequence[Pair],
    file: Path,
    on_progress: Callable[[int], None] = lambda _: None,
) -> list[tuple[float, float, float]]:
    """A teacher's probabilities of pairs, (n, 3), from the file or else computed.

    The file may serve several trainings, and several teachers: each line names the teacher by its
    digest. A line that a kill tore is computed again.

    Args:
        teacher: Gives its calibrated probabilities.
        pairs: In any order; equal ones are computed once.
        file: JSON Lines, appended to.
        on_progress: Told how many more of the pairs are done.

    Raises:
        TaggerError: The file cannot be read or written, or a pair cannot be tagged.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        name = teacher.digest[:32]
        known = _read(file, name)
        keys = [_key(pair) for pair in pairs]
        waiting = list(dict(zip(keys, pairs, strict=True)).items())
        waiting = [(key, pair) for key, pair in waiting if key not in known]
        on_progress(len(pairs) - len(waiting))
        # Pairs of similar length together, so that little of a batch is padding.
        waiting.sort(key=lambda each: -len(each[1].premise) - len(each[1].hypothesis))
        for start in range(0, len(waiting), AT_ONCE):
            part = waiting[start : start + AT_ONCE]
            tags = teacher.tag([pair for _, pair in part])
            made = [
                Kept(teacher=name, pair=key, shares=tag.probabilities)
                for (key, _), tag in zip(part, tags, strict=True)
            ]
            with file.open("a", encoding="utf-8") as kept:
                kept.writelines(f"{each.model_dump_json()}\n" for each in made)
            known |= {each.pair: each.shares for each in made}
            on_progress(len(part))
    except OSError as error:
        raise TaggerError(
            f"{file} cannot be used ({error.strerror}); choose another file"
        ) from error
    return [known[key] for key in keys]


def _key(pair: Pair) -> str:
    return hashlib.sha256(json.dumps(tuple(pair)).encode()).hexdigest()[:32]


def _read(file: Path, teacher: str) -> dict[str, tuple[float, float, float]]:
    """A teacher's probabilities in the file, by the pairs' keys; a torn last line is ended."""
    content = read_whole(file) if file.exists() else b""
    if content and not content.endswith(b"\n"):
        with file.open("ab") as torn:
            torn.write(b"\n")
    found = {}
    for line in content.split(b"\n"):
        try:
            kept = Kept.model_validate_json(line)
        except ValidationError:
            continue
        if kept.teacher == teacher:
            found[kept.pair] = kept.shares
    return found
