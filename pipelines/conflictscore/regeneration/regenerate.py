"""Score, tell the writer where its documents disagree, and let it write again (section 6.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from pipelines import prompts
from pipelines.conflictscore.pipeline import Scorer, conflict_score
from pipelines.conflictscore.result import Result, relations_by_claim
from pipelines.conflictscore.scores import contradicting, contradiction_ratio
from pipelines.data.records import Example
from pipelines.judge.fitting import chat_about
from pipelines.judge.judgement import Judgement, Relation, Truncation, conflicting
from pipelines.prompts import Prompt
from serving.client import Client

QUOTED_CHARACTERS = 300
"""Of a document from which the judge quoted nothing, its beginning is shown, up to so many."""


class Quote(BaseModel):
    """The passage of a document that supports or contradicts a claim.

    Attributes:
        document: Its number among the documents, from 1.
        text: What the judge quoted, else how the document begins.
    """

    model_config = ConfigDict(frozen=True)

    document: int
    text: str


class Feedback(BaseModel):
    """The claim of a response whose evidence is most at odds, with both sides.

    Attributes:
        claim: As judged.
        supporting, contradicting: At least one each, in the order of the documents.
    """

    model_config = ConfigDict(frozen=True)

    claim: str
    supporting: tuple[Quote, ...]
    contradicting: tuple[Quote, ...]


def worst_claim(claims: Sequence[Sequence[Relation]]) -> int | None:
    """The place of the "main claim that had conflicts" (ConflictScore, Table 13).

    The paper does not say which of several it is. Taken is the claim with conflicting evidence
    whose contradiction ratio is highest; of equals the one that more documents contradict, then
    the first.

    Args:
        claims: For each claim, its relation to each document.

    Returns:
        None where no claim has conflicting evidence.
    """

    def severity(place: int) -> tuple[float, int]:
        return contradiction_ratio(claims[place]) or 0.0, contradicting(claims[place])

    places = [place for place, relations in enumerate(claims) if conflicting(relations)]
    return max(places, key=severity, default=None)


def feedback_on(result: Result) -> Feedback | None:
    """What to tell the writer of a scored response; None where no claim is in conflict."""
    width = len(result.documents)
    worst = worst_claim(relations_by_claim(result.judgements, width))
    if worst is None:
        return None
    judged = result.judgements[worst * width : (worst + 1) * width]

    def quotes(relation: Relation) -> tuple[Quote, ...]:
        return tuple(
            Quote(document=number, text=_quoted(judgement, document.text))
            for number, (judgement, document) in enumerate(
                zip(judged, result.documents, strict=True), start=1
            )
            if judgement.relation is relation
        )

    return Feedback(
        claim=result.claims[worst],
        supporting=quotes(Relation.SUPPORTS),
        contradicting=quotes(Relation.CONTRADICTS),
    )


def _quoted(judgement: Judgement, text: str) -> str:
    """The judge's quote where the document has it: a made-up one would mislead the writer."""
    if judgement.snippet and judgement.snippet_found:
        return judgement.snippet
    beginning = text[:QUOTED_CHARACTERS]
    return beginning if len(text) <= QUOTED_CHARACTERS else f"{beginning.rsplit(' ', 1)[0]} ..."


Ended = Literal[
    "no conflict", "no evidence", "no longer falls", "rounds", "unchanged", "unreadable"
]
"""Why nothing more was asked for: no claim is in conflict any more; no document takes a side on any
claim; the score did not fall; all rounds were used; the writer gave its response again; its new one
could not be scored."""


@dataclass(frozen=True)
class Writer:
    """The model that writes again.

    Attributes:
        client: The model.
        prompt: Shows it its response and the conflict.
        tokens: Most tokens of a response.
        hedged: Whether it is asked to name both sides where documents remain at odds. The paper's
            prompt (Table 13) asks for the truest response and says nothing of this.
        told: Whether it is told of the conflict; a control, which only thinks again, is not.
        cut: Whether documents too long for its context may be cut.
    """

    client: Client
    prompt: Prompt
    tokens: int = 512
    hedged: bool = True
    told: bool = True
    cut: bool = False


class Attempt(BaseModel):
    """A response with its score.

    Attributes:
        response: The text.
        feedback: What the writer was told, or as a control might have been told, before it; None
            of the first.
        score: What ConflictScore made of it.
        finished: Whether it ended by itself, and not for its length.
        ignored: Whether the disputed claim stands in it unchanged.
        truncations: Documents that the writer saw only in part.
    """

    model_config = ConfigDict(frozen=True)

    response: str
    feedback: Feedback | None = None
    score: Result
    finished: bool = True
    ignored: bool = False
    truncations: tuple[Truncation, ...] = ()


class Regeneration(BaseModel):
    """A response and what became of it.

    Attributes:
        attempts: The response as given, then one for each round.
        chosen: The place of the one to use.
        ended: Why nothing more was asked for.
    """

    model_config = ConfigDict(frozen=True)

    attempts: tuple[Attempt, ...]
    chosen: int
    ended: Ended

    @property
    def before(self) -> Attempt:
        """The response as given."""
        return self.attempts[0]

    @property
    def after(self) -> Attempt:
        """The one to use."""
        return self.attempts[self.chosen]


