"""Writes the files in docs/ that are made from the code; a test fails where they have drifted.

docs/commands.md        the help of every command; options that several have stand there once
docs/differences.md     where the defaults of experiments differ from the papers', and why
docs/input.schema.json  the JSON schema of an input record

    .venv/bin/python scripts/help_pages.py
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from pipelines import papers
from pipelines.cli.app import app
from pipelines.cli.conflictbench import BenchOptions
from pipelines.data.records import Record
from pipelines.preset import Difference, WithPresets, differences, shown

DOCS = Path(__file__).parents[1] / "docs"

HEAD = """# Commands

Every command with its options, made from `--help` by `.venv/bin/python scripts/help_pages.py`; do
not edit it by hand. `--help` says more of each command, and the page named beside it explains it.
Options that several commands have stand once, in groups; a command names the groups that it takes,
whole or in part, and its default where that differs. You can give a `list[...]` several times.

Exit codes: 0 is success; 1 says that a condition of `compare --fail-if` holds; 2 is a mistake or a
lack that you can mend, told in one line on standard error; 130 is Ctrl-C. No answer that arrived is
lost in any of these cases.

## Shared options
"""

DIFFERENCES = """# Where our defaults differ from the papers

`--as-in-paper` makes an experiment's options those of its paper, `--as-released` those of the
paper's released code. An option that a switch decides may not be given beside it. `run.json` names
the switch and every setting. What no option decides stands in [spec.md](spec.md).

