"""The only access to a generative model: chat, JSON, label probabilities, likelihoods, embeddings.

Every call looks in the cache first; only a miss reaches a server.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from serving.cache import CompletionCache, completion_key
from serving.calls import (
    Choice,
    Completion,
    Likelihood,
    Sampling,
    Schema,
    ServedIdentity,
    Structured,
    Usage,
)
from serving.endpoint import Endpoint, Line, ask, open_lines, token_ids
from serving.errors import RequestError, ServingError
from serving.schemas import Partial, form, how_it_begins, in_words, whole_part
from serving.tokens import TEMPLATE_ARGUMENTS, ChatTokenizer, Message, defuse_common

if TYPE_CHECKING:
    from serving.embeddings import Vectors

Door = Callable[[Mapping[str, Any], Callable[[], Awaitable[Completion]]], Awaitable[Completion]]
"""Receives every request, in order, and returns a reply: the callable's, or a different one."""

NextLogprobs = Callable[[list[int], Sequence[int]], Awaitable[Mapping[int, float]]]
"""(tokens, path) -> log-probability of each token as the next one after the path's tokens."""


class Backend:
    """The endpoints of one model, started and stopped elsewhere.

    Raises:
        ServingError: An endpoint is unavailable, or will not come back.
    """

    def __init__(self, endpoints: Sequence[Endpoint] = ()) -> None:
        self._endpoints = tuple(endpoints)

    async def endpoints(self) -> Sequence[Endpoint]:
        """Endpoints that answer now."""
        return self._endpoints

    async def recover(self, endpoint: Endpoint) -> None:
        """Wait until an endpoint that failed may be asked again."""
        await asyncio.sleep(1)

    async def close(self) -> None:
        """Stop waiting for endpoints."""


