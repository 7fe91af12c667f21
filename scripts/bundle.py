"""A bundle: all that a machine without a network needs to install this project, in one folder.

    MANIFEST.json   what is in it, and for which machines
    contested/      this project
    wheels/         the packages of a lock
    models/NAME/    model folders
    profiles/       profiles that do not come with the project

scripts/fetch_models.py makes it; here it is checked and its models are registered. This needs
nothing but Python, since nothing else is installed yet. What it says goes to standard error.

    python scripts/bundle.py check BUNDLE [--without-models]    prints the engine and pip's folder
    python scripts/bundle.py register BUNDLE                    and looks over the installation
"""

import argparse
import hashlib
import json
import platform
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MANIFEST = "MANIFEST.json"
PROJECT, WHEELS, MODELS, PROFILES = "contested", "wheels", "models", "profiles"
USER_ERROR = 2


class BundleError(Exception):
    """A fault that a person can mend, in one line."""


@dataclass(frozen=True)
class File:
    """Size in bytes and SHA-256 (hex) of a file."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Carried:
    """A model: a folder with the digest that `contested models` gives it, or a GGUF file.

    `source` is the folder, repository and revision, or package that it came from. The GGUF is that
    of an installed `package`, or in the wheels of `parts` in the model's folder.
    """

    source: str
    digest: str | None = None
    package: str | None = None
    parts: str | None = None


@dataclass(frozen=True)
class Manifest:
    """What a bundle holds and which machines it is for.

    Attributes:
        engine: "cpu" or "gpu".
        python: Minor version, e.g. "3.12".
        machine: As `platform.machine()` has it.
        glibc: The oldest that the wheels run with, e.g. "2.34"; "0" if they do not mind.
        lock: SHA-256 of the requirements file that the wheels are of.
        commit: Of the project.
        profile: Its name, or its file within the bundle; None if the bundle is for none.
        models: By name.
        files: By path within the bundle, the manifest itself left out.
    """

    engine: str
    python: str
    machine: str
    glibc: str
    lock: str
    commit: str
    profile: str | None
    models: dict[str, Carried]
    files: dict[str, File]

    @property
    def size(self) -> str:
        """How much there is to copy."""
        total = sum(file.size for file in self.files.values())
        return f"{len(self.files):,} files, {total / 1e9:.2f} GB"


def say(line: str) -> None:
    """Tell the person who waits."""
    print(line, file=sys.stderr)


def sha256_of(path: Path) -> str:
    """SHA-256 (hex) of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def numbers(version: str) -> tuple[int, ...]:
    """A version for comparing: "2.35" as (2, 35)."""
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def inventory(bundle: Path) -> dict[str, File]:
    """Hash every file of a bundle but its manifest."""
    paths = sorted(path for path in bundle.rglob("*") if path.is_file())
    return {
        path.relative_to(bundle).as_posix(): File(path.stat().st_size, sha256_of(path))
        for path in paths
        if path != bundle / MANIFEST
    }


def write(bundle: Path, manifest: Manifest) -> None:
    """Write the manifest: from now on the bundle counts as whole."""
    fresh = bundle / f".{MANIFEST}"
    fresh.write_text(json.dumps(asdict(manifest), indent=1, sort_keys=True) + "\n", "utf-8")
    fresh.replace(bundle / MANIFEST)


def read(bundle: Path) -> Manifest:
    """The manifest of a bundle. Raises BundleError where there is none that can be read."""
    path = bundle / MANIFEST
    if not path.is_file():
        raise BundleError(
            f"{bundle} has no {MANIFEST}: it is no bundle, or making it was interrupted; "
            "repeat scripts/fetch_models.sh, or name the bundle's folder"
        )
    try:
        content = json.loads(path.read_bytes())
        models = {name: Carried(**each) for name, each in content.pop("models").items()}
        files = {name: File(**each) for name, each in content.pop("files").items()}
        return Manifest(**content, models=models, files=files)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BundleError(f"{path} is damaged ({error}); copy the bundle again") from error


