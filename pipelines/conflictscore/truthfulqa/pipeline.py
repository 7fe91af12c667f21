"""A question answered under every condition, scored and judged (ConflictScore, section 6.1)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from pipelines import prompts
from pipelines.conflictscore.pipeline import Scorer, conflict_score
from pipelines.conflictscore.regeneration.regenerate import (
    Attempt,
    Feedback,
    Writer,
    feedback_on,
    rewrite,
    writer,
)
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.truthfulqa.items import Item
from pipelines.conflictscore.truthfulqa.judging import TruthJudge
from pipelines.conflictscore.truthfulqa.result import (
    Condition,
    Options,
    Outcome,
    Score,
    TruthResult,
    Verdict,
    read_choice,
)
from pipelines.data.records import Example
from pipelines.judge.fitting import fit_together
from pipelines.prompts import Prompt
from pipelines.text.declarative import as_claim
from serving.calls import Sampling
from serving.client import Client

NO_COMMENT: Final = "I have no comment."
"""The answer that is always true and never informs (Lin et al. 2022)."""

CHOICE_TOKENS = 96

ClaimOfChoice = Literal["answer", "statement"]


@dataclass(frozen=True)
class Methods:
    """Who answers, scores and judges, and with which prompts.

    Attributes:
        client: The model that answers.
        answer, choose, choose_again: Its prompts.
        told, untold: Write a free-form answer again, with the conflict and without.
        scorer: ConflictScore of answers.
        judge: Of truth and of information; None leaves free-form answers unjudged.
        claim: What of a choice is scored: the text of its option, as in section 6.3, or question
            and option as one statement.
    """

    client: Client
    answer: Prompt
    choose: Prompt
    choose_again: Prompt
    told: Writer
    untold: Writer
    scorer: Scorer
    judge: TruthJudge | None
    claim: ClaimOfChoice = "answer"

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """All that may be asked."""
        own = (self.answer, self.choose, self.choose_again, self.told.prompt)
        return (*own, *self.scorer.prompts, *(self.judge.prompts if self.judge else ()))


def prepare(
    client: Client,
    scorer: Scorer,
    judge: TruthJudge | None,
    overrides: Path | None = None,
    *,
    tokens: int = 256,
    hedged: bool = False,
    claim: ClaimOfChoice = "answer",
) -> Methods:
    """Methods with their prompts.

    Args:
        client: The model that answers.
        scorer: Scores answers.
        judge: Of free-form answers.
        overrides: Folder with prompts of the user's own.
        tokens: Most tokens of a free-form answer.
        hedged: Whether who writes again is asked to name both sides; the paper's prompt does not.
        claim: What of a choice is scored.

    Raises:
        InputError: The user's own prompt cannot be used.
    """
    seen = {"documents", "question"}
    two = {*seen, "option_a", "option_b"}
    sides = {"response", "claim", "supporting", "contradicting"}
    told = writer(client, overrides, tokens=tokens, hedged=hedged, cut=scorer.settings.cut)
    return Methods(
        client,
        prompts.load("conflictscore/answer_from_web", {*seen, "careful"}, overrides),
        prompts.load("conflictscore/choose_from_web", {*two, "careful"}, overrides),
        prompts.load("conflictscore/choose_again", {*two, *sides}, overrides),
        told,
        replace(told, told=False),
        scorer,
        judge,
        claim,
    )


async def answer_question(item: Item, methods: Methods) -> TruthResult:
    """A question in its setting, under all conditions.

    Raises:
        InputError, RequestError, ServingError: As `conflict_score`.
    """
    if item.options is not None:
        return await _choice(item, item.options, methods)
    return await _free_form(item, methods)


async def _free_form(item: Item, methods: Methods) -> TruthResult:
    """RAG and Control-RAG; where RAG's answer is in conflict, it is written again twice."""
    rag, control = await asyncio.gather(
        *(_reply(item, methods, methods.answer, careful=careful) for careful in (False, True))
    )
    example = Example(
        id=item.id,
        group=item.asked.id,
        question=item.asked.question,
        response=rag.response,
        documents=item.documents,
    )
    score = await _scored(example, rag.response, methods)
    feedback = feedback_on(score) if score.status == "scored" else None
    outcomes: dict[Condition, Outcome] = {
        "rag": rag.model_copy(update={"score": Score.of(score)}),
        "control": control.model_copy(
            update={"score": Score.of(await _scored(example, control.response, methods))}
        ),
    }
    again: Mapping[Condition, Writer] = {
        "rewritten": methods.untold,
        "regenerated": methods.told,
    }
    for condition, author in again.items():
        if feedback is None:
            outcomes[condition] = outcomes["rag"].model_copy(update={"asked": False})
        else:
            first = Attempt(response=rag.response, score=score)
            outcomes[condition] = _rewritten(await rewrite(example, first, author, methods.scorer))
    judged = await asyncio.gather(*(_judged(item, each, methods) for each in outcomes.values()))
    return _result(
        item,
        feedback=feedback,
        outcomes=dict(zip(outcomes, judged, strict=True)),
        references=await _references(item, methods),
    )


def _rewritten(attempt: Attempt) -> Outcome:
    return Outcome(
        response=attempt.response,
        reply=attempt.response,
        finished=attempt.finished,
        score=Score.of(attempt.score),
        ignored=attempt.ignored,
        truncations=attempt.truncations,
    )


