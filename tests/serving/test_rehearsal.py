"""A rehearsal asks nobody, keeps nothing, and counts what the cache does not have."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import BaseModel
from scripted import KEY, MODEL, Scripted
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

from serving.backend import RunningEndpoints
from serving.cache import CompletionCache
from serving.calls import Sampling, ServedIdentity, Usage
from serving.client import Client
from serving.connect import RoleModel, Source
from serving.endpoint import Endpoint
from serving.errors import RequestError, ServingError
from serving.profile import load
from serving.rehearsal import Recalled, Rehearsal, rehearsal
from serving.tokens import ChatTokenizer

MODEL_HERE = ServedIdentity(MODEL, "digest", "scripted engine", 40)


def words() -> ChatTokenizer:
    """One token per word; the template adds none."""
    tokenizer = Tokenizer(WordLevel({"?": 0, "yes": 1, "no": 2}, unk_token="?"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    return ChatTokenizer(tokenizer, "{{ messages[0].content }}", {})


@contextmanager
def rehearsed(
    path: Path, *, full: bool = False, block: int | None = 4, tokenizer: ChatTokenizer | None = None
) -> Iterator[Rehearsal]:
    with Recalled(path) as recalled:
        resolved = RoleModel(MODEL_HERE, tokenizer, None, ())
        missing = None if tokenizer else "its folder is elsewhere"
        yield Rehearsal(resolved, recalled, full=full, block=block, missing=missing)


def turn(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


async def test_prompts_are_counted_and_what_begins_alike_is_shared(tmp_path: Path) -> None:
    with rehearsed(tmp_path / "c", tokenizer=words()) as client:
        for end in ("a b", "a c", "a b c d"):
            await client.chat(turn(f"1 2 3 4 5 6 7 8 {end}"), Sampling(5))
        # Ten, ten and twelve words. The later two begin with the first eight, two whole blocks;
        # the third block of the last one differs from all.
        assert client.usage == Usage(
            calls=3,
            prompt_tokens=32,
            completion_tokens=3 * 5,
            cached_prefix_tokens=16,
        )
        await client.chat(turn("1 2 3 4 5 6 7 8"), Sampling(5))
        # Its last token is read in any case, so only the first block is saved.
        assert client.usage.cached_prefix_tokens == 20


async def test_without_a_prefix_cache_nothing_is_shared(tmp_path: Path) -> None:
    with rehearsed(tmp_path / "c", block=None, tokenizer=words()) as client:
        for _ in range(2):
            await client.chat(turn("1 2 3 4 5 6 7 8 9"), Sampling(5, seed=_))
        assert client.usage.cached_prefix_tokens == 0


async def test_without_a_tokenizer_four_characters_are_a_token(tmp_path: Path) -> None:
    with rehearsed(tmp_path / "c", full=True) as client:
        await client.chat(turn("x" * 42), Sampling(30))
        assert (client.usage.prompt_tokens, client.usage.completion_tokens) == (11, 30)
        choice = await client.choose(turn("Which?"), ("yes", "no"))
        assert choice.label in {"yes", "no"}
        assert client.usage.completion_tokens == 31


async def test_texts_are_weighed_whole_whatever_the_prefix_cache_has(tmp_path: Path) -> None:
    with rehearsed(tmp_path / "c", tokenizer=words()) as client:
        for end in ("a b", "a c d"):
            found = await client.log_probabilities("1 2 3 4 5 6 7 8", end)
        assert found.offsets == ((0, 1), (2, 3), (4, 5))
        assert client.usage == Usage(calls=2, prompt_tokens=10 + 11, completion_tokens=2)
    with rehearsed(tmp_path / "c") as client:
        await client.log_probabilities("x" * 40, "y" * 10)
        assert client.usage.prompt_tokens == 10 + 3, "four characters are a token"


async def test_what_does_not_fit_is_refused_as_by_a_client(tmp_path: Path) -> None:
    with rehearsed(tmp_path / "c", tokenizer=words()) as client:
        with pytest.raises(RequestError, match="do not fit"):
            await client.chat(turn("a " * 36), Sampling(5))
        assert client.usage.calls == 0


async def test_what_the_cache_has_is_recalled_and_nothing_is_written(
    endpoint: Scripted, tmp_path: Path
) -> None:
    class Claims(BaseModel):
        claims: list[str]

    endpoint.reply = lambda _: '{"claims": ["It is red."]}'
    with CompletionCache(tmp_path / "c") as store:
        where = RunningEndpoints([Endpoint(endpoint.url, KEY, MODEL)])
        client = Client(MODEL_HERE, None, store, where)
        await client.structured(turn("one"), Claims, Sampling(64))
        await client.close()
        assert len(store) == 1
    with rehearsed(tmp_path / "c") as client:
        for text in ("one", "one", "two", "two"):
            reply = await client.structured(turn(text), Claims, Sampling(64))
            assert reply.value == Claims(claims=["It is red." if text == "one" else "yes"])
        assert client.usage.calls == 1
        # As the endpoint counted them.
        assert client.recalled.usage == Usage(calls=1, prompt_tokens=10, completion_tokens=1)
    with CompletionCache(tmp_path / "c") as store:
        assert len(store) == 1
    assert len(endpoint.requests) == 1


async def test_a_model_that_is_elsewhere_is_rehearsed_and_an_endpoint_must_answer(
    tmp_path: Path,
) -> None:
    source = Source(load("cpu-small"), "judge", tmp_path)
    client = await rehearsal(source, cache=tmp_path / "c", full=False)
    client.recalled.close()
    assert client.missing is not None
    assert "there is no model 'smollm2-135m-instruct'" in client.missing
    assert client.model.context == 8192
    away = Source(load("cpu-small"), "judge", tmp_path, endpoints=("http://127.0.0.1:9/v1",))
    with pytest.raises(ServingError):
        await rehearsal(away, cache=tmp_path / "c", full=False)
