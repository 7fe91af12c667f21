"""A query from its sources to judged answers: type, answer, verdicts (CONFLICTS, sections 4, 5)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, TypeVar

from pipelines.conflicts.data import Query
from pipelines.conflicts.judges import AnswerJudge, answer_judge, judged
from pipelines.conflicts.result import Adherence, Answer, Outcome, QueryResult, Strategy, Verdicts
from pipelines.conflicts.settings import ConflictsSettings
from pipelines.conflicts.strategies import (
    Messages,
    Writer,
    answer,
    by_choice,
    by_json,
    by_yes_no,
    writer,
)
from pipelines.conflicts.taxonomy import Classifier, ConflictType, Prediction
from pipelines.judge.fitting import fit_together
from pipelines.judge.judge import Judge
from pipelines.judge.judgement import Truncation
from pipelines.prompts import Prompt
from serving.client import Client
from serving.errors import RequestError


def fit_sources(query: Query, writer: Writer) -> tuple[Query, tuple[Truncation, ...]]:
    """Make the sources fit the writer's context, all together, with its longest prompt and reply.

    All calls about a query are then made with the same sources, so that the server reads them once.
    Of a source that is cut, the beginning stays, as do URL, title, snippet and date.

    Returns:
        The query as models will see it, and the sources that are cut.

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
"""The strategies of section 5.1 as tables call them, in order."""

CLASSIFIERS: Final[dict[Classifier, str]] = {
    "yes-no": "Yes/no rule",
    "json": "LLM, explained",
    "choice": "LLM, by choice",
}
"""The classifiers as tables call them, in order."""

NeededT = TypeVar("NeededT")


@dataclass(frozen=True)
class Methods:
    """Who predicts types, who answers, and who judges.

    Attributes:
        strategies: Whose answers are wanted; without any, types alone are predicted.
        classifiers: Whose types are wanted. Pipeline asks that of the settings in any case.
        settings: The variants.
        writer: Answers, and predicts types; None where no language model is asked.
        judge: Of answers; None leaves them unjudged.
    """

    strategies: tuple[Strategy, ...]
    classifiers: tuple[Classifier, ...]
    settings: ConflictsSettings
    writer: Writer | None = None
    judge: AnswerJudge | None = None

    @property
    def asked(self) -> tuple[Classifier, ...]:
        """All classifiers that are asked, in the order of tables."""
        told = {self.settings.types} if "pipeline" in self.strategies else set()
        return tuple(each for each in CLASSIFIERS if each in {*self.classifiers, *told})

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """All that may be asked."""
        return (
            *(self.writer.templates.values() if self.writer else ()),
            *(self.judge.prompts if self.judge else ()),
        )

    def strategies_for(self, query: Query) -> list[Strategy]:
        """Whose answers are wanted to a query: without a gold type there is no Oracle."""
        return [each for each in self.strategies if each != "oracle" or query.conflict_type]

    def ready(
        self,
        writing: Client | None = None,
        judging: Client | None = None,
        judge: Judge | None = None,
        overrides: Path | None = None,
    ) -> "Methods":
        """The same with the models that write and judge, and with their prompts.

        Without a model that judges, answers are judged by `judge` alone, where the settings say
        "tagger", or not at all. `overrides` is a folder with prompts of the user's own.

        Raises:
            InputError: The user's own prompt cannot be used, or the judge "tagger" has no tagger.
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

    All is asked at the same time, except that Pipeline waits for the type that it is told, and the
    judge for the answer. Oracle is left out where the query has no gold type.

    Args:
        query: With its sources.
        methods: Whom to ask.
        on_failure: With "skip", what cannot be asked has its reason in place of a prediction, an
            answer or a verdict, and the query is "incomplete". A classifier that cannot be asked
            tells Pipeline nothing.

    Raises:
        RequestError: Something cannot be asked (`stop`); the sources do not fit the writer's
            context, or no classifier and no strategy can be asked.
        ServingError: No server can be had.
    """
    # What the context of the model cannot hold of the sources is cut first.
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

    # Task 2: an answer, and what judges say of it.
    async def outcome(strategy: Strategy) -> Outcome:
        try:
            given = await told if told and strategy == "pipeline" else None
            made = await answer(strategy, seen, _needed(methods.writer), given)
        except RequestError as error:
            unasked.append(error)
            return Outcome(answer=Answer(text="", problem=str(error)))
        if methods.judge is None or made.problem is not None:
            return Outcome(answer=made)
        try:
            expected = _expected(query, made, await told if told else None)
            verdicts = await judged(seen, made, methods.judge, type=expected)
            return Outcome(answer=made, judged=verdicts)
        except RequestError as error:
            unjudged.append(error)
            return Outcome(answer=made, judged=_without_verdict(expected, error))

    predicted = {each: asyncio.ensure_future(prediction(each)) for each in methods.asked}
    told = predicted.get(methods.settings.types)
    strategies = methods.strategies_for(query)
    outcomes, predictions = await asyncio.gather(
        asyncio.gather(*(outcome(each) for each in strategies)),
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
    """What one classifier says of a query.

    Args:
        classifier: Its name.
        query: As it is.
        seen: As the writer sees it.
        methods: Whom to ask; errors are those of `examine`.
    """
    match classifier:
        case "yes-no":
            return by_yes_no(query)
        case "json":
            return await by_json(seen, _needed(methods.writer))
        case "choice":
            return await by_choice(seen, _needed(methods.writer))


def _expected(query: Query, made: Answer, told: Prediction | None) -> ConflictType | None:
    """The type whose behaviour an answer should show.

    It is the gold one; where nobody gave one, that which the answer was told, or gave itself, or
    that which it might have been told.
    """
    own = made.prediction.type if made.prediction else None
    return query.conflict_type or made.told or own or (told.type if told else None)


def _without_verdict(expected: ConflictType | None, why: Exception) -> Verdicts:
    """No verdict at all; the reason stands at the first that there would be."""
    if expected is None:
        return Verdicts()
    return Verdicts(adherence=Adherence(adheres=None, type=expected, problem=str(why)))


def _needed(value: NeededT | None) -> NeededT:
    if value is None:
        raise ValueError("asked for what needs a writer")
    return value
