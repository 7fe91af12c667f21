"""Makes requirements/*.txt anew; called by scripts/lock.sh, which brings uv and packaging along."""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from lock_closure import (
    EXCEPTIONS,
    PYTHONS,
    REQUIREMENTS,
    Exemption,
    Pin,
    environment,
    exemptions,
    faults,
    indexed,
    pins,
    unexplained,
)
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName
from packaging.version import Version

PROJECT = REQUIREMENTS.parent / "pyproject.toml"

HEADERS = {
    "cpu": "Everything a CPU machine needs",
    "gpu": "Everything a machine with NVIDIA GPUs needs",
    "dev": "What tests and checks need besides cpu.txt or gpu.txt",
}

HOW = (
    "pinned by scripts/lock.sh.\n"
    "# Installed with --no-deps: what is left out on purpose, and why, stands in exceptions.toml."
)


def compiled(
    extras: Iterable[str],
    known: str,
    *,
    excluded: Iterable[str],
    further: Iterable[str],
    options: Iterable[str],
) -> list[Pin]:
    """What uv resolves the project's extras to, for all platforms and Pythons.

    Versions of the lock `known` are kept where they can be; `excluded` packages are left out with
    all that only they require. SystemExit where uv cannot resolve them, and has said why.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {"lock": known, "left-out": "\n".join(excluded), "further": "\n".join(further)}
        for file, text in files.items():
            (folder / f"{file}.txt").write_text(text + "\n", "utf-8")
        line = [
            *("uv", "pip", "compile", "--quiet", "--universal", "--python-version", PYTHONS[0]),
            *("--no-header", "--no-annotate", "--index-strategy", "unsafe-best-match"),
            *("--excludes", str(folder / "left-out.txt"), "-o", str(folder / "lock.txt"), *options),
            *(f"--extra={extra}" for extra in extras),
            *(str(PROJECT), str(folder / "further.txt")),
        ]
        done = subprocess.run(line, stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            sys.exit(done.returncode)
        return pins((folder / "lock.txt").read_text("utf-8"))


def closed(
    lock: str,
    known: str,
    allowed: list[Exemption],
    options: list[str],
    read: dict[tuple[NormalizedName, Version], Sequence[str]],
) -> list[Pin]:
    """A lock without a fault. uv reads one file of each package; another may require more."""
    here = [each for each in allowed if lock in each.locks]
    further: list[str] = []
    while True:
        locked = compiled(
            (lock, "samples"),
            known,
            excluded=(each.requires for each in here),
            further=further,
            options=options,
        )
        counted = [pin for pin in locked if any(pin.counts(environment(p)) for p in PYTHONS)]
        read |= indexed(pin for pin in counted if (pin.name, pin.version) not in read)
        left, _ = unexplained(faults(lock, counted, read), here)
        fresh = [str(each.requirement).partition(";")[0] for each in left]
        if not fresh:
            return counted
        if set(fresh) <= set(further):
            sys.exit("\n".join(map(str, left)))
        further += fresh


def written(locked: Iterable[Pin]) -> str:
    """The lines of a lock: a marker only where the versions of Python differ."""
    versions: dict[str, dict[str, SpecifierSet]] = {}
    for pin in locked:
        for python in PYTHONS:
            if pin.counts(environment(python)):
                versions.setdefault(pin.name, {})[python] = pin.requirement.specifier
    lines = []
    for name, by_python in sorted(versions.items()):
        for version in dict.fromkeys(by_python.values()):
            where = [python for python in PYTHONS if by_python.get(python) == version]
            lines.append(f"{name}{version}{_marker(where)}\n")
    return "".join(lines)


def _marker(pythons: list[str]) -> str:
    first, last = pythons[0], pythons[-1]
    bounds = [f'python_version >= "{first}"'] if first != PYTHONS[0] else []
    bounds += [f'python_version <= "{last}"'] if last != PYTHONS[-1] else []
    return f" ; {' and '.join(bounds)}" if bounds else ""


def main() -> None:
    """Write the three lock files."""
    parser = argparse.ArgumentParser(
        prog="scripts/lock.sh",
        description="Make requirements/cpu.txt, gpu.txt and dev.txt anew from pyproject.toml.",
        epilog="Pinned versions are kept where they still fit. Options it does not know go to uv.",
    )
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    asked, options = parser.parse_known_args()
    allowed = exemptions(EXCEPTIONS.read_text("utf-8"))

    def before(name: str) -> str:
        path = REQUIREMENTS / f"{name}.txt"
        return "" if asked.upgrade or not path.exists() else path.read_text("utf-8")

    # PyTorch's CPU index has builds that would satisfy the GPU lock, too.
    index = os.environ.get("CONTESTED_TORCH_INDEX")
    on_cpu = [*options, *(["--extra-index-url", index] if index else [])]
    made: dict[str, list[Pin]] = {}
    read: dict[tuple[NormalizedName, Version], Sequence[str]] = {}
    for lock in ("cpu", "gpu"):
        # Both engines run on the same versions of what they share.
        kept = before(lock) or written(made.get("cpu", []))
        made[lock] = closed(lock, kept, allowed, on_cpu if lock == "cpu" else options, read)
    known = {pin.name for pin in made["cpu"]}
    everything = compiled(
        ("cpu", "samples", "dev"),
        written(made["cpu"]) + before("dev"),
        excluded=(each.requires for each in allowed if "cpu" in each.locks),
        further=[],
        options=on_cpu,
    )
    made["dev"] = [pin for pin in everything if pin.name not in known]
    together = made["cpu"] + made["dev"]
    read |= indexed(pin for pin in together if (pin.name, pin.version) not in read)
    if left := unexplained(faults("dev", together, read), allowed)[0]:
        sys.exit("\n".join(map(str, left)))
    for name, locked in made.items():
        text = f"# {HEADERS[name]}, {HOW}\n{written(locked)}"
        (REQUIREMENTS / f"{name}.txt").write_text(text, "utf-8")
        print(f"requirements/{name}.txt: {len(pins(text))} packages")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"scripts/lock.sh: the index cannot be read: {error}")
