"""Errors of input that a person can mend."""


class InputError(Exception):
    """Something the user gave cannot be used: a file, a line, a field, an option.

    The message is one line that says what is wrong, where (file and line), and how to mend it.
    Commands print it and exit with code 2.
    """


class LowLabelMassError(InputError):
    """A run is done, and its judge would mostly have written something else than labels."""
