"""What a run will cost, counted before any model is asked."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.conflictscore.decomposition import reply_tokens, sentence_claims
from pipelines.conflictscore.pipeline import Scorer
from pipelines.conflictscore.settings import Settings
from pipelines.data.records import Example
from pipelines.evidence.llm import LlmLabeller

CLAIM_TOKENS_GUESS = 60
"""What a further claim adds behind a cached document: itself, its fence and the last line."""


@dataclass
class Cost:
    """What a run will ask of the models, as far as that can be known beforehand.

    Where responses are split by a model, the number of claims is known only then; one per sentence
    is assumed. In a cascade there are at most so many `evidence_calls`, and there are at most so
    many `written_tokens`. Of the `prompt_tokens`, which include prefixes that the server has
    cached, `distinct_tokens` are left when every shared prefix is read once.
    """

    decomposition_calls: int = 0
    evidence_calls: int = 0
    tagged_pairs: int = 0
    prompt_tokens: int = 0
    distinct_tokens: int = 0
    written_tokens: int = 0


def estimate(examples: Sequence[Example], scorer: Scorer) -> Cost:
    """Count calls, pairs and tokens without asking any model. Nothing stored is left out."""
    cost, judge = Cost(), scorer.judge
    if scorer.decomposition is not None and scorer.client is not None:
        client, prompt = scorer.client, scorer.decomposition
        for example in examples:
            if example.claims is None:
                response = example.response
                cost.decomposition_calls += 1
                cost.prompt_tokens += client.count(
                    prompt.messages(response=response, k=scorer.settings.k)
                )
                cost.distinct_tokens += client.count([{"role": "user", "content": response}])
                cost.written_tokens += reply_tokens(response, client)
    if judge.llm is not None:
        _add_judging(cost, examples, judge.llm, scorer.settings)
    if judge.tagger is not None and not (judge.threshold and judge.threshold.reason):
        cost.tagged_pairs = sum(
            len(_expected_claims(example, scorer.settings)) * len(example.documents)
            for example in examples
        )
    return cost


def _add_judging(
    cost: Cost, examples: Sequence[Example], labeller: LlmLabeller, settings: Settings
) -> None:
    client = labeller.client
    # What all evidence prompts begin with is read once in all.
    shared = client.count(labeller.messages([""], ""))
    cost.distinct_tokens += shared
    for example in examples:
        claims = _expected_claims(example, settings)
        texts = [document.as_read() for document in example.documents]
        for read_together in [texts] if labeller.mode == "together" else [[text] for text in texts]:
            whole = client.count(labeller.messages(read_together, claims[0]))
            cost.evidence_calls += len(claims)
            cost.prompt_tokens += whole * len(claims)
            cost.distinct_tokens += whole - shared + (len(claims) - 1) * CLAIM_TOKENS_GUESS
            cost.written_tokens += labeller.reply_tokens(len(read_together)) * len(claims)


def announced(data: str, examples: Sequence[Example], scorer: Scorer, repeat: int = 1) -> str:
    """What a run over the responses of a file will cost, `repeat` times, in lines for a person."""
    cost, judge = estimate(examples, scorer), scorer.judge
    tagged = judge.tagger is not None
    guess = " (one claim per sentence assumed)"
    lines = [f"{len(examples):,} responses from {data}, judged by {judge.name}"]
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


def _expected_claims(example: Example, settings: Settings) -> Sequence[str]:
    if example.claims is not None:
        return example.claims
    if settings.claims == "whole":
        return (example.response,)
    sentences = sentence_claims(example.response)
    return sentences[: settings.k] if settings.claims == "salient" else sentences
