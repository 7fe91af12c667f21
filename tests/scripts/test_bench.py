"""The benchmarks ask what they say they ask. What it costs is not for a test."""

import hashlib
import itertools
import json
import math
import re
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM
from scripted import Scripted, by_digest, fenced_text, prompt_of, sentences

from pipelines.madam_rag.datasets import SAMPLES, read
from serving.models import Model

ROOT = Path(__file__).parents[2]
Batches = dict[str, list[dict[str, Any]]]


def bench(script: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "bench" / script), *options],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=ROOT,
    )


def refused(script: str, *options: str) -> str:
    """The one line of a benchmark that cannot be made."""
    done = bench(script, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    return done.stderr


def measured(script: str, endpoint: Scripted, *options: str) -> tuple[str, Batches]:
    """What a script printed, and its requests by the arm and round that they belong to."""
    done = bench(script, "--endpoint", endpoint.url, *options)
    assert done.returncode == 0, done.stderr
    batches: Batches = defaultdict(list)
    for request in endpoint.requests:
        found = re.match(r"Batch (\d{12})\.\n", prompt_of(request))
        assert found, "a prompt without a line of its own finds prefixes of another arm"
        batches[found[1]].append(request)
    return done.stdout, batches


def pairs(requests: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    return Counter((fenced_text(r, "CLAIM"), fenced_text(r, "DOCUMENT")) for r in requests)


def check_same_pairs(batches: Batches, *, warm_ups: int, timed: int, count: int) -> list[str]:
    """The keys of the timed batches, which all asked the same pairs, each pair once."""
    sizes = Counter(len(requests) for requests in batches.values())
    assert sizes == {1: warm_ups, count: timed}
    keys = [key for key, requests in batches.items() if len(requests) == count]
    first = pairs(batches[keys[0]])
    assert set(first.values()) == {1}
    assert all(pairs(batches[key]) == first for key in keys)
    return keys


def check_output(output: str, rows: list[tuple[str, str]], ratio: str) -> None:
    for fact in (
        "- machine: ",
        " cores, ",
        " GiB",
        "- engine: vllm scripted at http://127.0.0.1:",
        "- model: scripted",
    ):
        assert fact in output
    assert re.search(r"^- date: \d{4}-\d\d-\d\d$", output, re.MULTILINE)
    heading = "| round | arm | seconds | calls | tokens read | of them cached | written |"
    assert heading in output
    assert re.findall(r"^\| (\d+) \| (\D+?) \| \d+\.\d \|", output, re.MULTILINE) == rows
    assert re.search(rf"^\| {re.escape(ratio)}( \| \d+\.\d){{3}} \|$", output, re.MULTILINE)


def test_prompt_order(endpoint: Scripted) -> None:
    output, batches = measured(
        "judging.py", endpoint, "prompt-order", "--rounds", "2", "--claims", "3", "--tokens", "50"
    )
    check_output(
        output,
        [
            ("1", "claim first"),
            ("1", "document first"),
            ("2", "claim first"),
            ("2", "document first"),
        ],
        "claim first / document first",
    )
    keys = check_same_pairs(batches, warm_ups=2, timed=4, count=3)

    def document_first(request: dict[str, Any]) -> bool:
        prompt = prompt_of(request)
        return prompt.index("<<DOCUMENT") < prompt.index("<<CLAIM")

    orders = [{document_first(request) for request in batches[key]} for key in keys]
    # Every other round the other way round.
    assert orders == [{False}, {True}, {True}, {False}]

    def lines(key: str) -> Counter[str]:
        return Counter(
            line for r in batches[key] for line in prompt_of(r).splitlines() if line[:6] != "Batch "
        )

    assert all(lines(key) == lines(keys[0]) for key in keys), "more than the order differs"


@dataclass
class Watch:
    """How many requests of each batch were in flight at most."""

    seconds: float
    most: Counter[str] = field(default_factory=Counter)
    in_flight: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, reply: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
        def answer(request: dict[str, Any]) -> Any:
            batch = prompt_of(request).split(".")[0].removeprefix("Batch ")
            with self.lock:
                self.in_flight[batch] += 1
                self.most[batch] = max(self.most[batch], self.in_flight[batch])
            time.sleep(self.seconds)
            with self.lock:
                self.in_flight[batch] -= 1
            return reply(request)

        return answer


def test_concurrency(endpoint: Scripted) -> None:
    watched = Watch(0.05)
    endpoint.weigh, endpoint.reply = watched(by_digest), watched(sentences)
    output, batches = measured("judging.py", endpoint, "batching", "--rounds", "1", "--claims", "2")
    rows = [("1", "one at a time"), ("1", "all in flight")]
    check_output(output, rows + rows, "one at a time / all in flight")
    keys = check_same_pairs(batches, warm_ups=4, timed=4, count=8)
    assert ["response_format" in batches[key][0] for key in keys] == [False, False, True, True]
    one, several, one_json, several_json = (watched.most[key] for key in keys)
    assert one == one_json == 1
    assert several > 1
    assert several_json > 1


def test_evidence_mode(endpoint: Scripted) -> None:
    # Every choice is the first label; of the JSON replies, half say so too and one is no JSON.
    endpoint.weigh = lambda request: [0.6, 0.2, 0.1]
    numbers = itertools.count(1)

    def reply(request: dict[str, Any]) -> str:
        number = next(numbers)
        if number == 2:  # the warm-up was the first
            return "no JSON"
        answer = "SUPPORTS" if number % 2 else "IRRELEVANT"
        return f'{{"snippet": "", "reasoning": "", "answer": "{answer}"}}'

    endpoint.reply = reply
    output, batches = measured(
        "judging.py", endpoint, "evidence-mode", "--rounds", "1", "--claims", "2"
    )
    check_output(output, [("1", "json"), ("1", "choice")], "json / choice")
    keys = check_same_pairs(batches, warm_ups=2, timed=2, count=8)
    assert ["response_format" in batches[key][0] for key in keys] == [True, False]
    assert "| 1 | 8 | 4 | 0.50 [0.22, 0.78] | 1 |" in output


def test_wordings_ask_the_same_pairs_in_other_words(endpoint: Scripted, tmp_path: Path) -> None:
    def weigh(request: dict[str, Any]) -> list[float]:
        # Sure of support, but less so where support is not what holds.
        claim = fenced_text(request, "CLAIM")
        return {"support": [0.9, 0.05, 0.05], "refute": [0.7, 0.2, 0.1]}.get(
            claim.split()[0], [0.6, 0.1, 0.3]
        )

    endpoint.weigh = weigh
    given, out = tmp_path / "pairs.jsonl", tmp_path / "shares.jsonl"
    rows = [
        {"premise": f"text {n}", "hypothesis": f"{label} {n}", "label": label, "source": "own"}
        for n in range(3)
        for label in ("support", "refute", "irrelevant")
    ]
    given.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    options = ["--pairs", str(given), "--out", str(out)]
    wordings = ["--wording", "shipped", "--wording", "short"]
    done = bench("wordings.py", "--endpoint", endpoint.url, *options, *wordings)
    assert done.returncode == 0, done.stderr
    # All called supporting; each label's mean taken off, all are right. Both areas are whole.
    figures = "0.333 | 0.167 | 1.000 | 1.000 | 1.000 | 1.000"
    assert re.findall(r"^\| (\w+) \| (.*) \|$", done.stdout, re.MULTILINE)[1:] == [
        ("shipped", figures),
        ("short", figures),
    ]
    first, second = endpoint.requests[:9], endpoint.requests[9:]
    assert pairs(first) == pairs(second)
    assert len(pairs(first)) == 9
    assert max(len(prompt_of(r)) for r in second) < min(len(prompt_of(r)) for r in first)
    kept = [json.loads(line) for line in out.read_text().splitlines()]
    assert [set(each["shares"]) for each in kept] == [{"shipped", "short"}] * 9
    assert "there are shipped, balanced" in refused("wordings.py", *options, "--wording", "none")


def debater(request: dict[str, Any]) -> str:
    """An agent that keeps its answer but never says the same, so that no prompt comes twice."""
    said = hashlib.sha256(prompt_of(request).encode()).hexdigest()
    if "<<DOCUMENT " in prompt_of(request):
        return f"Answer: 1856. Explanation: {said}"
    return f'All Correct Answers: ["1856"]. Explanation: {said}'


def debate_rows(output: str) -> dict[str, list[str]]:
    """Arm -> the cells after it, of the only round of measuring."""
    rows = re.findall(r"^\| 1 \| (\D+?) \| (.*) \|$", output, re.MULTILINE)
    return {arm: cells.split(" | ") for arm, cells in rows}


def test_madam_takes_one_saving_away_at_a_time(endpoint: Scripted) -> None:
    watched = Watch(0.02)
    endpoint.reply = watched(debater)
    output, batches = measured(
        "madam.py", endpoint, "--no-peer", "--questions", "2", "--tokens", "20"
    )
    agents = [len(question.documents) for question in read("ramdocs", SAMPLES).questions[:2]]
    # All keep their answer in the second round, which needs no aggregator then.
    stopped = sum(2 * each + 1 for each in agents)
    whole = sum(3 * (each + 1) for each in agents)
    warm_up = agents[0] + 1
    sizes = [len(requests) for requests in batches.values()]
    assert sizes == [warm_up, stopped, stopped, *([1] * stopped), whole]
    _, ours, one_by_one = list(batches)[:3]
    assert watched.most[ours] > 1
    assert watched.most[one_by_one] == 1
    longest = {r["max_tokens"] for requests in list(batches.values())[1:] for r in requests}
    assert longest == {20}

    rows = debate_rows(output)
    assert list(rows) == ["ours", "no batching", "no prefix cache", "no early stop"]
    for arm, cells in rows.items():
        calls = whole if arm == "no early stop" else stopped
        # The endpoint says of each call that it read 10 tokens and wrote one.
        assert cells[1:6] == [str(calls), "0", str(10 * calls), "0%", str(calls)]
        assert cells[7:] == (["3.0", "0"] if arm == "no early stop" else ["2.0", "2"])
    for arm in list(rows)[1:]:
        assert re.search(rf"^\| {arm} / ours( \| \d+\.\d){{4}} \|$", output, re.MULTILINE)
    assert "transformers" not in output


def test_madam_measures_transformers_with_the_model_that_is_served(
    endpoint: Scripted, smollm2: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Threads of torch spin while they wait for a core that another test has.
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    question = json.loads(SAMPLES.read_text("utf-8").splitlines()[0])
    short = tmp_path / "short.jsonl"
    short.write_text(json.dumps(question | {"documents": question["documents"][:2]}) + "\n")
    endpoint.reply, endpoint.root = debater, str(smollm2.path)
    output, _ = measured(
        "madam.py", endpoint, "--questions", "1", "--tokens", "2", "--data", str(short)
    )
    _, asked, saved, read_tokens, cached, written, *_ = debate_rows(output)["transformers"]
    calls = int(asked)
    # As released a reply of two tokens has some answer: agents agree in round 2, in 3, or never.
    assert calls in {2 + 1 + 2, 2 * (2 + 1) + 2, 3 * (2 + 1)}
    assert (saved, cached, written) == ("0", "0%", str(2 * calls))
    assert int(read_tokens.replace(",", "")) > 100 * calls
    assert re.search(r"^\| transformers / ours( \| [\d.]+){4} \|$", output, re.MULTILINE)


def test_madam_says_what_it_lacks(endpoint: Scripted) -> None:
    for options, says in (
        (("--endpoint", endpoint.url), "--no-peer"),
        (("--questions", "99", "--endpoint", endpoint.url), "--questions 99"),
    ):
        assert says in refused("madam.py", *options)


def test_the_documented_commands_run(endpoint: Scripted) -> None:
    endpoint.reply = lambda request: (
        sentences(request) if "response_format" in request else debater(request)
    )
    page = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    commands = re.findall(r"^\.venv/bin/python scripts/bench/(\w+\.py)(.*)$", page, re.MULTILINE)
    everything = {path.name for path in (ROOT / "scripts" / "bench").glob("*.py")}
    helpers = {"common.py"} | {name for name in everything if name.endswith("_process.py")}
    assert {script for script, _ in commands} == everything - helpers
    for script, options in commands:
        if script in ("judging.py", "madam.py"):  # each of the others has a test of its own
            smallest = (
                ["--questions", "1", "--no-peer"] if script == "madam.py" else ["--claims", "1"]
            )
            always = ["--rounds", "1", "--endpoint", endpoint.url]
            done = bench(script, *options.split(), *smallest, *always)
            assert done.returncode == 0, done.stderr


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium browser")
def test_the_page_is_timed() -> None:
    small = ["--experiments", "1", "--examples", "30", "--rounds", "1"]
    done = bench("explorer.py", *small, "--chromium", str(CHROMIUM))
    assert done.returncode == 0, done.stderr
    for what in ("overview", "list of all", "list of one", "last example"):
        assert re.search(rf"^{what} +[\d.]+ s$", done.stdout, re.MULTILINE), done.stdout
    for what in ("a word", "a facet"):
        assert re.search(rf"^{what} +\d+ ms, at most \d+ ms$", done.stdout, re.MULTILINE)


def test_the_tagger_is_timed(released_data: Path) -> None:
    data = released_data / "nli" / "train.jsonl.gz"
    done = bench("tagger.py", "--rounds", "1", "--pairs", "100", "--data", str(data))
    assert done.returncode == 0, done.stderr
    assert "100 pairs from train.jsonl.gz" in done.stdout


def test_both_indexes_find_the_same(released_data: Path) -> None:
    data = released_data / "nli" / "train.jsonl.gz"
    done = bench("retrieval.py", "--passages", "300", "--queries", "20", "--data", str(data))
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\| contested( \| [\d.,]+){5} \|$", done.stdout, re.MULTILINE)
    shared = re.search(r"same passage first: ([\d.]+)%", done.stdout)
    assert shared
    assert float(shared[1]) >= 90


def test_the_index_by_itself_is_measured(released_data: Path) -> None:
    data = released_data / "nli" / "train.jsonl.gz"
    asked = ["--alone", "--passages", "300", "--queries", "20", "--data", str(data)]
    done = bench("retrieval.py", *asked)
    assert done.returncode == 0, done.stderr
    row = re.search(r"^\| 300 \| \d+ \| (\d+) \| (\d+)( \| [\d.]+){3} \|$", done.stdout, re.M)
    assert row
    assert all(50 < int(peak) < 2_000 for peak in row.groups()[:2])


def test_gradients_are_those_of_captum(smollm2: Model) -> None:
    done = bench("gradients.py", "--rounds", "1", "--tokens", "3", "--model", str(smollm2.path))
    assert done.returncode == 0, done.stderr
    row = re.search(
        r"^\| batched, fp32( \| [\d.e+-]+){4} \| ([\d.]+) \|$", done.stdout, re.MULTILINE
    )
    assert row
    assert float(row[2]) > 0.999


@pytest.mark.parametrize(
    ("python", "says"),
    [
        ("no/python", "no/python cannot be run (No such file or directory)"),
        (sys.executable, "inseq's process ended: ModuleNotFoundError: No module named 'inseq'"),
    ],
)
def test_inseq_needs_an_interpreter_that_has_it(smollm2: Model, python: str, says: str) -> None:
    done = bench("gradients.py", "--tokens", "1", "--inseq", python, "--model", str(smollm2.path))
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == says
    assert "Traceback" not in done.stderr


def test_engines_are_given_the_same_to_do(endpoint: Scripted) -> None:
    """By scripted servers; the one that speaks as llama.cpp does gives every claim one label."""
    labels = {ord("S"): math.log(0.4), ord("C"): math.log(0.2), ord("I"): math.log(0.1)}
    endpoint.reply = lambda _: "a reply"
    done = ("engines.py", "--endpoint", endpoint.url, "--rounds", "2", "--claims", "2")
    with Scripted(llama_cpp=labels, reply=endpoint.reply, model="q4") as llama:
        ran = bench(*done, "--replies", "3", "--slots", "2", "--llama", llama.url)
    assert ran.returncode == 0, ran.stderr

    def asked(server: Scripted) -> list[Counter[str]]:
        """Prompts without the line that tells rounds apart: of labels and of replies."""
        texts = [(r["max_tokens"], prompt_of(r).partition("\n")[2]) for r in server.requests]
        return [
            Counter(text for most, text in texts if (most == 1) is one) for one in (True, False)
        ]

    assert asked(endpoint) == asked(llama)
    judged, written = asked(llama)
    assert sum(judged.values()) == 1 + 2 * 8
    assert sum(written.values()) == 1 + 2 * 3
    rows = re.findall(r"^\| (\d) \| (\S+) \| \d+\.\d \| \d+ \|", ran.stdout, re.MULTILINE)
    assert rows == [(number, name) for number in "12" for name in ("vLLM", "llama.cpp")]
    for speed in ("prompt tokens/s", "judgements/s", "written tokens/s"):
        assert re.search(rf"^\| {speed}( \| \d+\.\d\d){{3}} \|$", ran.stdout, re.MULTILINE)
    first = endpoint.requests[1 : 1 + 8 + 1]
    supported = sum(max(w := by_digest(r)) == w[0] for r in first if "logprob_token_ids" in r)
    assert "llama.cpp b1-scripted Q4_K - Medium at" in ran.stdout
    assert re.search(rf"^\| 1 \| 8 \| {supported} \|", ran.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "pip install xllamacpp), --gguf FILE --xllamacpp PYTHON; or a server that runs"),
        (("--gguf", "no.gguf", "--xllamacpp", sys.executable), "there is no file no.gguf"),
        (("--gguf", __file__, "--xllamacpp", "no/python"), "no/python cannot be run"),
        (("--gguf", __file__, "--xllamacpp", sys.executable), "No module named 'xllamacpp'; "),
    ],
)
def test_engines_say_what_must_be_installed(options: tuple[str, ...], says: str) -> None:
    assert says in refused("engines.py", *options)


SMALL = ("--rounds", "1", "--requests", "20", "--tokens", "300", "--in-flight", "4")


def test_clients_are_compared(smollm2: Model) -> None:
    done = bench("client.py", *SMALL, "--model", str(smollm2.path))
    assert done.returncode == 0, done.stderr
    arms = re.findall(
        r"^\| 300 \| 4 \| (.+?) \| [\d,]+ \| \d+\.\d\d \|$", done.stdout, re.MULTILINE
    )
    assert arms == ["bare sockets", "openai", "ours", "ours, from its cache"]
    for ratio in ("bare sockets / ours", "ours / openai"):
        row = rf"^\| 300 \| 4 \| {ratio}( \| \d+\.\d){{3}} \|$"
        assert re.search(row, done.stdout, re.MULTILINE)


def test_inspect_needs_an_interpreter_that_has_it(smollm2: Model) -> None:
    for python, says in (
        ("no/python", "no/python cannot be run (No such file or directory)"),
        (sys.executable, "ended: ModuleNotFoundError: No module named 'inspect_ai'"),
    ):
        where = ("--inspect-python", python, "--model", str(smollm2.path))
        done = bench("client.py", *SMALL, *where)
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1].endswith(says)
        assert "Traceback" not in done.stderr


def test_the_tagger_needs_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONTESTED_DATA", raising=False)
    assert "give --data FILE" in refused("tagger.py", "--rounds", "1")


def test_mistakes_are_one_line(endpoint: Scripted) -> None:
    for options, says in (
        (("--model", "no-such-model"), "there is no model 'no-such-model'"),
        (("--rounds", "0"), "--rounds"),
        (("--claims", "1000", "--endpoint", endpoint.url), "--claims 1000"),
        (("--profile", "no-such-profile"), "no profile 'no-such-profile'"),
        (("--tokens", "9"), "--tokens has no effect with evidence-mode"),
    ):
        assert says in refused("judging.py", "evidence-mode", *options)


def test_a_server_that_fails_spoils_the_measurement(endpoint: Scripted) -> None:
    endpoint.faults.append(503)
    done = bench(
        "judging.py", "batching", "--rounds", "1", "--claims", "1", "--endpoint", endpoint.url
    )
    assert done.returncode == 2
    assert "failed during a measurement" in done.stderr
    assert done.stdout == ""
