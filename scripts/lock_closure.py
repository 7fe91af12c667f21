"""Are the lock files whole: does each hold everything that the packages in it require?

`pip install --no-deps` brings what a lock names and nothing else, so what a lock lacks is missed on
a fresh machine, at some import. What is left out on purpose stands in requirements/exceptions.toml,
with the reason.

    python scripts/lock_closure.py

prints each fault on a line and exits with 1, or says how many requirements hold and exits with 0.
"""

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

REQUIREMENTS = Path(__file__).resolve().parents[1] / "requirements"
EXCEPTIONS = REQUIREMENTS / "exceptions.toml"
LOCKS = {"cpu": ("cpu",), "gpu": ("gpu",), "dev": ("cpu", "dev")}
"""Name -> the files that are installed together."""

PYTHONS = ("3.11", "3.12", "3.13")

Requires = Mapping[tuple[NormalizedName, Version], Sequence[str]]
"""(package, version) -> its `Requires-Dist` lines."""


@dataclass(frozen=True)
class Pin:
    """A line of a lock: a package, what it is pinned to, and the line with its marker."""

    name: NormalizedName
    version: Version
    requirement: Requirement

    def counts(self, there: Mapping[str, str]) -> bool:
        """Whether the line is installed in an environment."""
        marker = self.requirement.marker
        return marker is None or marker.evaluate(dict(there))


@dataclass(frozen=True)
class Fault:
    """A requirement of a package that a lock does not meet on some versions of Python.

    `found` is the version that is locked, None where the lock lacks the package.
    """

    lock: str
    package: NormalizedName
    requirement: Requirement
    found: Version | None
    pythons: tuple[str, ...]

    def __str__(self) -> str:
        """One line for a person."""
        lacks = "which it lacks" if self.found is None else f"where it has {self.found}"
        return (
            f"requirements/{self.lock}.txt: {self.package} requires {self.requirement}, {lacks} "
            f"(Python {', '.join(self.pythons)})"
        )


@dataclass(frozen=True)
class Exemption:
    """A requirement that is not met on purpose in some lock files."""

    package: NormalizedName
    requires: NormalizedName
    locks: tuple[str, ...]
    reason: str


def pins(text: str) -> list[Pin]:
    """The lines of a lock; ValueError if one pins no version."""
    found = []
    for raw in text.splitlines():
        line = raw.partition("#")[0].strip()
        if not line:
            continue
        requirement = Requirement(line)
        exact = [each for each in requirement.specifier if each.operator == "=="]
        if len(exact) != 1 or len(requirement.specifier) != 1:
            raise ValueError(f"'{line}' pins no version; write NAME==VERSION")
        name = canonicalize_name(requirement.name)
        found.append(Pin(name, Version(exact[0].version), requirement))
    return found


def exemptions(text: str) -> list[Exemption]:
    """The entries of exceptions.toml."""
    return [
        Exemption(
            package=canonicalize_name(each["package"]),
            requires=canonicalize_name(name),
            locks=tuple(each["locks"]),
            reason=each["reason"],
        )
        for each in tomllib.loads(text)["exception"]
        for name in each["requires"]
    ]


def faults(lock: str, locked: Sequence[Pin], requires: Requires) -> list[Fault]:
    """What a lock lacks or violates, on x86-64 Linux.

    A package whose metadata is not in `requires` is passed over.
    """
    where: dict[tuple[NormalizedName, str, Version | None], dict[str, None]] = {}
    for python in PYTHONS:
        there = environment(python)
        here = {pin.name: pin for pin in locked if pin.counts(there)}
        for package, requirement in _required(here, requires, there):
            pin = here.get(canonicalize_name(requirement.name))
            if pin is None or not requirement.specifier.contains(pin.version, True):
                version = None if pin is None else pin.version
                where.setdefault((package, str(requirement), version), {})[python] = None
    return [
        Fault(lock, package, Requirement(line), version, tuple(found))
        for (package, line, version), found in where.items()
    ]


def environment(python: str) -> dict[str, str]:
    """What markers are evaluated in: a version of Python on x86-64 Linux."""
    return {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "implementation_name": "cpython",
        "implementation_version": f"{python}.0",
        "platform_python_implementation": "CPython",
        "os_name": "posix",
        "sys_platform": "linux",
        "platform_system": "Linux",
        "platform_machine": "x86_64",
        "platform_release": "",
        "platform_version": "",
    }


