"""Writes the text of the PDF on standard input to standard output.

A process of its own, whose time and memory are bounded: a PDF may be made to take all of both.
"""

import io
import logging
import resource
import sys

SECONDS, BYTES = 25, 1 << 30


def main() -> int:
    """0, or 1 with the reason in one line on standard error."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    try:
        import pypdf
    except ImportError:
        print("pypdf is not installed", file=sys.stderr)
        return 1
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(io.BytesIO(sys.stdin.buffer.read()))
        text = "\n\n".join(page.extract_text() for page in reader.pages)
    except Exception as error:  # a damaged file raises anything
        print(" ".join(f"{error or type(error).__name__}".split())[:200], file=sys.stderr)
        return 1
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