Made from the settings by `.venv/bin/python scripts/help_pages.py`; do not edit it by hand.
"""

NO_PANEL = "Common"
EXAMPLE = re.compile(r" *contested .*")

ALIKE = {
    r"Take only the first N \w+( of each \w+)?\.": "Take only the first N records of the file.",
    r"Say .*; [a-z ]+ (model|nothing)\.": "Say how much there is to do, and stop.",
    r"Stop at .*, or skip and count (it|them)\.": "Stop at what cannot be read, asked or "
    "judged, or skip and count it.",
    r"Print (the \w+|everything) as JSON\.": "Print the result as JSON.",
    r"Who (judges|tags) .*\(`combined`\)\.": "Who judges claims by documents, or tags passages: a "
    "language model (`llm`), the NLI tagger (`nli`), the tagger where it is sure and the model for "
    "the rest (`cascade`), or the tagger for relevance and the model for the side (`combined`).",
    r"How a language model is asked\. .*?\.(?=  \[|$)": "How a language model is asked. `choice` "
    "costs one token and gives probabilities; `json` explains each label with a snippet; "
    "`together` reads all documents in one call.",
}
"""Descriptions that differ from command to command in a few words -> what they all say."""

GUIDES = {
    "score": "score.md",
    "ask": "conrag.md",
    "debate": "madam-rag.md",
    "resolve": "conflicts.md",
    "check-npov": "npov.md",
    "salience": "npov.md",
    "answer-npov": "npov.md",
    "tune-npov": "npov.md",
    "train-judges": "feedback.md",
    "compare": "runs.md",
    "export": "runs.md",
    "web": "web.md",
    "serve": "serving.md",
    "doctor": "serving.md",
    "index": "conrag.md",
    "run": "runs.md",
    "run all": "runs.md",
    "run conflict-detection": "conflict-detection.md",
    "run planted": "planted.md",
    "run conrag": "conrag.md",
    "run conflicts": "conflicts.md",
    "run madam-rag": "madam-rag.md",
    "run npov": "npov.md",
    "run trust": "trust.md",
    "run drift": "drift.md",
    "run report-writing": "feedback.md",
    "run truth-judges": "feedback.md",
    "run truthfulqa": "feedback.md",
    "run conflictscore": "score.md",
    "models": "serving.md",
    "conflictbench": "conflict-detection.md",
    "ramdocs": "madam-rag.md",
    "plant": "planted.md",
    "conflicts": "conflicts.md",
    "nli": "nli.md",
    "fit-combination": "labellers.md",
}
"""Command, or group of commands -> the page that explains it."""


Meaning = tuple[str, str, str]


@dataclass(frozen=True)
class Option:
    """An option or argument in a panel of a command's help.

    `--out <path>`, what it does, and `[default: results]` or nothing.
    """

    panel: str
    name: str
    text: str
    extra: str

    @property
    def flag(self) -> str:
        """`--out`."""
        return self.name.split()[0]

    @property
    def meaning(self) -> Meaning:
        """What commands must agree in to share it; defaults may differ."""
        return self.panel, self.name, self.text

    def row(self) -> str:
        """Its entry in a list."""
        described = f"{self.text} {self.extra}".strip()
        return f"- `{self.name}`{f': {described}' if described else ''}"


@dataclass(frozen=True)
class Command:
    """A command of the program, as `contested run npov`, and its help."""

    name: str
    help: str
    options: tuple[Option, ...]


def commands_page() -> str:
    """The text of docs/commands.md."""
    found = list(_commands(typer.main.get_command(app), "contested"))
    shared = _shared(found)
    parts = [HEAD]
    for panel in dict.fromkeys(option.panel for option in shared.values()):
        rows = [option.row() for option in shared.values() if option.panel == panel]
        parts += [f"### {panel}\n", "\n".join(rows) + "\n"]
    for command in found:
        parts += [f"## {command.name}\n", _text(command) + "\n"]
        own = [option.row() for option in command.options if option.meaning not in shared]
        if own:
            parts.append("\n".join(own) + "\n")
        if elsewhere := _references(command, shared):
            parts.append(f"Shared: {elsewhere}.\n")
    return "\n".join(parts).rstrip() + "\n"


def pages() -> dict[Path, str]:
    """Path -> content of everything that is made from the code."""
    schema = json.dumps(Record.model_json_schema(), indent=2, ensure_ascii=False) + "\n"
    return {
        DOCS / "commands.md": commands_page(),
        DOCS / "differences.md": differences_page(),
        DOCS / "input.schema.json": schema,
    }


def differences_page() -> str:
    """The text of docs/differences.md."""
    parts = [DIFFERENCES]
    commands: dict[str, type[WithPresets]] = {
        f"contested run {name}": papers.experiment(name).options for name in papers.EXPERIMENTS
    }
    for command, options in (commands | {"contested conflictbench build": BenchOptions}).items():
        if options.PRESETS:
            parts.append(f"## {command}\n")
        for preset in options.PRESETS:
            rows = [_difference(each) for each in differences(options, preset)]
            flag = f"--{preset.replace('_', '-')}"
            head = [
                f"| option | default | `{flag}` | from | why ours is another |",
                "|---" * 5 + "|",
            ]
            parts.append(
                "\n".join([*head, *rows] if rows else [f"`{flag}` changes nothing."]) + "\n"
            )
    return "\n".join(parts).rstrip() + "\n"


def _difference(each: Difference) -> str:
    cells = (f"`{each.flag}`", shown(each.ours), each.told, each.choice.source)
    return f"| {' | '.join(cells)} | {each.choice.why} |"


def _commands(command: Any, name: str) -> Iterator[Command]:
    context = typer.Context(command, info_name=name)
    options = tuple(found for one in command.params if (found := _option(one, context)))
    yield Command(name, command.help or "", options)
    for child in getattr(command, "commands", {}).values():
        yield from _commands(child, f"{name} {child.name}")


def _option(parameter: Any, context: typer.Context) -> Option | None:
    """None for hidden ones and `--help`."""
    record = parameter.get_help_record(context)
    if record is None or "--help" in parameter.opts:
        return None
    name, described = record
    for alike, text in ALIKE.items():
        described = re.sub(rf"^{alike}", text, described)
    cut = re.fullmatch(r"(.*?) *(\[[^\]]*\])?", described, re.DOTALL)
    assert cut is not None
    panel = getattr(parameter, "rich_help_panel", None) or NO_PANEL
    return Option(panel, " ".join(name.split()).replace(" range>", ">"), cut[1], cut[2] or "")


def _shared(found: list[Command]) -> dict[Meaning, Option]:
    """What several commands describe alike, with the default that most of them have.

    Of two descriptions of one flag in a panel the commoner is shared, else the fuller one, so that
    a flag has one there.
    """
    # Arguments are a command's own: what is named alike is not chosen alike.
    options = [one for command in found for one in command.options if one.flag.startswith("--")]
    counts = Counter(option.meaning for option in options)
    chosen: dict[tuple[str, str], Meaning] = {}
    for meaning in sorted(counts, key=lambda one: (counts[one], len(one[2])), reverse=True):
        panel, name, _ = meaning
        if counts[meaning] >= (3 if panel == NO_PANEL else 2):
            chosen.setdefault((panel, name.split()[0]), meaning)
    usual = Counter(options).most_common()
    return {
        meaning: next(option for option, _ in usual if option.meaning == meaning)
        for meaning in counts
        if meaning in chosen.values()
    }


def _references(command: Command, shared: dict[Meaning, Option]) -> str:
    """`[Search](#search); [Metric](#metric) `--claims``: a panel alone is all of its options."""
    taken = {option.meaning: option for option in command.options if option.meaning in shared}
    parts = []
    for panel in dict.fromkeys(option.panel for option in taken.values()):
        link = f"[{panel.partition(' (')[0]}]({_anchor(panel)})"
        here = [one for one in taken.values() if one.panel == panel]
        other = [one for key, one in shared.items() if one.panel == panel and key not in taken]
        differ = any(one not in shared.values() for one in here)
        if differ or len(other) > 2 or len(other) >= len(here):
            link += " " + ", ".join(_named(one, shared) for one in here)
        elif other:
            link += f" without {', '.join(_named(one, shared) for one in other)}"
        parts.append(link)
    return "; ".join(parts)


def _named(option: Option, shared: dict[Meaning, Option]) -> str:
    """`--seed`, and its default where that is another one than that of the shared option."""
    return f"`{option.flag}`{'' if option in shared.values() else f' {option.extra}'}"


def _anchor(heading: str) -> str:
    return "#" + re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _text(command: Command) -> str:
    """What a command is for, the page that explains it, and an example that can be copied."""
    summary, *rest = re.split(r"\n\s*\n", command.help.strip())
    lines = [line for part in rest for line in part.splitlines()]
    examples = [line.strip() for line in lines if EXAMPLE.fullmatch(line)]
    guide = GUIDES.get(command.name.removeprefix("contested "))
    parts = [summary if guide is None else f"{summary} See [{guide}]({guide})."]
    if examples:
        parts.append(f"```console\n{examples[0]}\n```")
    return "\n\n".join([*parts, *(part for part in rest if part.startswith("* `contested "))])


if __name__ == "__main__":
    for path, content in pages().items():
        path.write_text(content, encoding="utf-8")
