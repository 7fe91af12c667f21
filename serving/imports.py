"""Why an import failed, said so that a person can mend it."""

import sys
import traceback
from importlib.metadata import packages_distributions
from pathlib import Path

PACKAGES = ("site-packages", "dist-packages")
OURS = {"serving", "nli", "salience", "pipelines"}


def explain_import(error: ImportError) -> str:
    """One line: which module is missing, which package wants it, and the remedy.

    Libraries that import lazily hide the reason behind an error of their own ("Could not import
    module 'AutoModel'"), so the innermost one is what is told.
    """
    first = _first(error)
    who = _who_imported(first)
    if isinstance(first, ModuleNotFoundError) and first.name:
        return (
            f"{who} needs the module {first.name}, which is not installed in {sys.prefix}; "
            "delete that folder and run scripts/run_all.sh, which makes it anew"
        )
    return (
        f"{who} cannot be imported: {' '.join(str(first).split())}; two packages in {sys.prefix} "
        "do not fit each other: delete that folder and run scripts/run_all.sh, which makes it anew"
    )


def is_ours(error: ImportError) -> bool:
    """Whether it is a module of this program that could not be imported: then the fault is ours."""
    name = _first(error).name
    return bool(name) and str(name).partition(".")[0] in OURS


def owner(path: str) -> str | None:
    """The installed package that a file of code belongs to; None for other files."""
    parts = Path(path).parts
    folder = next((n for n, part in enumerate(parts) if part in PACKAGES), None)
    if folder is None or folder + 1 >= len(parts):
        return None
    module = parts[folder + 1].removesuffix(".py")
    return packages_distributions().get(module, [module])[0]


def _first(error: ImportError) -> ImportError:
    found = error
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ImportError):
            found = cause
        cause = cause.__cause__ or cause.__context__
    return found


def _who_imported(error: ImportError) -> str:
    files = [frame.filename for frame in reversed(traceback.extract_tb(error.__traceback__))]
    return next((found for path in files if (found := owner(path))), "this program")
