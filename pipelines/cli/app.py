"""The `contested` command: its subcommands, and how it reports errors."""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final

from typer.exceptions import Abort, TyperException

from nli.errors import is_fault
from pipelines import papers
from pipelines.cli.command import Group, listed
from pipelines.errors import FIXABLE
from serving.errors import in_our_words
from serving.offline import go_offline

COMPLETE: Final = "_CONTESTED_COMPLETE"
"""Environment variable through which a shell asks for completions."""

INTERRUPTED = 130
STOPPED = "stopped; all answers so far are kept, and the same command resumes"
USER_ERROR = 2


FUNCTIONS: Final = {"list": "models.show_models", "add": "models.add", "build": "index.build"}
"""Command -> its module and function, if they do not have its name."""


def _command(name: str) -> Callable[..., Any]:
    """The function of a command."""
    same = name.replace("-", "_")
    module, _, function = FUNCTIONS.get(name, f"{same}.{same}").partition(".")
    command: Callable[..., Any] = getattr(import_module(f"pipelines.cli.{module}"), function)
    return command


def _task(name: str) -> Callable[..., Any]:
    from pipelines.cli.tasks import command_of
    from pipelines.inspection.task import task

    return command_of(task(name))


def _experiment(name: str) -> Callable[..., Any]:
    from pipelines.cli.run import command_of

    return _command("run_all") if name == "all" else command_of(name)


EXAMPLES: Final = {
    "score": "Score an answer by the documents it was written from.",
    "screen": "Find statements in documents that contradict each other.",
    "ask": "Answer with the evidence for and against a claim.",
    "debate": "Let agents debate a question, one per document.",
    "resolve": "Name the conflict between sources, and answer.",
    "answer-npov": "Answer a controversial question from arguments of both sides.",
    "check-npov": "Find errors in a neutral answer: omissions and additions.",
    "salience": "Show which words of a prompt a response rests on.",
}
RUN: Final = dict.fromkeys(papers.EXPERIMENTS, "") | {
    "conflictscore": "Score every response of a file.",
    "conflict-detection": "Detect conflicting documents; count how often a judge is right.",
    "report-writing": "Write reports from documents that disagree, and score them.",
    "truthfulqa": "Answer TruthfulQA, and again once the conflict is known.",
    "both-sides": "Compare ConflictScore with what people say of answers.",
    "conrag": "Compare ConRAG with its baselines and ablations.",
    "conflicts": "Predict types of conflict, answer, and judge the answers.",
    "madam-rag": "Compare a debate of agents with methods without one.",
    "npov": "Compare detectors of hallucination and coverage errors.",
    "all": "Run all of them, over bundled samples or your own data.",
}
RESULTS: Final = {
    "compare": "Compare two run folders.",
    "annotate": "Label a judge's examples blind, and measure agreement.",
    "export": "Write a run as Parquet files.",
    "trust": "Test a judge with hostile documents.",
}
MACHINE: Final = {
    "web": "Use all of this in the browser.",
    "doctor": "Check whether this machine has everything it needs.",
    "serve": "Serve a model with vLLM on this machine.",
}
MODELS: Final = {
    "list": "Show the registered models.",
    "add": "Register a model: a folder, or a GGUF file.",
}
LAB: Final = {
    "pairs": "Make a file of labelled pairs from released data sets.",
    "train": "Train a tagger on pairs.",
    "calibrate": "Make a judge's probabilities mean what they say.",
    "conflictbench": "Build ConflictBench from the files of its sources.",
    "ramdocs": "Build data like RAMDocs from AmbigDocs.",
    "study-npov": "Reproduce the salience experiments from start to finish.",
}

ELSEWHERE: Final = {
    **{name: f"an experiment: contested run {name}" for name in papers.EXPERIMENTS},
    "conflicts": "an experiment: contested run conflicts; for one question: contested resolve",
    **{name: f"now contested lab {name}" for name in LAB},
}
"""Name typed without `run` or `lab` -> hint that gives the whole command."""

NEW_NAMES: Final = {
    "No such option: --labeller": "--labeller is now --judge",
    "'--judge': 'nli'": "'nli' is now 'tagger'",
    "'--judge': 'llm'": "'llm' is now 'model'",
}
"""Part of the error for a former name -> hint that gives the current one."""

app: Final = Group(
    "contested",
    """Measure, explain and repair what language models do when their documents disagree.

Offline, with models that are folders on this machine's disk.

Examples:
    contested score --response answer.txt --documents a.txt b.txt

    contested run conflictscore --data answers.jsonl --out results

    contested web
""",
    listed(EXAMPLES, _task, "One answer, question or text")
    | {
        "run": Group(
            "run",
            "Run an experiment over a file. The same command resumes it.",
            listed(RUN, _experiment),
            panel="Whole files",
        )
    }
    | listed(RESULTS, _command, "Whole files")
    | listed(MACHINE, _command, "This machine")
    | {
        "models": Group(
            "models",
            """Register, list and check the models of this machine.

A model is a **folder** with safetensors, `config.json` and `tokenizer.json`. Nothing is
downloaded, code in a model folder is never run, and pickle weights are refused. The SHA-256 of each
file that affects a model's answers is stored beside the folder; every result has their digest.""",
            listed(MODELS, _command),
            panel="This machine",
        ),
        "index": Group(
            "index",
            "Make documents searchable for `contested ask`.",
            listed({"build": "Build an index of documents."}, _command),
            panel="This machine",
        ),
        "lab": Group(
            "lab",
            "Make data sets and taggers, train and calibrate.",
            listed(LAB, _command),
            panel="This machine",
        ),
    },
    ELSEWHERE,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    0 is success, 2 a mistake that the user can fix (one line on standard error), 130 an interrupt.
    Anything else is a fault of this program and shows its traceback.
    """
    go_offline()
    if COMPLETE in os.environ:
        from typer.completion import get_completion_inspect_parameters

        get_completion_inspect_parameters()  # registers the shells
    try:
        code = app(args=arguments, prog_name="contested", standalone_mode=False)
    except FIXABLE as error:
        return _tell(str(error))
    except TyperException as error:
        text = in_our_words(error.format_message()).removesuffix(".")
        names = [f"; {name}" for old, name in NEW_NAMES.items() if old in text]
        # A group without a command has shown its help.
        return _tell(f"{text}{''.join(names)} (see --help)") if text else USER_ERROR
    except (KeyboardInterrupt, Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        return 0  # whoever read our output has seen enough
    except OSError as error:
        if error.filename is None:
            raise
        # The system refused a path that was not checked before: too long, or not permitted.
        return _tell(f"{error.filename}: {error.strerror}; check the path and its permissions")
    except BaseException as error:
        if isinstance(error, Exception) or not is_fault(error):
            raise
        code = _tell(f"a tokenizer failed ({error}); fetch the model again, its files are damaged")
    if code == INTERRUPTED:  # typer turns Ctrl-C into an exit code
        _tell(STOPPED)
    return code if isinstance(code, int) else 0


def _tell(message: str) -> int:
    from pipelines.report.texts import one_line, visible

    print(f"contested: {visible(one_line(message))}", file=sys.stderr)
    return USER_ERROR
