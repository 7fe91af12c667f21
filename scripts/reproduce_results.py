"""Runs the experiments of docs/results.md one after the other; scripts/reproduce_results.sh."""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from results_plan import PLAN, ROOT, File, Place, Plan, Run, read

from pipelines.errors import InputError
from serving import guard

FAILED = 1
USER_ERROR = 2
INTERRUPTED = 130

GRACE_S = 30
"""Seconds that a run has to write down what it was told, once it is to end."""


def chosen(plan: Plan, names: Sequence[str]) -> list[Run]:
    """The runs of these names, in the plan's order; all where none is named.

    Raises:
        InputError: There is no such run.
    """
    known = {run.name: run for run in plan.run}
    if lost := [name for name in names if name not in known]:
        raise InputError(f"there is no run {lost[0]}; --list names them")
    return [run for run in plan.run if run.name in names or not names]


def done(run: Run, place: Place) -> bool:
    """Whether a run came to its end once; it may have been of fewer examples."""
    return (place.out / run.name / "tables").is_dir()


def listing(plan: Plan, runs: Sequence[Run], place: Place) -> list[str]:
    """A line for each run, and one with the hours of what is left."""
    wide = max((len(run.name) for run in runs), default=0)
    lines = []
    for run in runs:
        state = "done" if done(run, place) else f"{run.minutes / 60:.1f} h"
        who = place.profile_of(run, plan) or "tagger"
        lines.append(f"{run.name:{wide}}  {state:>6}  {who:9}  {run.title}")
    left = sum(run.minutes for run in runs if not done(run, place))
    lines.append(f"{len(runs)} runs, about {left / 60:.1f} hours left")
    return lines


def called(command: Sequence[str]) -> int:
    """Run a command that ends with this program, however that ends; its exit code."""
    words = list(command)
    if words[0] == "contested":
        words[:1] = [sys.executable, "-m", "pipelines.cli"]
    elif words[0].startswith("scripts/"):
        words[0] = str(ROOT / words[0])
    guarded = [sys.executable, "-ISs", guard.__file__, "--grace", str(GRACE_S), "--", *words]
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        guarded, stdin=subprocess.PIPE, env=os.environ | {"PYTHONPATH": paths}
    )
    try:
        return process.wait()
    finally:  # the guard ends the command where its input ends
        process.communicate()


def prepared(plan: Plan, runs: Sequence[Run], place: Place, *, asking: bool) -> dict[str, str]:
    """Fetch the models of the runs' profiles, and make the files; what failed -> why.

    Where no model is asked (`asking`), none is fetched, and no file made that one is asked for.
    """
    failed: dict[str, str] = {}
    files = [each for each in missing(plan, runs, place) if asking or each.profile is None]
    if files:
        place.files.mkdir(parents=True, exist_ok=True)
    wanted: list[Run | File] = [*files, *runs]
    for profile in dict.fromkeys(place.profile_of(each, plan) for each in wanted if asking):
        if profile is not None and profile in plan.models:
            say(f"preparing the models of {profile}")
            if code := called(place.words(plan.models[profile])):
                failed[f"models of {profile}"] = f"code {code}"
    for file in files:
        path = place.files / file.name
        say(f"making {path}")
        profile = place.profile_of(file, plan)
        further = ["--profile", profile] if profile else []
        try:
            code = called([*place.words(file.command), *further, "--out", str(path)])
        except InputError as error:
            failed[file.name] = str(error)
        else:
            if code:
                failed[file.name] = f"code {code}"
    return failed


def missing(plan: Plan, runs: Sequence[Run], place: Place) -> list[File]:
    """The files to make: those that the runs read, and those that such a file is made of."""
    found: list[File] = []
    read_by = [run.command for run in runs]
    for file in reversed(plan.file):
        needed = any(f"{{files}}/{file.name}" in command for command in read_by)
        if needed and not (place.files / file.name).exists():
            found.insert(0, file)
            read_by.append(file.command)
    return found


def command_of(run: Run, plan: Plan, place: Place, further: Sequence[str]) -> list[str]:
    """The whole command of a run. Raises InputError where its data are not there."""
    profile = place.profile_of(run, plan)
    return [
        *place.words(run.command),
        *(("--profile", profile) if profile else ()),
        *("--out", str(place.out / run.name)),
        *further,
    ]


def run_all(plan: Plan, runs: Sequence[Run], place: Place, further: Sequence[str]) -> int:
    """Run all, whatever fails; the exit code."""
    asking = "--dry-run" not in further
    failed = prepared(plan, runs, place, asking=asking)
    left = sum(run.minutes for run in runs if not done(run, place))
    for number, run in enumerate(runs, 1):
        say(f"{number}/{len(runs)}  {run.name}: {run.title}; about {left / 60:.1f} hours left")
        left -= 0 if done(run, place) else run.minutes
        if not asking and (unmade := missing(plan, [run], place)):
            say(
                f"{run.name} cannot be counted before {unmade[0].name} is there, which asks a model"
            )
            continue
        try:
            code = called(command_of(run, plan, place, further))
        except InputError as error:
            failed[run.name] = str(error)
            continue
        if code == INTERRUPTED:
            return code
        if code:
            failed[run.name] = f"code {code}"
    fine = sum(run.name not in failed for run in runs)
    why = "; ".join(f"{name} ({reason})" for name, reason in failed.items())
    ended = f"{fine} of {len(runs)} runs came to their end"
    say(f"{ended}; failed: {why}. The same command resumes them" if failed else ended)
    return FAILED if failed else 0


def say(text: str) -> None:
    """Tell a person how far it is."""
    print(f"contested: {text}", file=sys.stderr, flush=True)


def read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="scripts/reproduce_results.sh",
        description="Run every experiment of docs/results.md, each into a folder of its own. "
        "Killed anywhere, the same command resumes it. scripts/results.toml is the plan.",
    )
    add = parser.add_argument
    add("--data", type=Path, metavar="DIR", help="released data sets, a folder for each")
    add("--out", type=Path, metavar="DIR", help="where run folders are; made, or continued")
    add("--only", action="append", default=[], metavar="NAME", help="a run; repeatable")
    add("--profile", metavar="NAME", help="in place of the plan's main profile")
    add("--limit", type=int, metavar="N", help="the first N examples of each, to try it out")
    add("--dry-run", action="store_true", help="say what each run would ask, and ask nothing")
    add("--list", action="store_true", help="name the runs and their hours, and stop")
    add("--plan", type=Path, default=PLAN, metavar="FILE", help="another plan")
    given = parser.parse_args(arguments)
    if not given.list and not (given.data and given.out):
        parser.error("--data and --out are needed")
    if given.limit is not None and given.limit < 1:
        parser.error("--limit must be at least 1")
    return given


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; 2 for what a person can mend, 1 where a run failed."""
    given = read_arguments(arguments)
    place = Place(given.data or Path(), given.out or Path(), given.profile)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        plan = read(given.plan)
        runs = chosen(plan, given.only)
        if given.list:
            print("\n".join(listing(plan, runs, place)))
            return 0
        if not place.data.is_dir():
            raise InputError(f"{place.data} is no folder; name that of the data sets with --data")
        further = [*(("--limit", str(given.limit)) if given.limit else ())]
        return run_all(plan, runs, place, further + ["--dry-run"] * given.dry_run)
    except InputError as error:
        say(str(error))
        return USER_ERROR
    except OSError as error:
        say(f"{error.filename}: {error.strerror}")
        return USER_ERROR
    except KeyboardInterrupt:
        say("stopped; the same command resumes it")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
