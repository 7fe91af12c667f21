"""`contested run`: the experiments, each as its paper's module declares it, and all of them."""

import typer

from pipelines import papers
from pipelines.cli.experiment import command_of
from pipelines.cli.run_all import run_all

app = typer.Typer(
    no_args_is_help=True,
    help="Run an experiment over a file. Killed anywhere, the same command resumes it.",
)

for name in papers.EXPERIMENTS:
    app.command(name)(command_of(papers.experiment(name)))
app.command("all", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
    run_all
)
