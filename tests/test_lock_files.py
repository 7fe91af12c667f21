"""The lock files hold what the project asks for, and nothing that must not come in."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
LEFT_OUT = {"torchvision", "torchaudio", "torchcodec", "sentry-sdk", "fastapi-cloud-cli"}


def pins(*names: str) -> dict[str, Version]:
    found: dict[str, Version] = {}
    for name in names:
        for line in (ROOT / "requirements" / f"{name}.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                package, _, version = line.partition("==")
                assert version, f"{name}.txt does not pin {line}"
                assert canonicalize_name(package) not in found, f"{package} is pinned twice"
                found[canonicalize_name(package)] = Version(version)
    return found


@pytest.mark.parametrize("engine", ["cpu", "gpu"])
def test_every_dependency_is_pinned_to_a_version_that_satisfies_it(engine: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = project["dependencies"] + extras[engine] + extras["samples"] + extras["dev"]
    locked = pins(engine, "dev")
    for line in wanted:
        requirement = Requirement(line)
        version = locked.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement.name} is not pinned"
        assert requirement.specifier.contains(version), f"{line} but {version} is pinned"


@pytest.mark.parametrize("engine", ["cpu", "gpu"])
def test_what_must_not_come_in_is_left_out(engine: str) -> None:
    assert not LEFT_OUT & pins(engine, "dev").keys()


def test_both_machines_run_the_same_versions_but_for_the_engines_own() -> None:
    cpu, gpu = pins("cpu"), pins("gpu")
    differing = {name for name in cpu.keys() & gpu.keys() if cpu[name] != gpu[name]}
    assert differing == {"apache-tvm-ffi", "setuptools", "torch", "triton"}
    assert cpu["torch"].base_version == gpu["torch"].base_version
