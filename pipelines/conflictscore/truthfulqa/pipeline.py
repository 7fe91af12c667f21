"""A question answered under every condition, scored and judged (ConflictScore, section 6.1)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pipelines import prompts
from pipelines.conflictscore import pipeline as of_responses
from pipelines.conflictscore.pipeline import Scorer, conflict_score
from pipelines.conflictscore.regeneration.regenerate import (
    Attempt,
    Feedback,
    Writer,
    feedback_on,
    rewrite,
    writer,
)
from pipelines.conflictscore.result import MEASURES, Result
from pipelines.conflictscore.truthfulqa.items import Item
from pipelines.conflictscore.truthfulqa.judging import TruthJudge
from pipelines.conflictscore.truthfulqa.result import (
    CONDITIONS,
    Condition,
    Options,
    Outcome,
    Score,
    Setting,
    TruthResult,
    read_choice,
)
from pipelines.data.records import Example
from pipelines.experiment.metric import Metric, of_each
from pipelines.judge.fitting import chat_about
from pipelines.prompts import Prompt
from serving.client import Client

CHOICE_TOKENS = 96


@dataclass(frozen=True)
class Methods:
    """Who answers, scores and judges, and with which prompts.

    Attributes:
        client: The model that answers.
        answer, choose, choose_again: Its prompts.
        told: Writes a free-form answer again, told of the conflict.
        scorer: ConflictScore of answers.
        judge: Of truth and of information; None leaves free-form answers unjudged.
    """

    client: Client
    answer: Prompt
    choose: Prompt
    choose_again: Prompt
    told: Writer
    scorer: Scorer
    judge: TruthJudge | None

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """Those that may be asked besides the scorer's."""
        writing = (self.answer, self.choose, self.choose_again, self.told.prompt)
        return (*writing, *(self.judge.prompts if self.judge else ()))


def prepare(
    client: Client,
    scorer: Scorer,
    judge: TruthJudge | None,
    overrides: Path | None = None,
    *,
    tokens: int = 256,
    hedged: bool = False,
) -> Methods:
    """Methods with their prompts.

    Args:
        client: The model that answers.
        scorer: Scores answers.
        judge: Of free-form answers.
        overrides: Folder with prompts of the user's own.
        tokens: Most tokens of a free-form answer.
        hedged: Whether who writes again is asked to name both sides; the paper's prompt does not.

    Raises:
        InputError: The user's own prompt cannot be used.
    """
    seen = {"documents", "question"}
    two = {*seen, "option_a", "option_b"}
    sides = {"response", "claim", "supporting", "contradicting"}
    return Methods(
        client,
        prompts.load("conflictscore/answer_from_web", {*seen, "careful"}, overrides),
        prompts.load("conflictscore/choose_from_web", {*two, "careful"}, overrides),
        prompts.load("conflictscore/choose_again", {*two, *sides}, overrides),
        writer(client, overrides, tokens=tokens, hedged=hedged, cut=scorer.settings.cut),
        scorer,
        judge,
    )


async def answer_question(item: Item, methods: Methods) -> TruthResult:
    """A question in its setting: RAG and Control-RAG; RAG's answer in conflict is given again.

    It is given again twice: told of the conflict, and, to compare with, untold.

    Raises:
        InputError, RequestError, ServingError: As `conflict_score`.
    """
    rag, control = await asyncio.gather(
        *(_answer(item, methods, careful=careful) for careful in (False, True))
    )
    score = await _score(item, rag, methods)
    feedback = feedback_on(score) if score and score.status == "scored" else None
    outcomes: dict[Condition, Outcome] = {
        "rag": _with_score(rag, score),
        "control": _with_score(control, await _score(item, control, methods)),
    }
    conditions: tuple[Condition, ...] = ("rewritten", "regenerated")
    for condition in conditions:
        told = condition == "regenerated"
        if score is None or feedback is None:
            outcomes[condition] = outcomes["rag"].model_copy(update={"asked": False})
        elif item.options is not None:
            again = await _choice_again(
                item, item.options, methods, rag, feedback if told else None
            )
            outcomes[condition] = _with_score(again, await _score(item, again, methods))
        else:
            first = Attempt(response=rag.response, score=score)
            author = methods.told if told else replace(methods.told, told=False)
            attempt = await rewrite(_example(item, rag), first, author, methods.scorer)
            outcomes[condition] = Outcome(
                response=attempt.response,
                reply=attempt.response,
                finished=attempt.finished,
                score=Score.of(attempt.score),
                ignored=attempt.ignored,
                truncations=attempt.truncations,
            )
    if methods.judge is not None and item.options is None:
        judge = methods.judge
        judged = await asyncio.gather(*(_judged(item, one, judge) for one in outcomes.values()))
        outcomes = dict(zip(outcomes, judged, strict=True))
    return _result(item, feedback=feedback, outcomes=outcomes)


