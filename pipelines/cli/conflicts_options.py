"""Options of CONFLICTS that `run conflicts`, `resolve` and `conflicts` share."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

import typer

from pipelines.cli.progress import STDERR
from pipelines.conflicts.classifier import TypeClassifier, read, shipped_classifier
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
        help="Classifier of question and evidence, from `conflicts train`.",
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


class Effect(NamedTuple):
    """Whether an option does anything, beside the others that were given.

    Attributes:
        parameter: The option, by the name of the command's parameter.
        has: Whether it does.
        needs: How to make it do so: "name --classifier nli".
    """

    parameter: str
    has: bool
    needs: str


def on_answers(answers: bool, *parameters: str) -> list[Effect]:
    """Options that have an effect on answers alone."""
    return [Effect(each, answers, "name another --strategy than none") for each in parameters]


def on_the_model(asked: bool, needs: str) -> list[Effect]:
    """Options that say which language model is asked, and how.

    The profile is none of them, as it names the tagger too; likewise the folder of models, and the
    cache, beside which judgements of the tagger are kept.
    """
    parameters = ("model", "endpoint", "strict", "prompts", "concurrency", "on_overflow")
    return [Effect(each, asked, needs) for each in parameters]


def refuse_idle(context: typer.Context, effects: Iterable[Effect]) -> None:
    """Refuse an option that was given and does nothing: who gives one expects that it does.

    It would also stand in a run's settings, and so keep a run from being continued without it.

    Args:
        context: Of the command; it knows which options were given, and which are defaults.
        effects: Of all options that may do nothing; a command need not have all of them.

    Raises:
        InputError: One was given and has no effect.
    """
    called = {each.name: each.opts[0] for each in context.command.params}
    for each in effects:
        source = context.get_parameter_source(each.parameter)
        if not each.has and source is not None and source.name == "COMMANDLINE":
            raise InputError(
                f"{called[each.parameter]} has no effect here; leave it away, or {each.needs}"
            )


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


def thresholds(given: Sequence[str] | None) -> dict[ConflictType, float]:
    """The thresholds that `--threshold` names; one without a type holds for all others.

    Args:
        given: What the user gave.

    Raises:
        InputError: One is no probability, or of no type, or a type is named twice.
    """
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
