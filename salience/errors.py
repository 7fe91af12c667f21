"""Errors of salience that a person can fix."""


class SalienceError(Exception):
    """A fault outside this program: a model folder, a text that does not fit.

    The message is one line that says what is wrong, where, and how to fix it. Commands print it
    and exit with code 2.
    """
