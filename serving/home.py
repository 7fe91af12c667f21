"""Where this program keeps what outlives a run: model folders, the cache, detached servers."""

import os
from pathlib import Path

import platformdirs


def default_home() -> Path:
    """`$CONTESTED_HOME`, or the user's data folder (`~/.local/share/contested`); not made here."""
    chosen = os.environ.get("CONTESTED_HOME", "").strip()
    if chosen:
        return Path(chosen).expanduser().absolute()
    return Path(platformdirs.user_data_dir("contested", appauthor=False))


def default_models_dir() -> Path:
    """The folder that registered models live in unless a command is told `--models-dir`."""
    return default_home() / "models"
