"""Other users of the machine can read none of this program's files."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from stat import S_IMODE

import pytest

from pipelines.judge.store import JudgementStore, default_store
from serving.cache import CompletionCache
from serving.connect import default_cache
from serving.errors import ServingError
from serving.home import default_home, default_models_dir, opened_to_append, write


@pytest.fixture(autouse=True)
def generous() -> Iterator[None]:
    """A user whose umask leaves everything open to all."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("before", [0o777, 0o750, 0o711, 0o2770, None])
def test_the_home_is_its_users_alone(
    before: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "data" / "home"
    if before is not None:
        home.mkdir(parents=True)
        home.chmod(before)
    monkeypatch.setenv("CONTESTED_HOME", str(home))
    assert default_models_dir() == home / "models"
    assert mode(home) & 0o777 == 0o700


def test_a_folder_of_all_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTESTED_HOME", str(tmp_path))
    tmp_path.chmod(0o1777)
    assert default_home() == tmp_path
    assert mode(tmp_path) == 0o1777


def completions(path: Path) -> Iterator[Path]:
    with CompletionCache(path) as cache:
        cache.put("key", "digest", {"text": "private"})
        cache.flush()
        yield from path.parent.glob(f"{path.name}*")


def judgements(path: Path) -> Iterator[Path]:
    with JudgementStore(path) as store:
        store._database.execute("DELETE FROM judgements")
        yield from path.parent.glob(f"{path.name}*")


def plain_files(path: Path) -> Iterator[Path]:
    path.parent.mkdir(parents=True)
    opened_to_append(path).close()
    yield path
    write(path.with_suffix(".json"), "{}")
    yield path.with_suffix(".json")


@pytest.mark.parametrize(
    ("made", "place", "files"),
    [
        (completions, default_cache, 3),
        (judgements, default_store, 3),
        (plain_files, lambda: Path("run/logs/m.log"), 2),
    ],
)
def test_files_are_their_users_alone(
    made: Callable[[Path], Iterator[Path]],
    place: Callable[[], Path],
    files: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    modes = {path.name: mode(path) for path in made(place())}
    assert len(modes) == files
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("kind", ["link", "link to nothing", "pipe", "folder", "device"])
def test_a_log_is_a_file_or_nothing(kind: str, tmp_path: Path) -> None:
    target = tmp_path / "letter.txt"
    target.write_text("Dear all")
    log = tmp_path / "m.log"
    if kind == "pipe":
        os.mkfifo(log)
    elif kind == "folder":
        log.mkdir()
    else:
        to = {"link": target, "device": Path("/dev/full")}
        log.symlink_to(to.get(kind, tmp_path / "nothing"))
    with pytest.raises(ServingError, match=r"m\.log cannot be written to: "):
        opened_to_append(log)
    assert target.read_text() == "Dear all"
    assert not (tmp_path / "nothing").exists()
