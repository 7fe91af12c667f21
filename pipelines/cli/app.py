"""The `contested` command: its groups, and how errors reach a person."""

import sys
from collections.abc import Sequence
from typing import Final

import typer
from typer.exceptions import Abort, TyperException

from nli.errors import TaggerError, is_fault
from pipelines.cli import (
    annotate,
    calibrate,
    compare,
    conflictbench,
    doctor,
    export,
    index,
    models,
    nli,
    ramdocs,
    run,
    trust,
    tune_npov,
)
from pipelines.cli.serve import serve
from pipelines.cli.tasks import command_of
from pipelines.cli.web import web
from pipelines.errors import InputError
from pipelines.inspection.tasks import TASKS
from pipelines.report.texts import visible
from salience.errors import SalienceError
from serving.errors import ServingError
from serving.offline import go_offline

INTERRUPTED = 130
USER_ERROR = 2

app = typer.Typer(
    name="contested",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="""Measure, explain and repair what language models do when their documents disagree.

Everything runs on this machine, offline, with models that are folders on its disk.

First steps:

* `contested doctor` says what this machine has and what is missing.

* `contested score --response answer.txt --documents a.txt b.txt` looks at one answer.

* `contested run conflictscore --data answers.jsonl --out results` scores a file of answers.

* `contested web` opens a page where all of this can be tried.
""",
)
for task in TASKS:
    app.command(task.name)(command_of(task))
app.add_typer(index.app, name="index")
app.command("tune-npov")(tune_npov.tune_npov)
app.add_typer(run.app, name="run")
app.command("annotate")(annotate.annotate)
app.command("export")(export.export)
app.command("compare")(compare.compare)
app.command("trust")(trust.trust)
app.add_typer(models.app, name="models")
app.add_typer(conflictbench.app, name="conflictbench")
app.add_typer(ramdocs.app, name="ramdocs")
app.add_typer(nli.app, name="nli")
app.command("calibrate")(calibrate.calibrate)
app.command("web")(web)
app.command("serve")(serve)
app.command("doctor")(doctor.doctor)


RENAMED: Final = {"--labeller": "--judge", "'nli'": "'tagger'", "'llm'": "'model'"}
"""Options and values that scripts may still have -> their names today."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    0 is success, 2 a mistake that the user can mend (one line on standard error), 130 an interrupt.
    Anything else is a fault of this program and shows its traceback.
    """
    go_offline()
    try:
        code = app(args=arguments, standalone_mode=False)
    except (InputError, SalienceError, ServingError, TaggerError) as error:
        return _tell(str(error))
    except TyperException as error:
        said = error.format_message().replace("Value error, ", "").removesuffix(".")
        names = [f"; {old} is now {new}" for old, new in RENAMED.items() if old in said]
        return _tell(f"{said}{''.join(names)} (see --help)")
    except (KeyboardInterrupt, Abort):
        _tell("stopped; what was answered is kept, the same command resumes it")
        return INTERRUPTED
    except BrokenPipeError:
        return 0  # whoever read our output has seen enough
    except OSError as error:
        if error.filename is None:
            raise
        # A path that the system refuses where nobody looked first: too long, not permitted.
        return _tell(f"{error.filename}: {error.strerror}; check the path and its permissions")
    except BaseException as error:
        if isinstance(error, Exception) or not is_fault(error):
            raise
        code = _tell(f"a tokenizer failed ({error}); fetch the model again, its files are damaged")
    return code if isinstance(code, int) else 0


def _tell(message: str) -> int:
    print(f"contested: {visible(' '.join(message.split()))}", file=sys.stderr)
    return USER_ERROR
