"""Files that are written whole or not at all."""

import os
import subprocess
from pathlib import Path

import pytest

from pipelines.errors import InputError
from pipelines.files import check_writable, file_digest, replace_text


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("file.txt").write_text("mine")
    Path("folder").mkdir()
    return tmp_path


def everything(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


@pytest.mark.parametrize("path", [".", "..", "/", "folder", "folder/.."])
def test_a_folder_is_no_file(path: str, folder: Path) -> None:
    before = everything(folder)
    for refuses in (check_writable, lambda place: replace_text(place, "text")):
        with pytest.raises(InputError, match=r"cannot be written \(it is a folder\); name a file"):
            refuses(Path(path))
    assert everything(folder) == before


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("file.txt/new.txt", "a part of its path is a file, not a folder"),
        ("file.txt/deep/new.txt", "a part of its path is a file, not a folder"),
        ("/proc/new.txt", "No such file or directory"),
        ("new/" + 300 * "x", "File name too long"),
    ],
)
def test_what_cannot_be_written_is_said_before_and_then(path: str, why: str, folder: Path) -> None:
    for refuses in (check_writable, lambda place: replace_text(place, "text")):
        with pytest.raises(InputError) as raised:
            refuses(Path(path))
        assert str(raised.value) == (f"{path} cannot be written ({why}); choose a writable folder")
    assert Path("file.txt").read_text() == "mine"


def test_looking_leaves_nothing_and_writing_makes_folders(folder: Path) -> None:
    before = everything(folder)
    for path in ("new.txt", "new/deep/new.txt", "folder/new.txt", "file.txt"):
        check_writable(Path(path))
    assert everything(folder) == before
    assert Path("file.txt").read_text() == "mine"
    replace_text(Path("new/deep/new.txt"), "text")
    assert Path("new/deep/new.txt").read_text() == "text"


def test_half_a_file_of_a_killed_process_goes_away_and_of_a_living_one_stays(folder: Path) -> None:
    with subprocess.Popen(["true"]) as killed:
        killed.wait()
    gone = Path(f".file.txt.{killed.pid}")
    kept = {f".file.txt.{os.getppid()}", f".other.txt.{killed.pid}", ".file.txt.bak"}
    for name in (gone.name, *kept):
        Path(name).write_text("half")
    before = everything(folder)
    replace_text(Path("file.txt"), "whole")
    assert everything(folder) == before - {gone.name}
    assert Path("file.txt").read_text() == "whole"


def test_a_pipe_has_no_digest_since_its_content_was_read_before() -> None:
    os.mkfifo("pipe")
    with pytest.raises(InputError, match="pipe is a pipe, which can be read only once; save it"):
        file_digest(Path("pipe"))
