"""Run the experiments of docs/results.md in turn; see scripts/reproduce_results.sh."""

import argparse
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from serving.offline import module_path

ROOT = Path(__file__).parents[1]
INTERRUPTED = 130


@dataclass(frozen=True)
class Run:
    """An experiment with its own run folder.

    Attributes:
        command: Arguments of `contested run`, without `--out`, `--profile` and `--limit`.
        minutes: Duration on two otherwise idle cores with AVX-512 BF16.
        profile: Profile of the language models; None if only the tagger is used.
    """

    name: str
    title: str
    command: str
    minutes: float
    profile: str | None = None


RAMDOCS = "--release ramdocs={data}/ramdocs/*.jsonl"
CONFLICTQA = "--release conflictqa={data}/conflictqa/*.jsonl*"
CLIMATE = "{data}/climate_fever/climate-fever.jsonl*"
WIKICONTRADICT = "--release wikicontradict={data}/wikicontradict/wiki_contradict_refined.jsonl*"
FILES = {
    "test-halves.jsonl": f"{RAMDOCS} {CONFLICTQA} --release climate-fever={CLIMATE}",
    "bench.jsonl": f"{RAMDOCS} {CONFLICTQA} {WIKICONTRADICT} --questions 75",
    "climate-fever.jsonl": f"--release climate-fever={CLIMATE}",
    "wikicontradict.jsonl": WIKICONTRADICT,
}
"""Input files -> the arguments of `contested lab conflictbench` that create them."""

DETECTION = "conflict-detection --data {files}/bench.jsonl --judge"
FOOL_ME_TWICE = "conrag --dataset fool-me-twice --data {data}/fm2/dev.jsonl*"
WRITTEN = "--generator model --judge tagger --limit 30"
PEOPLE = "{data}/wikicontradict/wiki_contradict_simple_humaneval.jsonl*"
BOTH_SIDES = f"both-sides --data {PEOPLE} --claims sentences --judge"
MADAM = "madam-rag --data {data}/ramdocs/*.jsonl --sample 30"
TYPES = "conflicts --data {data}/conflicts/*.jsonl* --classifier choice --on-overflow cut"
ANSWERS = f"{TYPES} --types choice --judge tagger --answer-tokens 256 --limit 40"
FEEDBACK = "truthfulqa --claims sentences --hedge --answer-tokens 160 --truth tagger --judge"
REPORTS = "report-writing --judge tagger --on-overflow cut"
# fmt: off
RUNS = (
    Run("detection-tagger", "Conflict Detection by the tagger, all of the test halves",
        "conflict-detection --data {files}/test-halves.jsonl --judge tagger", 3),
    Run("detection-75-tagger", "Conflict Detection by the tagger, 75 questions of each set",
        f"{DETECTION} tagger", 1),
    Run("detection-wikicontradict", "Conflict Detection by the tagger, WikiContradict's test half",
        "conflict-detection --data {files}/wikicontradict.jsonl --judge tagger", 1),
    Run("bundled-tagger", "Conflict Detection by the tagger, bundled claims",
        "conflict-detection --judge tagger", 1),
    Run("conrag-fool-me-twice", "ConRAG by template, FoolMeTwice", FOOL_ME_TWICE, 10),
    Run("conrag-climate-fever", "ConRAG by template, CLIMATE-FEVER",
        "conrag --data {files}/climate-fever.jsonl", 6),
    Run("conrag-template", "ConRAG by template, 30 claims of FoolMeTwice",
        f"{FOOL_ME_TWICE} --limit 30", 1),
    Run("both-sides-tagger", "ConflictScore by the tagger compared with people",
        f"{BOTH_SIDES} tagger", 5),
    # Answers of one run are cached for the next.
    Run("detection-model", "Conflict Detection by Qwen 1.5B", f"{DETECTION} model", 60, "cpu-1.5b"),
    Run("detection-cascade", "Conflict Detection by the cascade", f"{DETECTION} cascade", 1,
        "cpu-1.5b"),
    Run("bundled-model", "Conflict Detection by Qwen 1.5B, bundled claims",
        "conflict-detection --judge model", 4, "cpu-1.5b"),
    Run("bundled-cascade", "Conflict Detection by the cascade, bundled claims",
        "conflict-detection --judge cascade", 1, "cpu-1.5b"),
    Run("madam-methods", "MADAM-RAG and its baselines (Table 1)", MADAM, 90, "cpu-1.5b"),
    Run("madam-rounds", "MADAM-RAG by rounds (Figure 3)", f"{MADAM} --experiment rounds --rounds 3",
        60, "cpu-1.5b"),
    Run("conflicts-types", "Conflict types by choice, all queries of CONFLICTS at hand",
        f"{TYPES} --strategy none", 180, "cpu-1.5b"),
    Run("conflicts-answers", "Four strategies, 40 queries of CONFLICTS (Table 5)", ANSWERS, 180,
        "cpu-1.5b"),
    Run("scores", "ConflictScore of the bundled responses", "conflictscore --judge model", 30,
        "cpu-1.5b"),
    Run("reports", "Reports by prompt, bundled questions (Table 3)", REPORTS, 150, "cpu-1.5b"),
    Run("feedback", "Answers revised after feedback, bundled questions",
        f"{FEEDBACK} model --on-overflow cut", 40, "cpu-1.5b"),
    Run("conrag-written", "ConRAG by Qwen 1.5B, 30 claims of FoolMeTwice",
        f"{FOOL_ME_TWICE} {WRITTEN}", 210, "cpu-1.5b"),
    Run("both-sides", "ConflictScore by Qwen 1.5B compared with people", f"{BOTH_SIDES} model", 80,
        "cpu-1.5b"),
    Run("detection-smollm2", "Conflict Detection by SmolLM2", f"{DETECTION} model --anyway", 15,
        "cpu-small"),
    Run("madam-methods-smollm2", "MADAM-RAG and its baselines by SmolLM2", MADAM, 10, "cpu-small"),
    Run("conflicts-types-smollm2", "Conflict types by SmolLM2", f"{TYPES} --strategy none", 25,
        "cpu-small"),
    Run("conflicts-answers-smollm2", "Four strategies by SmolLM2", ANSWERS, 10, "cpu-small"),
    Run("reports-smollm2", "Reports by prompt, by SmolLM2",
        f"{REPORTS} --claims sentences --on-error skip", 5, "cpu-small"),
    Run("feedback-smollm2", "Answers revised after feedback by SmolLM2",
        f"{FEEDBACK} tagger", 12, "cpu-small"),
    Run("conrag-written-smollm2", "ConRAG by SmolLM2", f"{FOOL_ME_TWICE} {WRITTEN}", 5,
        "cpu-small"),
)
# fmt: on


