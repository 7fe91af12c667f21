"""The `contested` command; `python -m pipelines.cli` is the same."""

import io
import sys

from serving.imports import explain_import, is_ours


def entry() -> None:
    """Run the command. An installation that lacks a module is said in one line too."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # What a terminal's encoding lacks is shown as "?", and is no error.
            stream.reconfigure(errors="replace")
    try:
        from pipelines.cli.app import main

        sys.exit(main())
    except ImportError as error:
        if is_ours(error):
            raise
        print(f"contested: {explain_import(error)}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    entry()
