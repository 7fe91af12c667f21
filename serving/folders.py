"""Requirements for a model folder, and the files in it that decide a model's answers.

A folder is checked without torch: its JSON files are read, and only the header of each safetensors
file. A model's answers depend on weights, configuration, tokenizer and chat template; these files
make up the digest, and all others (README, licence, pickles beside the safetensors) are ignored.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from serving.errors import ServingError

DECIDING = (
    *("*.safetensors", "*.index.json", "config.json", "generation_config.json"),
    *("tokenizer.json", "tokenizer_config.json", "tokenizer.model"),
    *("special_tokens_map.json", "added_tokens.json", "merges.txt", "vocab.json", "vocab.txt"),
    *("chat_template*.jinja", "chat_template*.json", "additional_chat_templates/*.jinja"),
    *("adapter_config.json", "preprocessor_config.json", "processor_config.json"),
    # Files that sentence-transformers adds to an embedder.
    *("modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"),
    "*_Pooling/config.json",
)
"""Patterns, relative to the folder, of the files that decide a model's answers."""

_SHARD = re.compile(r"-\d{5}-of-\d{5}\.safetensors$")
# The safetensors library has the same limit.
_LONGEST_HEADER = 100_000_000
_IMPORT = "unpack a GGUF file with contested models add FILE.gguf --name NAME"


class FileRecord(BaseModel):
    """A deciding file at the time of hashing: hex digest, bytes, time of last change."""

    model_config = ConfigDict(frozen=True)

    sha256: str
    size: int
    mtime_ns: int


def check_folder(path: Path) -> None:
    """Refuse a folder that is not a safe, complete, local model folder.

    Raises:
        ServingError: The folder is missing; the weights are pickles, cut short or missing; a shard,
            `config.json` or `tokenizer.json` is missing or broken; the folder asks for its own
            Python code to be run (`auto_map`).
    """
    if not path.is_dir():
        raise ServingError(
            f"there is no model folder {path}; models are local folders and nothing is downloaded:"
            f" copy the folder to this machine; {_IMPORT}"
        )
    weights = sorted(path.glob("*.safetensors"))
    if not weights:
        raise ServingError(
            f"{path} has no safetensors file; pickle weights (.bin, .pt) can run code and are"
            f" never loaded: convert them where you trust them; {_IMPORT}"
        )
    configs = [path / "config.json", *path.glob("tokenizer_config.json")]
    if asking := next((file for file in configs if read_object(file).get("auto_map")), None):
        raise ServingError(
            f"{asking} asks for Python code from the folder to be run (auto_map), which is"
            " never done; use a model of an architecture that vLLM knows itself, or remove"
            " that entry if it does"
        )
    read_object(path / "tokenizer.json")
    _check_shards(path, weights)
    for file in weights:
        tensors(file)


def deciding_files(folder: Path) -> dict[str, Path]:
    """The files that decide the answers: name relative to the folder (with `/`) -> path, sorted."""
    files = {file for pattern in DECIDING for file in folder.glob(pattern) if file.is_file()}
    names = sorted(file.relative_to(folder).as_posix() for file in files)
    return {name: folder / name for name in names}


def fingerprint(folder: Path) -> dict[str, FileRecord]:
    """Hash every deciding file of a folder; ServingError if one cannot be read."""
    records = {}
    try:
        for name, file in deciding_files(folder).items():
            # Taken before hashing: a file that is written meanwhile then differs from its record.
            state = file.stat()
            records[name] = FileRecord(
                sha256=sha256_of(file), size=state.st_size, mtime_ns=state.st_mtime_ns
            )
    except OSError as error:
        raise ServingError(f"the model folder {folder} cannot be read: {error}") from error
    return records


def digest_of(files: Mapping[str, FileRecord]) -> str:
    """The digest of a model: SHA-256 (hex) over the sorted names and digests of its files.

    One line per file, `SHA256  NAME`, as `sha256sum` prints it; so the digest can be computed
    without this program. The folder's place and the files' times do not matter.
    """
    lines = "".join(f"{files[name].sha256}  {name}\n" for name in sorted(files))
    return hashlib.sha256(lines.encode()).hexdigest()


def sha256_of(file: Path) -> str:
    """SHA-256 (hex) of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_object(file: Path) -> dict[str, Any]:
    """The JSON object in a file; ServingError if it has none."""
    if not file.is_file():
        raise ServingError(f"{file.parent} has no {file.name}; fetch it from the model's source")
    try:
        value = json.loads(file.read_bytes())
    except (OSError, RecursionError, ValueError) as error:
        raise ServingError(f"{file} is not JSON ({error}); fetch the file again") from error
    if not isinstance(value, dict):
        raise ServingError(f"{file} holds no JSON object; fetch the file again")
    return value


def tensors(file: Path) -> dict[str, dict[str, Any]]:
    """The header of a complete safetensors file: tensor name -> its description.

    The file has 8 bytes of length, then JSON that describes each tensor, then their data.

    Raises:
        ServingError: The file is not safetensors, or is cut short or broken.
    """
    try:
        size = file.stat().st_size
        with file.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            header: dict[str, Any] = json.loads(stream.read(min(length, _LONGEST_HEADER)))
        header.pop("__metadata__", None)
        expected = 8 + length + max(tensor["data_offsets"][1] for tensor in header.values())
    except (AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        raise ServingError(
            f"{file} is not a safetensors file, perhaps a Git LFS pointer; fetch it again, or run "
            "git lfs pull in its folder"
        ) from error
    if expected != size:
        raise ServingError(
            f"{file} has {size:,} bytes where its header promises {expected:,}; fetch it again"
        )
    return header


def loaded_tensors(folder: Path) -> dict[str, tuple[Path, dict[str, Any]]]:
    """The tensors of a model that are loaded: with an index, only those in the files it names.

    Raises:
        ServingError: As `tensors`.
    """
    files = sorted(folder.glob("*.safetensors"))
    indices = sorted(folder.glob("*.safetensors.index.json"))
    named = {name for index in indices for name in read_object(index)["weight_map"].values()}
    if named:
        files = [file for file in files if file.name in named]
    else:  # without Mistral's second copy of the same weights
        files = [file for file in files if not file.name.startswith("consolidated")] or files
    return {name: (file, tensor) for file in files for name, tensor in tensors(file).items()}


def _check_shards(path: Path, weights: list[Path]) -> None:
    present = {file.name for file in weights}
    named: set[str] = set()
    for index in path.glob("*.safetensors.index.json"):
        shards = read_object(index).get("weight_map")
        if not isinstance(shards, dict) or not shards:
            raise ServingError(f"{index} has no weight_map; fetch the file again")
        named |= set(map(str, shards.values()))
    if not named and all(_SHARD.search(name) for name in present):
        named = {"model.safetensors.index.json"}
    if missing := sorted(named - present):
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise ServingError(f"{path} lacks {missing[0]}{more}, which its weights need; fetch it")
