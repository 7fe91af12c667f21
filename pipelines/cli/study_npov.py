"""`contested lab study-npov`: the salience experiments, whole."""

from rich.console import Console

from pipelines.cli.flat import flat
from pipelines.npov.study import StudyOptions
from pipelines.option import told
from pipelines.report.progress import STDERR, say, show
from pipelines.report.terminal import plain
from pipelines.runs.folder import RunFolder


@flat
def study_npov(options: StudyOptions) -> None:
    """Reproduce the salience experiments, whole. Killed anywhere, the same command resumes.

    Seven steps, in the paper's order: topics; a generator, tuned on responses to train topics; its
    responses to all topics; their errors; test sets; detectors, with classifiers tuned on the
    paper's training sets; and Tables 1, 2, 3, 5, 6 and Figure 2 in `report.html`, which says first
    what was not as in the paper.

    On a CPU sizes are small, for a model of 135M: some 30 minutes on two cores, 3 GB of memory.
    With a model of 0.5B and the paper's numbers count on days there. An 8B model takes 20 GB of a
    GPU for gradients in bf16, and hours for the paper's numbers.

    Examples:
        contested lab study-npov --dry-run

        contested lab study-npov --data procon.json --annotator labels.jsonl --out results-salience
    """
    import uvloop

    from pipelines.cli.run import publish
    from pipelines.npov.steps import carried_out, outline

    say(told(options))
    if options.dry_run:
        show(outline(options), Console(emoji=False))
        return
    folder = RunFolder(options.out)
    with folder.locked():
        uvloop.run(carried_out(options, folder))
        publish(folder)
    STDERR.print(f"step 7 of 7, tables: {plain(str(folder.report))}")
