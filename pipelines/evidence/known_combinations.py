"""Combinations of tagger and language model that come with the program.

Each file of `combinations/` is one of `contested fit-combination`, on pairs of training halves that
the tagger was not trained on.
"""

from functools import cache
from pathlib import Path
from typing import Final

from pipelines.evidence.combination import Combination, Judging, read_combination

FOLDER: Final = Path(__file__).with_name("combinations")


@cache
def known_combinations() -> tuple[Combination, ...]:
    """All of them, by the names of their files."""
    return tuple(map(read_combination, sorted(FOLDER.glob("*.json"))))


def known_combination(judging: Judging) -> Combination | None:
    """The one that was fitted for just this tagger, model and prompt; None where there is none."""
    return next((each for each in known_combinations() if each.fitted_for == judging), None)
