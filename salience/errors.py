"""Errors of salience that a person can mend."""


class SalienceError(Exception):
    """A fault outside this program: a model folder, a text that does not fit.

    The message is one line that says what is wrong, where, and how to mend it. Commands print it
    and exit with code 2.
    """
