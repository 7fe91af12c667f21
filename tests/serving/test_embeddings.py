"""Embeddings in place of a prompt: the model's embeddings, and the request that carries them."""

import base64
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio
from clients import client_at
from scripted import Scripted
from tiny_decoders import SIZES, decoder, token_ids

from serving.calls import Sampling
from serving.client import Client
from serving.embeddings import AS_STORED, SCALED, Vectors, embed
from serving.errors import ServingError

PATTERN = r"[^{}]+\}"
VECTORS: Vectors = (np.arange(12, dtype=np.float32) / 7).astype(np.float32).reshape(3, 4)
FORMATS = ("float32", "bfloat16", "float16")


def saved(architecture: str, folder: Path, dtype: str) -> Any:
    """A tiny decoder, on disk and in memory, in a given number format."""
    import torch

    model = decoder(architecture)
    model = type(model)(model.config).to(getattr(torch, dtype)).eval()
    model.load_state_dict(decoder(architecture).state_dict())
    model.save_pretrained(folder)
    return model


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("architecture", ["llama", "gemma3", "qwen3"])
def test_embeddings_are_those_of_the_model(architecture: str, dtype: str, tmp_path: Path) -> None:
    import torch

    model = saved(architecture, tmp_path, dtype)
    ids = token_ids(20)
    with torch.no_grad():
        expected = model.get_input_embeddings()(ids).float().numpy()
    found = embed(tmp_path, ids.tolist(), dtype=dtype)
    assert found.dtype == np.float32
    assert np.array_equal(found, expected)
    assert np.array_equal(embed(tmp_path, ids.tolist()), expected)  # as its config.json says


def test_tables_in_shards_are_found(tmp_path: Path) -> None:
    model = saved("llama", tmp_path / "whole", "float32")
    model.save_pretrained(tmp_path / "parts", max_shard_size="20KB")
    assert len(list((tmp_path / "parts").glob("*.safetensors"))) > 1
    ids = list(range(SIZES["vocab_size"]))
    assert np.array_equal(embed(tmp_path / "parts", ids), embed(tmp_path / "whole", ids))


@pytest.mark.parametrize(
    ("config", "ids", "says"),
    [
        ({"model_type": "granite"}, [1], "the model type 'granite' are not supported"),
        ({"model_type": "llama"}, [SIZES["vocab_size"]], "has embeddings of 96 tokens"),
        ({"model_type": "llama"}, [-1], "has embeddings of 96 tokens"),
    ],
)
def test_what_cannot_be_embedded_is_refused(
    config: dict[str, Any], ids: list[int], says: str, tmp_path: Path
) -> None:
    saved("llama", tmp_path, "float32")
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ServingError, match=says):
        embed(tmp_path, ids)


def test_what_is_known_of_model_types_is_what_transformers_does() -> None:
    import inspect

    from transformers import AutoConfig
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

    for kind in AS_STORED | SCALED:
        model = MODEL_FOR_CAUSAL_LM_MAPPING[type(AutoConfig.for_model(kind))]
        source = inspect.getsource(inspect.getmodule(model))  # type: ignore[arg-type]
        assert ("ScaledWordEmbedding" in source) is (kind in SCALED), kind


@pytest_asyncio.fixture
async def client(endpoint: Scripted, tmp_path: Path) -> AsyncIterator[Client]:
    endpoint.reply = lambda _: "a reply}"
    async with client_at(endpoint.url, tmp_path / "c.sqlite") as client:
        yield client


async def test_vectors_arrive_as_they_were_sent(client: Client, endpoint: Scripted) -> None:
    import torch

    completion = await client.complete_embeddings(VECTORS, Sampling(9), pattern=PATTERN)
    assert (completion.text, completion.finished) == ("a reply}", True)
    (request,) = endpoint.requests
    sent = torch.load(io.BytesIO(base64.b64decode(request["prompt_embeds"])), weights_only=True)
    assert sent.dtype == torch.float32
    assert np.array_equal(sent.numpy(), VECTORS)
    assert request["structured_outputs"] == {"regex": PATTERN}
    assert request["prompt"] is None
    assert not {"messages", "embeddings", "chat_template_kwargs"} & request.keys()
