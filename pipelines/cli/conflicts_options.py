"""Options of CONFLICTS that `run conflicts`, `resolve` and `conflicts` share."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from pipelines.cli.progress import STDERR
from pipelines.conflicts.classifier import TypeClassifier, read, shipped_classifier
from pipelines.conflicts.prediction import Classifier
from pipelines.conflicts.settings import ConflictsSettings
from pipelines.conflicts.taxonomy import ConflictType
from pipelines.errors import InputError
from pipelines.evidence.nli import TaggerFolder

TYPES_PANEL = "Conflict types (CONFLICTS, Task 1)"
ANSWERS_PANEL = "Answers (CONFLICTS, Task 2)"
JUDGES_PANEL = "Judges (CONFLICTS, section 4)"

DEFAULTS = ConflictsSettings()

NameT = TypeVar("NameT", bound=str)

ClassifierFile = Annotated[
    Path | None,
    typer.Option(
        "--classifier-file",
        help="Classifier of the evidence's structure, from `conflicts train`.",
        show_default="the one that comes with the program",
        rich_help_panel=TYPES_PANEL,
    ),
]
Thresholds = Annotated[
    list[str] | None,
    typer.Option(
        "--threshold",
        metavar="[TYPE=]P",
        help="Predict a type only where its probability is at least P, else none: abstain. With "
        "TYPE (no-conflict, complementary, opinions, outdated, misinformation) of that type "
        "alone. Repeatable.",
        rich_help_panel=TYPES_PANEL,
    ),
]
AnswerTokens = Annotated[
    int,
    typer.Option(
        "--answer-tokens", min=1, help="Most tokens of an answer.", rich_help_panel=ANSWERS_PANEL
    ),
]
Dates = Annotated[
    bool,
    typer.Option(
        "--dates",
        help="Where the type is outdated information, tell the model the order of the sources by "
        "their dates.",
        rich_help_panel=ANSWERS_PANEL,
    ),
]


def one_of(given: Sequence[str] | None, known: Iterable[NameT], option: str) -> tuple[NameT, ...]:
    """The values of an option that can be given several times, in the order of `known`.

    Args:
        given: What the user gave; None takes all that are known.
        known: All values.
        option: Its name, for the error.

    Raises:
        InputError: One is not known.
    """
    names = tuple(known)
    for each in given or ():
        if each not in names:
            raise InputError(f"{option} is '{each}'; it can be {', '.join(names)}")
    return tuple(name for name in names if given is None or name in given)


def thresholds(
    given: Sequence[str] | None, classifiers: Collection[Classifier]
) -> dict[ConflictType, float]:
    """The thresholds that `--threshold` names; one without a type holds for all others.

    Args:
        given: What the user gave.
        classifiers: Those that are asked.

    Raises:
        InputError: One is no probability, or of no type, a type is named twice, or no classifier
            gives probabilities.
    """
    if given and not {"nli", "choice"} & set(classifiers):
        raise InputError(
            "--threshold has no effect, for no type with probabilities is asked for; leave it "
            "away, or predict by nli or choice"
        )
    found: dict[ConflictType, float] = {}
    rest: float | None = None
    for text in given or ():
        name, _, value = text.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not 0 <= number <= 1:
            raise InputError(
                f"--threshold {text}: '{value}' is no probability from 0 to 1; write TYPE=0.4, or "
                "0.4 for all types"
            )
        if not name:
            if rest is not None:
                raise InputError("--threshold is given twice for all types; leave one away")
            rest = number
            continue
        (of,) = one_of([name], list(ConflictType), "--threshold TYPE")
        if of in found:
            raise InputError(f"--threshold is given twice for {of}; leave one away")
        found[of] = number
    if rest is None:
        return found
    return {each: found.get(each, rest) for each in ConflictType}


def tell_of_another_tagger(trained: TypeClassifier, tagger: TaggerFolder | None) -> None:
    """Say so where the classifier learned from what another tagger says."""
    if tagger is not None and trained.tagger != tagger.digest:
        STDERR.print(
            f"the classifier was trained on judgements of another tagger than {tagger.name}; its "
            "types may be worth less: train one with `contested conflicts train`",
            markup=False,
            soft_wrap=True,
        )


def classifier(path: Path | None) -> TypeClassifier:
    """The classifier that the option names, or else the shipped one.

    Raises:
        InputError: The file is no classifier.
    """
    return shipped_classifier() if path is None else read(path)
