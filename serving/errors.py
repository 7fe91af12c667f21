"""Errors that a person can fix, and an explanation of failed imports."""

import re
import sys

_OURS = {"serving", "nli", "salience", "pipelines"}

_WORDS = (
    ("Extra inputs are not permitted", "there is no such field"),
    ("Field required", "it is missing"),
    (r"\w+ should have at least 1 (character|item)\b.*", "it is empty"),
    (r"(Input|String|List|Tuple|Dictionary) should (be|have)", r"it must \2"),
    ("a valid string", "a text"),
    ("a valid (list|tuple|array)", "a list"),
    (r"a valid (dictionary|object)( or instance of \w+)?", "an object"),
    (" after validation.*", ""),
    ("a valid boolean.*", "true or false"),
    ("a valid integer.*", "a whole number"),
    ("a valid number.*", "a number"),
    ("greater than or equal to", "at least"),
    ("less than or equal to", "at most"),
)
"""Pattern in pydantic's errors -> our words."""


class ServingError(Exception):
    """A fault outside this program: a model folder, a server, an endpoint, a machine too small.

    The message is one line that says what is wrong, where, and how to fix it. Commands print it
    and exit with code 2.
    """


class RequestError(ServingError):
    """One request cannot be served as it is (too long, refused); others still can."""


def in_our_words(message: str) -> str:
    """An error of pydantic's for people who do not program; one of ours as it is."""
    if "Value error, " in message:
        return message.replace("Value error, ", "")
    for theirs, ours in _WORDS:
        message = re.sub(theirs, ours, message)
    return message


def explain_import(error: ImportError) -> str:
    """One line: which module is missing or incompatible, and the remedy.

    Libraries that import lazily hide the cause behind their own error ("Could not import
    module 'AutoModel'"), so the innermost error is reported.
    """
    first = _first(error)
    if isinstance(first, ModuleNotFoundError) and first.name:
        reason = f"the module {first.name} is not installed in {sys.prefix}"
    else:
        reason = f"{' '.join(str(first).split())}; two packages in {sys.prefix} are incompatible"
    return f"{reason}; delete that folder and run scripts/run_all.sh, which recreates it"


def is_ours(error: ImportError) -> bool:
    """Whether a module of this program could not be imported, which is a bug of ours."""
    return str(_first(error).name).partition(".")[0] in _OURS


def _first(error: ImportError) -> ImportError:
    innermost = error
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ImportError):
            innermost = cause
        cause = cause.__cause__ or cause.__context__
    return innermost
