"""The model whose gradients are taken, as a command's options name it."""

from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipelines.npov import decoder
from pipelines.npov.decoder import DecoderOptions, decoder_folder
from salience.decoder import Decoder


def test_devices_are_named_by_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the profile of a machine with GPUs that torch can use."""
    roles = SimpleNamespace(salience=None, generator="m")
    profile = SimpleNamespace(roles=roles, device="cuda")
    source = SimpleNamespace(profile=profile, models_dir=Path("m"))
    monkeypatch.setattr(decoder, "source_of", lambda *_: source)
    monkeypatch.setattr("serving.models.find", lambda *_: SimpleNamespace(path=Path("m")))
    monkeypatch.setattr("pipelines.judge.tagger.torch_device", lambda: "cuda")
    folder = decoder_folder(DecoderOptions(device="cuda:0, cuda:1"))
    # A run that was begun on one card may be resumed on another.
    assert folder.engine == f"transformers {version('transformers')}, bf16, cuda"
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(Decoder, "load", lambda _, **how: asked.append(how))
    folder.load()
    assert asked == [{"precision": "bf16", "device": ("cuda:0", "cuda:1")}]
