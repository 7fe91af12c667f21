"""The environment in which no library phones home, downloads a file or loads foreign code."""

import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path

OFFLINE: Mapping[str, str] = {
    # Downloads are off: a model is a folder, or it does not exist.
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_EVALUATE_OFFLINE": "1",
    "VLLM_USE_MODELSCOPE": "False",
    # Telemetry is off.
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "OTEL_SDK_DISABLED": "true",
    "VLLM_DO_NOT_TRACK": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "WANDB_MODE": "disabled",
    # A tokenizer used before a fork would otherwise warn or hang.
    "TOKENIZERS_PARALLELISM": "false",
}
"""Set in this process and in every server."""

SERVER: Mapping[str, str] = {
    # No plugins, so that vLLM loads no code of other packages.
    "VLLM_PLUGINS": "",
    "VLLM_ALLOW_INSECURE_SERIALIZATION": "0",
    "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "0",
    "VLLM_SERVER_DEV_MODE": "0",
    # The Rust front end would not check the key as ours does.
    "VLLM_USE_RUST_FRONTEND": "0",
    # Otherwise vLLM finds "its" address by opening a socket towards a public one, and its
    # processes then talk to each other over that address.
    "VLLM_HOST_IP": "127.0.0.1",
    # gpt-oss writes a date into every prompt; this is that of `serving.tokens`, not today's.
    "VLLM_SYSTEM_START_DATE": "2026-01-01",
    "VLLM_DISABLE_LOG_LOGO": "1",
    "VLLM_LOGGING_COLOR": "0",
    "NO_COLOR": "1",
    "PYTHONUNBUFFERED": "1",
    # `python -m` would otherwise import any module that lies in the working directory.
    "PYTHONSAFEPATH": "1",
}
"""Set in servers only."""

SPINS = "20000"
"""GOMP_SPINCOUNT: makes waiting OpenMP threads yield their core quickly. On a busy machine,
spinning threads delay those they wait for: on two busy cores a server wrote 1.5 tokens/s instead of
39, and training ran at 0.6 times its usual speed."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")

# Variables that would lead a server elsewhere: proxies, other hubs, tokens, logging or engine
# settings that the profile does not show.
_FOREIGN = {
    *("http_proxy", "https_proxy", "all_proxy", "ftp_proxy"),
    *("hf_endpoint", "hf_token", "hugging_face_hub_token", "openai_api_key", "contested_api_key"),
    *("pythonstartup", "pythonwarnings"),
}

# Where vLLM may write; these do not affect how it runs.
_PLACES = {"VLLM_CACHE_ROOT", "VLLM_CONFIG_ROOT"}


def go_offline() -> None:
    """Keep this process, and whatever it starts, offline, silent, and considerate of others.

    Call it before importing any library that reads these variables, above all huggingface_hub and
    torch.
    """
    os.environ.update(OFFLINE)
    os.environ.setdefault("GOMP_SPINCOUNT", SPINS)
    _exempt_loopback(os.environ)


def server_environment() -> dict[str, str]:
    """The environment for a vLLM server, without variables that would lead it to another machine.

    Inherited `VLLM_*` settings are dropped too: the profile alone says how an engine runs, so that
    its record in a run folder is complete.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in _PLACES
        or (name.lower() not in _FOREIGN and not name.startswith(("VLLM_", "OTEL_")))
    }
    kept |= {**OFFLINE, **SERVER, **module_path()}
    _exempt_loopback(kept)
    return kept


def module_path() -> dict[str, str]:
    """PYTHONPATH by which a process that this one starts finds this package."""
    root = str(Path(__file__).absolute().parent.parent)
    inherited = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join([root, inherited] if inherited else [root])}


def _exempt_loopback(environment: MutableMapping[str, str]) -> None:
    """Add the loopback addresses to those that are reached without a proxy."""
    for name in ("NO_PROXY", "no_proxy"):
        hosts = [host for host in environment.get(name, "").split(",") if host]
        environment[name] = ",".join(hosts + [host for host in LOOPBACK if host not in hosts])
