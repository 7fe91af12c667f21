"""`contested lab tune-npov`, as a person meets it."""

import json
from pathlib import Path

import pytest
from commands import Contested
from tiny_loaded import saved

from pipelines.npov.soft_prompt import SoftPrompt

NUMBERS = ("first", "second", "third")


def topic(name: str) -> str:
    return json.dumps(
        {
            "topic": name,
            "question": f"Should {name} stay?",
            "pro": [f"It is the {number} water." for number in NUMBERS],
            "con": [f"The {number} salmon cannot pass." for number in NUMBERS],
        }
    )


def response(name: str, number: int, **errors: str) -> str:
    """An annotated response to a topic's first arguments."""
    given = json.loads(topic(name))
    example = {"question": given["question"], "pro": given["pro"][:1], "con": given["con"][:1]}
    said = "It is said to be water, and that salmon cannot pass."
    return json.dumps({**example, "id": f"a{number}", "response": said, **errors})


ANNOTATED: list[object] = ["--organic", "organic.jsonl", "--per-topic", 0, "--design", "paper"]
BRIEF = ["--steps", 4, "--batch", 2, "--per-topic", 1, "--limit", 3, "--design", "paper"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> None:
    paper = ["Net Neutrality", "Obesity", "Golf", "Zoos", "Abortion"]
    Path("topics.jsonl").write_text("\n".join(map(topic, paper)))
    Path("own.jsonl").write_text("\n".join(map(topic, ["dams", "weirs"])))
    Path("one.jsonl").write_text(topic("dams"))
    short = {"pro": ["It is water."], "con": ["Salmon cannot pass."]}
    few = [json.dumps(json.loads(topic(name)) | short) for name in ("dams", "weirs")]
    Path("short.jsonl").write_text("\n".join(few))
    arguments = ("It is the first water.", "The first salmon cannot pass.")
    words = [{"argument": each, "paraphrase": "Others drink."} for each in arguments]
    Path("words.jsonl").write_text("\n".join(map(json.dumps, words)))
    found = [
        response("Obesity", 0),
        response("Obesity", 1, coverage="full"),
        response("Golf", 2),
        response("Abortion", 3),
    ]
    Path("organic.jsonl").write_text("\n".join(found))
    vague = [found[0], response("Golf", 1, coverage="ambiguous")]
    Path("vague.jsonl").write_text("\n".join(vague))
    saved(Path("tiny"))


def options(task: str = "coverage", data: str = "topics.jsonl", out: str = "p.st") -> list[object]:
    return ["lab", "tune-npov", "--task", task, "--data", data, "--out", out]


@pytest.mark.parametrize("task", ["coverage", "hallucination", "response"])
def test_a_prompt_is_tuned(contested: Contested, task: str) -> None:
    told = contested.done(*options(task), *BRIEF, "--model", Path("tiny").absolute())
    assert "dev loss" in told.out
    assert "dev loss after 4 updates" in told.err
    prompt = SoftPrompt.load(Path("p.st"))
    assert (prompt.task, prompt.vectors.shape) == (task, (5, 32))
    assert f"{prompt.curve[0][1]:.4f} before, {prompt.loss:.4f} after" in told.out
    assert "p.st is there already" in contested.refused(
        *options(task), *BRIEF, "--model", Path("tiny").absolute()
    )


def test_a_dry_run_counts_what_there_is(contested: Contested) -> None:
    told = contested.done(*options(), "--per-topic", 1, "--dry-run").out
    assert told.startswith("8 examples to learn from (4 with an error")
    assert "and 8 to watch by; at most 20,000 updates of 16 examples" in told
    assert told.endswith("synthetic errors 6, design matched\n")
    paper = [*options(), "--per-topic", 1, "--design", "paper", "--dry-run"]
    told = contested.done(*paper).out
    # Of a topic's three pairs of arguments one is used: none can be taken away, one can be added.
    assert told.startswith("4 examples to learn from (2 with an error")
    more = contested.done(*paper, "--split", "all").out
    assert more.startswith("8 examples to learn from")
    both = [*options(data="own.jsonl"), "--split", "all", "--design", "paper", "--dry-run"]
    assert contested.done(*both).out != contested.done(*both, "--paraphrases", "words.jsonl").out
    assert not Path("p.st").exists()


def test_annotated_responses_are_learned(contested: Contested) -> None:
    told = contested.done(*options(), *ANNOTATED, "--dry-run")
    assert (
        "learned: topics 1, annotated responses without error 1, synthetic errors 1, " in told.out
    )
    assert "organic errors 1" in told.out
    assert "1 of 4 annotated responses are of topics that --split train leaves out" in told.err
    told = contested.done(*options(), *ANNOTATED, "--errors", "synthetic", "--dry-run")
    assert "organic" not in told.out
    both = contested.done(*options(), *ANNOTATED, "--split", "train+dev", "--dry-run")
    assert "examples to learn from" in both.out
    contested.done(*options(), *ANNOTATED, "--steps", 1, "--model", Path("tiny").absolute())
    known = SoftPrompt.load(Path("p.st")).tuned_on
    assert known is not None
    assert [each.topic for each in known.learned] == ["Obesity"]
    assert [each.topic for each in known.watched] == ["Golf"]
    assert (known.template, known.annotated, known.synthetic, known.organic) == (0, 1, 1, 1)
    assert known.design == "paper"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (options(data="own.jsonl"), "of 2 topics there are 0 to learn from and 1 to watch by"),
        ([*options(data="one.jsonl"), "--split", "all"], "there are 0 to learn from and 1 to"),
        ([*options(), "--steps", 5, "--warmup", 5], "a warm-up of 5 steps does not end within 5"),
        ([*options("response"), *ANNOTATED, "--errors", "both"], "with --task response"),
        ([*options(data="own.jsonl"), *ANNOTATED], "'a0' is of no topic of --data"),
        ([*options(), *ANNOTATED, "--organic", "vague.jsonl"], "to learn from and 0 to watch by; "),
        ([*options(data="short.jsonl"), "--split", "all"], "or --design paper, "),
        ([*options(), "--per-topic", 0], "of 0 topics there are 0 to learn from"),
    ],
)
def test_mistakes_are_one_line(contested: Contested, arguments: list[object], problem: str) -> None:
    assert problem in contested.refused(*arguments)
