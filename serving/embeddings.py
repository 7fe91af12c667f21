"""Embeddings in place of a prompt: read from a model's folder, and encoded for vLLM.

Only the needed rows of a model's own table are read: no model is loaded. Not every model's first
layer reads the table's rows unchanged; see `embed`.
"""

import base64
import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from serving.errors import ServingError
from serving.folders import loaded_tensors, read_object

if TYPE_CHECKING:
    import torch

Vectors = NDArray[np.float32]
"""(tokens, d): one vector per token, as the model's first layer reads it."""

TABLE = "embed_tokens.weight"

AS_STORED = frozenset({"llama", "mistral", "qwen2", "qwen3"})
"""Model types whose first layer reads the table's rows unchanged."""

SCALED = frozenset({"gemma", "gemma2", "gemma3", "gemma3_text"})
"""Model types that multiply the rows by the square root of d."""


def embed(folder: Path, ids: Sequence[int], *, dtype: str = "auto") -> Vectors:
    """The input of a model's first layer for some tokens.

    Gemma multiplies its embeddings by the square root of d, rounded to the number format that it
    computes in. These are the vectors that vLLM expects and that transformers calls
    `inputs_embeds`.

    The `dtype` is the number format that the server computes in: "bfloat16", "float16", "float32",
    or "auto" for the one in the folder's `config.json`.

    Raises:
        ServingError: The model type is not supported, its table is missing or cannot be read, or an
            id is not in it.
    """
    import torch

    config = read_object(folder / "config.json")
    kind = str(config.get("model_type"))
    if kind not in AS_STORED | SCALED:
        raise ServingError(
            f"embeddings of the model type '{kind}' are not supported ({folder}); "
            f"supported types are {', '.join(sorted(AS_STORED | SCALED))}"
        )
    if dtype == "auto":
        text = {**config, **config.get("text_config", {})}
        dtype = str(text.get("dtype") or text.get("torch_dtype") or "float32")
    rows = _rows(folder, ids).to(getattr(torch, dtype))
    if kind in SCALED:
        rows = rows * torch.tensor(rows.shape[1] ** 0.5, dtype=rows.dtype)
    vectors: Vectors = rows.float().numpy()
    return vectors


def digest_of(vectors: Vectors) -> str:
    """SHA-256 hex of the vectors and their shape; ValueError if not a matrix of numbers."""
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


def _rows(folder: Path, ids: Sequence[int]) -> "torch.Tensor":
    """Rows of the table as stored; no others are read."""
    import torch
    from safetensors import safe_open

    tables = [
        (file, name)
        for name, (file, tensor) in loaded_tensors(folder).items()
        if f".{name}".endswith(f".{TABLE}") and tensor["dtype"] in {"BF16", "F16", "F32"}
    ]
    if len(tables) != 1:
        raise ServingError(
            f"{folder} needs exactly one table of embeddings ({TABLE}) in bfloat16, float16 or "
            f"float32, but has {len(tables)}; use a decoder with such weights"
        )
    ((file, name),) = tables
    with safe_open(file, framework="pt") as opened:
        table = opened.get_slice(name)
        size = table.get_shape()[0]
        if not ids or not 0 <= min(ids) <= max(ids) < size:
            raise ServingError(f"{folder} has embeddings of {size:,} tokens; give ids below that")
        return torch.cat([table[token : token + 1] for token in ids])
