"""Bad files, options, prompts and folders: one clear line, code 2, and nothing is lost."""

import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, Outcome, contents, results, table, the_line
from golden import TEST_SETS
from scripted import Scripted

DOCUMENT = {"id": "d", "text": "The bridge was opened in 1936."}
TEXTS = {"response": "The bridge is old.", "documents": [DOCUMENT]}


def record(**fields: object) -> bytes:
    return json.dumps({"id": "bad", **TEXTS, **fields}).encode()


GOOD = record(id="good")

BAD_LINES: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "broken JSON": (b'{"id": "bad", "response": }', ("not valid JSON at column 27", "one object")),
    "a trailing comma": (GOOD[:-1] + b",}", ("(a trailing comma?); write one object",)),
    "cut short": (GOOD[:-5], ("not valid JSON at column", "one object per line")),
    "a list": (b"[1, 2]", ("it must be an object", "docs/input.md")),
    "a number": (b"12", ("it must be an object", "docs/input.md")),
    "missing field": (b'{"id": "x", "response": "y"}', ("field 'documents' is missing", "docs/")),
    "no response": (
        b'{"id": "x", "documents": [{"id": "d", "text": "t"}]}',
        ("'response' is missing",),
    ),
    "unknown fields": (
        b'{"id": "x", "prompt": "y", "passage": "z"}',
        ("the record has 'prompt', 'passage'; see docs/",),
    ),
    "misspelt name of another tool": (
        record(user_inputt="x"),
        ("no field 'user_inputt' (did you mean 'user_input'?)",),
    ),
    "records in an object": (b'{"data": [{"id": "x"}]}', ("'data' (a list; if it holds the",)),
    "misspelt field": (record(respons="x"), ("no field 'respons' (did you mean 'response'?)",)),
    "misspelt field of a document": (
        record(documents=[{"id": "d", "txt": "t"}]),
        ("there is no field 'txt' (did you mean 'text'?)",),
    ),
    "field twice": (GOOD[:-1] + b', "response": "Other."}', ("'response' is given twice",)),
    "number for text": (record(response=5), ("field 'response': it must be a text; see docs/",)),
    "number for documents": (record(documents=5), ("'documents': it must be a list; see docs/",)),
    "empty response": (record(response=""), ("'response' is empty", "drop the record")),
    "empty responses": (record(response=None, responses={}), ("'responses' is empty",)),
    "white space": (
        record(documents=[{"id": "d", "text": " \n\t"}]),
        ("the field 'text' of entry 1 of 'documents' is empty", "give it text"),
    ),
    "an empty context": (
        b'{"retrieved_contexts": ["t", ""], "response": "y"}',
        ("entry 2 of 'retrieved_contexts' is empty", "give it text"),
    ),
    "a conversation": (
        b'{"retrieved_contexts": ["t"], "response": "y", "user_input": [{"content": "z"}]}',
        ("the field 'user_input': it must be a text; see",),
    ),
    "no documents": (record(documents=[]), ("'documents' is empty", "at least one")),
    "id twice": (GOOD, ("the id 'good' is already used on line 1", "make ids distinct")),
    "documents alike": (record(documents=[DOCUMENT] * 2), ("two documents have the id 'd'",)),
    "both": (record(responses={"a": "b"}), ("exactly one of 'response' and 'responses'",)),
    "names alike": (
        record(response=None, responses={"a": "Yes.", "a ": "No."}),
        ("two of the 'responses' have the same name",),
    ),
    "not UTF-8": (b'{"id": "caf\xe9"}', ("not UTF-8 at byte 12", "save the file as UTF-8")),
    "UTF-16": ('{"id": "bad"}'.encode("utf-16"), ("not UTF-8 at byte 1;", "save the file")),
    "NaN": (record(claims=[float("nan")]), ("NaN is not JSON", "write null")),
    "Infinity": (record(claims=[float("-inf")]), ("-Infinity is not JSON", "write null")),
    "half a character": (record(response="x\ud800y"), ("half of a character", "write both")),
    "deep": (b"[" * 100_000 + b"]" * 100_000, ("cannot be read as JSON", "recursion")),
    "less deep": (record(claims=json.loads("[" * 300 + "]" * 300)), ("recursion", "docs/")),
    "huge number": (b'{"id": ' + b"7" * 5000 + b"}", ("cannot be read as JSON", "digits")),
}


