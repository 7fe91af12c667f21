"""`contested doctor`: what this machine has, and what is missing."""

from rich.console import Console
from rich.table import Table

from pipelines.cli.flat import flat
from pipelines.experiment.options import ProfileOptions
from pipelines.report.terminal import plain
from serving.errors import ServingError
from serving.home import default_models_dir

MARKS = {
    "good": "[green]ok[/green]",
    "missing": "[red]missing[/red]",
    "note": "[yellow]note[/yellow]",
}


@flat
def doctor(options: ProfileOptions) -> None:
    """Check whether this machine has everything for a profile.

    Nothing is loaded or started. The exit code is 2 if something is missing.

    Example:
        contested doctor --profile one-gpu-7b
    """
    from pipelines.machine import findings
    from serving.profile import default_name

    profile = options.profile or default_name()
    checks = list(findings(profile, options.models_dir or default_models_dir()))
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for overflow in ("ellipsis", "ellipsis", "fold"):  # paths are shown in full
        table.add_column(overflow=overflow)
    for finding in checks:
        table.add_row(plain(finding.what), MARKS[finding.state], plain(finding.says))
    Console(emoji=False).print(table)
    missing = [finding.what for finding in checks if finding.state == "missing"]
    if missing:
        raise ServingError(f"missing: {', '.join(missing)}; the lines above say how to fix it")
