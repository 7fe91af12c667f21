"""One request to an OpenAI-compatible server: sent, retried where that can help, and read."""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from serving.calls import Completion
from serving.endpoint import FOREIGN, REFUSED, Endpoint
from serving.errors import RequestError, ServingError

if TYPE_CHECKING:
    import openai
    from openai import AsyncOpenAI
    from openai.types import Completion as TextCompletion
    from openai.types.chat import ChatCompletion

PATIENCE_S = 900.0
"""How long a request is tried again before the run stops: a large model restarts in minutes."""

TIMEOUT_S = 600.0
"""How long one reply may take; a busy CPU needs minutes for a long one."""

AFFINITY_SLACK = 8
"""Calls that a replica may be ahead of the idlest before its documents go elsewhere."""

STANDARD_FIELDS = frozenset(
    {"messages", "max_tokens", "temperature", "seed", "logprobs", "response_format"}
)
"""Fields of OpenAI's own interface; the rest is vLLM's and travels as `extra_body`."""


class Line:
    """An open connection to one endpoint, and how many requests are on it."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.in_flight = 0

    @cached_property
    def _openai(self) -> "AsyncOpenAI":
        import openai

        return openai.AsyncOpenAI(
            base_url=self.endpoint.url,
            api_key=self.endpoint.key or "none",
            max_retries=0,
            timeout=TIMEOUT_S,
            # A proxy or a redirect would carry prompts elsewhere.
            http_client=openai.DefaultAsyncHttpxClient(trust_env=False, follow_redirects=False),
        )

    async def send(self, request: dict[str, Any]) -> Completion:
        """Send one request, once. ServingError: the reply is no completion."""
        standard = {name: value for name, value in request.items() if name in STANDARD_FIELDS}
        extra = {name: value for name, value in request.items() if name not in STANDARD_FIELDS}
        completion: TextCompletion | ChatCompletion
        self.in_flight += 1
        try:
            if "prompt_embeds" in request:
                completion = await self._openai.completions.create(
                    model=self.endpoint.model, prompt=None, extra_body=extra, **standard
                )
            else:
                completion = await self._openai.chat.completions.create(
                    model=self.endpoint.model, extra_body=extra, **standard
                )
        except ValueError as error:  # a body that is no JSON
            raise _foreign(self.endpoint) from error
        finally:
            self.in_flight -= 1
        try:
            return _read(completion)
        except (AttributeError, IndexError, TypeError) as error:
            raise _foreign(self.endpoint) from error

    async def close(self) -> None:
        """Close the connection."""
        if "_openai" in self.__dict__:
            await self._openai.close()


def least_loaded(lines: Sequence[Line], affinity: str) -> Line:
    """The affinity's own server, unless it is clearly busier than the idlest."""
    idlest = min(lines, key=lambda line: line.in_flight)
    if not affinity:
        return idlest
    own = lines[int(hashlib.sha256(affinity.encode()).hexdigest(), 16) % len(lines)]
    return own if own.in_flight - idlest.in_flight <= AFFINITY_SLACK else idlest


async def ask(
    request: dict[str, Any],
    lines: Sequence[Line],
    *,
    affinity: str,
    recover: Callable[[Endpoint], Awaitable[None]],
    on_retry: Callable[[], None],
) -> Completion:
    """Send a request and send it again after what can pass: a lost connection, 5xx, 429, a timeout.

    Args:
        request: Body of a chat completion without the model, or of a completion where it has
            `prompt_embeds`.
        lines: Servers of the model; one that failed is asked again only when all of them have.
        affinity: See `least_loaded`.
        recover: Waits for a failed endpoint.
        on_retry: Called before each further try.

    Raises:
        RequestError: The server refuses this request (400, 413, 422).
        ServingError: It refuses the key or knows no such model, or stays away for `PATIENCE_S`.
    """
    import openai
    import tenacity

    passing = (openai.APIConnectionError, openai.InternalServerError, openai.RateLimitError)
    untried = list(lines)
    line = least_loaded(untried, affinity)
    try:
        async for attempt in tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(passing),
            wait=tenacity.wait_exponential_jitter(multiplier=0.2, max=15),
            stop=tenacity.stop_after_delay(PATIENCE_S),
            reraise=True,
        ):
            with attempt:
                if attempt.retry_state.attempt_number > 1:
                    on_retry()
                    untried.remove(line)
                    if not untried:
                        await recover(line.endpoint)
                        untried = list(lines)
                    line = least_loaded(untried, affinity)
                return await line.send(request)
    except openai.APIError as error:
        raise _explained(error, line.endpoint) from error
    raise AssertionError("unreachable: every try returns or raises")


async def token_ids(endpoint: Endpoint, text: str) -> list[int]:
    """Token ids of a text by the server's own tokenizer (vLLM's /tokenize), else a ServingError."""
    import httpx

    url = endpoint.url.removesuffix("/v1") + "/tokenize"
    body = {"model": endpoint.model, "prompt": text, "add_special_tokens": False}
    try:
        async with httpx.AsyncClient(
            headers=endpoint.headers, timeout=60, trust_env=False
        ) as client:
            answer = await client.post(url, json=body)
            answer.raise_for_status()
            ids: list[int] = answer.json()["tokens"]
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        raise ServingError(
            f"{url} does not tokenize ({error or type(error).__name__}); register the model's "
            "folder with 'contested models add' and name it with --model"
        ) from error
    return ids


def _foreign(endpoint: Endpoint) -> ServingError:
    return ServingError(f"the server at {endpoint.url} {FOREIGN}; check --endpoint")


def _explained(error: "openai.APIError", endpoint: Endpoint) -> ServingError:
    """What a fault that stayed means for the user."""
    import openai

    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    reason = " ".join(str(message or error or type(error).__name__).split())[:300]
    server = f"the server at {endpoint.url}"
    match error:
        case openai.AuthenticationError() | openai.PermissionDeniedError():
            return ServingError(f"{server} {REFUSED}")
        case openai.NotFoundError():
            return ServingError(f"{server} knows no model '{endpoint.model}' ({reason})")
        case openai.APIConnectionError() | openai.InternalServerError() | openai.RateLimitError():
            return ServingError(
                f"{server} did not answer for {PATIENCE_S / 60:.0f} minutes ({reason}); "
                "what was answered is kept: start the same command again"
            )
        case openai.APIStatusError():
            return RequestError(
                f"{server} refuses the request (status {error.status_code}): {reason}"
            )
        case _:
            return ServingError(f"{server} {FOREIGN} ({reason})")


def _read(completion: "TextCompletion | ChatCompletion") -> Completion:
    import openai

    choice = completion.choices[0]
    logprobs = None
    if isinstance(choice, openai.types.CompletionChoice):
        text = choice.text
    else:
        text = choice.message.content or ""
        if choice.logprobs is not None and choice.logprobs.content:
            # With `return_tokens_as_token_ids` vLLM writes a token as "token_id:123".
            logprobs = {
                entry.token.removeprefix("token_id:"): entry.logprob
                for entry in choice.logprobs.content[0].top_logprobs
            }
    usage = completion.usage
    details = usage.prompt_tokens_details if usage else None
    return Completion(
        text=text,
        finish_reason=choice.finish_reason,
        logprobs=logprobs,
        prompt_tokens=usage.prompt_tokens if usage else 0,
        completion_tokens=usage.completion_tokens if usage else 0,
        cached_prefix_tokens=(details.cached_tokens or 0) if details else 0,
    )