def run(data: Path, folder: Path, endpoint: Scripted, *more: object) -> list[object]:
    """The command that would resume the run of a folder."""
    where = ["--out", folder / "out", "--cache", folder / "cache.sqlite"]
    return ["run", "conflictscore", "--data", data, "--endpoint", endpoint.url, *where, *more]


# Records.


def test_bad_records_are_skipped_and_counted(
    contested: Contested, endpoint: Scripted, tmp_path: Path
) -> None:
    data, out = tmp_path / "mixed.jsonl", tmp_path / "out"
    lines = [GOOD, *(line for line, _ in BAD_LINES.values()), record(id="last")]
    data.write_bytes(b"\n".join(lines))
    command = ["run", "conflictscore", "--data", data, "--out", out, "--endpoint", endpoint.url]
    dry = contested.done(*command, "--on-error", "skip", "--dry-run")
    assert "line 2 is skipped: not valid JSON at column 27" in dry.out
    assert not endpoint.requests
    outcome = contested.done(*command, "--on-error", "skip")
    assert f"bad records skipped: {len(BAD_LINES)}, listed in tables/failures" in outcome.err
    assert list(results(out)) == ["good", "last"]
    rows = [row for row in table(out, "failures") if row["what"] == "bad record"]
    numbers = range(2, len(BAD_LINES) + 2)
    assert [row["response"] for row in rows] == [f"line {number}" for number in numbers]
    for row, (_, parts) in zip(rows, BAD_LINES.values(), strict=True):
        for part in parts:
            assert part in row["reason"]
    # The report of a finished run, made again, still counts them.
    (out / "report.html").unlink()
    contested.done(*command, "--on-error", "skip")
    assert f"bad record: {len(BAD_LINES)}" in (out / "report.html").read_text("utf-8")
    assert len(table(out, "failures")) == len(BAD_LINES)


# Options and commands.


