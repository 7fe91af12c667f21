"""The completion store: keys, concurrency, damage."""

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from serving.cache import CompletionCache
from serving.errors import ServingError


def test_the_first_answer_under_a_key_is_final(tmp_path: Path) -> None:
    with CompletionCache(tmp_path / "new" / "c.sqlite") as cache:
        assert cache.get("k") is None
        cache.put("k", "model", {"text": "first"})
        cache.put("k", "model", {"text": "second"})
        assert cache.get("k") == {"text": "first"}
        cache.flush()
        cache.put("k", "model", {"text": "third"})
        assert cache.get("k") == {"text": "first"}, "also while the third waits to be written"


def test_processes_share_one_file(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    program = (
        "import sys; from pathlib import Path; from serving.cache import CompletionCache\n"
        "cache = CompletionCache(Path(sys.argv[1]))\n"
        "for n in range(50): cache.put(f'{sys.argv[2]}-{n}', 'm', {'n': n})"
    )
    writers = [subprocess.Popen([sys.executable, "-c", program, str(path), name]) for name in "ab"]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    with CompletionCache(path) as cache:
        assert all(cache.get(f"{name}-{n}") == {"n": n} for name in "ab" for n in range(50))


def test_a_killed_process_has_kept_all_but_its_last_moment(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    program = (
        "import os, signal, sys, time; from pathlib import Path\n"
        "from serving.cache import CompletionCache\n"
        "cache = CompletionCache(Path(sys.argv[1]))\n"
        "for n in range(300): cache.put(f'{n}', 'm', {'n': n})\n"
        "time.sleep(1); cache.put('last', 'm', {}); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], timeout=60)
    assert done.returncode == -signal.SIGKILL
    with CompletionCache(path) as cache:
        assert all(cache.get(f"{n}") == {"n": n} for n in range(300))


def test_what_cannot_be_written_is_told_and_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    cache = CompletionCache(path)
    other = sqlite3.connect(path)
    other.execute("ALTER TABLE completions RENAME TO elsewhere")
    cache.put("k", "m", {"text": "kept"})
    with pytest.raises(ServingError, match=r"cannot be written .* start again"):
        cache.flush()
    other.execute("ALTER TABLE elsewhere RENAME TO completions")
    cache.close()
    with CompletionCache(path) as cache:
        assert cache.get("k") == {"text": "kept"}


@pytest.mark.parametrize("damage", ["header", "middle"])
def test_a_damaged_file_is_set_aside_with_a_message(
    damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.sqlite"
    with CompletionCache(path) as cache:
        for number in range(500):
            cache.put(f"{number:064}", "m", {"text": "x" * 100})
    content = bytearray(path.read_bytes())
    start = 0 if damage == "header" else 4096 * 3
    content[start : start + 2048] = b"\xff" * 2048
    path.write_bytes(content)

    with CompletionCache(path) as cache:
        assert cache.get(f"{0:064}") is None
        cache.put("k", "m", {"text": "works"})
    assert "it was renamed to" in capsys.readouterr().err
    (aside,) = tmp_path.glob("c.sqlite.damaged-*")
    assert aside.read_bytes() == bytes(content)
