"""How many calls a run makes to language models, counted before any is made."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.conflicts.pipeline import CLASSIFIERS, STRATEGIES, Methods
from pipelines.conflicts.question import Query
from pipelines.conflicts.taxonomy import ANSWERABLE


@dataclass(frozen=True)
class Calls:
    """Calls to language models; fewer are made where the cache has the answer.

    Attributes:
        types: To predict types.
        answers: To answer.
        behaviour: To judge behaviour, where every type and every answer can be read.
        recall: To judge answer recall, likewise; by the tagger none is made.
    """

    types: int
    answers: int
    behaviour: int
    recall: int


def calls(queries: Sequence[Query], by: Methods) -> Calls:
    """Count the calls of a run; see `pipeline.examine` for what is asked, and when.

    Args:
        queries: That are examined.
        by: Classifiers and strategies; they need not be ready.
    """
    answered = [
        (query, strategy)
        for query in queries
        for strategy in by.strategies
        if strategy != "oracle" or query.conflict_type is not None
    ]
    # Without the type that annotators gave, behaviour is judged by the one that was predicted.
    typed = [
        query
        for query, strategy in answered
        if query.conflict_type is not None
        or strategy == "taxonomy-aware"
        or by.settings.types in by.asked
    ]
    recalled = [
        query
        for query in typed
        if query.gold_answer is not None
        and (query.conflict_type is None or query.conflict_type in ANSWERABLE)
    ]
    return Calls(
        types=len({"json", "choice"} & {*by.asked}) * len(queries),
        answers=len(answered),
        behaviour=len(typed),
        recall=len(recalled) if by.settings.judge == "llm" else 0,
    )


def summary(file: str, queries: Sequence[Query], by: Methods) -> str:
    """What `--dry-run` says: the data, and the calls.

    Args:
        file: Name of the data.
        queries: That are examined.
        by: Classifiers and strategies; they need not be ready.
    """
    sources = sum(len(each.sources) for each in queries)
    made = calls(queries, by)
    said = (
        f"{len(queries):,} queries from {file}, {sources:,} sources\n"
        f"types by {', '.join(CLASSIFIERS[each] for each in by.asked)}: "
        f"{made.types:,} calls to the model\n"
    )
    if not by.strategies:
        return f"{said}no answers"
    untyped = sum(each.conflict_type is None for each in queries)
    left_out = "oracle" in by.strategies and untyped > 0
    said += (
        f"answers by {', '.join(STRATEGIES[each] for each in by.strategies)}: "
        f"{made.answers:,} calls"
        + (f"; Oracle leaves out {untyped:,} queries without a type" if left_out else "")
    )
    judged = (
        "; recall and grounding by the tagger"
        if by.settings.judge == "nli"
        else f", {made.recall:,} for recall, and one for each sentence"
    )
    return (
        f"{said}\njudges: {'at most ' if untyped else ''}{made.behaviour:,} calls for behaviour"
        f"{judged}"
        + ("; an answer is judged where a type is given or predicted" if untyped else "")
    )