@dataclass(eq=False)
class Client:
    """Asks one model, through the cache.

    Methods that ask raise RequestError for a request that does not fit the context or is refused by
    the server, and ServingError if no server is available.

    Attributes:
        model: Identity of the model; part of every cache key.
        tokenizer: The model's, or None for a remote model whose folder is not on this machine;
            texts are then sent without a check that they fit.
        cache: The store of completions.
        backend: Answers requests that are missing from the cache.
        reasoning_tokens: Extra tokens per reply for the reasoning of a model that always reasons; 0
            for others.
        concurrency: Maximum number of requests in flight. Others wait in order of arrival, so
            requests issued document by document are served in that order.
        usage: Cost of its calls so far.
    """

    model: ServedIdentity
    tokenizer: ChatTokenizer | None
    cache: CompletionCache
    backend: Backend
    reasoning_tokens: int = 0
    concurrency: int = 64
    usage: Usage = field(init=False, default_factory=Usage)
    _door: Door | None = field(init=False, default=None)
    _in_flight: dict[str, asyncio.Task[Completion]] = field(init=False, default_factory=dict)
    _landing: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    _lines: list[Line] = field(init=False, default_factory=list)
    _label_ids: dict[str, list[int]] = field(init=False, default_factory=dict)
    _asking_ids: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        """Count places for requests."""
        self._places = asyncio.Semaphore(self.concurrency)

    async def chat(
        self, messages: Sequence[Message], sampling: Sampling, *, affinity: str = ""
    ) -> Completion:
        """Let the model write a reply to system, user and assistant turns.

        Requests with equal affinity go to the same replica unless it is busier than the others,
        so that a shared document is prefilled once.
        """
        return await self._reply(self._request(messages, sampling), affinity)

    async def structured(
        self,
        messages: Sequence[Message],
        schema: type[Schema],
        sampling: Sampling,
        *,
        affinity: str = "",
        partial: Partial | None = None,
    ) -> Structured[Schema]:
        """Let the model write JSON that is constrained to a pydantic schema.

        A reply that still cannot be read (cut by `max_tokens`) is returned as a value, not raised
        as an error: the caller records it. With `partial`, the part before the cut is read; see
        `schemas.whole_part`.
        """
        wanted = self._request(messages, sampling) | {"response_format": form(schema)}
        completion = await self._reply(wanted, affinity)
        try:
            return Structured(schema.model_validate_json(completion.text), completion.text)
        except ValidationError as error:
            if partial and not completion.finished:
                whole = whole_part(completion.text, schema, partial)
                if whole is not None:
                    return Structured(whole, completion.text, cut=True)
            cut = "" if completion.finished else f" (cut after {sampling.max_tokens} tokens)"
            why = f"{in_words(error)}; {how_it_begins(completion.text)}"
            return Structured(None, completion.text, f"not the JSON asked for{cut}: {why}")

    async def choose(
        self, messages: Sequence[Message], choices: Sequence[str], *, affinity: str = ""
    ) -> Choice:
        """Ask for one of several labels and the probability of each.

        One token is enough if the labels begin with different tokens: constrained decoding has no
        choice left after the first. Labels with a common beginning take one more call wherever
        they diverge.

        Raises:
            ServingError: The model always reasons first, so that its next token is not a label; or
                its tokenizer makes one of the choices the beginning of another.
            ValueError: Fewer than two choices.
        """
        if self.reasoning_tokens:
            raise ServingError(
                f"{self.model.name} reasons before it answers, so its first token is not a label; "
                "have it write JSON (--evidence json, --classifier json), or use another model"
            )
        if len(choices) < 2 or len(set(choices)) < len(choices):
            raise ValueError("choose needs at least two different choices")
        ids = {choice: await self._ids(choice) for choice in choices}
        shares, mass = await label_shares(
            ids, lambda tokens, path: self._next_logprobs(messages, tokens, path, affinity)
        )
        return Choice({choice: shares[choice] for choice in choices}, mass)

    async def log_probabilities(self, prompt: str, text: str) -> Likelihood:
        """How likely the model finds a text after a prompt, in one forward pass; only with vLLM.

        Both are plain texts without a chat template, and no token contains parts of both: so a text
        has the same tokens after every prompt. vLLM computes such a prompt in full, even if its
        prefix cache holds a part of it.

        Raises:
            RequestError: One of them has no tokens.
            ServingError: The model's tokenizer is not on this machine, or the server does not
                return the probabilities of a prompt.
        """
        if self.tokenizer is None:
            raise ServingError(
                f"finding the words of a text needs the tokenizer of {self.model.name}; "
                "register the model's folder with 'contested models add' and name it with --model"
            )
        before, _ = self.tokenizer.plain(prompt, begins=True)
        tokens, offsets = self.tokenizer.plain(text, begins=False)
        if not before or not tokens:
            which = "text" if before else "prompt"
            raise RequestError(f"the {which} has no tokens; give it words")
        request = {
            "prompt": [*before, *tokens],
            "prompt_logprobs": 0,
            **vars(Sampling(max_tokens=1)),
        }
        logprobs = (await self._reply(request, "")).prompt_logprobs or ()
        return Likelihood(tuple(offsets), tuple(logprobs[len(before) - 1 :]))

    async def complete_embeddings(
        self, vectors: "Vectors", sampling: Sampling, *, pattern: str | None = None
    ) -> Completion:
        """Let the model continue embeddings in place of a text; only with vLLM.

        Args:
            vectors: (tokens, d), the input of the model's first layer: see `serving.embeddings`.
                The server casts them to its own number format; it must be started with
                `prompt_embeds`.
            sampling: Length and temperature.
            pattern: Regular expression that constrains and ends the text; None allows any text.

        Raises:
            ValueError: The vectors are not a matrix, or contain something that is not a number.
        """
        from serving.embeddings import digest_of

        request = {"embeddings": digest_of(vectors), **vars(sampling)}
        if pattern is not None:
            request["structured_outputs"] = {"regex": pattern}
        return await self._reply(request, "", vectors)

    def count(self, messages: Sequence[Message]) -> int:
        """Prompt tokens of a request; estimated at four characters each without a tokenizer."""
        safe = self._defused(messages)
        if self.tokenizer is None:
            return sum(len(message["content"]) for message in safe) // 4
        return self.tokenizer.count(safe)

    def fits(self, messages: Sequence[Message], max_tokens: int) -> bool:
        """Whether a prompt and a reply fit the context, if that is known."""
        room = self.prompt_room(max_tokens)
        if self.tokenizer is None or room is None:
            return True
        return self.tokenizer.count(self._defused(messages), room) <= room

    def prompt_room(self, max_tokens: int) -> int | None:
        """Tokens that a prompt may have if a reply must fit the context too; None if unknown."""
        reply = max_tokens + self.reasoning_tokens
        return None if self.model.context is None else self.model.context - reply

    @property
    def answered_as(self) -> list[str]:
        """Other names that servers gave for the model that answered."""
        return sorted({name for line in self._lines for name in line.others})

    async def room(self) -> None:
        """Wait until fewer requests than `concurrency` are in flight or waiting."""
        while len(self._in_flight) >= self.concurrency:
            self._landing.clear()
            await self._landing.wait()

    def through(self, door: Door) -> "Client":
        """The same model behind a door that every request passes; everything else is shared."""
        client = copy(self)
        client._door = door
        return client

    async def close(self) -> None:
        """Give up requests in flight and stop the servers that were started for this client."""
        for task in list(self._in_flight.values()):
            task.cancel()
        await asyncio.gather(*(line.close() for line in self._lines))
        await self.backend.close()

    def _request(self, messages: Sequence[Message], sampling: Sampling) -> dict[str, Any]:
        room = sampling.max_tokens + self.reasoning_tokens
        return {"messages": self._defused(messages), **vars(sampling), "max_tokens": room}

    async def _next_logprobs(
        self, messages: Sequence[Message], tokens: list[int], path: Sequence[int], affinity: str
    ) -> dict[int, float]:
        """Log-probabilities of some tokens as the next ones after the given start of a reply."""
        request = self._request(messages, Sampling(max_tokens=1)) | {
            "logprobs": True,
            "logprob_token_ids": tokens,
            "allowed_token_ids": tokens,
            "return_tokens_as_token_ids": True,
        }
        if path:
            if self.tokenizer is None:
                raise ValueError("labels with a common beginning need the model's tokenizer here")
            start = {"role": "assistant", "content": self.tokenizer.decode(path)}
            request["messages"] = [*request["messages"], start]
            request |= {"add_generation_prompt": False, "continue_final_message": True}
        logprobs = (await self._reply(request, affinity)).logprobs or {}
        return {token: logprobs[str(token)] for token in tokens}

    async def _ids(self, choice: str) -> list[int]:
        async with self._asking_ids:  # asked once, even by concurrent calls
            if choice not in self._label_ids:
                if self.tokenizer is not None:
                    self._label_ids[choice] = self.tokenizer.encode(choice)
                else:
                    endpoint = (await self.backend.endpoints())[0]
                    self._label_ids[choice] = await token_ids(endpoint, choice)
        return self._label_ids[choice]

    def _defused(self, messages: Sequence[Message]) -> list[dict[str, str]]:
        clean = self.tokenizer.defuse if self.tokenizer is not None else defuse_common
        return [{"role": turn["role"], "content": clean(turn["content"])} for turn in messages]

    async def _reply(
        self, request: dict[str, Any], affinity: str, vectors: "Vectors | None" = None
    ) -> Completion:
        """The reply from the cache, from an equal request in flight, or from a server."""
        if self._door is not None:
            return await self._door(request, lambda: self._completion(request, affinity, vectors))
        return await self._completion(request, affinity, vectors)

    async def _completion(
        self, request: dict[str, Any], affinity: str, vectors: "Vectors | None"
    ) -> Completion:
        # `repeat` is in the keys of all existing stores.
        parts = {"model": self.model.digest, "engine": self.model.engine, "repeat": 0}
        key = completion_key(parts | {"template": TEMPLATE_ARGUMENTS, "request": request})
        if (stored := self.cache.get(key)) is not None:
            try:
                known = Completion(**stored)
            except (TypeError, ValueError):
                self.cache.drop(key)
            else:
                self.usage.saved_calls += 1
                return known
        if key in self._in_flight:
            self.usage.saved_calls += 1
        else:
            task = asyncio.create_task(self._ask(request, affinity, key, vectors))
            task.add_done_callback(lambda done: self._landed(key, done))
            self._in_flight[key] = task
        # Shielded: if one example is cancelled, others that wait for the same answer still get it.
        return await asyncio.shield(self._in_flight[key])

    def _landed(self, key: str, task: asyncio.Task[Completion]) -> None:
        del self._in_flight[key]
        self._landing.set()
        if not task.cancelled():
            task.exception()  # marks it as retrieved, in case nobody is waiting

    async def _ask(
        self, request: dict[str, Any], affinity: str, key: str, vectors: "Vectors | None"
    ) -> Completion:
        self._check_length(request, vectors)
        body = request
        if vectors is not None:
            from serving.embeddings import as_body

            body = as_body(request, vectors)
        elif "messages" in request:
            body = request | {"chat_template_kwargs": TEMPLATE_ARGUMENTS}
        async with self._places:
            endpoints = await self.backend.endpoints()
            if not self._lines:
                self._lines.extend(open_lines(endpoints, self.concurrency))
            recover, usage = self.backend.recover, self.usage
            answer = await ask(body, self._lines, affinity, recover=recover, usage=usage)
        wanted = [str(token) for token in request.get("logprob_token_ids", ())]
        given = answer.logprobs or {}
        if not all(token in given for token in wanted):
            raise ServingError(
                f"the server of {self.model.name} does not give the log-probabilities of labels, "
                "as vLLM does; use --evidence json instead"
            )
        if wanted:
            answer = replace(answer, logprobs={token: given[token] for token in wanted})
        if "prompt_logprobs" in request and answer.prompt_logprobs is None:
            raise ServingError(
                f"the server of {self.model.name} does not return prompt_logprobs, as vLLM "
                "does; serve the model with vLLM"
            )
        self.usage.add(answer)
        self.cache.put(key, self.model.digest, vars(answer))
        return answer

    def _check_length(self, request: Mapping[str, Any], vectors: "Vectors | None") -> None:
        if self.tokenizer is None or self.model.context is None:
            return
        room = self.model.context - request["max_tokens"]
        if "messages" in request:
            tokens = self.tokenizer.count(request["messages"], room)
        else:
            tokens = len(request["prompt"] if vectors is None else vectors)
        if tokens > room:
            raise RequestError(
                f"a prompt of {tokens:,} tokens and {request['max_tokens']} for the reply do not "
                f"fit the context of {self.model.name} ({self.model.context:,} tokens); shorten "
                "the text or raise max_model_len in the profile"
            )