def _required(
    here: Mapping[NormalizedName, Pin], requires: Requires, there: Mapping[str, str]
) -> Iterator[tuple[NormalizedName, Requirement]]:
    """Who requires what, with the extras of a package that others require (`NAME[extra]`)."""
    waiting = [(pin.name, extra) for pin in here.values() for extra in pin.requirement.extras]
    waiting += [(name, "") for name in here]
    known = set(waiting)
    while waiting:
        package, extra = waiting.pop()
        for line in requires.get((package, here[package].version), ()):
            requirement = Requirement(line)
            marker = requirement.marker
            if marker is not None and not marker.evaluate({**there, "extra": extra}):
                continue
            yield package, requirement
            name = canonicalize_name(requirement.name)
            asked = {(name, each) for each in requirement.extras if name in here} - known
            waiting += asked
            known |= asked


def installed(locked: Iterable[Pin]) -> Requires:
    """Metadata of the packages that this environment has in the very version of the lock."""
    wanted = {(pin.name, pin.version) for pin in locked}
    here = {
        (canonicalize_name(each.metadata["Name"]), Version(each.version)): list(each.requires or ())
        for each in distributions()
        if each.metadata["Name"]
    }
    return {key: lines for key, lines in here.items() if key in wanted}


def indexed(locked: Iterable[Pin]) -> Requires:
    """Metadata as pip's index has it; nothing is installed. OSError says what pip could not read.

    Lines of all versions of Python are asked for, of which some pin the same package differently.
    """
    found: dict[tuple[NormalizedName, Version], Sequence[str]] = {}
    left = list(dict.fromkeys((pin.name, pin.version) for pin in locked))
    while left:
        now = dict(left)
        found |= _reported([f"{name}=={version}" for name, version in now.items()])
        left = [each for each in left if each not in now.items()]
    return found


def _reported(lines: list[str]) -> dict[tuple[NormalizedName, Version], Sequence[str]]:
    index = os.environ.get("CONTESTED_TORCH_INDEX")  # for the CPU build of torch
    with tempfile.TemporaryDirectory() as folder:
        asked, report = Path(folder) / "lines.txt", Path(folder) / "report.json"
        asked.write_text("\n".join(lines), "utf-8")
        # fast-deps reads the metadata alone out of wheels of a gigabyte.
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--no-deps"),
                *("--ignore-installed", "--disable-pip-version-check", "--retries", "1"),
                *("--use-feature=fast-deps", "--report", str(report), "-r", str(asked)),
                *(("--extra-index-url", index) if index else ()),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or not report.exists():
            raise OSError((done.stderr.strip().splitlines() or ["pip failed"])[-1])
        packages: list[dict[str, Any]] = json.loads(report.read_text("utf-8"))["install"]
    metadata = [each["metadata"] for each in packages]
    return {
        (canonicalize_name(each["name"]), Version(each["version"])): each.get("requires_dist", [])
        for each in metadata
    }


def unexplained(
    found: Iterable[Fault], allowed: Sequence[Exemption]
) -> tuple[list[Fault], list[Exemption]]:
    """Faults that no exemption covers, and exemptions that cover no fault."""
    left: list[Fault] = []
    used: set[Exemption] = set()
    for fault in found:
        wanted = (fault.package, canonicalize_name(fault.requirement.name))
        files = set(LOCKS[fault.lock])
        cover = {e for e in allowed if (e.package, e.requires) == wanted and files & {*e.locks}}
        used |= cover
        if not cover:
            left.append(fault)
    return left, [each for each in allowed if each not in used]


def main() -> int:
    """Check every lock; 1 if one is not whole."""
    found: list[Fault] = []
    known = 0
    for lock, names in LOCKS.items():
        files = [(REQUIREMENTS / f"{name}.txt").read_text("utf-8") for name in names]
        locked = [pin for text in files for pin in pins(text)]
        here = installed(locked)
        elsewhere = indexed(pin for pin in locked if (pin.name, pin.version) not in here)
        requires = {**here, **elsewhere}
        known += sum(map(len, requires.values()))
        found += faults(lock, locked, requires)
    left, idle = unexplained(found, exemptions(EXCEPTIONS.read_text("utf-8")))
    print(*left, sep="\n", end="\n" if left else "")
    for each in idle:
        print(
            f"requirements/exceptions.toml: {each.package} -> {each.requires} is no fault any more"
        )
    if left or idle:
        return 1
    print(f"{known:,} requirements hold, on Python {', '.join(PYTHONS)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
