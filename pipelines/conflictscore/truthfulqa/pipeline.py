"""A question answered under every condition, scored and judged (ConflictScore, section 6.1)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pipelines import prompts
from pipelines.conflictscore.pipeline import Scorer, conflict_score
from pipelines.conflictscore.regeneration.regenerate import (
    Feedback,
    Writer,
    feedback_on,
    rewrite,
    writer,
)
from pipelines.conflictscore.result import SCORES, Result, Score
from pipelines.conflictscore.truthfulqa.items import Item
from pipelines.conflictscore.truthfulqa.judging import TruthJudge
from pipelines.conflictscore.truthfulqa.result import (
    CONDITIONS,
    Condition,
    Options,
    Outcome,
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
        writer: The model that answers; its prompt asks for a free-form answer again.
        answer, choose, choose_again: Its other prompts.
        scorer: ConflictScore of answers.
        judge: Of truth and of information of free-form answers.
    """

    writer: Writer
    answer: Prompt
    choose: Prompt
    choose_again: Prompt
    scorer: Scorer
    judge: TruthJudge

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """Those that may be asked besides the scorer's."""
        writing = (self.answer, self.choose, self.choose_again, self.writer.prompt)
        return (*writing, *self.judge.prompts.values())


def prepare(
    client: Client,
    scorer: Scorer,
    judge: TruthJudge,
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
        writer(client, overrides, tokens=tokens, hedged=hedged, cut=scorer.settings.cut),
        prompts.load("conflictscore/answer_from_web", {*seen, "careful"}, overrides),
        prompts.load("conflictscore/choose_from_web", {*two, "careful"}, overrides),
        prompts.load("conflictscore/choose_again", {*two, *sides}, overrides),
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
    outcomes: dict[Condition, Outcome] = {"rag": rag, "control": control}
    feedback = feedback_on(rag.score, item.documents) if rag.score else None
    if feedback is None:
        stands = rag.model_copy(update={"asked": False})
        outcomes["rewritten"] = outcomes["regenerated"] = stands
    else:
        outcomes["rewritten"] = await _again(item, methods, rag, feedback, told=False)
        outcomes["regenerated"] = await _again(item, methods, rag, feedback, told=True)
    if item.options is None:
        responses = (outcome.response for outcome in outcomes.values())
        verdicts = await asyncio.gather(
            *(methods.judge.verdicts(item.asked, response) for response in responses)
        )
        outcomes = {
            name: outcome.model_copy(update=given)
            for (name, outcome), given in zip(outcomes.items(), verdicts, strict=True)
        }
    return _result(item, feedback=feedback, outcomes=outcomes)


async def _answer(item: Item, methods: Methods, *, careful: bool) -> Outcome:
    """The first answer; with `careful` the model is warned of conflicts (Control-RAG)."""
    if item.options is not None:
        outcome = await _chosen(item, item.options, methods, methods.choose, careful=careful)
    else:
        tokens = methods.writer.tokens
        outcome = await _reply(item, methods, methods.answer, tokens, careful=careful)
    return await _scored(item, outcome, methods)


async def _again(
    item: Item, methods: Methods, rag: Outcome, feedback: Feedback, *, told: bool
) -> Outcome:
    """RAG's answer given again, told of the conflict or not."""
    if item.options is None:
        again = await rewrite(
            _example(item, rag), feedback, methods.writer, methods.scorer, told=told
        )
        return Outcome(
            response=again.score.response,
            reply=again.score.response,
            finished=again.finished,
            score=_kept(again.score),
            ignored=again.ignored,
            truncations=again.truncations,
        )
    chosen = await _chosen(
        item,
        item.options,
        methods,
        methods.choose_again,
        response=rag.response,
        claim=feedback.claim if told else None,
        supporting=feedback.supporting,
        contradicting=feedback.contradicting,
    )
    same = {"ignored": chosen.letter == rag.letter}
    return await _scored(item, chosen.model_copy(update=same), methods)


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
        methods.writer.client,
        messages,
        max_tokens=tokens,
        cut=methods.writer.cut,
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


async def _scored(item: Item, outcome: Outcome, methods: Methods) -> Outcome:
    """An answer with its ConflictScore; a choice that cannot be read has none."""
    if outcome.response:
        score = _kept(await conflict_score(_example(item, outcome), methods.scorer))
    elif item.options is None:
        score = Score(error="the answer is empty")
    else:
        return outcome
    return outcome.model_copy(update={"score": score})


def _kept(score: Result) -> Score:
    """What of a score the result of a question does not say elsewhere."""
    return Score(**{name: getattr(score, name) for name in Score.model_fields})


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


def _conflict(score: Metric[Result]) -> Metric[TruthResult]:
    def value(result: TruthResult, condition: Condition) -> float | None:
        outcome = result.outcomes.get(condition)
        return getattr(outcome and outcome.score, score.key, None)

    return Metric(score.key, score.title, of_each(value), CONDITIONS, better=score.better)


RIGHT: Final[Mapping[Setting, Metric[TruthResult]]] = {
    "free-form": _right("free-form", "truthful"),
    "binary": _right("binary", "choice"),
}
METRICS: Final = (*RIGHT.values(), *map(_conflict, SCORES))
"""What the answers to one question come to."""


def verdict(result: TruthResult) -> str:
    """Whether the answer that was given again is right."""
    return {True: "right", False: "wrong", None: "not known"}[result.right_or_unread("regenerated")]
