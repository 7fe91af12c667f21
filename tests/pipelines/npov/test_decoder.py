"""The model whose gradients are taken, as a command's options name it."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipelines.judge import tagger
from pipelines.npov import decoder
from pipelines.npov.decoder import DecoderFolder, DecoderOptions, decoder_folder
from salience.decoder import Decoder


@pytest.fixture
def on_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile of a machine with GPUs that torch can use."""
    roles = SimpleNamespace(salience=None, generator="m")
    profile = SimpleNamespace(roles=roles, device="cuda")
    source = SimpleNamespace(profile=profile, models_dir=Path("m"))
    monkeypatch.setattr(decoder, "source_of", lambda *_: source)
    monkeypatch.setattr("serving.models.find", lambda *_: SimpleNamespace(path=Path("m")))
    for module in ("serving.installed", "pipelines.judge.tagger"):
        monkeypatch.setattr(f"{module}.torch_device", lambda: "cuda")


@pytest.mark.usefixtures("on_gpu")
@pytest.mark.parametrize(
    ("device", "devices", "format_", "kind"),
    [
        (None, None, "bf16", "cuda"),
        ("cuda:1", ("cuda:1",), "bf16", "cuda"),
        ("cuda:0, cuda:1", ("cuda:0", "cuda:1"), "bf16", "cuda"),
    ],
)
def test_devices_are_named_by_an_option(
    device: str | None,
    devices: Sequence[str] | None,
    format_: str,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = decoder_folder(DecoderOptions(device=device))
    assert (folder.device, folder.precision) == (devices, format_)
    # A run that was begun on one card may be resumed on another.
    assert folder.engine == f"transformers {version('transformers')}, {format_}, {kind}"
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(Decoder, "load", lambda _, **how: asked.append(how))
    folder.load()
    assert asked == [{"precision": format_, "device": devices}]


@pytest.mark.usefixtures("on_gpu")
def test_the_cpu_beside_a_gpu_has_its_own_number_format(monkeypatch: pytest.MonkeyPatch) -> None:
    native = SimpleNamespace(dtype="float32")
    monkeypatch.setattr(tagger, "cpu_precision", lambda: native)
    folder = decoder_folder(DecoderOptions(device="cpu"))
    assert (folder.device, folder.precision) == (("cpu",), "fp32")
    assert isinstance(folder, DecoderFolder)
    assert folder.engine.endswith("fp32, cpu")
