"""A project small enough to be installed offline in a test: two packages, one command, one model.

It has this project's scripts and `serving`, and a small lock file. `contested` comes from a wheel
and only records its arguments.
"""

import io
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from model_shapes import folder as model_folder

ROOT = Path(__file__).parents[1]
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"

SCRIPTS = ("environment.sh", "fetch_models.sh", "carry.sh", "install_offline.sh", "alone.py")

BACKEND = """
import zipfile
from pathlib import Path

def _wheel(folder, files):
    path = Path(folder) / "NAME-1.0-py3-none-any.whl"
    files["NAME-1.0.dist-info/METADATA"] = "Metadata-Version: 2.1\\nName: NAME\\nVersion: 1.0\\n"
    wheel = "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    files["NAME-1.0.dist-info/WHEEL"] = wheel
    files["NAME-1.0.dist-info/RECORD"] = "".join(f"{name},,\\n" for name in files)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path.name

def build_wheel(folder, settings=None, metadata=None):
    return _wheel(folder, {"NAME.py": "BUILT = True\\n"})

def build_editable(folder, settings=None, metadata=None):
    return _wheel(folder, {"NAME.pth": str(Path.cwd())})
"""
"""A build backend that needs no other package."""

PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "NAME"
version = "1.0"
"""

COMMAND = """
import json, os, sys

def main():
    with open(os.environ["TOLD"], "a") as told:
        told.write(json.dumps(sys.argv[1:]) + "\\n")
"""


def write_wheel(
    folder: Path, package: str, files: Mapping[str, str | bytes], tag: str = "py3-none-any"
) -> Path:
    """A wheel of these files, version 1.0."""
    name = package.replace("-", "_")
    about = {
        "METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n",
        "WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    files = {**files, **{f"{name}-1.0.dist-info/{file}": text for file, text in about.items()}}
    record = "".join(f"{file},,\n" for file in files)
    path = folder / f"{name}-1.0-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, content in {**files, f"{name}-1.0.dist-info/RECORD": record}.items():
            archive.writestr(file, content)
    return path


def write_source(folder: Path, name: str) -> None:
    """A source-only package, version 1.0."""
    backend = BACKEND.replace("NAME", name)
    texts = {
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        "pyproject.toml": PYPROJECT.replace("NAME", name),
        "backend.py": backend,
    }
    with tarfile.open(folder / f"{name}-1.0.tar.gz", "w:gz") as archive:
        for file, text in texts.items():
            entry = tarfile.TarInfo(f"{name}-1.0/{file}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))


def write_index(folder: Path) -> None:
    """pip's index: `tiny` as a wheel for every Python, `native` for this one, `built` as source."""
    folder.mkdir()
    command = {
        "tiny.py": COMMAND,
        "tiny-1.0.dist-info/entry_points.txt": "[console_scripts]\ncontested = tiny:main\n",
    }
    write_wheel(folder, "tiny", command)
    cpython = f"cp{PYTHON.replace('.', '')}"
    tag = f"{cpython}-{cpython}-manylinux_2_17_x86_64"
    write_wheel(folder, "native", {"native.py": "# native"}, tag)
    write_source(folder, "built")


def write_project(folder: Path) -> None:
    """The project as a git checkout, with one untracked file."""
    (folder / "requirements").mkdir(parents=True)
    (folder / "requirements" / "cpu.txt").write_text(
        "# a lock\ntiny==1.0\nbuilt==1.0\nnative==1.0\nabsent==1 ; python_version < '3.11'\n"
    )
    (folder / "scripts").mkdir()
    for name in SCRIPTS:
        shutil.copy2(ROOT / "scripts" / name, folder / "scripts" / name)
    shutil.copytree(
        ROOT / "serving", folder / "serving", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copytree(ROOT / "docker", folder / "docker")
    (folder / "pyproject.toml").write_text(PYPROJECT.replace("NAME", "contested"))
    backend = BACKEND.replace("NAME", "contested")
    (folder / "backend.py").write_text(backend)
    git = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "tiny"], check=True)
    (folder / "untracked.txt").write_text("mine")


def write_model(folder: Path) -> None:
    """A folder that passes for a model, with pickles, code and a licence beside it."""
    model_folder(folder, {"architectures": ["LlamaForCausalLM"]}, ("F32", [4], 16))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "LICENSE").write_text("free")
    (folder / "pytorch_model.bin").write_bytes(b"a pickle")
    (folder / "modeling.py").write_text("raise SystemExit('run')")


def script(project: Path, name: str, *arguments: object, **settings: object) -> "Done":
    """Run one of the project's scripts; pip reads only the folder `index` beside it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    environment = kept | {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": (project.parent / "index").as_uri(),
        "CONTESTED_VENV": sys.prefix,
        "CONTESTED_PYTHON": sys.executable,
    }
    return subprocess.run(
        ["bash", str(project / "scripts" / name), *map(str, arguments)],
        env=environment | {name: str(value) for name, value in settings.items()},
        capture_output=True,
        text=True,
        timeout=300,
    )


Done = subprocess.CompletedProcess[str]
