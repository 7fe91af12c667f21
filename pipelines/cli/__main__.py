"""The `contested` command; `python -m pipelines.cli` is the same."""

import errno
import gc
import io
import os
import re
import sys

from serving.errors import explain_import, is_ours

_NO_MEMORY = re.compile(
    rf"{os.strerror(errno.ENOMEM)}|can't (?:start new thread|allocate memory)"
    r"|failed to map segment|out of memory"
    # CPython's message when it cannot even allocate the exception.
    r"|returned NULL without setting an exception|error return without exception set",
    re.IGNORECASE,
)


def entry() -> None:
    """Run the command; missing modules and lack of memory also get one line."""
    # Imports and a thousand requests in flight keep many objects alive: scanning them after every
    # 700 new ones takes a sixth of a short command's time and a third of a request's.
    gc.set_threshold(10_000)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Characters that a terminal cannot encode appear as "?".
            stream.reconfigure(errors="replace")
    try:
        from pipelines.cli.app import main

        sys.exit(main())
    except (ImportError, MemoryError, OSError, RuntimeError, SystemError) as error:
        if _lacks_memory(error):
            reason = "there is not enough memory; close other programs, or raise the limit (ulimit)"
        elif isinstance(error, ImportError) and not is_ours(error):
            reason = explain_import(error)
        else:
            raise
        print(f"contested: {reason}", file=sys.stderr)
        sys.exit(2)


def _lacks_memory(error: BaseException | None) -> bool:
    """Whether an error is due to lack of memory, which each library words differently."""
    if error is None:
        return False
    lacking = isinstance(error, MemoryError) or _NO_MEMORY.search(str(error))
    return bool(lacking) or _lacks_memory(error.__cause__ or error.__context__)


if __name__ == "__main__":
    entry()
