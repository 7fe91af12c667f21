"""Errors of serving that a person can mend."""


class ServingError(Exception):
    """A fault outside this program: a model folder, a server, an endpoint, a machine too small.

    The message is one line that says what is wrong, where, and how to mend it. Commands print it
    and exit with code 2.
    """


class RequestError(ServingError):
    """One request cannot be served as it stands (too long, refused); others still can."""