FILES: dict[str, bytes] = {
    "answer.txt": b"The bridge is old.",
    "guide.txt": b"The bridge was opened in 1936.",
    "head.txt": b"Date: 2021-03-01\nTitle: A page\n",
    "picture.png": b"\x89PNG",
    "good.jsonl": GOOD,
    "broken.jsonl": b'{"id": "a", "txt": "b"}\n',
    "pair.jsonl": b'{"premise": "a", "hypothesis": "b", "label": "SUPPORTS", "source": "own"}\n',
    "half.jsonl": b"\n\n{",
    "label.jsonl": b'{"question": "Q?", "conflict_type": "Quarrel", '
    b'"search_results": [{"title": "", "short_text": "x"}]}',
    "pickle": b"\x80\x04K\x01.",
    "q.csv": b"Question,Answer\nIs it?,No",
    "empty/.kept": b"",
    "topics.jsonl": b'{"topic": "dams", "question": "Should it stay?"}',
    "torn.jsonl": TEST_SETS.read_bytes().splitlines()[0] + b"\n{",
    "void.jsonl": b"",
    "blank.jsonl": b"\n \r\n",
    "bad.jsonl": b"\nno\nno",
    "bytes.txt": bytes(range(256)),
    "nul.txt": b"a\0b\0",
}
SCORES = "run conflictscore --data good.jsonl"
TEXTS_OF = "--response answer.txt --documents guide.txt"
PAIRS = "lab pairs --out new.jsonl"
TRAIN = "lab train --pairs pair.jsonl --dev pair.jsonl --base empty --out new"
BENCH = "lab conflictbench --release"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("frobnicate", "No such command 'frobnicate'"),
        ("conrag", "contested conrag is an experiment: contested run conrag"),
        ("calibrate --dry-run", "contested calibrate is now contested lab calibrate"),
        (f"score {TEXTS_OF} --labeller model", "--labeller is now --judge"),
        (f"{SCORES} --judge nli", "'nli' is now 'tagger'"),
        ("lab trian", "No such command 'trian'. Did you mean 'train'?"),
        ("score", "Missing option '--response'"),
        ("score --response void.jsonl --documents guide.txt", "void.jsonl is empty; give it text"),
        ("score --response lost.txt --documents guide.txt", "lost.txt does not exist; check the"),
        ("score --response answer.txt --documents blank.jsonl", "blank.jsonl is empty; give it"),
        ("score --response answer.txt --documents bytes.txt", "not UTF-8 at byte 129; save"),
        ("score --response answer.txt --documents nul.txt", "nul.txt has a NUL"),
        ("run conflictscore --data lost.jsonl", "lost.jsonl does not exist; check the path"),
        ("run conflictscore --data empty", "(Is a directory); name another file"),
        ("run conflictscore --data void.jsonl", "void.jsonl has no record"),
        ("run conflictscore --data blank.jsonl", "blank.jsonl has no record"),
        ("run conflictscore --data bad.jsonl --on-error skip",
         "bad.jsonl has only bad records (2); the first is on line 2: not valid JSON"),
        (f"{SCORES} --out guide.txt", "guide.txt cannot be written ("),
        (f"{SCORES} --out guide.txt/out", "guide.txt/out cannot be written ("),
        (f"{SCORES} --out /proc/contested/out", "name another folder with --out"),
        (f"{SCORES} --frobnicate", "No such option: --frobnicate"),
        (f"{SCORES} --limit x", "Invalid value for '--limit': it must be a whole number (see"),
        (f"{SCORES} --claims x", "'--claims': 'x' is not one of 'atomic'"),
        (f"{SCORES} --k 21", "'--k': it must be at most 20 (see"),
        (f"{SCORES} --strict --endpoint http://127.0.0.1:1/v1", "leave one of them out"),
        (f"{SCORES} --profile cpu-smal", "no profile 'cpu-smal' (did you mean 'cpu-small'?)"),
        (f"score {TEXTS_OF} guide.txt", "the document guide.txt is given twice"),
        (f"score {TEXTS_OF} --judge cascade --evidence together", "a cascade asks for single ones"),
        (f"score {TEXTS_OF} --judge cascade --risk 1.5", "--risk: it must be less than 1"),
        (f"score {TEXTS_OF} --tagger contested-nli-lrge", "did you mean 'contested-nli-large'?"),
        (f"score {TEXTS_OF} --tagger ./nowhere", "the folder nowhere does not exist"),
        (f"score {TEXTS_OF} --judge tagger --claims whole --model m", "which asks no language"),
        (f"score --regenerate {TEXTS_OF} --as-in-paper --hedge", "--as-in-paper sets --hedge"),
        ("ask 'Who built it?' --index empty", "--generator model"),
        ("debate Q? --documents empty", "empty contains no documents; their names end in .md"),
        ("debate Q? --documents samples/bridge/lost.txt", "lost.txt does not exist"),
        ("ask 'It is old.' --index guide.txt", "is a file"),
        ("ask 'It is old.' --sort model", "add --generator model"),
        ("index build picture.png", "cannot be read; names of documents end in"),
        ("index build empty", "contains no documents"),
        ("index build void.jsonl", "has no entry; name a file with one JSON object per line"),
        ("screen lost.txt", "lost.txt does not exist; check the path"),
        ("ask 'It is old.' --index lost", "contested index build DOCUMENTS --out lost"),
        ("index build broken.jsonl", "broken.jsonl:1"),
        ("index build guide.txt --out empty", "holds other files"),
        ("debate Q? --documents guide.txt answer.txt --no-aggregator --history aggregate",
         "--history aggregate needs an aggregator"),
        ("debate Q? --documents guide.txt lost.txt", "lost.txt does not exist"),
        ("resolve Q? --documents guide.txt head.txt --strategy none --types yes-no",
         "head has no text below its first lines"),
        ("resolve Q? --documents guide.txt answer.txt --html empty", "(it is a folder)"),
        ("run conflicts --data label.jsonl", "'Quarrel' is not a type of conflict; the types are"),
        ("run conflicts --strategy none --strategy vanilla", "--strategy none asks for no answers"),
        ("run conrag --dataset scifact --data good.jsonl", "needs its passages; name corpus.jsonl"),
        ("run conrag --tau nan", "tau"),
        ("run madam-rag --data good.jsonl", "good.jsonl:1: the field 'question' is missing"),
        ("run madam-rag --as-released --history aggregate", "--as-released sets --history"),
        ("run conrag --as-in-paper --judge model", "--as-in-paper sets --judge"),
        ("run truthfulqa --data q.csv", "the column 'Best Answer' is missing"),
        ("run report-writing --data good.jsonl", "no question with documents that could disagree"),
        ("run npov --detector tagger --data topics.jsonl", "annotated responses"),
        ("run npov --detector tagger --data torn.jsonl", "torn.jsonl:2: not an example of a test"),
        ("run npov --detector tagger --name a/b", "--name 'a/b' cannot be part of a file name"),
        ("run all --data nowhere", "nowhere does not exist"),
        ("run conflict-detection --probe", "--probe has no effect with a run without --dry-run"),
        (PAIRS, "no release given"),
        (f"{PAIRS} --release nli", "--release nli: write NAME=PATH"),
        (f"{PAIRS} --release wise=x", "did you mean 'wice'?"),
        (f"{PAIRS} --nli half.jsonl", "half.jsonl:3: "),
        (TRAIN, "empty is not a model folder"),
        (f"{TRAIN} --repeat own", "write SOURCE=N"),
        ("lab calibrate --pairs half.jsonl --dry-run", "half.jsonl:3: "),
        ("lab calibrate --pairs pair.jsonl", "name another with --tagger FOLDER"),
        ("lab calibrate --pairs pair.jsonl --model m", "--model has no effect with --judge tagger"),
        (f"{BENCH} contraqa=good.jsonl", "contraqa is read from queries.json and corpus.json"),
        (f"{BENCH} conflictingqa=pickle", "is a pickle"),
        ("lab ramdocs --ambigdocs good.jsonl", "AmbigDocs"),
        ("models add org/model --name x", "nothing is downloaded"),
        ("models add --package no-such --name x", "not installed"),
        ("serve --model org/model", "there is no model folder org/model"),
        ("export --out new " + "x" * 300, "File name too long; check the path"),
        ("export empty --out new", "is not a run folder"),
        ("annotate empty", "is not a run folder"),
        ("compare empty ./empty", "both folders are the same"),
    ],
)  # fmt: skip
def test_a_command_that_cannot_be_done(
    line: str, says: str, contested: Contested, tmp_path: Path
) -> None:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert says in contested.refused(*shlex.split(line))
    assert not list(tmp_path.glob("new*"))


