"""The weights in a model's folder: their format, what vLLM refuses, the memory that they need."""

from math import inf
from pathlib import Path
from typing import Any, Final

from serving.errors import ServingError
from serving.folders import read_header, read_object
from serving.profile import EngineOptions, Profile

GIB: Final = 1024**3

_HALF = ("float16", "bfloat16")
COMPUTED_IN: Final = {
    "awq": _HALF,
    "gptq": _HALF,
    "fp8": _HALF,
    "fbgemm_fp8": _HALF,
    "modelopt": _HALF,
    "quark": _HALF,
    "mxfp4": ("bfloat16",),
    "compressed-tensors": (*_HALF, "float32"),
    "bitsandbytes": (),
}
"""Format of quantised weights -> number formats that vLLM 0.32 computes in with them."""

NO_FLOAT16: Final = ("gemma2", "gemma3", "gemma3_text", "glm4")
"""Model types that vLLM refuses to run in float16, where their activations overflow."""

CONTEXT_GIB: Final = 2.0
"""What CUDA, its graphs and the buffers between GPUs take on each GPU, by rule of thumb."""

_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "auto": 2}
_FLOATS = {"F64", "F32", "F16", "BF16"}
# GiB of a GPU from which on -> what vLLM takes for tokens in a step, and requests.
_BATCHES = {160: (16384, 1024), 70: (8192, 1024), 0: (2048, 256)}
# What configurations of Gemma 3 leave out.
_GEMMA3 = {
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "vocab_size": 262_208,
    "max_position_embeddings": 131_072,
}


def quantization(folder: Path) -> str | None:
    """The format of quantised weights, as their maker names it; None for plain weights."""
    config = read_object(folder / "config.json")
    for part in (config, config.get("text_config") or {}):
        told = part.get("quantization_config") or part.get("compression_config")
        if isinstance(told, dict):
            name = str(told.get("quant_method", "unknown")).lower()
            return name.replace("compressed_tensors", "compressed-tensors")
    return "modelopt" if (folder / "hf_quant_config.json").exists() else None


def check(folder: Path, options: EngineOptions) -> None:
    """Refuse, before anything starts, number formats that vLLM would refuse after a while.

    Raises:
        ServingError: It would; says what to set.
    """
    found = quantization(folder)
    computed = COMPUTED_IN.get(found or "")
    if computed == ():
        raise ServingError(
            f"{folder} has {found} weights, which vLLM 0.32 does not read; use the unquantised "
            "weights, or AWQ, GPTQ, FP8 or compressed-tensors ones"
        )
    if computed and options.dtype not in {"auto", *computed}:
        strict = " (--strict takes it always)" if options.dtype == "float32" else ""
        raise ServingError(
            f"{folder} has {found} weights, with which vLLM computes in {' or '.join(computed)} "
            f"only, not in {options.dtype}{strict}; set dtype in the profile"
            + (", and for --strict use unquantised weights" if strict else "")
        )
    kind = read_object(folder / "config.json").get("model_type")
    if options.dtype == "float16" and kind in NO_FLOAT16:
        raise ServingError(
            f"{folder} is a model of type {kind}, which overflows in float16; "
            'set dtype = "bfloat16" in the profile'
        )


def weights_gib(folder: Path, dtype: str) -> float:
    """GiB of all weights together, loaded in a number format; quantised ones as on disk."""
    packed = quantization(folder) is not None
    total = 0
    for file in _files(folder):
        tensors, start = read_header(file)
        if packed:
            total += file.stat().st_size - start
            continue
        for tensor in tensors.values():
            begin, end = tensor["data_offsets"]
            size = end - begin
            if tensor["dtype"] in _FLOATS:
                elements = 1
                for length in tensor["shape"]:
                    elements *= length
                size = elements * _BYTES[dtype]
            total += size
    return total / GIB


