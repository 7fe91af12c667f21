"""The text of HTML and PDF, which a process of its own takes out of them.

Its time and memory are bounded: a file may be made to take all of both.

    python -m pipelines.data.extraction html|pdf < FILE > TEXT
"""

import io
import os
import resource
import subprocess
import sys
from collections.abc import Callable

from pipelines.errors import InputError
from serving.offline import module_path

SECONDS = 30
"""After this long a file is given up."""

CPU_SECONDS, MEMORY, OUTPUT = 25, 1 << 30, 1 << 26
"""What the process may use, and bytes of the text that it may write."""


Started = Callable[["subprocess.Popen[bytes]"], object]
"""Is given the process, to kill it once nobody waits for the text any more."""


def extracted(name: str, kind: str, data: bytes, started: Started = lambda _: None) -> str:
    """The text in the bytes of a file of that name; its kind is "html" or "pdf".

    Raises:
        InputError: It is damaged, or takes too long or too much memory.
    """
    with subprocess.Popen(  # noqa: S603  our own module, and none of the working directory
        [sys.executable, "-P", "-m", "pipelines.data.extraction", kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | module_path(),
    ) as process:
        started(process)
        try:
            text, said = process.communicate(data, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise InputError(
                f"{name} takes longer than {SECONDS} seconds to read; save its text instead"
            ) from None
        finally:
            process.kill()
    if process.returncode:
        lines = said.decode("utf-8", "replace").strip().splitlines()
        why = lines[-1] if lines else "it needs more time or memory than it may have"
        raise InputError(f"{name} cannot be read as {kind.upper()} ({why}); save its text instead")
    return text.decode("utf-8", "replace").replace("\0", "")


def main(kind: str) -> int:
    """0, or 1 with the reason in one line on standard error."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        text = _TEXT_OF[kind](sys.stdin.buffer.read()).encode("utf-8", "replace")
        if len(text) > OUTPUT:
            raise ValueError(f"its text has more than {OUTPUT >> 20} MB")
    except Exception as error:  # a damaged file raises anything
        print(" ".join(f"{error or type(error).__name__}".split())[:200], file=sys.stderr)
        return 1
    sys.stdout.buffer.write(text)
    return 0


def _of_html(data: bytes) -> str:
    from pipelines.data.page import html_text

    return html_text(data.decode("utf-8"))


def _of_pdf(data: bytes) -> str:
    import logging

    try:
        import pypdf
    except ImportError as error:
        raise ValueError("pypdf is not installed") from error
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    return "\n\n".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages)


_TEXT_OF = {"html": _of_html, "pdf": _of_pdf}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
