"""`contested doctor`: what this machine has, and what is missing."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pipelines.cli.flat import flat
from pipelines.experiment.options import ProfileOptions
from pipelines.runs.provenance import hardware
from serving import models
from serving import profile as profiles
from serving.command import engine_version
from serving.connect import default_cache
from serving.errors import ServingError
from serving.home import default_home, default_models_dir

State = Literal["good", "missing", "note"]
"""What is missing will not work; a note is something to know."""

MARKS = {
    "good": "[green]ok[/green]",
    "missing": "[red]missing[/red]",
    "note": "[yellow]note[/yellow]",
}


@dataclass(frozen=True)
class Finding:
    """One thing looked at: whether it is there, what was found, and how to mend it."""

    what: str
    state: State
    says: str


@flat
def doctor(options: ProfileOptions) -> None:
    """Say what this machine has and what is missing for a profile. Loads and starts nothing.

    Exit code 0 if everything needed is there, 2 if not.

    Example:
        contested doctor --profile one-gpu-7b
    """
    profile = options.profile or profiles.default_name()
    found = list(findings(profile, options.models_dir or default_models_dir()))
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for finding in found:
        table.add_row(escape(finding.what), MARKS[finding.state], escape(finding.says))
    Console().print(table)
    missing = [finding.what for finding in found if finding.state == "missing"]
    if missing:
        raise ServingError(f"missing: {', '.join(missing)}; the lines above say how to mend it")


def findings(profile: str, models_dir: Path) -> Iterator[Finding]:
    """Look at everything a run needs, one finding each."""
    machine = hardware()
    size = f"{machine['cores']} cores, {machine['memory_gib']} GiB"
    yield Finding("machine", "good", f"{machine['processor']}, {size}")
    yield Finding("CPU is quick in", "good", machine["cpu_precision"])
    gpus = machine["gpus"]
    shown = ", ".join(gpus) or "none; models run on the CPU"
    yield Finding("GPU", "good" if gpus else "note", shown)
    yield _looked_for("engine", engine_version)
    chosen = profiles.load(profile)
    yield Finding("profile", "good", f"{chosen.name}: {chosen.description}")
    if chosen.device == "cuda" and not gpus:
        yield Finding("profile's GPUs", "missing", f"{chosen.name} needs {chosen.gpus}; none here")
    judge = chosen.roles.judge

    def model() -> str:
        found = models.find(judge, models_dir)
        return f"{found.path} ({found.digest[:12]})"

    yield _looked_for(f"model {judge}", model)
    home = default_home()
    existing = next(path for path in (home, *home.parents) if path.exists())
    free = shutil.disk_usage(existing).free / 2**30
    yield Finding("disk", "good" if free > 5 else "note", f"{free:.0f} GiB free for {home}")
    cache = default_cache()
    size = f"{cache.stat().st_size / 2**20:.1f} MiB" if cache.exists() else "new"
    yield Finding("cache", "good", f"{cache}, {size}")
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    yield Finding("browser", "good" if browser else "note", browser or "none; only tests need one")


def _looked_for(what: str, find: Callable[[], str]) -> Finding:
    try:
        return Finding(what, "good", find())
    except ServingError as error:
        return Finding(what, "missing", str(error))
