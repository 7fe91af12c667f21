"""Errors of serving that a person can mend."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


class ServingError(Exception):
    """A fault outside this program: a model folder, a server, an endpoint, a machine too small.

    The message is one line that says what is wrong, where, and how to mend it. Commands print it
    and exit with code 2.
    """


class RequestError(ServingError):
    """One request cannot be served as it stands (too long, refused); others still can."""


def first_fault(error: "ValidationError") -> str:
    """Where a value does not fit its model, and why, in one line."""
    fault = error.errors(include_url=False, include_input=False)[0]
    return ": ".join(filter(None, (".".join(map(str, fault["loc"])), fault["msg"])))