def say(text: str) -> None:
    """Print progress for the user."""
    print(f"contested: {text}", file=sys.stderr, flush=True)


def words(command: str, data: Path, out: Path) -> list[str]:
    """A command's words, with paths filled in; OSError unless one file matches each pattern."""
    filled = []
    for word in shlex.split(command):
        before, inside, pattern = word.partition("{data}/")
        if inside:
            files = sorted(data.glob(pattern))
            if len(files) != 1:
                matches = f"{len(files) or 'no'} files match {data / pattern}"
                raise OSError(f"{matches}; --data must have exactly one")
            filled.append(f"{before}{files[0]}")
        else:
            filled.append(word.replace("{files}", str(out / "files")))
    return filled


def called(*line: str) -> int:
    """Run `contested`, or a script of this folder; returns its exit code."""
    program = [sys.executable, "-m", "pipelines.cli"]
    if line[0].startswith("scripts/"):
        program, line = [str(ROOT / line[0])], line[1:]
    return subprocess.call([*program, *line], env=os.environ | module_path())


def run_one(run: Run, data: Path, out: Path, further: Sequence[str]) -> int:
    """Create the input files of a run, fetch its models, and run it; returns the exit code."""
    for name, sources in FILES.items():
        path = out / "files" / name
        if f"{{files}}/{name}" in run.command and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            build = words(sources, data, out)
            if code := called("lab", "conflictbench", *build, "--out", str(path)):
                return code
    command = ["run", *words(run.command, data, out), "--out", str(out / run.name), *further]
    if run.profile is not None:
        command += ["--profile", run.profile]
        fetch = ("scripts/fetch_models.sh", "--profile", run.profile)
        if "--dry-run" not in further and (code := called(*fetch)):
            return code
    return called(*command)


def read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog="scripts/reproduce_results.sh",
        description="Run every experiment of docs/results.md, each in its own folder. "
        "If it is interrupted, the same command resumes it.",
    )
    add, names = parser.add_argument, [run.name for run in RUNS]
    add("--data", type=Path, metavar="DIR", help="released data sets, with a folder for each")
    add("--out", type=Path, metavar="DIR", help="folder of the run folders; created, or resumed")
    add("--only", action="append", choices=names, metavar="NAME", help="run only this; repeatable")
    add("--limit", type=int, metavar="N", help="only the first N examples of each, for a trial")
    add("--dry-run", action="store_true", help="show what each run would ask, and ask nothing")
    add("--list", action="store_true", help="list the runs and their minutes, and exit")
    given = parser.parse_args(arguments)
    if not given.list and not (given.data and given.out):
        parser.error("--data and --out are needed")
    return given


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the requested experiments; 1 if a run failed."""
    given = read_arguments(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    runs = [run for run in RUNS if not given.only or run.name in given.only]
    if given.list:
        for run in runs:
            print(f"{run.name:26} {run.minutes:4} min  {run.profile or 'tagger':9}  {run.title}")
        return 0
    options = ["--limit", str(given.limit)] if given.limit else []
    options += ["--dry-run"] if given.dry_run else []
    failed = []
    for number, run in enumerate(runs, 1):
        left = sum(later.minutes for later in runs[number - 1 :])
        hours = f"about {left / 60:.1f} hours left on two cores"
        say(f"{number}/{len(runs)}  {run.name}: {run.title}; {hours}")
        try:
            code = run_one(run, given.data, given.out, options)
        except OSError as error:
            say(str(error))
            code = 2
        if code == INTERRUPTED:
            return code
        if code:
            failed.append(run.name)
    why = f"; failed: {', '.join(failed)}. The same command resumes them" if failed else ""
    say(f"{len(runs) - len(failed)} of {len(runs)} runs finished{why}")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        say("stopped; the same command resumes it")
        sys.exit(INTERRUPTED)