# Prompts.


def test_a_bad_prompt(contested: Contested, endpoint: Scripted, tmp_path: Path) -> None:
    own, data = tmp_path / "prompts/judge/relation.j2", tmp_path / "good.jsonl"
    own.parent.mkdir(parents=True)
    data.write_bytes(GOOD)
    command = run(data, tmp_path, endpoint, "--prompts", tmp_path / "prompts")
    for source, parts in (
        (b"{{ claim }}", ("'document' is missing", "write {{ document }}")),
        (
            b"{{ claim.text }} {{ document }}",
            ("'judge/relation' cannot be filled in", "no attribute 'text'", "fix the template"),
        ),
        (b"\xff", ("relation.j2 is not UTF-8 at byte 1", "save")),
    ):
        own.write_bytes(source)
        contested.refused(*command, says=parts)
        assert not endpoint.requests
    # Nothing is left that would stand in the way of the fixed prompt.
    own.write_text("{{ document | fenced('DOCUMENT') }} {{ claim | fenced('CLAIM') }}")
    contested.done(*command)


# Run folders.


@pytest.mark.parametrize(("name", "folder"), [("tables", False), ("report.html", True)])
def test_output_that_is_in_the_way_keeps_the_results(
    name: str, folder: bool, contested: Contested, endpoint: Scripted, tmp_path: Path
) -> None:
    data, out = tmp_path / "good.jsonl", tmp_path / "out"
    data.write_bytes(GOOD)
    way = out / name
    out.mkdir()
    if folder:
        way.mkdir()
    else:
        way.write_text("mine")
    command = run(data, tmp_path, endpoint)
    outcome = contested(*command)
    last = outcome.err.rstrip("\n").rpartition("\n")[2]
    assert outcome.code == 2
    assert last.startswith(f"contested: {out / name}")
    assert "cannot be written (" in last
    assert "choose a writable folder" in last
    assert results(out)["good"]["status"] == "scored"
    assert not [path for path in out.rglob(".*") if path.name != ".lock"]
    asked = len(endpoint.requests)
    way.replace(tmp_path / "away")
    contested.done(*command)
    assert len(endpoint.requests) == asked


