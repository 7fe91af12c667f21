"""What a run needs, what is said of it beforehand, and which options would do nothing for it."""

from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel

from pipelines.conflicts.pipeline import CLASSIFIERS, STRATEGIES, Methods
from pipelines.conflicts.question import Query
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import ServerOptions, source_of, tagger_named
from pipelines.option import refuse_given

NO_ANSWERS: Final = "none"
"""The `--strategy` that asks for no answers."""


def needs_of(methods: Methods, options: ServerOptions) -> Needs:
    """The models that classifiers, strategies and judges need.

    Raises:
        InputError: The tagger cannot be used.
        ServingError: There is no such profile, or no such tagger.
    """
    where, answering = source_of(options, "generator"), bool(methods.strategies)
    by_model = answering or not {"json", "choice"}.isdisjoint(methods.asked)
    by_tagger = answering and methods.settings.judge == "nli"
    return Needs(
        role="generator" if by_model else None,
        tagger=tagger_named(options.tagger, where) if by_tagger else None,
        unasked=f"--strategy none and {_types(methods)}, which ask no language model",
        untagged="verdicts by a language model alone",
    )


def refuse_idle(options: BaseModel, settings: BaseModel, methods: Methods) -> None:
    """Refuse options of a command, and settings within, that do nothing with these methods.

    Raises:
        InputError: One was given.
    """
    asked, answering = {*methods.asked}, {*methods.strategies}
    strategies = f"--strategy {', '.join(methods.strategies) or NO_ANSWERS}"
    idle: dict[str, tuple[str, ...]] = {}
    if not answering:
        idle[strategies] = ("answer_tokens", "judge", "behaviour", "against", "judge_model")
    if not answering & {"pipeline", "oracle"}:
        idle[f"{strategies}, which is told no type"] = ("dates",)
    if "choice" not in asked:
        idle[f"{_types(methods)}, which come without probabilities"] = ("thresholds",)
    for without, names in idle.items():
        refuse_given(options, names, without)
        refuse_given(settings, names, without)


def _types(methods: Methods) -> str:
    return f"types by {' and '.join(methods.asked) or 'the answer itself'}"


def summary(file: str, queries: Sequence[Query], methods: Methods) -> str:
    """What `--dry-run` says of a file: the data, and who predicts, answers and judges."""
    sources = sum(len(each.sources) for each in queries)
    said = (
        f"{len(queries):,} queries from {file}, {sources:,} sources\n"
        f"types by {', '.join(CLASSIFIERS[each] for each in methods.asked)}\n"
    )
    if not methods.strategies:
        return f"{said}no answers"
    said += f"answers by {', '.join(STRATEGIES[each] for each in methods.strategies)}"
    untyped = sum(each.conflict_type is None for each in queries)
    if "oracle" in methods.strategies and untyped:
        said += f"; Oracle leaves out {untyped:,} queries without a type"
    if methods.settings.judge == "nli":
        said += "\nrecall and grounding by the tagger"
    if untyped:
        said += "\nan answer is judged where a type is given or predicted"
    return said