async def label_shares(
    labels: Mapping[str, Sequence[int]], next_logprobs: NextLogprobs, depth: int = 0
) -> tuple[dict[str, float], float]:
    """Shares of the labels (label -> token ids), walking the tree of their tokens.

    Where the labels diverge, the model is asked once for the probabilities of the next tokens;
    elsewhere, constrained decoding has no choice and nothing is asked. A label's share is the
    product of the shares along its path. All labels share the first `depth` tokens, which are done.

    Returns:
        Label -> share, summing to 1; and the probability in [0, 1] that the unconstrained model
        continues with any of them where they first diverge.

    Raises:
        ServingError: A label's tokens are the beginning of another's.
    """
    branches: dict[int, list[str]] = {}
    for label, tokens in labels.items():
        if len(tokens) <= depth:
            raise ServingError(
                f"the model's tokenizer makes '{label}' the beginning of another label; use "
                "--evidence json instead"
            )
        branches.setdefault(tokens[depth], []).append(label)
    if len(branches) == 1:
        return await label_shares(labels, next_logprobs, depth + 1)

    path = next(iter(labels.values()))[:depth]
    logprobs = await next_logprobs(list(branches), path)
    weights = {token: math.exp(logprob) for token, logprob in logprobs.items()}
    mass = sum(weights.values())
    shares: dict[str, float] = {}
    for token, members in branches.items():
        # If rounding leaves no mass at all, nothing separates the branches.
        share = weights[token] / mass if mass > 0 else 1 / len(branches)
        if len(members) == 1:
            shares[members[0]] = share
            continue
        subset = {label: labels[label] for label in members}
        below, _ = await label_shares(subset, next_logprobs, depth + 1)
        shares.update({label: share * part for label, part in below.items()})
    return shares, min(mass, 1.0)
