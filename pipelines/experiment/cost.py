"""What was asked of whom, in one line."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines import prompts
from pipelines.judge.judgement import RELATIONS
from pipelines.judge.model import PROMPTS, reply_tokens
from pipelines.judge.run_judge import RunJudge
from pipelines.judge.settings import JudgeSettings
from serving.client import Client
from serving.tokens import ChatTokenizer

CHARACTERS_PER_TOKEN = 4
"""What English has on average."""


@dataclass(frozen=True)
class Cost:
    """What an item takes.

    Attributes:
        calls: The least and the most.
        prompt_tokens, reply_tokens: Read and written, at most.
        pairs: Of claim and document, for the tagger, at most.
    """

    calls: tuple[int, int] = (0, 0)
    prompt_tokens: int = 0
    reply_tokens: int = 0
    pairs: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        """Of both."""
        return Cost(
            (self.calls[0] + other.calls[0], self.calls[1] + other.calls[1]),
            self.prompt_tokens + other.prompt_tokens,
            self.reply_tokens + other.reply_tokens,
            self.pairs + other.pairs,
        )

    def times(self, most: int, least: int | None = None) -> "Cost":
        """So often; as often at least unless given."""
        return Cost(
            (self.calls[0] * (most if least is None else least), self.calls[1] * most),
            self.prompt_tokens * most,
            self.reply_tokens * most,
            self.pairs * most,
        )


def call(prompt_tokens: int, reply_tokens: int) -> Cost:
    """One call."""
    return Cost((1, 1), prompt_tokens, reply_tokens)


class Tokens:
    """Counts tokens by the tokenizer that makes the most of a text, or as four characters each.

    Args:
        tokenizers: Those of the models that are asked; empty where one is not on this machine.
        overrides: Folder with prompts of the user's own.
    """

    def __init__(
        self, tokenizers: Sequence[ChatTokenizer] = (), overrides: Path | None = None
    ) -> None:
        self._tokenizers = tokenizers
        self._overrides = overrides
        self._known: dict[str, int] = {}

    def __call__(self, *texts: str) -> int:
        """Tokens of some texts."""
        return sum(map(self._count, texts))

    @property
    def turn(self) -> int:
        """Tokens that a chat template puts around a single turn."""
        turns = (each.count([{"role": "user", "content": ""}]) for each in self._tokenizers)
        return max(turns, default=0)

    def prompt(self, name: str, **variables: object) -> int:
        """Tokens of a prompt filled in so. Empty texts leave room for those that are added."""
        key = f"{name} {variables}"
        if key not in self._known:
            filled = prompts.load(name, variables.keys(), self._overrides).messages(**variables)
            turns = (each.render(filled) for each in self._tokenizers)
            self._known[key] = self(max(turns, key=len, default=filled[0]["content"]))
        return self._known[key]

    def choosing(self, labels: Sequence[str]) -> int:
        """Calls that one label takes: one for each place where labels part."""
        parts = 1
        for tokenizer in self._tokenizers:
            next_after: defaultdict[tuple[int, ...], set[int]] = defaultdict(set)
            for ids in map(tokenizer.encode, labels):
                for place, token in enumerate(ids):
                    next_after[tuple(ids[:place])].add(token)
            parts = max(parts, sum(len(tokens) > 1 for tokens in next_after.values()))
        return parts

    def _count(self, text: str) -> int:
        if text not in self._known:
            by_model = (len(each.encode(each.defuse(text))) for each in self._tokenizers)
            estimate = -(-len(text) // CHARACTERS_PER_TOKEN)
            self._known[text] = max(by_model, default=estimate)
        return self._known[text]


def judging(
    settings: JudgeSettings,
    tokens: Tokens,
    documents: Sequence[int],
    *,
    claims: int,
    claim_tokens: int,
    least: int | None = None,
) -> Cost:
    """What it takes to judge claims by documents, of which the tokens are given.

    The tagger reads claims x documents pairs. A language model is called as often, `together` once
    per claim; a call reads the prompt, a document (`together` all) and a claim. With both judges
    the model may be asked about every pair, or about none.

    Args:
        settings: Who judges.
        tokens: Counts those of prompts.
        documents: Tokens of each.
        claims: How many, at most.
        claim_tokens: Those of all claims together.
        least: How many claims at least, where that is not the same.
    """
    pairs, every = claims * len(documents), sum(documents)
    tagged = Cost(pairs=pairs if settings.by_tagger else 0)
    if not settings.by_model:
        return tagged
    name = f"judge/{PROMPTS[settings.evidence]}"
    reply = reply_tokens(settings.evidence, len(documents))
    if settings.evidence == "together":
        own = tokens.prompt(name, documents=[""] * len(documents), claim="")
        least_calls, calls, read = 1, claims, claims * (own + every) + claim_tokens
    else:
        own = tokens.prompt(name, document="", claim="")
        least_calls, calls = len(documents), pairs
        read = pairs * own + claims * every + len(documents) * claim_tokens
    if settings.evidence == "choice":
        parts = tokens.choosing(RELATIONS)
        calls, read = calls * parts, read * parts
    least_calls *= 0 if settings.by_tagger else claims if least is None else least
    return tagged + Cost((least_calls, calls), read, calls * reply)


def cost_line(client: Client) -> str:
    """What the calls of a client have cost."""
    usage = client.usage
    if usage.calls == 0:
        return f"{usage.saved_calls:,} calls, all answered from the cache; no model was asked"
    cached = usage.cached_prefix_tokens / usage.prompt_tokens if usage.prompt_tokens else 0
    return (
        f"{usage.calls:,} calls to {client.model.name}, {usage.saved_calls:,} saved by the cache; "
        f"{usage.prompt_tokens:,} tokens read ({cached:.0%} from the prefix cache), "
        f"{usage.completion_tokens:,} written"
        + (f"; {usage.retries} retries" if usage.retries else "")
        + (f"; answered as {', '.join(client.answered_as)}" if client.answered_as else "")
    )


def spent(client: Client | None, judge: RunJudge | None = None) -> str:
    """What a language model and a judge of claims were asked for."""
    parts = [cost_line(client)] if client else ["no language model was needed"]
    return "; ".join([*parts, *(asked_of(judge) if judge else [])])


def asked_of(judge: RunJudge) -> list[str]:
    """What a judge of claims was asked for, beside the calls to its language model."""
    parts = []
    if judge.threshold and judge.threshold.reason:
        parts.append(f"the cascade asked for every pair: {judge.threshold.reason}")
    kept = judge.from_store()
    if judge.tagger:
        device = judge.tagging and judge.tagging.device
        where = f" on {device}" if device else ""
        parts.append(f"{judge.pairs_tagged:,} pairs tagged by {judge.tagger.name}{where}")
    if kept["found"]:
        parts.append(f"{kept['found']:,} of {kept['pairs']:,} judgements from the store")
    return parts
