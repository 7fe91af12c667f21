"""A client that asks no model: it counts what would be asked, and makes up the answers."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from serving.backend import RunningEndpoints
from serving.cache import CompletionCache
from serving.calls import Completion, Likelihood, ServedIdentity, Usage
from serving.client import Client
from serving.connect import RoleModel, Source, default_cache, reasons, resolve
from serving.errors import ServingError
from serving.made_up import CHARACTERS_PER_TOKEN, MadeUp
from serving.tokens import ChatTokenizer

if TYPE_CHECKING:
    from serving.embeddings import Vectors


MISSING = "missing"
"""In place of the digest of a model that is not there."""


@dataclass(frozen=True)
class Memo(ChatTokenizer):
    """A tokenizer that reads a text once: most of a rehearsal's time goes into it."""

    read: dict[str, list[int]] = field(default_factory=dict)

    def encode(self, text: str) -> list[int]:
        """Token ids of plain text."""
        if text not in self.read:
            self.read[text] = super().encode(text)
        return self.read[text]


class Recalled(CompletionCache):
    """A cache that is read and not written: what is put into it is forgotten with it.

    `usage` is what completions that the file has once took; each is counted once.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.usage = Usage()
        self._seen: dict[str, dict[str, Any] | None] = {}

    def get(self, key: str) -> dict[str, Any] | None:
        """What was put there since, or what the file has."""
        if key not in self._seen and (stored := super().get(key)) is not None:
            self._seen[key] = stored
            self.usage.calls += 1
            self.usage.prompt_tokens += stored["prompt_tokens"]
            self.usage.completion_tokens += stored["completion_tokens"]
            self.usage.cached_prefix_tokens += stored["cached_prefix_tokens"]
        return self._seen.get(key)

    def put(self, key: str, model: str, value: Any) -> None:
        """Keep it in memory."""
        self._seen[key] = dict(value)


class Rehearsal(Client):
    """Counts in `usage` what the cache does not have, and answers with what it makes up.

    Prompts are counted by the model's tokenizer, without one at four characters per token. Of them
    `cached_prefix_tokens` begin as an earlier prompt does, in whole blocks of the prefix cache: a
    server that keeps all of it would read so many less. Full replies count as `max_tokens`.

    Args:
        resolved: The model; its tokenizer may be missing.
        recalled: The cache.
        full: Whether replies are as long as they may be; see `MadeUp`.
        block: Tokens per block of the prefix cache; None where there is none.
        missing: Why the model's folder is not there, if it is not.
        reasoning_tokens: As in `Client`.
    """

    def __init__(
        self,
        resolved: RoleModel,
        recalled: Recalled,
        *,
        full: bool,
        block: int | None,
        missing: str | None = None,
        reasoning_tokens: int = 0,
    ) -> None:
        own = resolved.tokenizer
        tokenizer = Memo(own.tokenizer, own.template, own.special) if own else None
        # Endpoints are asked for the tokens of labels, as cache keys have them; nobody writes.
        super().__init__(
            resolved.identity,
            tokenizer,
            recalled,
            RunningEndpoints(resolved.served),
            reasoning_tokens=reasoning_tokens,
        )
        self.recalled = recalled
        self.missing = missing
        self._full = full
        self._block = block
        self._made_up = MadeUp(full=full)
        self._begun: set[int] = set()

    async def _ids(self, choice: str) -> list[int]:
        if self.missing is None:
            return await super()._ids(choice)
        # Any number will do that no other choice has: nobody is asked.
        return self._label_ids.setdefault(choice, [len(self._label_ids)])

    async def log_probabilities(self, prompt: str, text: str, *, affinity: str = "") -> Likelihood:
        """A made-up likelihood; of a model that is elsewhere, by four characters a token."""
        if self.missing is None:
            return await super().log_probabilities(prompt, text, affinity=affinity)
        before, own = _pieces(prompt), _pieces(text)
        await self._reply(
            {"prompt": [*before, *own], "prompt_logprobs": 0, "max_tokens": 1}, affinity
        )
        starts = range(0, len(text), CHARACTERS_PER_TOKEN)
        offsets = tuple((start, start + CHARACTERS_PER_TOKEN) for start in starts)
        return Likelihood(offsets, (-1.0,) * len(offsets))

    async def _ask(
        self, request: dict[str, Any], affinity: str, key: str, vectors: "Vectors | None"
    ) -> Completion:
        await self._check_length(request, vectors)
        prompt = self._prompt(request) if vectors is None else [key] * len(vectors)
        labels, weighed = request.get("logprob_token_ids"), "prompt_logprobs" in request
        text = "" if labels or weighed else self._made_up.text(request)
        written = 1 if labels or weighed else self._written(text, request["max_tokens"])
        answer = Completion(
            text=text,
            finish_reason="stop",
            logprobs=self._made_up.logprobs(labels) if labels else None,
            prompt_tokens=len(prompt),
            completion_tokens=written,
            # vLLM reads the whole of a prompt that it weighs.
            cached_prefix_tokens=0 if weighed else self._shared(prompt),
            prompt_logprobs=[-1.0] * (len(prompt) - 1) if weighed else None,
        )
        self.usage.calls += 1
        self.usage.prompt_tokens += len(prompt)
        self.usage.completion_tokens += written
        self.usage.cached_prefix_tokens += answer.cached_prefix_tokens
        self._cache.put(key, self.model.digest, asdict(answer))
        return answer

    def _prompt(self, request: dict[str, Any]) -> Sequence[int | str]:
        if "prompt" in request:
            given: Sequence[int | str] = request["prompt"]
            return given
        if self.tokenizer is not None:
            return self.tokenizer.encode(self.tokenizer.render(request["messages"]))
        return _pieces("".join(turn["content"] for turn in request["messages"]))

    def _written(self, text: str, most: int) -> int:
        if self._full:
            return most
        tokens = self.tokenizer.encode(text) if self.tokenizer else text[::CHARACTERS_PER_TOKEN]
        return min(most, len(tokens) + 1)  # the end is a token, too

    def _shared(self, prompt: Sequence[int | str]) -> int:
        """Tokens that it begins with as an earlier one did; the last is always read."""
        if self._block is None:
            return 0
        begun, shared = 0, 0
        for start in range(0, len(prompt) - self._block, self._block):
            begun = hash((begun, *prompt[start : start + self._block]))
            if begun in self._begun:
                shared = start + self._block
            self._begun.add(begun)
        return shared


def _pieces(text: str) -> list[str]:
    """About its tokens, where there is no tokenizer."""
    starts = range(0, len(text), CHARACTERS_PER_TOKEN)
    return [text[start : start + CHARACTERS_PER_TOKEN] for start in starts]


async def rehearsal(source: Source, *, cache: Path | None = None, full: bool) -> Rehearsal:
    """A rehearsal of a role's model, which need not be on this machine; its cache is to be closed.

    Raises:
        ServingError: An endpoint does not answer, or the cache cannot be opened.
    """
    missing = None
    try:
        resolved = await resolve(source)
    except ServingError as error:
        if source.endpoints:
            raise
        name = source.model or source.profiled
        identity = ServedIdentity(name, MISSING, "", source.options(name).max_model_len)
        resolved, missing = RoleModel(identity, None, None, ()), str(error)
    options = source.options(resolved.identity.name)
    # vLLM's own sizes; see `EngineOptions.block_size`.
    block = options.block_size or (128 if source.profile.device == "cpu" else 16)
    recalled = Recalled(cache or default_cache())
    return Rehearsal(
        resolved,
        recalled,
        full=full,
        block=block if options.prefix_caching else None,
        missing=missing,
        reasoning_tokens=options.reasoning_tokens if reasons(resolved, options) else 0,
    )
