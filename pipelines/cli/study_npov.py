"""`contested lab study-npov`: the salience experiments from start to finish."""

from pipelines.cli.flat import flat
from pipelines.npov.settings import StudyOptions
from pipelines.option import told


@flat
def study_npov(options: StudyOptions) -> None:
    """Reproduce the salience experiments. If it is killed, the same command resumes.

    A generator is tuned on responses to training topics and then writes on all topics. Its errors
    are found, synthetic ones are made, classifiers are tuned, and detectors are compared. Writes
    Tables 1, 2, 3, 5, 6 and Figure 2 into `report.html`, which first says how the run differs from
    the paper.

    On a CPU the sizes are small: 20 minutes and 3 GB on two cores, with a 135M model. The paper's
    sizes need a GPU, with 24 GB for an 8B model in bf16.

    Example:
        contested lab study-npov --dry-run
    """
    import uvloop

    from pipelines.cli.run import publish
    from pipelines.npov.steps import carried_out, outline
    from pipelines.report.progress import say, show
    from pipelines.runs.folder import RunFolder

    say(told(options))
    if options.dry_run:
        show(outline(options))
        return
    folder = RunFolder(options.out)
    with folder.locked():
        uvloop.run(carried_out(options, folder))
        if options.until is None:
            publish(folder)
            say(f"step 7 of 7, tables: {folder.report}")
