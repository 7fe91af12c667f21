"""Embeddings in place of a prompt: a real vLLM server, held against transformers."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio

from serving.backend import RunningEndpoints
from serving.cache import CompletionCache
from serving.calls import Sampling, ServedIdentity
from serving.client import Client
from serving.embeddings import Vectors, embed
from serving.endpoint import Endpoint
from serving.errors import RequestError
from serving.models import Model
from serving.tokens import ENGINES_OWN, ChatTokenizer

pytestmark = pytest.mark.real_server

INPUT = """User question: {Should large dams be removed?}
Topic: {large dams}
Perspective #1: {pro: Dams block the way of salmon to the streams where they spawn.}
Perspective #2: {con: Dams supply electricity at any hour without burning fuel.}
Neutral response opening: {"""

TOKENS = 32


@pytest_asyncio.fixture
async def client(strict_server: Endpoint, smollm2: Model, tmp_path: Path) -> AsyncIterator[Client]:
    identity = ServedIdentity(smollm2.name, smollm2.digest, "strict", 8192)
    tokenizer = ChatTokenizer.from_folder(smollm2.path)
    with CompletionCache(tmp_path / "c.sqlite") as store:
        client = Client(identity, tokenizer, store, RunningEndpoints([strict_server]))
        yield client
        await client.close()


def prompted(smollm2: Model, tokenizer: ChatTokenizer) -> Vectors:
    """Five vectors of tokens as a soft prompt, as it is before tuning, and an input."""
    draw = np.random.default_rng(3)
    soft = embed(smollm2.path, draw.integers(0, 5000, 5).tolist(), dtype="float32")
    return np.concatenate([soft, embed(smollm2.path, tokenizer.encode(INPUT), dtype="float32")])


def generated(folder: Path, vectors: Vectors) -> str:
    """What transformers writes after the vectors, greedily."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    given = torch.from_numpy(vectors)[None]
    with torch.no_grad():
        ids = model.generate(
            inputs_embeds=given,
            attention_mask=torch.ones(given.shape[:2], dtype=torch.long),
            max_new_tokens=TOKENS,
            do_sample=False,
        )
    return str(AutoTokenizer.from_pretrained(folder).decode(ids[0], skip_special_tokens=True))


# Both compute in fp32: in bf16 the two round in other places, and a near-tie may fall either way.
async def test_text_after_vectors_is_that_of_transformers(client: Client, smollm2: Model) -> None:
    assert client.tokenizer is not None
    vectors = prompted(smollm2, client.tokenizer)
    expected = generated(smollm2.path, vectors)
    completion = await client.complete_embeddings(vectors, Sampling(TOKENS))
    assert completion.text == expected
    assert completion.prompt_tokens == len(vectors)


async def test_a_reply_keeps_to_its_pattern_and_ends_with_it(
    client: Client, smollm2: Model
) -> None:
    assert client.tokenizer is not None
    vectors = prompted(smollm2, client.tokenizer)
    reply = await client.complete_embeddings(vectors, Sampling(TOKENS), pattern=r"(yes|no)\}\nso")
    assert reply.text in {"yes}\nso", "no}\nso"}
    assert reply.finished


async def test_vectors_that_are_not_the_models_are_refused(client: Client) -> None:
    with pytest.raises(RequestError, match="hidden_size 3 does not match"):
        await client.complete_embeddings(np.ones((2, 3), np.float32), Sampling(1))
    with pytest.raises(RequestError, match="do not fit the context"):
        await client.complete_embeddings(np.ones((8192, 3), np.float32), Sampling(1))


async def test_a_text_may_name_what_vllm_keeps_for_itself(client: Client) -> None:
    chat = [{"role": "user", "content": f"What does {ENGINES_OWN} mean?"}]
    completion = await client.chat(chat, Sampling(1))
    assert completion.prompt_tokens == client.count(chat)