def test_a_damaged_line_of_results(
    contested: Contested, endpoint: Scripted, tmp_path: Path
) -> None:
    data, out = tmp_path / "good.jsonl", tmp_path / "out"
    data.write_bytes(b"\n".join(record(id=name) for name in ("a", "b", "c")))
    contested.done(*run(data, tmp_path, endpoint))
    kept = out / "conflictscore.jsonl"
    lines = kept.read_bytes().split(b"\n")
    damaged = b"\n".join([lines[0], lines[1][:40], *lines[2:]])
    kept.write_bytes(damaged)
    before = contents(out)
    for command in (run(data, tmp_path, endpoint), ["export", out, "--out", tmp_path / "new"]):
        message = contested.refused(*command)
        assert message.startswith(f"{kept}:2: not a result of this version")
        assert "remove the line to have it made again" in message
        assert contents(out) == before
    kept.write_bytes(b"\n".join([lines[0], *lines[2:]]))
    contested.done(*run(data, tmp_path, endpoint))
    assert kept.read_bytes() == b"\n".join(lines)


# The cache.


def test_a_cache_that_cannot_be_used(
    contested: Contested, endpoint: Scripted, tmp_path: Path
) -> None:
    import sqlite3

    data, foreign = tmp_path / "good.jsonl", tmp_path / "foreign.sqlite"
    data.write_bytes(GOOD)
    with sqlite3.connect(foreign) as database:
        database.execute("CREATE TABLE completions (mine TEXT)")
    command = ["run", "conflictscore", "--data", data, "--out", tmp_path / "out"]
    command += ["--endpoint", endpoint.url, "--cache"]
    for cache, what in (
        (data / "cache", "cannot be opened for writing"),
        (tmp_path, "cannot be opened for writing"),
        (foreign, "cannot be read (no such column"),
    ):
        message = contested.refused(*command, cache)
        assert message.startswith(f"the cache {cache} {what}")
        assert "--cache" in message
    assert data.read_bytes() == GOOD


# Real processes.


def process(*arguments: object, **more: Any) -> Outcome:
    """The installed command in a process of its own."""
    program = Path(sys.executable).with_name("contested")
    done = subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, timeout=120, **more
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def test_no_traceback_escapes_a_process(
    contested: Contested, endpoint: Scripted, tmp_path: Path
) -> None:
    """What an earlier run left stays the same to the last byte."""
    earlier, data, good = tmp_path / "earlier", tmp_path / "bad.jsonl", tmp_path / "good.jsonl"
    good.write_bytes(GOOD)
    contested.done(*run(good, earlier, endpoint))
    before, asked = contents(earlier), len(endpoint.requests)
    data.write_bytes(GOOD + b"\n\n{\n" + record(id="last"))
    assert the_line(process(*run(data, earlier, endpoint))).startswith(f"{data}:3: not valid JSON")
    assert len(endpoint.requests) == asked
    models = ["--models-dir", tmp_path, "--model", "nothing", "--out", earlier / "out"]
    message = the_line(process("run", "conflictscore", "--data", good, *models))
    assert "there is no model 'nothing'" in message
    assert "contested models add" in message
    assert contents(earlier) == before


def test_a_full_disk_loses_nothing(
    contested: Contested, endpoint: Scripted, tmp_path: Path
) -> None:
    """A limit on the size of files stands in for the disk: the system refuses the same way."""
    document = {"id": "d", "text": "The bridge was opened in 1936. " * 1300}
    data, out = tmp_path / "data.jsonl", tmp_path / "out"
    data.write_bytes(b"\n".join(record(id=f"r{n}", documents=[document]) for n in range(4)))
    command = run(data, tmp_path, endpoint)
    contested.done(*command)
    whole, asked = results(out), len(endpoint.requests)
    shutil.rmtree(out)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    message = the_line(process(*command, preexec_fn=limit))
    assert message.startswith(f"{out / 'conflictscore.jsonl'} cannot be written (File too large)")
    assert "free some space" in message
    assert "what was written is kept" in message
    contested.done(*command)
    assert results(out) == whole
    assert len(endpoint.requests) == asked


def test_a_terminal_without_unicode_is_no_reason_to_fail(
    endpoint: Scripted, tmp_path: Path
) -> None:
    answer, source = tmp_path / "answer.txt", tmp_path / "source.txt"
    answer.write_text("Ærø’s bridge is old.", "utf-8")
    source.write_text("The bridge → 1936.", "utf-8")
    texts = ["--response", answer, "--documents", source, "--endpoint", endpoint.url]
    outcome = process("score", *texts, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert outcome.code == 0, outcome.err
    assert "CS-C" in outcome.out
