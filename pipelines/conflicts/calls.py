"""How many calls a run makes to language models, counted before any is made."""

from collections.abc import Sequence

from pipelines.conflicts.pipeline import CLASSIFIERS, STRATEGIES, Methods
from pipelines.conflicts.question import Query
from pipelines.conflicts.taxonomy import ANSWERABLE


def summary(file: str, queries: Sequence[Query], methods: Methods) -> str:
    """What `--dry-run` says: the data, and the calls; see `pipeline.examine`.

    Fewer calls are made where the cache has the answer, or what they are about cannot be read.

    Args:
        file: Name of the data.
        queries: That are examined.
        methods: Classifiers and strategies; they need not be ready.
    """
    asked, by_tagger = methods.asked, methods.settings.judge == "nli"
    sources = sum(len(each.sources) for each in queries)
    types = len({"json", "choice"} & {*asked}) * len(queries)
    said = (
        f"{len(queries):,} queries from {file}, {sources:,} sources\n"
        f"types by {', '.join(CLASSIFIERS[each] for each in asked)}: "
        f"{types:,} calls to the model\n"
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
    if by_tagger:
        said += "; recall and grounding by the tagger"
    else:
        said += f", {recalled:,} for recall, and one for each sentence"
    if untyped:
        said += "; an answer is judged where a type is given or predicted"
    return said
