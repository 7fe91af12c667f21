"""Serving facts from a model's folder: the memory it needs, its head, its parts."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from serving.errors import ServingError
from serving.folders import loaded_tensors, read_object
from serving.profile import EngineOptions, Profile, Role

GIB: Final = 1024**3

CONTEXT_GIB: Final = 2.0
"""Memory on each GPU for CUDA, its graphs and buffers between GPUs, by rule of thumb."""

_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "auto": 2}
_FLOATS = {"F64", "F32", "F16", "BF16"}
# Least GiB of a GPU -> vLLM's defaults for tokens in a step, and requests.
_BATCHES = {160: (16384, 1024), 70: (8192, 1024), 0: (2048, 256)}
# Values that configurations of Gemma 3 leave out.
_GEMMA3 = {
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "vocab_size": 262_208,
    "max_position_embeddings": 131_072,
}


def weights_gib(folder: Path, dtype: str) -> float:
    """GiB of all weights together, loaded in a number format; quantised ones as on disk."""
    total = 0
    for _, tensor in loaded_tensors(folder).values():
        begin, end = tensor["data_offsets"]
        loaded = math.prod(tensor["shape"]) * _BYTES[dtype]
        total += loaded if tensor["dtype"] in _FLOATS else end - begin
    return total / GIB


def memory_gib(folder: Path, options: EngineOptions) -> float:
    """GiB that one GPU needs to serve a model: an upper estimate, made without loading it.

    With g GPUs that share a copy (`tensor_parallel`), and in bytes:

        weights / g
        + working memory: 2 GiB + t (2 h + 3 f / g) b + 8 s v
        + keys and values of one longest prompt: 2 ceil(k / g) d (l n + w min(n, t + u)) c

    t tokens in a step and s requests at the same time (`max_num_batched_tokens`, `max_num_seqs`; by
    default vLLM's values for GPUs of `gpu_memory_gib`); h hidden size, f width of the feed-forward
    layers (of all experts of a token), v vocabulary; l layers, and w with a sliding window of u
    tokens (`layer_types`), k heads of keys and values, d their size, n `max_model_len`, b bytes of
    a number (`dtype`) and c of one in the cache (`kv_cache_dtype`). Logits and their sorted copy
    are in 32 bits: 8 bytes. `kv_cache_gib` replaces the last line. Layers of linear attention
    count in l, and image weights count though they are not loaded. Gemma 4 has other k and d in
    layers without a window.

    Raises:
        ServingError: `config.json` or the weights cannot be read.
    """
    return _beside_cache_gib(folder, options) + (
        options.kv_cache_gib or _longest_prompt_gib(folder, options)
    )


def cache_tokens(folder: Path, options: EngineOptions, gib: float) -> int:
    """Tokens of longest prompts that fit in the cache of a server with `gib` GiB of each GPU.

    As `memory_gib` overestimates memory, this is an underestimate.
    """
    room = options.kv_cache_gib or gib - _beside_cache_gib(folder, options)
    length = _length(folder, _text(folder), options)
    return max(0, int(room / _longest_prompt_gib(folder, options) * length))


def float32_head(folder: Path, options: EngineOptions) -> bool:
    """Whether a server computes logits in float32 from activations of fewer bits.

    In bfloat16 logits between 16 and 32 lie 0.125 apart: labels tie, and probabilities are off by
    up to 0.06. On GPUs the products are summed in float32 anyway, so keeping the sums costs
    nothing; on CPUs the head takes ten times as long. vLLM does not support it for a quantised
    head, and has no batch-invariant kernel for it.
    """
    if not options.on_gpus or options.batch_invariant or options.dtype == "float32":
        return False
    names = (name.rpartition("lm_head.") for name in loaded_tensors(folder))
    return all(kind in ("weight", "bias") for _, head, kind in names if head)


def images(folder: Path) -> bool:
    """Whether a model has a part for images or sound, which servers leave out."""
    config = read_object(folder / "config.json")
    return any(config.get(part) for part in ("vision_config", "audio_config"))


def with_model(profile: Profile, model: str, models_dir: Path, *roles: Role) -> Profile:
    """The profile with another model in these roles, run with the first role's options.

    Its GPU memory is computed, unless the profile knows the model.
    """
    options = profile.engines.get(model) or profile.engines[getattr(profile.roles, roles[0])]
    chosen = profile.roles.model_copy(update=dict.fromkeys(roles, model))
    engines = {**profile.engines, model: options}
    kept = {name: engines[name] for name in (chosen.generator, chosen.judge)}
    new = profile.model_copy(update={"roles": chosen, "engines": kept})
    return new if model in profile.engines else _needing(new, models_dir, model)


def strict(profile: Profile, models_dir: Path) -> Profile:
    """The same models, run so that an answer depends only on its request.

    32-bit floats, one sequence at a time, no shared prefixes, no compiling: slow, and for comparing
    whole runs bit by bit. On GPUs it needs about twice the memory, which is computed.
    """
    plain = {"dtype": "float32", "max_num_seqs": 1}
    plain |= {"prefix_caching": False, "enforce_eager": True}
    engines = {name: engine.model_copy(update=plain) for name, engine in profile.engines.items()}
    return _needing(profile.model_copy(update={"engines": engines}), models_dir, *engines)


def _needing(profile: Profile, models_dir: Path, *names: str) -> Profile:
    """The profile with the GPU memory of these models computed from their folders.

    A model's `gpu_memory_gib` stays unchanged on CPUs, and if the folder is missing, which is
    reported when the model is looked up.
    """
    engines = dict(profile.engines)
    for name in names:
        registered = models_dir / name
        folder = registered if registered.is_dir() else Path(name).expanduser()
        if profile.device == "cuda" and (folder / "config.json").is_file():
            need = round(memory_gib(folder, engines[name]), 1)
            engines[name] = engines[name].model_copy(update={"gpu_memory_gib": need})
    return profile.model_copy(update={"engines": engines})


def _beside_cache_gib(folder: Path, options: EngineOptions) -> float:
    """GiB that a server takes on each GPU for everything but keys and values."""
    text, share = _text(folder), options.tensor_parallel
    tokens, sequences = _batch(options)
    hidden, wide = (_number(folder, text, key) for key in ("hidden_size", "intermediate_size"))
    wide *= text.get("num_experts_per_tok") or 1
    step = tokens * (2 * hidden + 3 * wide / share) * _BYTES[options.dtype]
    logits = 8 * sequences * _number(folder, text, "vocab_size")
    return weights_gib(folder, options.dtype) / share + CONTEXT_GIB + (step + logits) / GIB


def _longest_prompt_gib(folder: Path, options: EngineOptions) -> float:
    """GiB of keys and values of one longest prompt on each of its GPUs."""
    text = _text(folder)
    heads = _number(folder, text, "num_attention_heads")
    shared = _number(folder, text, "num_key_value_heads", heads)
    head = _number(folder, text, "head_dim", _number(folder, text, "hidden_size") // heads)
    length = _length(folder, text, options)
    layers = _number(folder, text, "num_hidden_layers")
    sliding = list(text.get("layer_types") or ()).count("sliding_attention")
    window = min(length, _batch(options)[0] + (text.get("sliding_window") or length))

    def numbers(heads: int, head: int, layers: int, tokens: int) -> int:
        return 2 * -(-heads // options.tensor_parallel) * head * layers * tokens

    unwindowed = (
        text.get("num_global_key_value_heads") or shared,
        text.get("global_head_dim") or head,
    )
    size = 1 if options.kv_cache_dtype == "fp8" else _BYTES[options.dtype]
    full = numbers(*unwindowed, layers - sliding, length)
    return (full + numbers(shared, head, sliding, window)) * size / GIB


def _length(folder: Path, text: Mapping[str, Any], options: EngineOptions) -> int:
    return options.max_model_len or _number(folder, text, "max_position_embeddings")


def _batch(options: EngineOptions) -> tuple[int, int]:
    """Tokens in a step, and requests; by default vLLM's values for the GPU."""
    size = options.gpu_memory_gib or math.inf
    tokens, sequences = next(usual for least, usual in _BATCHES.items() if size >= least)
    return options.max_num_batched_tokens or tokens, options.max_num_seqs or sequences


def _text(folder: Path) -> dict[str, Any]:
    """The part of a configuration that is about the text model."""
    config = read_object(folder / "config.json")
    text: dict[str, Any] = config.get("text_config") or config
    return text


def _number(folder: Path, text: Mapping[str, Any], key: str, default: int | None = None) -> int:
    """A number of a folder's `_text`, or its model type's default if it is left out."""
    usual = _GEMMA3.get(key, default) if text.get("model_type") == "gemma3_text" else default
    # Models without dense layers may give only the experts' size.
    moe = text.get("moe_intermediate_size") if key == "intermediate_size" else None
    value = text.get(key) or moe or usual
    if not isinstance(value, int):
        raise ServingError(f"{folder / 'config.json'} has no {key}; fetch the file again")
    return value
