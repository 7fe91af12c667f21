"""Where this program keeps what outlives a run: model folders, the cache, detached servers."""

import os
from contextlib import suppress
from pathlib import Path
from stat import S_ISVTX

import platformdirs


def default_home() -> Path:
    """`$CONTESTED_HOME`, or the user's data folder (`~/.local/share/contested`).

    It is made, or closed, so that its user alone may enter: what was asked and answered stands in
    it. A folder that all may write to, as /tmp, stays as it is.
    """
    chosen = os.environ.get("CONTESTED_HOME", "").strip()
    usual = platformdirs.user_data_dir("contested", appauthor=False)
    home = Path(chosen or usual).expanduser().absolute()
    with suppress(OSError):  # told where a file cannot be written
        home.mkdir(0o700, parents=True, exist_ok=True)
        mode = home.stat().st_mode
        if mode & 0o077 and not mode & S_ISVTX:
            home.chmod(0o700)
    return home


def default_models_dir() -> Path:
    """The folder that registered models live in unless a command is told `--models-dir`."""
    return default_home() / "models"
