"""`contested run all`: the main job, whose stages share one server per model."""

import time
from collections.abc import Sequence

from pipelines.cli.flat import flat
from pipelines.errors import LowLabelMassError
from pipelines.main_job import AllOptions, Stage, fits_beside_servers, stages


@flat
def run_all(options: AllOptions) -> None:
    """Run every experiment over the bundled samples, or over your own data.

    `scripts/run_all.sh` installs missing parts and calls this. ConflictScore, Conflict Detection
    (by the tagger and, to compare, by the language model), ConRAG, MADAM-RAG, CONFLICTS, report
    writing, TruthfulQA and NPOV write into one folder, with one report. They share one server per
    model, which starts with the first request and stops at the end.

    Example:
        contested run all --limit 1 --dry-run
    """
    from serving.connect import shared_servers

    with shared_servers():
        _run_stages(stages(options), options)


def _run_stages(planned: Sequence[Stage], options: AllOptions) -> None:
    """Run the stages in order; a dry run ends with a table of what each would take."""
    from pipelines.cli.app import app
    from pipelines.experiment.forecast import Forecast, table
    from pipelines.report.progress import say
    from serving.connect import stop_shared

    start = time.monotonic()
    forecasts: list[tuple[str, Forecast]] = []
    doubts: list[LowLabelMassError] = []
    for number, stage in enumerate(planned, 1):
        say(f"{number}/{len(planned)}  {stage.title}", "bold")
        if stage.gradients and not options.dry_run and not fits_beside_servers(options):
            stop_shared()
        try:
            run = app.main(list(stage.command), prog_name="contested", standalone_mode=False)
        except LowLabelMassError as error:  # the other experiments do not depend on it
            doubts.append(error)
            run = None
        if isinstance(run, Forecast):
            forecasts.append((f"{number}/{len(planned)}  {stage.command[1]}", run))
    if forecasts:
        print("\n".join(table(forecasts)))
    minutes = (time.monotonic() - start) / 60
    say(f"all {len(planned)} done in {minutes:.0f} min", "bold")
    if doubts:
        raise doubts[0]