def check_files(bundle: Path, manifest: Manifest, left_out: Iterable[str] = ()) -> None:
    """Compare every file with the manifest; `left_out` are folders of the bundle.

    Raises:
        BundleError: A file is missing, was changed or, among wheels and models, does not belong.
    """
    skipped = tuple(f"{folder}/" for folder in left_out)
    files = {name: f for name, f in manifest.files.items() if not name.startswith(skipped)}
    faults = [
        f"{name} is missing"
        if not (bundle / name).is_file()
        else f"{name} has {(bundle / name).stat().st_size:,} bytes in place of {file.size:,}"
        for name, file in files.items()
        if not (bundle / name).is_file() or (bundle / name).stat().st_size != file.size
    ]
    # pip would install another wheel of the same version, vLLM would read another weights file.
    for folder in {WHEELS, MODELS}.difference(left_out):
        there = (path.relative_to(bundle).as_posix() for path in (bundle / folder).rglob("*.*"))
        faults += [
            f"{name} is not in the manifest"
            for name in there
            if name not in files and (bundle / name).is_file()
        ]
    faults = faults or [
        f"{name} was changed"
        for name, file in files.items()
        if sha256_of(bundle / name) != file.sha256
    ]
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise BundleError(f"{bundle}: {faults[0]}{more}; copy the bundle again")


def check_machine(manifest: Manifest) -> None:
    """Raise BundleError where this machine, its Python or this project is not what it is for."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    if here != manifest.python:
        raise BundleError(
            f"the bundle is for Python {manifest.python}, {sys.executable} is Python {here}; name"
            f" another in CONTESTED_PYTHON, or make a bundle with --python {here}"
        )
    if platform.machine() != manifest.machine:
        raise BundleError(
            f"the bundle is for {manifest.machine}, this machine is {platform.machine()}"
        )
    library, version = platform.libc_ver()
    if library == "glibc" and numbers(version) < numbers(manifest.glibc):
        raise BundleError(
            f"the bundle needs glibc {manifest.glibc}, this system has {version}; make one with"
            f" --glibc {version}"
        )
    if sha256_of(ROOT / "requirements" / f"{manifest.engine}.txt") != manifest.lock:
        raise BundleError(
            f"{ROOT} has another requirements/{manifest.engine}.txt than the bundle; run the"
            f" bundle's own {PROJECT}/scripts/install_offline.sh"
        )


def check(bundle: Path, left_out: Iterable[str]) -> None:
    """Check all; print the engine and the URL of the wheels."""
    manifest = read(bundle)
    check_machine(manifest)
    say(f"checking the bundle ({manifest.size})")
    check_files(bundle, manifest, left_out)
    say(f"the bundle is whole; its manifest has the SHA-256 {sha256_of(bundle / MANIFEST)}")
    print(manifest.engine, (bundle / WHEELS).as_uri())


def register(bundle: Path) -> int:
    """Register the models of a bundle with the installed program, then ask its doctor."""
    manifest = read(bundle)
    for name, model in manifest.models.items():
        folder = str(bundle / MODELS / name)
        line = ["add", folder]
        if model.package:
            line = ["add", "--package", model.package]
        elif model.parts:
            line = ["add", "--package", model.parts, "--wheels", folder]
        done = subprocess.run(["contested", "models", *line, "--name", name], check=False)
        if done.returncode:
            return done.returncode
    profile = manifest.profile
    if profile is not None and profile.endswith(".toml"):
        profile = str(bundle / profile)
    chosen = ["--profile", profile] if profile is not None else []
    return subprocess.run(["contested", "doctor", *chosen], check=False).returncode


def main() -> int:
    """Read the command line; 2 for what a person can mend."""
    parser = argparse.ArgumentParser(prog="scripts/bundle.py", description="Check a bundle.")
    parser.add_argument("job", choices=["check", "register"])
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--without-models", action="store_true")
    asked = parser.parse_args()
    bundle = asked.bundle.absolute()
    try:
        if asked.job == "register":
            return register(bundle)
        check(bundle, [MODELS] if asked.without_models else [])
    except BundleError as error:
        say(f"contested: {error}")
        return USER_ERROR
    except OSError as error:
        say(f"contested: {error.filename}: {error.strerror}; is the bundle's disk still there?")
        return USER_ERROR
    return 0


if __name__ == "__main__":
    sys.exit(main())
