"""The client against a scripted endpoint: cache, retries, labels, limits."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Annotated, Any

import clients
import pytest
import pytest_asyncio
from pydantic import BaseModel, Field
from scripted import KEY, MODEL, Scripted
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

from serving import endpoint as module
from serving.calls import Sampling
from serving.client import Client
from serving.endpoint import Endpoint
from serving.errors import RequestError, ServingError
from serving.models import Model
from serving.tokens import ChatTokenizer


def turn(content: object) -> list[dict[str, str]]:
    return [{"role": "user", "content": str(content)}]


ASK = turn("What is it?")
TURNS = "{% for turn in messages %}{{ turn.content }}{% endfor %}"


def client_of(*servers: Scripted, **how: Any) -> AbstractAsyncContextManager[Client]:
    endpoints = [Endpoint(server.url, KEY, MODEL) for server in servers]
    return clients.client_of(endpoints, **how)


def by_words() -> ChatTokenizer:
    """One token per word; `<end>` is a special token."""
    tokenizer = Tokenizer(WordLevel({"?": 0, "yes": 1, "no": 2, "<end>": 3}, unk_token="?"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.add_special_tokens(["<end>"])
    return ChatTokenizer(tokenizer, TURNS, {})


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "c.sqlite"


@pytest_asyncio.fixture
async def client(endpoint: Scripted, cache: Path) -> AsyncIterator[Client]:
    async with client_of(endpoint, cache=cache) as client:
        yield client


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 4.0)
    monkeypatch.setattr("random.random", lambda: 0.0)


async def test_an_answer_is_asked_once_and_then_comes_from_the_cache(
    endpoint: Scripted, cache: Path
) -> None:
    endpoint.reply = lambda _: "an answer"
    for asked in (1, 0):
        async with client_of(endpoint, cache=cache) as client:
            completion = await client.chat(ASK, Sampling(max_tokens=16))
            assert completion.text == "an answer"
            assert (client.usage.calls, client.usage.saved_calls) == (asked, 1 - asked)
    assert len(endpoint.requests) == 1


async def test_equal_requests_in_flight_are_asked_once_for_all_who_still_wait(
    client: Client, endpoint: Scripted
) -> None:
    endpoint.reply, endpoint.delay_s = (lambda _: "kept"), 0.5
    first, *others = [
        asyncio.create_task(client.chat(ASK, Sampling(max_tokens=4))) for _ in range(5)
    ]
    await asyncio.sleep(0.1)
    first.cancel()
    assert {answer.text for answer in await asyncio.gather(*others)} == {"kept"}
    assert len(endpoint.requests) == 1


async def test_sampling_is_part_of_the_key(endpoint: Scripted, cache: Path) -> None:
    endpoint.reply = lambda _: "x"
    async with client_of(endpoint, cache=cache) as client:
        for sampling in (Sampling(4), Sampling(5), Sampling(4, temperature=1.0), Sampling(4)):
            await client.chat(ASK, sampling)
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize("fault", [0, 503, 429])
async def test_what_can_pass_is_tried_again(fault: int, client: Client, endpoint: Scripted) -> None:
    endpoint.reply, endpoint.faults = (lambda _: "at last"), [fault, fault]
    assert (await client.chat(ASK, Sampling(4))).text == "at last"
    assert client.usage.retries == 2


@pytest.mark.parametrize(
    ("fault", "kind", "says"),
    [
        (400, RequestError, "refuses the request"),
        (401, ServingError, "CONTESTED_API_KEY"),
        (404, ServingError, "knows no model 'scripted'"),
    ],
)
async def test_what_cannot_pass_is_not_tried_again(
    fault: int, kind: type[Exception], says: str, client: Client, endpoint: Scripted
) -> None:
    endpoint.faults = [fault]
    with pytest.raises(kind, match=says):
        await client.chat(ASK, Sampling(4))
    assert len(endpoint.requests) == 1


class Colour(BaseModel):
    name: str
    share: Annotated[float, Field(ge=0, le=1)]


@pytest.mark.parametrize(
    ("raw", "value", "problem"),
    [
        ('{"name": "red", "share": 0.5}', Colour(name="red", share=0.5), ""),
        ('{"name": "red", "sha', None, "cut after 1 tokens"),
        ('{"name": "red"}', None, "share: Field required"),
        ("I think it is red.", None, "not the JSON asked for"),
    ],
)
async def test_json_is_the_schemas_model_or_a_problem_with_its_raw_text(
    raw: str, value: Colour | None, problem: str, client: Client, endpoint: Scripted
) -> None:
    endpoint.reply = lambda _: raw
    reply = await client.structured(ASK, Colour, Sampling(1 if "cut" in problem else 99))
    assert (reply.value, reply.raw) == (value, raw)
    assert problem in (reply.problem or "")
    sent = endpoint.requests[0]["response_format"]["json_schema"]
    assert sent["schema"] == Colour.model_json_schema()


async def test_a_label_comes_with_normalised_probabilities_and_its_mass(
    client: Client, endpoint: Scripted
) -> None:
    endpoint.weigh = lambda _: [0.1, 0.3, 0.0001]
    choice = await client.choose(ASK, ["SUPPORTS", "CONTRADICTS", "IRRELEVANT"])
    assert choice.label == "CONTRADICTS"
    assert choice.mass == pytest.approx(0.4001)
    assert sum(choice.probabilities.values()) == pytest.approx(1)
    assert choice.probabilities["SUPPORTS"] == pytest.approx(0.1 / 0.4001)
    (request,) = endpoint.requests
    assert request["max_tokens"] == 1
    assert request["logprob_token_ids"] == [ord("S"), ord("C"), ord("I")]


async def test_replicas_share_the_load_and_equal_affinity_stays_together(cache: Path) -> None:
    with Scripted(reply=lambda _: "ok") as one, Scripted(reply=lambda _: "ok") as two:
        async with client_of(one, two, cache=cache, concurrency=1) as client:
            for number in range(40):
                await client.chat(turn(number), Sampling(9), affinity=f"document {number % 10}")
        assert len(one.requests) + len(two.requests) == 40
        assert one.requests
        assert two.requests
        for server in (one, two):
            documents = {int(prompt) % 10 for prompt in server.prompts()}
            assert len(server.requests) == 4 * len(documents)


async def test_a_dead_server_is_left_for_one_that_answers(cache: Path) -> None:
    with Scripted(reply=lambda _: "ok") as well, Scripted(faults=[503] * 100) as ill:
        async with client_of(ill, well, cache=cache) as client:
            for number in range(8):
                document = f"document {number}"
                assert (
                    await client.chat(turn(number), Sampling(9), affinity=document)
                ).text == "ok"
        assert len(well.requests) == 8
        assert 1 <= len(ill.requests) <= 8


async def test_a_model_that_always_reasons_has_room_for_it_and_chooses_nothing(
    endpoint: Scripted, cache: Path
) -> None:
    class Reply(BaseModel):
        answer: bool

    endpoint.reply = lambda _: '{"answer": true}'
    async with client_of(
        endpoint, cache=cache, tokenizer=by_words(), context=1000, reasoning_tokens=600
    ) as client:
        assert (await client.structured(ASK, Reply, Sampling(20))).value == Reply(answer=True)
        assert endpoint.requests[-1]["max_tokens"] == 620
        with pytest.raises(ServingError, match=r"reasons before it answers.*--evidence json"):
            await client.choose(ASK, ["YES", "NO"])
        assert client.prompt_room(401) == -1
    assert len(endpoint.requests) == 1


async def test_waiting_in_a_queue_is_no_part_of_patience(
    client: Client, endpoint: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 0.5)
    endpoint.reply, endpoint.delay_s, endpoint.faults = (lambda _: "at last"), 1.0, [503]
    assert (await client.chat(ASK, Sampling(4))).text == "at last"
    assert client.usage.retries == 1


async def test_a_proxy_of_the_environment_is_not_asked(
    client: Client, endpoint: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Scripted(reply=lambda _: "stolen", key="") as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        endpoint.reply = lambda _: "direct"
        assert (await client.chat(ASK, Sampling(4))).text == "direct"
        assert not proxy.requests


async def test_a_prompt_is_refused_from_the_first_token_too_many(
    endpoint: Scripted, smollm2: Model, cache: Path
) -> None:
    endpoint.reply = lambda _: "ok"
    # There are more bytes than room in both, so tokens must be counted.
    prompt = turn("The river is long. " * 50)
    tokenizer = ChatTokenizer.from_folder(smollm2.path)
    async with client_of(endpoint, cache=cache, tokenizer=tokenizer, context=300) as small:
        tokens = small.count(prompt)
        room = 300 - tokens
        await small.chat(prompt, Sampling(room))
        with pytest.raises(RequestError) as refused:
            await small.chat(prompt, Sampling(room + 1))
    assert str(refused.value).startswith(
        f"a prompt of {tokens} tokens and {room + 1} for the reply do not fit the context of "
        "scripted (300 tokens)"
    )
    assert len(endpoint.requests) == 1


# --- how likely a text is ----------------------------------------------------------------------


async def test_a_text_is_weighed_token_by_token_once(endpoint: Scripted, cache: Path) -> None:
    endpoint.likelihood = lambda ids: [-float(place) for place in range(1, len(ids))]
    async with client_of(endpoint, cache=cache, tokenizer=by_words(), context=9) as client:
        found = await client.log_probabilities("is it", "yes  no")
    # Of the tokens [is, it, yes, no], those at 2 and 3 are requested.
    assert list(found.logprobs) == [-2, -3]
    assert found.offsets == ((0, 3), (5, 7))
    (request,) = endpoint.requests
    assert (request["prompt"], request["prompt_logprobs"]) == ([0, 0, 1, 2], 0)
    async with client_of(endpoint, cache=cache, tokenizer=by_words(), context=9) as client:
        assert await client.log_probabilities("is it", "yes  no") == found
        assert client.usage.saved_calls == len(endpoint.requests) == 1
        await client.log_probabilities("is it", "yes<end>")
    assert endpoint.requests[1]["prompt"] == [0, 0, 0], "a special token in it is plain text"


async def test_half_a_character_in_a_prompt_is_refused_and_in_a_reply_spoils_no_cache(
    endpoint: Scripted, cache: Path
) -> None:
    """JSON may contain lone surrogates; files cannot."""
    endpoint.reply = lambda _: "yes\ud83d"
    for _ in range(2):
        async with client_of(endpoint, cache=cache) as client:
            assert (await client.chat(ASK, Sampling(4))).text == "yes?"
            with pytest.raises(RequestError, match="cannot be sent"):
                await client.chat(turn("a\ud800b"), Sampling(4))
    assert len(endpoint.requests) == 1


MARKERS = (
    "<|im_start|>", "<|start_header_id|>", "<start_of_turn>", "<start_of_image>", "<s>", "[INST]",
    "[/INST]", "<<SYS>>", "<</SYS>>", "[SYSTEM_PROMPT]", "[/AVAILABLE_TOOLS]", "[TOOL_CALLS]",
)  # fmt: skip


@pytest.mark.parametrize("tokenizer", [None, by_words()], ids=["far", "here"])
async def test_no_text_holds_a_role_marker_of_any_family(
    tokenizer: ChatTokenizer | None, endpoint: Scripted, cache: Path
) -> None:
    """Some templates write role markers as plain text, which is not special to their tokenizer."""
    endpoint.reply = lambda _: "x"
    async with client_of(endpoint, cache=cache, tokenizer=tokenizer) as client:
        await client.chat(turn("".join(f"a {marker} b" for marker in MARKERS)), Sampling(4))
    broken = "".join(f"a {marker[0]} {marker[1:]} b" for marker in MARKERS)
    assert endpoint.prompts() == [broken]
