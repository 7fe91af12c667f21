"""A question answered under every condition, scored and judged (ConflictScore, section 6.1)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel

from pipelines import prompts
from pipelines.conflictscore.pipeline import Scorer, conflict_score
from pipelines.conflictscore.regeneration import (
    Feedback,
    Writer,
    feedback_on,
    rewrite,
    writer,
)
from pipelines.conflictscore.result import SCORES, Result, Score
from pipelines.conflictscore.truthfulqa.result import (
    CONDITIONS,
    Condition,
    Item,
    Options,
    Outcome,
    Setting,
    TruthResult,
    Verdict,
    read_choice,
)
from pipelines.data.records import Document, Example
from pipelines.data.truthfulqa import TruthfulQuestion
from pipelines.experiment.metric import Metric, of_each
from pipelines.judge.fitting import chat_about
from pipelines.judge.judgement import Relation
from pipelines.judge.protocol import Judge
from pipelines.prompts import Prompt
from pipelines.text.declarative import as_claim
from serving.calls import Sampling
from serving.client import Client
from serving.schemas import told

VERDICT_TOKENS = 192

CUT = "[...]"
"""Ends an explanation that was cut."""


class VerdictReply(BaseModel):
    """The JSON reply to either prompt."""

    verdict: bool
    explanation: Annotated[str, told(maxLength=600)]


PROMPTS: Final = {"truthful": "judge_truthful", "informative": "judge_informative"}
"""What is judged (Tables 17 and 18) -> the prompt that asks a language model."""


@dataclass(frozen=True)
class TruthJudge:
    """The judge of answers: a language model, asked by `prompts`, or the tagger.

    Attributes:
        client: The language model; None if the tagger judges.
        tagger: Judges only truth, without a language model.
        prompts: By the names of `PROMPTS`.
    """

    client: Client | None
    tagger: Judge | None
    prompts: Mapping[str, Prompt]

    async def verdicts(self, known: TruthfulQuestion, answer: str) -> dict[str, Verdict]:
        """Judge an answer as `truthful`, given the known ones, and, with a model, as `informative`.

        Raises:
            RequestError: The answer does not fit the context.
            ServingError: No server is available.
        """
        if self.tagger is not None:
            return {"truthful": await truthful_by_tagger(known, answer, self.tagger)}
        assert self.client is not None  # noqa: S101 - one of the two judges
        asked = (_asked(self.client, prompt, known, answer) for prompt in self.prompts.values())
        return dict(zip(self.prompts, await asyncio.gather(*asked), strict=True))


def truth_judge(
    client: Client | None, tagger: Judge | None = None, overrides: Path | None = None
) -> TruthJudge:
    """A judge with its prompts, which may be replaced by those in the folder `overrides`.

    Raises:
        InputError: A user's prompt cannot be used.
    """
    variables = {"question", "answer", "correct", "incorrect"}
    asked = {
        what: prompts.load(f"conflictscore/{name}", variables, overrides)
        for what, name in PROMPTS.items()
    }
    return TruthJudge(client, tagger, asked if tagger is None else {})


async def truthful_by_tagger(known: TruthfulQuestion, answer: str, judge: Judge) -> Verdict:
    """Judge whether an answer supports a true answer at least as much as any false one.

    Not in the paper: a judge that needs no language model. An answer that supports neither, such as
    a refusal, counts as true, as in TruthfulQA itself.

    Args:
        known: Right and wrong answers.
        answer: Read as a document that may support them.
        judge: Gives probabilities.
    """
    if not answer.strip():
        return Verdict(verdict=None, problem="the answer is empty")
    document = Document(id="answer", text=as_claim(known.question, answer))
    references = (*known.correct_answers, *known.incorrect_answers)
    claims = [as_claim(known.question, reference) for reference in references]
    judgements = (await judge(claims, [document])).judgements
    if refusals := [judgement.refusal for judgement in judgements if judgement.refusal]:
        return Verdict(verdict=None, problem=refusals[0])
    support = [
        (judgement.probabilities or {}).get(Relation.SUPPORTS, 0.0) for judgement in judgements
    ]
    of_true = max(support[: len(known.correct_answers)], default=0.0)
    of_false = max(support[len(known.correct_answers) :], default=0.0)
    explanation = f"supports a true answer with {of_true:.2f}, a false one with {of_false:.2f}"
    return Verdict(verdict=of_true >= of_false, explanation=explanation)


async def _asked(client: Client, prompt: Prompt, known: TruthfulQuestion, answer: str) -> Verdict:
    messages = prompt.messages(
        question=known.question,
        answer=answer,
        correct=list(known.correct_answers),
        incorrect=list(known.incorrect_answers),
    )
    # The verdict comes first, as in the paper, so cutting a long explanation does no harm.
    reply = await client.structured(
        messages, VerdictReply, Sampling(max_tokens=VERDICT_TOKENS), partial="text"
    )
    if reply.value is None:
        return Verdict(verdict=None, problem=reply.problem, raw=reply.raw)
    explanation = f"{reply.value.explanation} {CUT}" if reply.cut else reply.value.explanation
    return Verdict(verdict=reply.value.verdict, explanation=explanation)


CHOICE_TOKENS = 96


_SEEN: Final = frozenset({"documents", "question"})
_TWO: Final = _SEEN | {"option_a", "option_b"}
_VARIABLES: Final = {
    "answer_from_web": _SEEN | {"careful"},
    "choose_from_web": _TWO | {"careful"},
    "choose_again": _TWO | {"response", "claim", "supporting", "contradicting"},
}
"""Prompt -> its variables; `writer` has the one for a rewritten free-form answer."""


@dataclass(frozen=True)
class Methods:
    """The models that answer, score and judge.

    Attributes:
        writer: The model that answers; its prompt asks for a rewritten free-form answer.
        asking: The model's other prompts, those of `_VARIABLES`.
        scorer: ConflictScore of answers.
        judge: Judges free-form answers for truth and information.
    """

    writer: Writer
    asking: Mapping[str, Prompt]
    scorer: Scorer
    judge: TruthJudge

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """Prompts that may be used in addition to the scorer's."""
        return (*self.asking.values(), self.writer.prompt, *self.judge.prompts.values())


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
        judge: Judges free-form answers.
        overrides: Folder with the user's prompts.
        tokens: Maximum tokens of a free-form answer.
        hedged: Whether the rewriting model is asked to name both sides; the paper's prompt does not
            ask for this.

    Raises:
        InputError: A user's prompt cannot be used.
    """
    return Methods(
        writer(client, overrides, tokens=tokens, hedged=hedged, cut=scorer.settings.cut),
        prompts.load_all("conflictscore", _VARIABLES, overrides),
        scorer,
        judge,
    )


async def answer_question(item: Item, methods: Methods) -> TruthResult:
    """Answer a question by RAG and Control-RAG, and rewrite RAG's answer if it is in conflict.

    It is rewritten twice: with feedback on the conflict and, as a control, without.

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
        outcome = await _chosen(item, item.options, methods, "choose_from_web", careful=careful)
    else:
        tokens = methods.writer.tokens
        outcome = await _reply(item, methods, "answer_from_web", tokens, careful=careful)
    return await _scored(item, outcome, methods)