async def _answer(item: Item, methods: Methods, *, careful: bool) -> Outcome:
    """The first answer; with `careful` the model is warned of conflicts (Control-RAG)."""
    if item.options is None:
        return await _reply(item, methods, methods.answer, methods.told.tokens, careful=careful)
    return await _chosen(item, item.options, methods, methods.choose, careful=careful)


async def _choice_again(
    item: Item, options: Options, methods: Methods, rag: Outcome, told: Feedback | None
) -> Outcome:
    again = await _chosen(
        item,
        options,
        methods,
        methods.choose_again,
        response=rag.response,
        claim=told.claim if told else None,
        supporting=told.supporting if told else (),
        contradicting=told.contradicting if told else (),
    )
    return again.model_copy(update={"ignored": again.letter == rag.letter})


async def _chosen(
    item: Item, options: Options, methods: Methods, prompt: Prompt, **variables: object
) -> Outcome:
    """What the model chooses, by a prompt that shows both options."""
    shown = {"option_a": options.a, "option_b": options.b}
    reply = await _reply(item, methods, prompt, CHOICE_TOKENS, **shown, **variables)
    chosen = read_choice(reply.reply, options)
    return reply.model_copy(
        update={
            "response": options.text(chosen.letter) if chosen.letter else "",
            "letter": chosen.letter,
            "justification": chosen.justification,
        }
    )


async def _reply(
    item: Item, methods: Methods, prompt: Prompt, tokens: int, **variables: object
) -> Outcome:
    """What the model writes on a question with its documents."""

    def messages(documents: Sequence[str]) -> list[dict[str, str]]:
        return prompt.messages(documents=documents, question=item.asked.question, **variables)

    reply, cuts = await chat_about(
        item.documents,
        methods.client,
        messages,
        max_tokens=tokens,
        cut=methods.told.cut,
        name=f"the documents of '{item.id}'",
    )
    return Outcome(
        response=reply.text.strip(), reply=reply.text, finished=reply.finished, truncations=cuts
    )


def _example(item: Item, outcome: Outcome) -> Example:
    """An answer as a response; of a choice the option's whole text is the claim (section 6.3)."""
    return Example(
        id=item.id,
        group=item.asked.id,
        question=item.asked.question,
        response=outcome.response,
        documents=item.documents,
        claims=(outcome.response,) if item.options else None,
    )


async def _score(item: Item, outcome: Outcome, methods: Methods) -> Result | None:
    """ConflictScore of an answer; None of a choice that cannot be read."""
    if outcome.response:
        return await conflict_score(_example(item, outcome), methods.scorer)
    if item.options is not None:
        return None
    return of_responses.result(
        _example(item, outcome), status="invalid", error="the answer is empty"
    )


def _with_score(outcome: Outcome, score: Result | None) -> Outcome:
    return outcome if score is None else outcome.model_copy(update={"score": Score.of(score)})


async def _judged(item: Item, outcome: Outcome, judge: TruthJudge) -> Outcome:
    """A free-form answer with its verdicts; equal answers are asked about once."""
    truthful, informative = await asyncio.gather(
        judge.is_truthful(item.asked, outcome.response),
        judge.is_informative(item.asked, outcome.response),
    )
    return outcome.model_copy(update={"truthful": truthful, "informative": informative})


def _result(item: Item, **outcome: object) -> TruthResult:
    asked, options = item.asked, item.options
    return TruthResult.model_validate(
        {
            "id": item.id,
            "group": asked.id,
            "setting": item.setting,
            "question": asked.question,
            "category": asked.category,
            "correct_answers": asked.correct_answers,
            "incorrect_answers": asked.incorrect_answers,
            "options": {"A": options.a, "B": options.b} if options else {},
            "correct": options.correct if options else None,
            "documents": item.documents,
            "status": "answered",
            **outcome,
        }
    )


def failed(item: Item, reason: str) -> TruthResult:
    """A question that could not be answered."""
    return _result(item, status="failed", error=reason)


def _right(setting: Setting, key: str) -> Metric[TruthResult]:
    def right(result: TruthResult, condition: Condition) -> bool | None:
        return result.right_or_unread(condition) if result.setting == setting else None

    return Metric(key, f"Right, {setting}", of_each(right), CONDITIONS, test="McNemar")


def _conflict(measure: str) -> Metric[TruthResult]:
    def value(result: TruthResult, condition: Condition) -> float | None:
        outcome = result.outcomes.get(condition)
        return getattr(outcome and outcome.score, measure, None)

    better = next(one.better for one in of_responses.METRICS if one.key == measure)
    return Metric(measure, MEASURES[measure], of_each(value), CONDITIONS, better=better)


RIGHT: Final[Mapping[Setting, Metric[TruthResult]]] = {
    "free-form": _right("free-form", "truthful"),
    "binary": _right("binary", "choice"),
}
METRICS: Final = (*RIGHT.values(), *map(_conflict, MEASURES))
"""What the answers to one question come to."""


def verdict(result: TruthResult) -> str:
    """Whether the answer that was given again is right."""
    return {True: "right", False: "wrong", None: "not known"}[result.right_or_unread("regenerated")]
