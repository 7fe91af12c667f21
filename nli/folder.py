"""Checks of a cross-encoder folder, and the digest of the files that decide answers; no torch."""

import errno
import gzip
import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from nli.errors import TaggerError
from nli.labels import label_order

CALIBRATION = "calibration.json"

LARGEST_MB = 2048
"""Size of the largest file that is read into memory."""

DECIDING = (
    *("*.safetensors", "*.safetensors.index.json", "config.json", CALIBRATION),
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.txt", "vocab.json", "merges.txt", "*.model"),
)
"""Patterns of the files that decide a tagger's answers."""

_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


def read_whole(file: Path) -> bytes:
    """The bytes of a file or pipe, unpacked if its name ends in ".gz".

    A named pipe without a writer counts as empty, without waiting for one.

    Raises:
        OSError: It cannot be read, is a device, or has more than `LARGEST_MB`.
        EOFError, zlib.error: It is not complete gzip data.
    """
    large = OSError(errno.EFBIG, f"it has more than {LARGEST_MB:,} MB")
    with open(file, "rb", opener=lambda name, how: os.open(name, how | os.O_NONBLOCK)) as raw:
        status = os.fstat(raw.fileno())
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode)):
            raise OSError(errno.EINVAL, "it is a device")
        if status.st_size >> 20 > LARGEST_MB:
            raise large
        os.set_blocking(raw.fileno(), True)
        content = gzip.GzipFile(fileobj=raw) if file.suffix == ".gz" else raw
        parts = [*islice(iter(partial(content.read, 1 << 20), b""), LARGEST_MB + 1)]
    if len(parts) > LARGEST_MB:
        raise large
    return b"".join(parts)


def write_whole(file: Path, content: bytes) -> None:
    """Write a file in one step, whole or not at all."""
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        fresh.unlink(missing_ok=True)
        with fresh.open("xb") as stream:  # a new file, not one that a link leads to
            stream.write(content)
        fresh.replace(file)
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """A folder to write into, which is renamed to `out` at the end, or removed on failure.

    Raises:
        TaggerError: `out` exists.
    """
    if out.exists():
        raise TaggerError(f"{out} exists; name a new folder")
    staged = out.with_name(f".{out.name}.partial")
    shutil.rmtree(staged, ignore_errors=True)
    try:
        staged.mkdir(parents=True)
        yield staged
        staged.rename(out)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def check_folder(folder: Path) -> dict[str, Any]:
    """The config of a cross-encoder folder that is safe, local and has three named labels.

    Raises:
        TaggerError: As `check_files`; it is not a classifier; its labels are not three known ones.
    """
    config = check_files(folder)
    _check_modules(folder)
    architectures = config.get("architectures") or ["none named"]
    if not str(architectures[0]).endswith("ForSequenceClassification"):
        raise TaggerError(
            f"{folder} is not a cross-encoder: its architecture ({architectures[0]}) has no "
            "classifier on top; fine-tune it first, or use a model that was trained on NLI"
        )
    try:
        label_order(config)
    except TaggerError as error:
        raise TaggerError(f"{folder / 'config.json'}: {error}") from None
    return config


def check_files(folder: Path) -> dict[str, Any]:
    """Refuse a folder that is not a safe, local transformer; a classifier is optional.

    Returns:
        Its `config.json`.

    Raises:
        TaggerError: The folder does not exist (or is a name on a hub); the weights are pickles,
            missing or an adapter's; it asks for its own Python code to be run; it has no tokenizer.
    """
    if not folder.is_dir():
        raise TaggerError(_no_folder(folder))
    try:
        if (folder / "adapter_config.json").exists():
            raise TaggerError(
                f"{folder} holds an adapter, which needs its base; name the tagger of both,"
                " which contested lab train leaves in its folder 'tagger'"
            )
        if not any(folder.glob("*.safetensors")):
            raise TaggerError(_no_weights(folder))
        config = read_object(folder / "config.json")
        for file in (folder / "config.json", *folder.glob("tokenizer_config.json")):
            if read_object(file).get("auto_map"):
                raise TaggerError(
                    f"{file} asks for Python code from the folder to be run (auto_map), which is"
                    " never done; use a model of an architecture that transformers knows"
                )
        if not any(any(folder.glob(pattern)) for pattern in _TOKENIZERS):
            raise TaggerError(f"{folder} has no tokenizer.json; copy it from the model's source")
    except OSError as error:
        raise _unreadable(folder, error) from error
    return config


