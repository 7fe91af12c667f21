"""The runnable commands and examples in README.md and docs/, and the files they name."""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ambiguous import ambigdocs_text
from model_shapes import folder as model_folder
from tagger_files import write_examples

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]

SHELLS = ("console", "bash")
ASSIGNMENTS = r"(?:[A-Z_]+=\S+ )*"
COMMAND = re.compile(rf"{ASSIGNMENTS}(?:contested |scripts/).*")
ESCAPED = re.compile(rf"(?:[$>#] )?{ASSIGNMENTS}(?:\S*/)?(?:contested |scripts/\S+\.sh)")

NOT_RUN = {"source .venv/bin/activate"}
"""Lines of shell blocks that are not commands of this project."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; `line` is the number of its first line."""

    language: str
    line: int
    text: str


@dataclass(frozen=True)
class Case:
    """A runnable command or example, with the `export` lines before it on its page."""

    page: str
    line: int
    kind: Literal["shell", "python"]
    text: str
    exports: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        shown = self.text if self.kind == "shell" else "python"
        return f"{self.page}:{self.line}: {shown}"


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    found = []
    opened: tuple[str, int] | None = None
    lines: list[str] = []
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        fence = re.fullmatch(r" *```(\w*) *", line)
        if fence is None:
            lines.append(line)
        elif opened is None:
            opened, lines = (fence[1], number + 1), []
        else:
            found.append(Block(*opened, "\n".join(lines)))
            opened, lines = None, []
    assert opened is None, f"{page}:{opened}: a block is not closed"
    return found


def outside(page: Path) -> str:
    """The text of a page without its fenced blocks."""
    return re.sub(r"^ *```.*?^ *```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def cases(page: Path) -> list[Case]:
    """The runnable cases of a page, in order."""
    found = []
    exports: tuple[tuple[str, str], ...] = ()
    for block in blocks(page):
        if block.language == "python":
            found.append(Case(page.name, block.line, "python", block.text))
        if block.language not in SHELLS:
            continue
        for number, raw in enumerate(block.text.split("\n"), block.line):
            line = raw.strip()
            if line.startswith("export "):
                name, _, value = line.removeprefix("export ").partition("=")
                exports += ((name, value),)
            elif line not in NOT_RUN:
                assert COMMAND.fullmatch(line), f"{page.name}:{number}: no test can run '{line}'"
                assert not line.endswith("\\"), f"{page.name}:{number}: write it on one line"
                found.append(Case(page.name, number, "shell", line, exports))
    return sorted(found, key=lambda case: case.line)


def example_line() -> str:
    """The record shown in README.md."""
    (block,) = (block for block in blocks(README) if block.language == "json")
    return block.text.strip() + "\n"


def examples(page: str, language: str) -> list[str]:
    """The blocks of a language on a page of docs/."""
    return [one.text + "\n" for one in blocks(ROOT / "docs" / page) if one.language == language]


def only(page: str, language: str) -> str:
    """The only block of a language on a page of docs/."""
    (block,) = examples(page, language)
    return block


FOOL_ME_TWICE = {
    "id": "0",
    "text": "The ice of the Aldham glacier grows.",
    "label": "REFUTES",
    "wikipedia_page": "Aldham",
    "gold_evidence": [{"text": "The glacier has lost a third of its ice."}],
    "retrieved_evidence": [{"text": "In 1936 the glacier's ice grew."}],
}
"""A claim in FoolMeTwice's format, from the test half."""


def write_files(folder: Path) -> None:
    """Write the files that shown commands name."""
    texts = {
        "answers.jsonl": example_line(),
        "notes/bridge.md": "# Bridge\n\nThe bridge was opened by the mayor in 1932.\n",
        "report.txt": "Traffic first crossed the bridge in May 1936.\n",
        "lab.toml": only("serving.md", "toml"),
        "my-prompts/judge/relation.j2": only("prompts.md", "jinja"),
        "bench.jsonl": json.dumps(json.loads(only("conflict-detection.md", "json"))) + "\n",
        "RAMDocs_test.jsonl": "".join(
            json.dumps(ramdocs_question(name)) + "\n"
            for name in (
                "mill",
                "bridge",
                "station",
                "school",
                "library",
                "lighthouse",
                "theatre",
                "harbour",
            )
        ),
    }
    if folder.name == "judges":
        texts["own-pairs.jsonl"] = labelled_pairs()
    texts["ambigdocs.json"] = ambigdocs_text()
    texts["fool-me-twice.jsonl"] = json.dumps(FOOL_ME_TWICE) + "\n"
    texts["example.json"] = examples("npov.md", "json")[0]
    query = only("input.md", "jsonl")
    texts["conflicts.jsonl"] = query + conflicts_queries(like=query)
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    if folder.name == "nli":
        write_examples(folder)


def labelled_pairs() -> str:
    """Labelled pairs of twelve questions: supporting, contradicting, irrelevant."""
    rows = []
    for number in range(12):
        claim = f"Bridge {number} was opened in 1932."
        for text, label in (
            (f"Bridge {number} was opened by the mayor in 1932.", "support"),
            (f"Bridge {number} was opened in May 1936, not before.", "refute"),
            ("The toll is two pounds.", "neutral"),
        ):
            rows.append(
                {"premise": text, "hypothesis": claim, "label": label, "source": "made"}
                | {"group": f"bridge {number}"}
            )
    return "".join(json.dumps(row) + "\n" for row in rows)


def conflicts_queries(like: str) -> str:
    """Two queries in CONFLICTS' format, of two further types."""
    changes = (
        ("When was the station opened?", "Conflict due to outdated information"),
        ("Why was the bridge opened?", "Complementary information"),
    )
    return "".join(
        json.dumps(json.loads(like) | {"question": question, "conflict_type": label}) + "\n"
        for question, label in changes
    )


def ramdocs_question(name: str) -> dict[str, object]:
    """A question in RAMDocs' format; each half contains four of the names above."""
    documents = [
        {"text": f"The {name} was built in 1902.", "type": "correct", "answer": "1902"},
        {"text": f"Work on the {name} ended in 1936.", "type": "misinfo", "answer": "1936"},
    ]
    return {
        "question": f"When was the {name} built?",
        "documents": documents,
        "gold_answers": ["1902"],
        "wrong_answers": ["1936"],
    }


def write_model(folder: Path, architecture: str, like: Path) -> None:
    """A model folder to register and to count tokens with: another's tokenizer, four zeros."""
    model_folder(folder, {"architectures": [architecture]}, ("F32", [4], 16))
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        shutil.copy(like / name, folder / name)
