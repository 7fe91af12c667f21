"""Why an import failed, said so that a person can mend it."""

import sys

OURS = {"serving", "nli", "salience", "pipelines"}


def explain_import(error: ImportError) -> str:
    """One line: which module is missing or does not fit, and the remedy.

    Libraries that import lazily hide the reason behind an error of their own ("Could not import
    module 'AutoModel'"), so the innermost one is what is told.
    """
    first = _first(error)
    if isinstance(first, ModuleNotFoundError) and first.name:
        reason = f"the module {first.name} is not installed in {sys.prefix}"
    else:
        reason = f"{' '.join(str(first).split())}; two packages in {sys.prefix} do not fit"
    return f"{reason}; delete that folder and run scripts/run_all.sh, which makes it anew"


def is_ours(error: ImportError) -> bool:
    """Whether it is a module of this program that could not be imported: then the fault is ours."""
    return str(_first(error).name).partition(".")[0] in OURS


def _first(error: ImportError) -> ImportError:
    innermost = error
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ImportError):
            innermost = cause
        cause = cause.__cause__ or cause.__context__
    return innermost