def folder_digest(folder: Path) -> str:
    """The identity of a tagger: SHA-256 (hex) over names and digests of its deciding files.

    One line per file, `SHA256  NAME` as `sha256sum` prints it, sorted by name, so anyone can
    compute it without this program. The folder's location and dates do not matter, nor do files
    that only describe it (a card, training arguments).

    Raises:
        TaggerError: A file cannot be read.
    """
    return _digest(folder, DECIDING)


def weights_digest(folder: Path) -> str:
    """The digest without the calibration, by which a calibration names its weights."""
    return _digest(folder, [pattern for pattern in DECIDING if pattern != CALIBRATION])


def sha256_of(file: Path) -> str:
    """SHA-256 (hex) of a file; TaggerError if it cannot be read."""
    try:
        state = file.stat()
        return _sha256(file, state.st_ino, state.st_size, state.st_mtime_ns)
    except OSError as error:
        raise _unreadable(file, error) from error


@lru_cache(maxsize=64)  # a page looks up the tagger for every task
def _sha256(file: Path, *_state: int) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _digest(folder: Path, patterns: Iterable[str]) -> str:
    files = {file.name: file for pattern in patterns for file in folder.glob(pattern)}
    lines = "".join(f"{sha256_of(files[name])}  {name}\n" for name in sorted(files))
    return hashlib.sha256(lines.encode()).hexdigest()


def _unreadable(path: Path, error: OSError) -> TaggerError:
    return TaggerError(f"{path} cannot be read ({error.strerror}); fix that first")


def read_object(file: Path) -> dict[str, Any]:
    """The JSON object in a file of a model's folder; TaggerError if it has none."""
    if not file.is_file():
        raise TaggerError(f"{file.parent} has no {file.name}; copy it from the model's source")
    try:
        value = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise TaggerError(f"{file} is not JSON ({error}); fetch the file again") from error
    if not isinstance(value, dict):
        raise TaggerError(f"{file} holds no JSON object; fetch the file again")
    return value


def _check_modules(folder: Path) -> None:
    """Refuse a sentence-transformers folder with more modules, which would be ignored."""
    file = folder / "modules.json"
    if not file.is_file():
        return
    try:
        paths = [module["path"] for module in json.loads(file.read_bytes())]
    except OSError as error:
        raise _unreadable(file, error) from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise TaggerError(f"{file} does not list modules; fetch the file again") from error
    if paths != [""]:
        others = ", ".join(filter(None, paths))
        raise TaggerError(
            f"{file} names modules besides the transformer itself ({others});"
            " use a cross-encoder whose logits come from its transformer alone"
        )


def _no_folder(path: Path) -> str:
    if path.is_file():
        return f"{path} is a file; a tagger is a folder with safetensors, config.json and tokenizer"
    if _HUB_NAME.fullmatch(str(path)):
        return (
            f"'{path}' is not a folder here. If it is a name on a model hub: models are local "
            "folders and nothing is downloaded; copy the model's folder here and name that"
        )
    return f"the folder {path} does not exist; check the path"


def _no_weights(folder: Path) -> str:
    pickles = sorted(file.name for file in folder.iterdir() if file.suffix in _PICKLES)
    if pickles:
        return (
            f"{folder} has only pickle weights ({pickles[0]}), which can run code when they are"
            " loaded; use the model's safetensors, or convert it where you trust it"
        )
    return f"{folder} has no safetensors file; a tagger is a folder with its weights as safetensors"
