"""The model that a client asks, and the cache keys of its answers."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from serving import detached, profile
from serving.calls import Sampling, ServedIdentity
from serving.connect import (
    OnDemand,
    RoleModel,
    Source,
    backend,
    connect,
    numerics,
    reasoning_room,
    resolve,
    shared_servers,
)
from serving.endpoint import Endpoint
from serving.errors import ServingError
from serving.models import Model
from serving.profile import EngineOptions
from serving.tokens import ChatTokenizer

ASK = [{"role": "user", "content": "What is it?"}]


def at(models_dir: Path, *endpoints: Scripted) -> Source:
    urls = tuple(endpoint.url for endpoint in endpoints)
    return Source(profile.load("cpu-small"), "judge", models_dir, endpoints=urls)


async def test_two_servers_of_one_name_never_share_an_answer(
    endpoint: Scripted, tmp_path: Path
) -> None:
    with Scripted() as other:
        for server, answer in ((endpoint, "one"), (other, "two")):
            server.reply = lambda _, answer=answer: answer  # type: ignore[misc]
            async with connect(at(tmp_path, server), cache=tmp_path / "c.sqlite") as client:
                assert (await client.chat(ASK, Sampling(4))).text == answer


async def test_a_served_folder_on_this_machine_gives_digest_and_tokenizer(
    endpoint: Scripted, smollm2: Model, models_dir: Path
) -> None:
    endpoint.root = str(smollm2.path)
    resolved = await resolve(at(models_dir, endpoint))
    assert resolved.identity.digest == smollm2.digest
    assert resolved.tokenizer is not None


THINKS = "{{ messages[0].content }}<think>\n"
PLAIN = "{{ messages[0].content }}<think></think>"


@pytest.mark.parametrize(
    ("template", "parser", "served", "room"),
    [
        (THINKS, "deepseek_r1", False, 4096),
        (THINKS, None, True, 4096),
        # The first R1 distillates do not declare it.
        (PLAIN, "deepseek_r1", False, 4096),
        (PLAIN, None, False, 0),
    ],
)
def test_who_always_reasons_is_known_from_template_and_profile(
    template: str, parser: str | None, served: bool, room: int
) -> None:
    found = resolved(template, served=served)
    assert reasoning_room(found, EngineOptions(reasoning_parser=parser)) == room


@pytest.mark.parametrize(
    ("changed", "filed"),
    [
        ({}, "bfloat16"),
        ({"reasoning_parser": "qwen3"}, "bfloat16 reasoning qwen3 4096"),
        ({"gpu_memory_gib": 20}, "bfloat16 head float32"),
        ({"gpu_memory_gib": 20, "batch_invariant": True}, "bfloat16 batch-invariant"),
        (
            {"gpu_memory_gib": 20, "quantization": "fp8", "kv_cache_dtype": "fp8"},
            "bfloat16 head float32 fp8 kv fp8",
        ),
        (
            {"gpu_memory_gib": 20, "dtype": "float32", "max_num_seqs": 1, "prefix_caching": False},
            "float32 strict",
        ),
    ],
)
def test_what_can_change_an_answer_is_what_answers_are_filed_under(
    changed: dict[str, Any], filed: str, tmp_path: Path
) -> None:
    options = EngineOptions(dtype="bfloat16").model_copy(update=changed)
    assert numerics(options, tmp_path) == filed


def resolved(template: str, *, served: bool) -> RoleModel:
    tokenizer = ChatTokenizer(Tokenizer(WordLevel({"?": 0}, unk_token="?")), template, {})
    endpoints = (Endpoint("http://127.0.0.1:1/v1", "", "m"),) if served else ()
    return RoleModel(ServedIdentity("m", "d", "e", None), tokenizer, None, endpoints)


# --- servers that clients share ------------------------------------------------------------------


async def test_within_the_block_one_start_serves_all_clients_and_stops_at_its_end(
    smollm2: Model, models_dir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[object] = []
    stopped: list[object] = []
    endpoint = Endpoint("http://127.0.0.1:9/v1", "k", smollm2.name)

    async def start(model: Model, options: EngineOptions, **how: object) -> list[Endpoint]:
        started.append((model.name, how["owner"], how["logs"]))
        return [endpoint]

    monkeypatch.setattr(detached, "start", start)
    monkeypatch.setattr(detached, "stop", lambda *, owner: stopped.append(owner))
    source = Source(profile.load("cpu-small"), "judge", models_dir)
    resolved = await resolve(source)
    with shared_servers():
        with shared_servers():
            client = backend(resolved, source, tmp_path, lambda _: None)
            assert started == [], "it starts when the first question is asked"
            assert await client.endpoints() == await client.endpoints() == [endpoint]
            await client.close()
        assert stopped == [], "the inner block changes nothing"
    assert started == [(smollm2.name, os.getpid(), tmp_path)]
    assert stopped == [os.getpid()]


async def test_a_start_that_fails_is_not_tried_by_each_who_waits() -> None:
    starts: list[int] = []

    async def start() -> list[Endpoint]:
        starts.append(1)
        raise ServingError("no memory")

    servers = OnDemand(start)
    outcomes = await asyncio.gather(
        *(servers.endpoints() for _ in range(5)), return_exceptions=True
    )
    assert [str(each) for each in outcomes] == ["no memory"] * 5
    assert len(starts) == 1
