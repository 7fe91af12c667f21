"""What a run will cost, counted before any model is asked."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.conflictscore.decomposition import reply_tokens, sentence_claims
from pipelines.conflictscore.pipeline import Scorer
from pipelines.conflictscore.settings import Settings
from pipelines.data.records import Example
from pipelines.evidence.llm import LlmLabeller
from pipelines.prompts import Prompt
from serving.client import Client

CLAIM_TOKENS_GUESS = 60
"""What a further claim adds behind a cached document: itself, its fence and the last line."""


@dataclass(frozen=True)
class Estimate:
    """What a run will ask of the models, as far as that can be known beforehand.

    Attributes:
        responses: To be scored.
        decomposition_calls: Requests that split responses.
        evidence_calls: Requests that judge; at most so many in a cascade. Where responses are
            split by a model, the number of claims is known only then; one per sentence is assumed.
        tagged_pairs: Pairs of a claim and a document for the NLI tagger.
        prompt_tokens: To be read, prefixes that the server has cached included.
        distinct_tokens: Of these, what is left when every shared prefix is read once.
        written_tokens: To be written, at most.
    """

    responses: int
    decomposition_calls: int
    evidence_calls: int
    tagged_pairs: int
    prompt_tokens: int
    distinct_tokens: int
    written_tokens: int


@dataclass
class _Count:
    calls: int = 0
    prompts: int = 0
    distinct: int = 0
    written: int = 0


def estimate(examples: Sequence[Example], scorer: Scorer) -> Estimate:
    """Count calls, pairs and tokens without asking any model. Nothing stored is left out."""
    splits, judged = _Count(), _Count()
    if scorer.decomposition is not None and scorer.client is not None:
        splits = _splitting(examples, scorer.client, scorer.decomposition, scorer.settings)
    judge = scorer.judge
    if judge.llm is not None:
        judged = _judging(examples, judge.llm, scorer.settings)
    pairs = sum(
        len(_expected_claims(example, scorer.settings)) * len(example.documents)
        for example in examples
    )
    nothing_kept = judge.threshold is not None and judge.threshold.reason is not None
    return Estimate(
        responses=len(examples),
        decomposition_calls=splits.calls,
        evidence_calls=judged.calls,
        tagged_pairs=pairs if judge.tagger is not None and not nothing_kept else 0,
        prompt_tokens=splits.prompts + judged.prompts,
        distinct_tokens=splits.distinct + judged.distinct,
        written_tokens=splits.written + judged.written,
    )


def announced(data: str, examples: Sequence[Example], scorer: Scorer, repeat: int = 1) -> str:
    """What a run will cost, in lines for a person.

    Args:
        data: Name of the file.
        examples: Its responses.
        scorer: The metric.
        repeat: How often all of it is done.
    """
    cost, judge = estimate(examples, scorer), scorer.judge
    tagged = judge.tagger is not None
    guess = " (one claim per sentence assumed)"
    lines = [f"{cost.responses:,} responses from {data}, judged by {judge.name}"]
    if tagged:
        pairs = f"about {cost.tagged_pairs:,} pairs to tag"
        lines.append(pairs + (guess if cost.decomposition_calls else ""))
    if judge.threshold is not None:
        lines.append(judge.threshold.in_words())
    if scorer.client is None:
        lines.append("no language model is asked")
    else:
        lines += [
            f"{cost.decomposition_calls:,} decomposition calls, "
            f"{'at most' if tagged else 'about'} {cost.evidence_calls:,} evidence calls"
            f"{'' if tagged else guess}",
            f"about {cost.prompt_tokens:,} prompt tokens, "
            f"{cost.distinct_tokens:,} once shared prefixes are read only once",
            f"at most {cost.written_tokens:,} tokens written",
        ]
    if repeat > 1:
        lines.append(f"all of it {repeat} times over{' but the tagging' if tagged else ''}")
    return "\n".join(lines)


def _splitting(
    examples: Sequence[Example], client: Client, prompt: Prompt, settings: Settings
) -> _Count:
    extra = {"k": settings.k} if settings.claims == "salient" else {}
    count = _Count()
    for example in examples:
        if example.claims is None:
            count.calls += 1
            count.prompts += client.count(prompt.messages(response=example.response, **extra))
            count.distinct += client.count([{"role": "user", "content": example.response}])
            count.written += reply_tokens(example.response, client)
    return count


def _judging(examples: Sequence[Example], labeller: LlmLabeller, settings: Settings) -> _Count:
    client = labeller.client
    # What all evidence prompts begin with is read once in all.
    shared = client.count(labeller.messages([""], ""))
    count = _Count(distinct=shared)
    for example in examples:
        claims = _expected_claims(example, settings)
        texts = [document.as_read() for document in example.documents]
        for read_together in [texts] if labeller.mode == "together" else [[text] for text in texts]:
            whole = client.count(labeller.messages(read_together, claims[0]))
            count.calls += len(claims)
            count.prompts += whole * len(claims)
            count.distinct += whole - shared + (len(claims) - 1) * CLAIM_TOKENS_GUESS
            count.written += labeller.reply_tokens(len(read_together)) * len(claims)
    return count


def _expected_claims(example: Example, settings: Settings) -> Sequence[str]:
    if example.claims is not None:
        return example.claims
    if settings.claims == "whole":
        return (example.response,)
    sentences = sentence_claims(example.response)
    return sentences[: settings.k] if settings.claims == "salient" else sentences
