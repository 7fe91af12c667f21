"""From a query to judged answers: type, answer, verdicts (CONFLICTS, sections 4, 5)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from pipelines.conflicts.data import Query
from pipelines.conflicts.judges import AnswerJudge, answer_judge, judged
from pipelines.conflicts.result import Adherence, Answer, Outcome, QueryResult, Strategy, Verdicts
from pipelines.conflicts.settings import Classifier, ConflictsSettings
from pipelines.conflicts.strategies import (
    Messages,
    Writer,
    answer,
    by_choice,
    by_json,
    by_yes_no,
    writer,
)
from pipelines.conflicts.taxonomy import ConflictType, Prediction
from pipelines.judge.fitting import fit_together
from pipelines.judge.judgement import Truncation
from pipelines.judge.protocol import Judge
from pipelines.prompts import Prompt
from serving.client import Client
from serving.errors import RequestError


def fit_sources(query: Query, writer: Writer) -> tuple[Query, tuple[Truncation, ...]]:
    """Cut the sources so that together they fit the writer's longest prompt and reply.

    All calls about a query then share the same sources, so that the server reads them once. A
    source that is cut keeps its beginning, and its URL, title, snippet and date.

    Returns:
        The query as models see it, and the sources that were cut.

    Raises:
        RequestError: As `fit_together`.
    """
    longest = writer.longest(query)

    def with_texts(texts: Sequence[str]) -> Query:
        sources = (
            source.model_copy(update={"text": text})
            for source, text in zip(query.sources, texts, strict=True)
        )
        return query.model_copy(update={"sources": tuple(sources)})

    def messages(texts: Sequence[str]) -> Messages:
        return longest(with_texts(texts))

    texts, cuts = fit_together(
        [source.text for source in query.sources],
        writer.client,
        messages,
        max_tokens=writer.room,
        cut=writer.settings.cut,
        name=f"the sources of query '{query.id}'",
    )
    return with_texts(texts), cuts


STRATEGIES: Final[dict[Strategy, str]] = {
    "vanilla": "Vanilla",
    "pipeline": "Pipeline",
    "taxonomy-aware": "Taxonomy-aware",
    "oracle": "Oracle",
}
"""Names of the strategies of section 5.1 in tables, in their order."""

CLASSIFIERS: Final[dict[Classifier, str]] = {
    "yes-no": "Yes/no rule",
    "json": "LLM, explained",
    "choice": "LLM, by choice",
}
"""Names of the classifiers in tables, in their order."""


@dataclass(frozen=True)
class Methods:
    """Which classifiers and strategies run, and which models predict, answer and judge.

    Attributes:
        strategies: Strategies to answer with; if empty, only types are predicted.
        classifiers: Classifiers to run. Pipeline always uses the one in the settings.
        settings: Variants of the methods.
        writer: Answers and predicts types; None if no language model is asked.
        judge: Judges answers; None leaves them unjudged.
    """

    strategies: tuple[Strategy, ...]
    classifiers: tuple[Classifier, ...]
    settings: ConflictsSettings
    writer: Writer | None = None
    judge: AnswerJudge | None = None

    @property
    def asked(self) -> tuple[Classifier, ...]:
        """All classifiers that run, in the order of tables."""
        needed = {self.settings.types} if "pipeline" in self.strategies else set()
        return tuple(
            classifier for classifier in CLASSIFIERS if classifier in {*self.classifiers, *needed}
        )

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """All prompts that may be used."""
        return (
            *(self.writer.templates.values() if self.writer else ()),
            *(self.judge.prompts if self.judge else ()),
        )

    def strategies_for(self, query: Query) -> list[Strategy]:
        """Strategies that can answer a query, without Oracle if it has no gold type."""
        return [
            strategy for strategy in self.strategies if strategy != "oracle" or query.conflict_type
        ]

    def ready(
        self,
        writing: Client | None = None,
        judging: Client | None = None,
        judge: Judge | None = None,
        overrides: Path | None = None,
    ) -> "Methods":
        """The same methods with the models that write and judge, and with their prompts.

        If no model judges, answers are judged by `judge` if the settings say "tagger", and
        otherwise not at all. `overrides` is a folder with the user's prompts.

        Raises:
            InputError: A user's prompt cannot be used, or the judge "tagger" has no tagger.
        """
        judges = self.strategies and (judging is not None or self.settings.judge == "tagger")
        return replace(
            self,
            writer=None if writing is None else writer(writing, self.settings, overrides),
            judge=answer_judge(judging, self.settings, overrides, judge) if judges else None,
        )


async def examine(
    query: Query, methods: Methods, *, on_failure: Literal["stop", "skip"] = "stop"
) -> QueryResult:
    """Predict the type of a query by every classifier, answer it by every strategy, and judge.

    All calls run concurrently, except that Pipeline waits for its predicted type, and the judge for
    the answer. Oracle is left out if the query has no gold type.

    Args:
        query: With its sources.
        methods: Classifiers, strategies and models.
        on_failure: With "skip", a call that fails leaves its reason in place of a prediction, an
            answer or a verdict, and the query is "incomplete". Pipeline gets no type from a
            classifier that failed.

    Raises:
        RequestError: A call failed (`stop`); the sources do not fit the writer's context; or all
            classifiers and strategies failed.
        ServingError: No server is available.
    """
    # The sources are first cut to fit the model's context.
    writer = methods.writer
    fitted = await asyncio.to_thread(fit_sources, query, writer) if writer else (query, ())
    seen, truncations = fitted
    unasked: list[RequestError] = []
    unjudged: list[RequestError] = []

    # Task 1: the type.
    async def prediction(classifier: Classifier) -> Prediction:
        try:
            return await predict(classifier, query, seen, methods)
        except RequestError as error:
            unasked.append(error)
            return Prediction(type=None, by=classifier, problem=str(error))

    # Task 2: an answer, and the judges' verdicts.
    async def outcome(strategy: Strategy) -> Outcome:
        try:
            given = await for_pipeline if for_pipeline and strategy == "pipeline" else None
            made = await answer(strategy, seen, _writer_of(methods), given)
        except RequestError as error:
            unasked.append(error)
            return Outcome(answer=Answer(text="", problem=str(error)))
        if methods.judge is None or made.problem is not None:
            return Outcome(answer=made)
        try:
            expected = _expected(query, made, await for_pipeline if for_pipeline else None)
            verdicts = await judged(seen, made, methods.judge, type=expected)
            return Outcome(answer=made, judged=verdicts)
        except RequestError as error:
            unjudged.append(error)
            return Outcome(answer=made, judged=_without_verdict(expected, error))

    predicted = {
        classifier: asyncio.ensure_future(prediction(classifier)) for classifier in methods.asked
    }
    for_pipeline = predicted.get(methods.settings.types)
    strategies = methods.strategies_for(query)
    outcomes, predictions = await asyncio.gather(
        asyncio.gather(*(outcome(strategy) for strategy in strategies)),
        asyncio.gather(*predicted.values()),
    )

    errors = unasked + unjudged
    if errors and (on_failure == "stop" or len(unasked) == len(outcomes) + len(predictions)):
        raise errors[0]
    return QueryResult(
        id=query.id,
        asked=query,
        status="incomplete" if errors else "answered",
        predictions=dict(zip(predicted, predictions, strict=True)),
        outcomes=dict(zip(strategies, outcomes, strict=True)),
        truncations=truncations,
    )


async def predict(
    classifier: Classifier, query: Query, seen: Query, methods: Methods
) -> Prediction:
    """Predict the type of a query with one classifier.

    Args:
        classifier: Its name.
        query: With uncut sources.
        seen: The query as the writer sees it, with sources cut to fit.
        methods: The models to ask; errors are those of `examine`.
    """
    match classifier:
        case "yes-no":
            return by_yes_no(query)
        case "json":
            return await by_json(seen, _writer_of(methods))
        case "choice":
            return await by_choice(seen, _writer_of(methods))


def _expected(query: Query, made: Answer, told: Prediction | None) -> ConflictType | None:
    """The type whose behaviour an answer should show.

    This is the gold type; without one, the type that the writer was given, the type that it named
    with the answer, or the type from the classifier in the settings.
    """
    named = made.prediction.type if made.prediction else None
    return query.conflict_type or made.told or named or (told.type if told else None)


def _without_verdict(expected: ConflictType | None, why: Exception) -> Verdicts:
    """No verdicts; the reason is stored with the first one, adherence."""
    if expected is None:
        return Verdicts()
    return Verdicts(adherence=Adherence(adheres=None, type=expected, problem=str(why)))


def _writer_of(methods: Methods) -> Writer:
    if methods.writer is None:
        raise ValueError("this method needs a writer")
    return methods.writer