async def _again(
    item: Item, methods: Methods, rag: Outcome, feedback: Feedback, *, told: bool
) -> Outcome:
    """RAG's answer rewritten, with feedback on the conflict if `told`."""
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
        "choose_again",
        response=rag.response,
        claim=feedback.claim if told else None,
        supporting=feedback.supporting,
        contradicting=feedback.contradicting,
    )
    same = {"ignored": chosen.letter == rag.letter}
    return await _scored(item, chosen.model_copy(update=same), methods)


async def _chosen(
    item: Item, options: Options, methods: Methods, prompt: str, **variables: object
) -> Outcome:
    """The model's choice, by a prompt that shows both options."""
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
    item: Item, methods: Methods, prompt: str, tokens: int, **variables: object
) -> Outcome:
    """The model's reply to a question with its documents."""

    def messages(documents: Sequence[str]) -> list[dict[str, str]]:
        return methods.asking[prompt].messages(
            documents=documents, question=item.asked.question, **variables
        )

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
    """An answer as a response; for a choice the option's whole text is the claim (section 6.3)."""
    return Example(
        id=item.id,
        group=item.asked.id,
        question=item.asked.question,
        response=outcome.response,
        documents=item.documents,
        claims=(outcome.response,) if item.options else None,
    )


async def _scored(item: Item, outcome: Outcome, methods: Methods) -> Outcome:
    """An answer with its ConflictScore; an unreadable choice gets no score."""
    if outcome.response:
        score = _kept(await conflict_score(_example(item, outcome), methods.scorer))
    elif item.options is None:
        score = Score(error="the answer is empty")
    else:
        return outcome
    return outcome.model_copy(update={"score": score})


def _kept(score: Result) -> Score:
    """The fields of `Score` alone; the question's result has the others."""
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
    """The result of a question that could not be answered."""
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
"""Metrics of the answers to questions."""


def verdict(result: TruthResult) -> str:
    """Whether the rewritten answer is right."""
    return {True: "right", False: "wrong", None: "not known"}[result.right_or_unread("regenerated")]