def memory_gib(folder: Path, options: EngineOptions) -> float:
    """GiB that one GPU needs to serve a model: an upper estimate, made without loading it.

    With g GPUs that share a copy (`tensor_parallel`), and in bytes:

        weights / g
        + working memory: 2 GiB + t (2 h + 3 f / g) b + 8 s v
        + keys and values of one longest prompt: 2 l ceil(k / g) d n c

    t tokens in a step and s requests at the same time (`max_num_batched_tokens`, `max_num_seqs`;
    where the profile leaves them out, vLLM's defaults for GPUs of `gpu_memory_gib`); h hidden
    size, f width of the feed-forward layers (of all experts of a token), v vocabulary, l layers,
    k heads of keys and values, d their size, n `max_model_len`, b bytes of a number (`dtype`) and
    c of one in the cache (`kv_cache_dtype`). Logits and their sorted copy are in 32 bits: 8 bytes.
    `kv_cache_gib` takes the place of the last line. Layers with a sliding window are counted like
    the others, and so is a left-out image part.

    Raises:
        ServingError: `config.json` or the weights cannot be read.
    """
    config = read_object(folder / "config.json")
    text = config.get("text_config") or config
    share, size = options.tensor_parallel, _BYTES[options.dtype]
    tokens, sequences = next(
        usual for least, usual in _BATCHES.items() if (options.gpu_memory_gib or inf) >= least
    )
    tokens = options.max_num_batched_tokens or tokens
    sequences = options.max_num_seqs or sequences
    hidden, wide = _number(folder, text, "hidden_size"), _number(folder, text, "intermediate_size")
    wide *= text.get("num_experts_per_tok") or 1
    step = tokens * (2 * hidden + 3 * wide / share) * size
    logits = 8 * sequences * _number(folder, text, "vocab_size")
    weights = weights_gib(folder, options.dtype) / share
    working = CONTEXT_GIB + (step + logits) / GIB
    return weights + working + (options.kv_cache_gib or _longest_prompt_gib(folder, text, options))


def needing(profile: Profile, model: str, models_dir: Path) -> Profile:
    """The same profile with the GPU memory that a model's folder shows it needs.

    For a model that takes another's place, whose `gpu_memory_gib` would be wrong. The profile stays
    as it is on CPUs and where the folder is not there, which is said when it is looked for.
    """
    registered = models_dir / model
    folder = registered if registered.is_dir() else Path(model).expanduser()
    if profile.device == "cpu" or not (folder / "config.json").is_file():
        return profile
    options = profile.engine(model)
    need = round(memory_gib(folder, options), 1)
    engines = {**profile.engines, model: options.model_copy(update={"gpu_memory_gib": need})}
    return profile.model_copy(update={"engines": engines})


def _longest_prompt_gib(folder: Path, text: dict[str, Any], options: EngineOptions) -> float:
    heads = _number(folder, text, "num_attention_heads")
    shared = -(-_number(folder, text, "num_key_value_heads", heads) // options.tensor_parallel)
    head = _number(folder, text, "head_dim", _number(folder, text, "hidden_size") // heads)
    size = 1 if options.kv_cache_dtype == "fp8" else _BYTES[options.dtype]
    length = options.max_model_len or _number(folder, text, "max_position_embeddings")
    layers = _number(folder, text, "num_hidden_layers")
    return 2 * layers * shared * head * length * size / GIB


def _number(folder: Path, text: dict[str, Any], key: str, default: int | None = None) -> int:
    usual = _GEMMA3.get(key, default) if text.get("model_type") == "gemma3_text" else default
    value = text.get(key) or usual
    if not isinstance(value, int):
        raise ServingError(f"{folder / 'config.json'} has no {key}; fetch the file again")
    return value


def _files(folder: Path) -> list[Path]:
    """The files of weights that are loaded: those of the index where there is one."""
    indices = sorted(folder.glob("*.safetensors.index.json"))
    named = {name for index in indices for name in read_object(index)["weight_map"].values()}
    found = sorted(folder.glob("*.safetensors"))
    if named:
        return [file for file in found if file.name in named]
    # Mistral's own copy of the same weights.
    return [file for file in found if not file.name.startswith("consolidated")] or found
