"""Errors that a user can fix."""

from typing import Final

from nli.errors import TaggerError
from salience.errors import SalienceError
from serving.errors import ServingError


class InputError(Exception):
    """User input that cannot be used: a file, a line, a field, an option.

    The message is one line that says what is wrong, where (file and line), and how to fix it.
    Commands print it and exit with code 2.
    """


class LowLabelMassError(InputError):
    """A run finished, but its judge would mostly have written something other than labels."""


FIXABLE: Final = (InputError, ServingError, TaggerError, SalienceError)
"""All errors that a user can fix; their messages are one line."""
