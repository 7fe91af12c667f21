"""How much of a model's probability fell on the labels that it had to choose from."""

from collections.abc import Iterable
from statistics import fmean
from typing import Final

LOW: Final = 0.5
"""Below it the model, left to itself, would rather have written something else."""


def mean_label_mass(masses: Iterable[float | None]) -> float | None:
    """Mean of the shares in [0, 1] of those choices that have one; None where none has."""
    known = [mass for mass in masses if mass is not None]
    return fmean(known) if known else None


def is_low(mass: float | None) -> bool:
    """Whether a reader must know of a share."""
    return mass is not None and mass < LOW


def low_label_mass(masses: Iterable[float | None], whose: str = "the judge's") -> tuple[str, ...]:
    """The warning for a table or page where the mean is low; nothing where it is not."""
    mass = mean_label_mass(masses)
    if mass is None or not is_low(mass):
        return ()
    return (
        f"On average {100 * mass:.0f} % of {whose} probability fell on the labels. "
        "Left to itself, it would mostly have written something else.",
    )
