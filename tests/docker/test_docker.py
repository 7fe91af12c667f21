"""What is in docker/, as far as it can be tried without an engine.

Dockerfiles are linted, and their COPY and RUN lines are carried out in a fresh folder without a
network; compose files are held against the specification's schema. Not tried: the base images, the
switch of users, GPUs in containers, and the network that compose makes.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import serve
import yaml
from tiny_project import script, write_index, write_model, write_project

from serving.profile import load

ROOT = Path(__file__).parents[2]
DOCKER = ROOT / "docker"
IMAGES = sorted(DOCKER.glob("*.Dockerfile"))
PROGRAMS = Path(sys.executable).parent
CACHES = "/opt/contested/caches"


def instructions(dockerfile: Path) -> list[tuple[str, str]]:
    """A Dockerfile's instructions and their arguments, comments and line ends left out."""
    text = re.sub(r"^#.*\n", "", dockerfile.read_text("utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [
        (name, rest.strip()) for line in lines if line for name, _, rest in [line.partition(" ")]
    ]


def options(arguments: str) -> tuple[set[str], str]:
    """The options of an instruction, and what follows them."""
    words = arguments.split()
    first = next(number for number, word in enumerate(words) if not word.startswith("--"))
    return set(words[:first]), " ".join(words[first:])


@pytest.fixture(scope="module")
def carried(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("images")
    write_index(place / "index")
    write_project(place / "project")
    write_model(place / "carried/models/smollm2-135m-instruct")
    done = script(place / "project", "carry.sh", place / "carried", CONTESTED_ENGINE="cpu")
    assert done.returncode == 0, done.stderr
    return place / "carried"


@pytest.mark.parametrize("image", IMAGES, ids=lambda path: path.stem)
def test_the_linter_finds_nothing(image: Path) -> None:
    done = subprocess.run([PROGRAMS / "hadolint", image], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("image", IMAGES, ids=lambda path: path.stem)
def test_what_builds_an_image_installs_from_what_is_carried(
    image: Path, carried: Path, tmp_path: Path
) -> None:
    """Of the context all but what the ignore file names, at paths below a fresh folder."""
    ignored = image.with_name(f"{image.name}.dockerignore").read_text().split()
    context = tmp_path / "context"
    shutil.copytree(carried, context, ignore=lambda at, _: ignored if Path(at) == carried else [])
    assert not (context / "models").exists()

    def here(text: str) -> str:
        return text.replace("/opt/", f"{tmp_path}/opt/").replace("/carried", str(context))

    alone = ["unshare", "--user", "--map-root-user", "--net"]
    if subprocess.run([*alone, "true"], capture_output=True).returncode:
        alone = []
    environment = {"PATH": f"{PROGRAMS}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    runs = 0
    for name, arguments in instructions(image):
        given, rest = options(arguments)
        if name == "COPY":
            source, target = rest.split()
            shutil.copytree(context / source, here(target))
            assert given == {"--chmod=755"}
            for path in Path(here(target)).rglob("*"):
                path.chmod(0o755)
        elif name == "RUN":
            assert given == {"--network=none", "--mount=type=bind,target=/carried"}
            line = [*alone, "/bin/sh", "-e", "-c", here(rest)]
            done = subprocess.run(line, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            runs += 1
    assert runs == 1
    assert (tmp_path / "opt/contested/caches").stat().st_mode & 0o7777 == 0o1777
    python = tmp_path / "opt/contested/.venv/bin/python"
    done = subprocess.run(
        [python, "-c", "import tiny, native, built, backend; print(backend.__file__)"],
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == str(tmp_path / "opt/contested/backend.py"), done.stderr


@pytest.mark.parametrize("image", IMAGES, ids=lambda path: path.stem)
def test_an_image_runs_as_an_ordinary_user_and_writes_to_work_alone(image: Path) -> None:
    found = dict(instructions(image))
    assert found["USER"] == "1000:1000"
    assert "CONTESTED_HOME=/work/.contested" in found["ENV"]
    entrypoint = found["ENTRYPOINT"].strip('[]"').removeprefix("/opt/contested/")
    assert os.access(ROOT / entrypoint, os.X_OK)


def validated(*files: Path) -> "subprocess.CompletedProcess[str]":
    line = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    return subprocess.run([*line, *files], capture_output=True, text=True)


def test_compose_files_follow_the_specification(tmp_path: Path) -> None:
    files = sorted(DOCKER.glob("compose*.yaml"))
    assert len(files) == 2
    done = validated(*files)
    assert done.returncode == 0, done.stdout
    wrong = tmp_path / "compose.yaml"
    wrong.write_text(files[1].read_text().replace("read_only:", "readonly:"))
    assert validated(wrong).returncode == 1
    some = tmp_path / "some.yaml"
    text = files[0].read_text().replace("count: all", 'device_ids: ["0", "2"]')
    assert "device_ids" in yaml.safe_load(text)["x-gpus"]["resources"]["reservations"]["devices"][0]
    some.write_text(text)
    assert validated(some).returncode == 0


def composed() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text("utf-8"))
    return found


@pytest.mark.parametrize("name", ["server", "job"])
def test_services_are_confined(name: str) -> None:
    content = composed()
    service = content["services"][name]
    assert content["networks"] == {"inside": {"internal": True}}
    assert service["networks"] == ["inside"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["user"] == "${CONTESTED_USER:-1000:1000}"
    assert service["pull_policy"] == "never"
    assert not {"ports", "privileged", "network_mode", "cap_add", "devices"} & service.keys()
    (models,) = (each for each in service["volumes"] if each["target"] == "/models")
    assert models["read_only"] is True
    writable = {each["target"] for each in service["volumes"] if not each.get("read_only")}
    assert writable == ({"/work"} if name == "job" else {CACHES})


def test_the_key_is_a_secret_and_in_no_environment() -> None:
    content = composed()
    assert set(content["secrets"]["api_key"]) == {"file"}
    for service in content["services"].values():
        assert service["secrets"] == ["api_key"]
        assert not any("KEY" in variable for variable in service.get("environment", {}))


def test_the_entrypoint_reads_the_key_and_becomes_the_command(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("open sesame\n")
    line = [str(DOCKER / "entrypoint.sh"), "sh", "-c", "echo $CONTESTED_API_KEY; exit 7"]
    environment = os.environ | {"CONTESTED_API_KEY_FILE": str(key)}
    done = subprocess.run(line, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (7, "open sesame\n")
    key.unlink()
    key.mkdir()  # as docker makes one where the file is missing
    done = subprocess.run(line, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("contested: ")


def test_the_server_is_that_of_the_profile_at_any_address(tmp_path: Path) -> None:
    write_model(tmp_path / "smollm2-135m-instruct")
    settings = {"CONTESTED_API_KEY": "k", "CONTESTED_PROFILE": "cpu-small"}
    line, environment = serve.served(settings, tmp_path)
    assert str(tmp_path / "smollm2-135m-instruct") in line
    assert line[-2:] == ["--host", "0.0.0.0"]
    assert line[line.index("--port") + 1] == str(serve.PORT)
    length = load("cpu-small").engines["smollm2-135m-instruct"].max_model_len
    assert line[line.index("--max-model-len") + 1] == str(length)
    assert environment["VLLM_API_KEY"] == "k"
    assert environment["HF_HUB_OFFLINE"] == "1"
    assert "k" not in line
