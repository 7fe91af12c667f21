"""Writes the files in docs/ that are made from the code; a test fails where they have drifted.

docs/commands.md        the help of every command
docs/input.schema.json  the JSON schema of an input record

    .venv/bin/python scripts/help_pages.py
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from pipelines.cli.app import app
from pipelines.data.records import Record

DOCS = Path(__file__).parents[1] / "docs"

HEAD = """# Commands

Every command with its options, as `--help` shows them. This page is made from the code by
`.venv/bin/python scripts/help_pages.py`; do not edit it by hand.

Exit codes: 0 is success; 2 is a mistake or a lack that you can mend, told in one line on standard
error; 130 is Ctrl-C. Nothing that was answered is lost in either case.
"""

EXAMPLE = re.compile(r"^ *contested .*")


def commands_page() -> str:
    """The text of docs/commands.md."""
    root: Any = typer.main.get_command(app)
    return "\n".join([HEAD, *_pages(root, "contested")]).rstrip() + "\n"


def schema() -> str:
    """The text of docs/input.schema.json."""
    return json.dumps(Record.model_json_schema(), indent=2, ensure_ascii=False) + "\n"


def pages() -> dict[Path, str]:
    """Path -> content of everything that is made from the code."""
    return {DOCS / "commands.md": commands_page(), DOCS / "input.schema.json": schema()}


def _pages(command: Any, name: str) -> Iterator[str]:
    context = typer.Context(command, info_name=name)
    yield f"## {name}\n"
    yield _text(command.help or "") + "\n"
    hidden = {one.name for one in command.params if one.hidden}
    pieces = [
        piece for piece in command.collect_usage_pieces(context) if piece.strip("[].") not in hidden
    ]
    yield f"Usage: `{' '.join([name, *pieces])}`\n"
    options = [row for parameter in command.params if (row := _row(parameter, context))]
    if options:
        yield "\n".join(options) + "\n"
    for child in getattr(command, "commands", {}).values():
        yield from _pages(child, f"{name} {child.name}")


def _row(parameter: Any, context: typer.Context) -> str | None:
    """One option or argument as a list entry; None for hidden ones and `--help`."""
    record = parameter.get_help_record(context)
    if record is None or "--help" in parameter.opts:
        return None
    name, text = record
    return f"- `{' '.join(name.split())}`{f': {text}' if text else ''}"


def _text(docstring: str) -> str:
    """A help text as Markdown: its example lines become blocks that can be copied."""
    lines: list[str] = []
    block = False
    for line in docstring.splitlines():
        if EXAMPLE.match(line):
            lines += [] if block else ["", "```console"]
            block = True
            lines.append(line.strip())
        elif block and not line.strip():
            continue
        else:
            lines += ["```", ""] if block else []
            block = False
            lines.append(line)
    lines += ["```"] if block else []
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


if __name__ == "__main__":
    for path, content in pages().items():
        path.write_text(content, encoding="utf-8")