def writer(
    client: Client,
    overrides: Path | None = None,
    *,
    tokens: int = 512,
    hedged: bool = True,
    told: bool = True,
    cut: bool = False,
) -> Writer:
    """A writer with its prompt.

    Args:
        client: The model.
        overrides: Folder with prompts of the user's own.
        tokens: Most tokens of a response.
        hedged: Whether it is asked to name both sides.
        told: Whether it is told of the conflict.
        cut: Whether documents too long for its context may be cut.

    Raises:
        InputError: The user's own prompt cannot be used.
    """
    variables = {"documents", "question", "response", "claim"}
    variables |= {"supporting", "contradicting", "hedged"}
    prompt = prompts.load("conflictscore/regenerate", variables, overrides)
    return Writer(client, prompt, tokens, hedged, told, cut)


async def regenerate(
    example: Example,
    writer: Writer,
    scorer: Scorer,
    *,
    rounds: int = 1,
    keep: Literal["best", "last"] = "best",
) -> Regeneration:
    """Let a response be written again until its documents no longer disagree about it.

    Each round tells the writer the worst claim of the latest response, with the documents on both
    sides, and scores what it writes then. It ends as `Ended` says.

    Args:
        example: The response and its documents. Claims that it brings are judged for it alone.
        writer: From `writer`.
        scorer: From `conflictscore.pipeline.prepare`. Let another model judge than writes.
        rounds: Most responses to ask for.
        keep: `best` chooses the lowest CS-C, then the lowest CS-R, then the earliest, so never a
            response that scores worse than the first; `last` chooses the latest that has a score.

    Raises:
        ValueError: Fewer than one round.
        InputError, RequestError, ServingError: As `conflict_score`.
    """
    if rounds < 1:
        raise ValueError("a response is written again in at least one round")
    attempts = [Attempt(response=example.response, score=await conflict_score(example, scorer))]
    while (ended := _ended(attempts, rounds)) is None:
        attempts.append(await rewrite(example, attempts[-1], writer, scorer))
    return Regeneration(attempts=tuple(attempts), chosen=_chosen(attempts, keep), ended=ended)


def _ended(attempts: Sequence[Attempt], rounds: int) -> Ended | None:
    """Why no further response is asked for; None where one is."""
    latest = attempts[-1]
    if latest.score.status != "scored":
        return "unreadable"
    if feedback_on(latest.score) is None:
        return "no conflict" if latest.score.evidence else "no evidence"
    if len(attempts) > 1 and latest.response.split() == attempts[-2].response.split():
        return "unchanged"
    if len(attempts) > 1 and _scores(latest) >= _scores(attempts[-2]):
        return "no longer falls"
    return "rounds" if len(attempts) > rounds else None


async def rewrite(example: Example, latest: Attempt, writer: Writer, scorer: Scorer) -> Attempt:
    """One round: tell the writer of the conflict in its latest response, and score the reply.

    Args:
        example: The documents and the question.
        latest: The response, scored, with a claim in conflict.
        writer: From `writer`.
        scorer: From `conflictscore.pipeline.prepare`.

    Raises:
        ValueError: No claim is in conflict.
        InputError, RequestError, ServingError: As `conflict_score`.
    """
    feedback = feedback_on(latest.score)
    if feedback is None:
        raise ValueError("no claim of the response is in conflict")

    def messages(documents: Sequence[str]) -> list[dict[str, str]]:
        return writer.prompt.messages(
            documents=documents,
            question=example.question,
            response=latest.response,
            claim=feedback.claim if writer.told else None,
            supporting=feedback.supporting,
            contradicting=feedback.contradicting,
            hedged=writer.hedged,
        )

    reply, cuts = await chat_about(
        example.documents,
        writer.client,
        messages,
        max_tokens=writer.tokens,
        cut=writer.cut,
        name=f"the documents of '{example.id}'",
    )
    text = reply.text.strip()
    again = example.model_copy(update={"response": text, "claims": None})
    if text:
        score = await conflict_score(again, scorer)
    else:
        score = Result(
            **again.model_dump(exclude={"claims"}), status="invalid", error="the reply is empty"
        )
    stands = " ".join(feedback.claim.split()).casefold()
    ignored = stands in {claim.casefold() for claim in score.claims}
    return Attempt(
        response=text,
        feedback=feedback,
        score=score,
        finished=reply.finished,
        ignored=ignored,
        truncations=cuts,
    )


def _scores(attempt: Attempt) -> tuple[float, float]:
    """CS-C, then CS-R; what lacks one, as without evidence, is worse than all that have it."""
    scores = attempt.score.cs_c, attempt.score.cs_r
    first, second = (float("inf") if score is None else score for score in scores)
    return first, second


def _chosen(attempts: Sequence[Attempt], keep: Literal["best", "last"]) -> int:
    if keep == "best":
        return min(range(len(attempts)), key=lambda place: _scores(attempts[place]))
    return max(
        (place for place, each in enumerate(attempts) if each.score.cs_c is not None), default=0
    )
