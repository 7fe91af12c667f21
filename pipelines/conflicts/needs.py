"""What a run needs and how many calls it makes, and which options would do nothing for it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel

from pipelines.conflicts.classifier import TypeClassifier, read, shipped_classifier
from pipelines.conflicts.pipeline import CLASSIFIERS, STRATEGIES, Methods
from pipelines.conflicts.question import Query
from pipelines.conflicts.settings import TYPES_PANEL
from pipelines.conflicts.taxonomy import ANSWERABLE
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import ServerOptions, source_of, tagger_named
from pipelines.option import Option, refuse_given

NO_ANSWERS: Final = "none"
"""The `--strategy` that asks for no answers."""

ClassifierFile = Annotated[
    Path | None,
    Option(
        "Classifier of question and evidence, from `conflicts train`.",
        shown="the one that comes with the program",
        panel=TYPES_PANEL,
    ),
]
"""For the field `classifier_file`."""


def classifier_of(path: Path | None) -> TypeClassifier:
    """The classifier of that file, or else the shipped one; errors are those of `read`."""
    return shipped_classifier() if path is None else read(path)


def needs_of(methods: Methods, options: ServerOptions) -> Needs:
    """The models that classifiers, strategies and judges need.

    Raises:
        InputError: The tagger cannot be used.
        ServingError: There is no such profile, or no such tagger.
    """
    where, answering = source_of(options, "generator"), bool(methods.strategies)
    by_model = answering or not {"json", "choice"}.isdisjoint(methods.asked)
    by_tagger = "nli" in methods.asked or (answering and methods.settings.judge == "nli")
    return Needs(
        role="generator" if by_model else None,
        tagger=tagger_named(options.tagger, where) if by_tagger else None,
        unasked=f"--strategy none and {_types(methods)}, which ask no language model",
        untagged="types and verdicts by a language model alone",
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
    if not asked & {"nli", "choice"}:
        idle[f"{_types(methods)}, which come without probabilities"] = ("thresholds",)
    if "nli" not in asked:
        idle[_types(methods)] = ("classifier_file",)
    for without, names in idle.items():
        refuse_given(options, names, without)
        refuse_given(settings, names, without)


def doubts(methods: Methods, needs: Needs) -> tuple[str, ...]:
    """What is to be said where the classifier reads another tagger than the one of its training."""
    trained, tagger = methods.trained, needs.tagger
    if trained is None or tagger is None or "nli" not in methods.asked:
        return ()
    if tagger.digest == trained.tagger:
        return ()
    return (
        f"the classifier was trained on judgements of another tagger than {tagger.name}; its "
        "types may be worth less: train one with `contested conflicts train`",
    )


def _types(methods: Methods) -> str:
    return f"types by {' and '.join(methods.asked) or 'the answer itself'}"


def summary(file: str, queries: Sequence[Query], methods: Methods) -> str:
    """What `--dry-run` says of a file: the data, and the calls that `examine` makes over it.

    Fewer calls are made where the cache has the answer, or what they are about cannot be read.
    """
    asked = methods.asked
    sources = sum(len(each.sources) for each in queries)
    types = len({"json", "choice"} & {*asked}) * len(queries)
    said = (
        f"{len(queries):,} queries from {file}, {sources:,} sources\n"
        f"types by {', '.join(CLASSIFIERS[each] for each in asked)}: {types:,} calls to the model\n"
    )
    if not methods.strategies:
        return f"{said}no answers"
    answered = [(each, strategy) for each in queries for strategy in methods.strategies_for(each)]
    # Without the type that annotators gave, behaviour is judged by the one that was predicted.
    typed = [
        query
        for query, strategy in answered
        if query.conflict_type or strategy == "taxonomy-aware" or methods.settings.types in asked
    ]
    recalled = sum(
        query.gold_answer is not None
        and (query.conflict_type is None or query.conflict_type in ANSWERABLE)
        for query in typed
    )
    untyped = sum(each.conflict_type is None for each in queries)
    said += (
        f"answers by {', '.join(STRATEGIES[each] for each in methods.strategies)}: "
        f"{len(answered):,} calls"
    )
    if "oracle" in methods.strategies and untyped:
        said += f"; Oracle leaves out {untyped:,} queries without a type"
    said += f"\njudges: {'at most ' if untyped else ''}{len(typed):,} calls for behaviour"
    if methods.settings.judge == "nli":
        said += "; recall and grounding by the tagger"
    else:
        said += f", {recalled:,} for recall, and one for each sentence"
    if untyped:
        said += "; an answer is judged where a type is given or predicted"
    return said
