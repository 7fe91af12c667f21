"""Corrections that come with the program, for models that were measured by a prompt of ours.

Each file of `corrections/` is one of `contested fit-prior`, on pairs of training halves. It is
taken whatever number format the model computes in: what a model favours does not hang on that.
"""

from functools import cache
from pathlib import Path
from typing import Final

from pipelines.errors import InputError
from pipelines.evidence.priors import Correction, FittedPrior, read_prior

KNOWN: Final = "known"
NONE: Final = "none"

FOLDER: Final = Path(__file__).with_name("corrections")


@cache
def known_priors() -> tuple[FittedPrior, ...]:
    """All of them, by the names of their files."""
    return tuple(map(read_prior, sorted(FOLDER.glob("*.json"))))


def known_prior(model: str, prompt: str) -> Correction | None:
    """The correction for a model and a prompt, by their digests; None where there is none."""
    for each in known_priors():
        if (each.model, each.prompt) == (model, prompt):
            return each.correction
    return None


def chosen_prior(prior: str, model: str, prompt: str) -> Correction | None:
    """What `--prior` names for a model and a prompt, by their digests: a known one, none, a file's.

    Raises:
        InputError: The file is none of a correction, or is of another model or prompt.
    """
    if prior == NONE:
        return None
    if prior == KNOWN:
        return known_prior(model, prompt)
    found = read_prior(Path(prior))
    if (found.model, found.prompt) != (model, prompt):
        raise InputError(
            f"{prior} corrects another model or prompt than is asked here; fit it again"
        )
    return found.correction
