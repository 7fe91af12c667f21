"""Errors that the user of the tagger can fix."""


class TaggerError(Exception):
    """A fault outside this program: a model folder, a data file, a text that does not fit.

    The message is one line that says what is wrong, where, and how to fix it. Commands print it
    and exit with code 2.
    """


def is_fault(error: BaseException) -> bool:
    """Whether a library failed, by an `Exception` or a panic of Rust code, which is not one."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"