async def _choice(item: Item, options: Options, methods: Methods) -> TruthResult:
    """RAG and Control-RAG; where RAG's choice is in conflict, it is made again twice."""
    rag, control = await asyncio.gather(
        *(_chosen(item, options, methods, careful=careful) for careful in (False, True))
    )
    score = await _scored_choice(item, rag, methods)
    feedback = feedback_on(score) if score and score.status == "scored" else None
    outcomes: dict[Condition, Outcome] = {
        "rag": _with_score(rag, score),
        "control": _with_score(control, await _scored_choice(item, control, methods)),
    }
    again: Mapping[Condition, Feedback | None] = {"rewritten": None, "regenerated": feedback}
    for condition, told in again.items():
        if feedback is None:
            outcomes[condition] = outcomes["rag"].model_copy(update={"asked": False})
        else:
            chosen = await _chosen_again(item, options, methods, rag.response, told)
            chosen = chosen.model_copy(update={"ignored": chosen.letter == rag.letter})
            outcomes[condition] = _with_score(chosen, await _scored_choice(item, chosen, methods))
    return _result(item, feedback=feedback, outcomes=outcomes)


async def _reply(item: Item, methods: Methods, prompt: Prompt, **variables: object) -> Outcome:
    """What the model writes on a question with its documents."""
    tokens = methods.told.tokens if item.options is None else CHOICE_TOKENS

    def messages(documents: Sequence[str]) -> list[dict[str, str]]:
        return prompt.messages(documents=documents, question=item.asked.question, **variables)

    documents, cuts = await asyncio.to_thread(
        fit_together,
        [document.as_read() for document in item.documents],
        methods.client,
        messages,
        max_tokens=tokens,
        cut=methods.told.cut,
        name=f"the documents of '{item.id}'",
    )
    reply = await methods.client.chat(messages(documents), Sampling(max_tokens=tokens))
    return Outcome(
        response=reply.text.strip(), reply=reply.text, finished=reply.finished, truncations=cuts
    )


async def _chosen(item: Item, options: Options, methods: Methods, *, careful: bool) -> Outcome:
    reply = await _reply(
        item,
        methods,
        methods.choose,
        option_a=options.a,
        option_b=options.b,
        careful=careful,
    )
    letter = read_choice(reply.reply, options).letter
    text = options.text(letter) if letter else ""
    return reply.model_copy(update={"response": text, "letter": letter})


async def _chosen_again(
    item: Item, options: Options, methods: Methods, response: str, told: Feedback | None
) -> Outcome:
    reply = await _reply(
        item,
        methods,
        methods.choose_again,
        option_a=options.a,
        option_b=options.b,
        response=response,
        claim=told.claim if told else None,
        supporting=told.supporting if told else (),
        contradicting=told.contradicting if told else (),
    )
    chosen = read_choice(reply.reply, options)
    return reply.model_copy(
        update={
            "response": options.text(chosen.letter) if chosen.letter else "",
            "letter": chosen.letter,
            "strict": chosen.strict,
            "justification": chosen.justification,
        }
    )


async def _scored(example: Example, response: str, methods: Methods) -> Result:
    own = example.model_copy(update={"response": response})
    if not response:
        return Result(
            **own.model_dump(exclude={"claims"}), status="invalid", error="the answer is empty"
        )
    return await conflict_score(own, methods.scorer)


async def _scored_choice(item: Item, chosen: Outcome, methods: Methods) -> Result | None:
    """ConflictScore of an option's whole text as one claim (section 6.3)."""
    if not chosen.response:
        return None
    claim = chosen.response
    if methods.claim == "statement":
        claim = as_claim(item.asked.question, chosen.response)
    example = Example(
        id=item.id,
        group=item.asked.id,
        response=chosen.response,
        documents=item.documents,
        claims=(claim,),
    )
    return await conflict_score(example, methods.scorer)


def _with_score(outcome: Outcome, score: Result | None) -> Outcome:
    return outcome if score is None else outcome.model_copy(update={"score": Score.of(score)})


async def _judged(item: Item, outcome: Outcome, methods: Methods) -> Outcome:
    """A free-form answer with its verdicts; equal answers are asked about once."""
    if methods.judge is None:
        return outcome
    truthful, informative = await _verdicts(item, outcome.response, methods.judge)
    return outcome.model_copy(update={"truthful": truthful, "informative": informative})


async def _verdicts(item: Item, answer: str, judge: TruthJudge) -> tuple[Verdict, Verdict | None]:
    return await asyncio.gather(
        judge.is_truthful(item.asked, answer), judge.is_informative(item.asked, answer)
    )


async def _references(item: Item, methods: Methods) -> dict[str, tuple[Verdict, Verdict | None]]:
    """What the judge says of answers that are known to be true, false, and uninformative."""
    if methods.judge is None:
        return {}
    known = {"best answer": item.asked.best_answer, "no comment": NO_COMMENT}
    if item.asked.best_incorrect_answer is not None:
        known["best incorrect answer"] = item.asked.best_incorrect_answer
    found = await asyncio.gather(*(_verdicts(item, each, methods.judge) for each in known.values()))
    return dict(zip(known, found, strict=True))


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
