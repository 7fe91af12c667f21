"""Corrections and combinations that stand in place of those that come with the program."""

from pathlib import Path
from types import ModuleType

import pytest


def come_with_the_program(monkeypatch: pytest.MonkeyPatch, module: ModuleType, folder: str) -> None:
    """The files of a folder, in place of ours: of `known_priors` or `known_combinations`."""
    every = module.__name__.rpartition(".")[2]  # is called as its module
    monkeypatch.setattr(module, "FOLDER", Path(folder).absolute())
    monkeypatch.setattr(module, every, getattr(module, every).__wrapped__)
