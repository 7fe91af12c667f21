"""Embeddings in place of a prompt: a text's, read from a model's folder, and how vLLM takes them.

A model's own table is read, its rows alone: no model is loaded. What stands in the table is not in
every model what its first layer reads; see `embed`.
"""

import base64
import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serving.errors import ServingError
from serving.folders import loaded_tensors, read_object, tensors

Vectors = NDArray[np.float32]
"""(tokens, d): one vector a token, as the model's first layer reads it."""

TABLE = "embed_tokens.weight"

AS_STORED = frozenset({"llama", "mistral", "qwen2", "qwen3"})
"""Model types whose first layer reads the table's rows as they are."""

SCALED = frozenset({"gemma", "gemma2", "gemma3", "gemma3_text"})
"""Model types that multiply the rows by the square root of d."""

_STORED = {"BF16": np.uint16, "F16": np.float16, "F32": np.float32}


def embed(folder: Path, ids: Sequence[int], *, dtype: str = "auto") -> Vectors:
    """What a model's first layer reads for some tokens.

    Gemma multiplies its embeddings by the square root of d, rounded to the number format that it
    computes in; those are the vectors that vLLM takes, and that transformers calls
    `inputs_embeds`.

    The `dtype` is the number format that the server computes in: "bfloat16", "float16", "float32",
    or "auto" for the one in the folder's `config.json`.

    Raises:
        ServingError: What the model's first layer reads is not known here, its table cannot be
            found or read, or an id is not in it.
    """
    config = read_object(folder / "config.json")
    kind = str(config.get("model_type"))
    if kind not in AS_STORED | SCALED:
        raise ServingError(
            f"how a model of the type '{kind}' makes embeddings of tokens is not known here "
            f"({folder}); known are {', '.join(sorted(AS_STORED | SCALED))}"
        )
    text = {**config, **config.get("text_config", {})}
    if dtype == "auto":
        dtype = str(text.get("dtype") or text.get("torch_dtype"))
    rows = rounded(_rows(folder, ids), dtype)
    if kind not in SCALED:
        return rows
    scale = rounded(np.array([rows.shape[1] ** 0.5], dtype=np.float32), dtype)
    return rounded(rows * scale, dtype)


def rounded(values: Vectors, dtype: str) -> Vectors:
    """Numbers as a number format has them, to nearest even; as they are in others than 16 bits."""
    if dtype == "float16":
        return values.astype(np.float16).astype(np.float32)
    if dtype != "bfloat16":
        return values
    bits = values.view(np.uint32)
    nearest = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return (nearest & np.uint32(0xFFFF0000)).view(np.float32)


def digest_of(vectors: Vectors) -> str:
    """SHA-256 hex of the vectors and their shape. ValueError for what is no matrix of numbers."""
    if vectors.ndim != 2 or not vectors.size or not np.isfinite(vectors).all():
        raise ValueError(f"embeddings are a matrix of finite numbers, not {vectors.shape}")
    data = np.ascontiguousarray(vectors, dtype="<f4")
    return hashlib.sha256(b"%d %d " % data.shape + data.tobytes()).hexdigest()


def as_body(request: Mapping[str, Any], vectors: Vectors) -> dict[str, Any]:
    """The body of vLLM's request: base64 of a tensor as torch saves it, in place of its digest."""
    import torch

    saved = io.BytesIO()
    torch.save(torch.from_numpy(np.array(vectors, dtype=np.float32)), saved)
    rest = {name: value for name, value in request.items() if name != "embeddings"}
    return rest | {"prompt_embeds": base64.b64encode(saved.getvalue()).decode()}


def _rows(folder: Path, ids: Sequence[int]) -> Vectors:
    """Rows of the table, float32; of the file, only what they are stored in is read."""
    tables = [
        found
        for name, found in loaded_tensors(folder).items()
        if name == TABLE or name.endswith(f".{TABLE}")
    ]
    try:
        ((file, table),) = tables
        data = file.stat().st_size - max(one["data_offsets"][1] for one in tensors(file).values())
        place, shape = data + table["data_offsets"][0], tuple(table["shape"])
        rows = np.memmap(file, _STORED[table["dtype"]], mode="r", offset=place, shape=shape)
    except (KeyError, OSError, TypeError, ValueError) as error:
        raise ServingError(
            f"{folder} has no table of embeddings ({TABLE}) in bfloat16, float16 or float32, or "
            "several; take a decoder with such weights"
        ) from error
    if not ids or not 0 <= min(ids) <= max(ids) < len(rows):
        raise ServingError(
            f"{folder} has embeddings of {len(rows):,} tokens; others were asked for"
        )
    found = rows[list(ids)]
    if table["dtype"] == "BF16":  # the upper half of a float32
        return (found.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return found.astype(np.float32)
