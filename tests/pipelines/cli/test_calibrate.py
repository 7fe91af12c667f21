"""`--prior` and `contested fit-prior`, as a person meets them; the model is scripted.

It knows which label is right, and favours CONTRADICTS whatever it reads.
"""

import json
import sqlite3
from math import log
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, contents
from pipelines.evidence.fitted_priors import best
from pipelines.evidence.priors import read_prior
from scripted import Scripted, fenced_text
from shipped_fits import come_with_the_program

from pipelines.evidence import known_priors
from pipelines.evidence.judgement import RELATIONS

CLAIM = "Bridge {} was opened in 1932."
SAYS = {
    "SUPPORTS": "Bridge {} was opened in 1932, the plaque says.",
    "CONTRADICTS": "Traffic first crossed bridge {} in 1936.",
    "IRRELEVANT": "The toll on bridge {} is two pounds.",
}
EXAMPLES = 6


def leaning(request: dict[str, Any]) -> list[float]:
    """The right label three times as likely as each other one, times 1, 6, 1 for the leaning."""
    text = fenced_text(request, "DOCUMENT")
    begins = [says.partition(" {}")[0] for says in SAYS.values()]
    right = next((place for place, words in enumerate(begins) if text.startswith(words)), 1)
    shares = [3.0 if place == right else 1.0 for place in range(3)]
    raw = [share * favour for share, favour in zip(shares, (1, 6, 1), strict=True)]
    return [each / sum(raw) for each in raw]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    examples = [
        {
            "id": f"bridge-{n}",
            "source": "mine",
            "claim": CLAIM.format(n),
            "documents": [
                {"id": str(place), "text": SAYS[label].format(n)}
                for place, label in enumerate(RELATIONS)
            ],
            "relations": list(RELATIONS),
            "conflict": True,
        }
        for n in range(EXAMPLES)
    ]
    Path("bench.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in examples))
    pairs = [
        {
            "premise": SAYS[label].format(n),
            "hypothesis": CLAIM.format(n),
            "label": label,
            "source": "mine",
        }
        for n in range(EXAMPLES)
        for label in RELATIONS
    ]
    Path("pairs.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in pairs))
    return tmp_path


@pytest.fixture
def endpoint(endpoint: Scripted) -> Scripted:
    endpoint.weigh = leaning
    return endpoint


RUN = ("run", "conflict-detection", "--data", "bench.jsonl", "--out")
RESULTS = "conflict-detection.llm-choice.jsonl"


def judgements(folder: str) -> list[dict[str, Any]]:
    lines = Path(folder, RESULTS).read_text().splitlines()
    return [each for line in lines for each in json.loads(line)["judgements"]]


def config(folder: str, entry: str = "conflict-detection.llm-choice") -> dict[str, Any]:
    about = json.loads(Path(folder, "run.json").read_text())
    found: dict[str, Any] = about["pipelines"][entry]["config"]
    return found


def test_the_mean_of_a_run_is_taken_out_and_raw_probabilities_are_kept(
    contested: Contested, endpoint: Scripted, home: Path
) -> None:
    contested.done(*RUN, "raw", "--endpoint", endpoint.url)
    raw = judgements("raw")
    assert {each["relation"] for each in raw} == {"CONTRADICTS"}
    assert {each["raw_probabilities"] for each in raw} == {None}
    asked = len(endpoint.requests)
    assert asked == 3 * EXAMPLES

    contested.done(*RUN, "batch", "--endpoint", endpoint.url, "--prior", "batch")
    assert len(endpoint.requests) == asked, "a correction asks no model"
    made = judgements("batch")
    assert [each["relation"] for each in made] == list(RELATIONS) * EXAMPLES
    assert [each["raw_probabilities"] for each in made] == [each["probabilities"] for each in raw]
    for each in made:
        assert each["probabilities"][each["relation"]] == pytest.approx(3 / 5)
    prior = config("batch")["prior"]
    assert (prior["method"], prior["pairs"]) == ("batch", 3 * EXAMPLES)
    # Each label is right once of three: CONTRADICTS leans by log 6 against each other one.
    assert prior["bias"][1] - prior["bias"][0] == pytest.approx(-log(6))
    assert prior["bias"][0] == pytest.approx(prior["bias"][2])
    assert config("batch")["labeller"]["identity"] != config("raw")["labeller"]["identity"]

    database = sqlite3.connect(home / "judgements.sqlite")
    rows = database.execute("SELECT labeller, value FROM judgements").fetchall()
    assert {labeller for labeller, _ in rows} == {config("raw")["labeller"]["identity"]}
    assert not any("raw_probabilities" in value for _, value in rows)
    note = "Labels are by corrected probabilities: batch, from 18 pairs: SUPPORTS"
    assert note in Path("batch/tables/conflict_detection.md").read_text()
    assert "batch, from 18 pairs" in Path("batch/report.html").read_text()
    assert "corrected" not in Path("raw/tables/conflict_detection.md").read_text()


@pytest.mark.parametrize("at", [5, 24])
def test_a_run_that_is_stopped_ends_as_one_that_is_not(
    at: int,
    contested: Contested,
    endpoint: Scripted,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """While it estimates, from 18 pairs of 36 that are judged; or later."""
    more = [
        json.dumps(each | {"id": f"{each['id']}-{n}", "claim": f"{each['claim']} Or {n}."})
        for each in map(json.loads, Path("bench.jsonl").read_text().splitlines())
        for n in range(2)
    ]
    Path("bench.jsonl").write_text("\n".join(more) + "\n")
    monkeypatch.setattr("pipelines.evidence.estimated.PAIRS", 18)

    given = ("--endpoint", endpoint.url, "--prior", "batch", "--concurrency", "1")
    contested.done(*RUN, "whole", *given)

    monkeypatch.setenv("CONTESTED_HOME", str(tmp_path / "other"))
    endpoint.requests.clear()
    key = endpoint.key

    def locked_out(request: dict[str, Any]) -> list[float]:
        if len(endpoint.requests) >= at:
            endpoint.key = "another"
        return leaning(request)

    endpoint.weigh = locked_out
    contested.refused(*RUN, "cut", *given)
    assert Path("cut", "run.json").exists() == (at > 18)
    endpoint.weigh, endpoint.key = leaning, key
    contested.done(*RUN, "cut", *given)
    assert Path("cut", RESULTS).read_bytes() == Path("whole", RESULTS).read_bytes()
    assert config("cut") == config("whole")
    assert len(endpoint.requests) == 36, "what was answered is not asked again"


def test_a_resumed_run_is_corrected_as_it_began(
    contested: Contested, endpoint: Scripted, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given = ("--endpoint", endpoint.url, "--prior", "batch")
    contested.done(*RUN, "out", *given, "--limit", "2")
    began = config("out")
    assert began["prior"]["pairs"] == 6
    monkeypatch.setenv("CONTESTED_HOME", str(tmp_path / "other"))
    endpoint.requests.clear()
    contested.done(*RUN, "out", *given)
    assert config("out") == began
    assert len(endpoint.requests) == 3 * (EXAMPLES - 2), "nothing is estimated anew"
    assert len(judgements("out")) == 3 * EXAMPLES
    # In another folder it is estimated from all.
    contested.done(*RUN, "other", *given)
    assert config("other")["prior"]["pairs"] == 3 * EXAMPLES


def test_by_texts_without_content(contested: Contested, endpoint: Scripted) -> None:
    contested.done(*RUN, "out", "--endpoint", endpoint.url, "--prior", "contextual")
    assert len(endpoint.requests) == 3 * EXAMPLES + 9
    blank = {fenced_text(each, "DOCUMENT") for each in endpoint.requests[:9]}
    assert blank == {"N/A", "[MASK]", ""}
    prior = config("out")["prior"]
    assert (prior["method"], prior["pairs"]) == ("contextual", 9)
    # Of a text without content the script says 1, 18, 1 of 20.
    assert prior["bias"][0] - prior["bias"][1] == pytest.approx(log(18))
    contested.done(*RUN, "out", "--endpoint", endpoint.url, "--prior", "contextual")
    assert len(endpoint.requests) == 3 * EXAMPLES + 9


def test_fitted_on_labelled_pairs_and_used(contested: Contested, endpoint: Scripted) -> None:
    fit = ("fit-prior", "--pairs", "pairs.jsonl", "--endpoint", endpoint.url)
    said = contested.done(*fit, "--method", "bias", "--out", "bias.json")
    for method in ("none", "batch", "batch-mean", "contextual", "bias", "matrix"):
        assert method in said.out
    assert "kept: bias, from 18 pairs: SUPPORTS +" in said.out
    assert "labels asked in reversed order agree on 18 of 18 pairs" in said.out
    asked = len(endpoint.requests)
    assert asked == 18 + 18 + 9
    found = read_prior(Path("bias.json"))
    figures = {each.method: each.accuracy.value for each in found.held_out}
    assert figures["none"] == pytest.approx(1 / 3)
    assert figures["batch"] == figures["bias"] == 1
    contested.done(*fit, "--out", "best.json")
    kept = read_prior(Path("best.json"))
    assert kept.held_out == found.held_out
    assert kept.correction.method == best(found.held_out, 6)

    contested.done(*RUN, "out", "--endpoint", endpoint.url, "--prior", "bias.json")
    assert len(endpoint.requests) == asked, "pairs are judged once"
    assert [each["relation"] for each in judgements("out")] == list(RELATIONS) * EXAMPLES
    assert config("out")["prior"] == json.loads(found.correction.model_dump_json())
    contested.done(
        *RUN, "cut", "--endpoint", endpoint.url, "--prior", "bias.json", "--on-overflow", "cut"
    )


def test_a_correction_that_comes_with_the_program_is_the_default(
    contested: Contested, endpoint: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("--endpoint", endpoint.url)
    contested.done(*RUN, "raw", *given)
    assert {each["relation"] for each in judgements("raw")} == {"CONTRADICTS"}
    assert "prior" not in config("raw"), "nothing is known of this model"
    Path("known").mkdir()
    fit = ("fit-prior", "--pairs", "pairs.jsonl", *given, "--method", "bias")
    contested.done(*fit, "--out", "known/scripted.json")
    come_with_the_program(monkeypatch, known_priors, "known")
    contested.done(*RUN, "out", *given)
    assert [each["relation"] for each in judgements("out")] == list(RELATIONS) * EXAMPLES
    found = read_prior(Path("known/scripted.json"))
    assert (found.name, found.pairs) == ("scripted", "pairs.jsonl")
    assert config("out")["prior"] == json.loads(found.correction.model_dump_json())
    assert config("out")["settings"]["prior"] == "known"
    # Neither of what gives no probabilities, nor where it is not wanted, nor of another prompt.
    contested.done(*RUN, "none", *given, "--prior", "none")
    own = Path("prompts/evidence")
    own.mkdir(parents=True)
    (own / "relation.j2").write_text('{{ document | fenced("DOCUMENT") }} {{ claim }}?')
    contested.done(*RUN, "own", *given, "--prompts", "prompts")
    assert not {"prior"} & {*config("none"), *config("own")}
    contested.done(*RUN, "json", *given, "--evidence", "json", "--dry-run")


def test_a_correction_from_a_file_that_moved(contested: Contested, endpoint: Scripted) -> None:
    fit = ("fit-prior", "--pairs", "pairs.jsonl", "--limit", "9", "--method", "batch")
    given = ("--endpoint", endpoint.url)
    contested.done(*fit, *given)
    contested.done(*RUN, "out", *given, "--prior", "prior.json", "--limit", "2")
    began = config("out")
    assert began["prior"]["pairs"] == 9
    assert began["settings"]["prior"] == "file"
    moved = Path("prior.json").rename("moved.json")
    contested.done(*RUN, "out", *given, "--prior", moved)
    assert config("out") == began
    assert len(judgements("out")) == 3 * EXAMPLES
    # The mean over the run's own pairs is another one, though made in the same way.
    contested.done(*RUN, "out", *given, "--prior", "batch", "--name", "own")
    assert config("out", "conflict-detection.own")["prior"]["pairs"] == 3 * EXAMPLES
    # A file of other numbers is another run.
    contested.done(*fit[:3], *fit[5:], "--out", "all.json", *given)
    line = contested.refused(*RUN, "out", *given, "--prior", "all.json")
    assert "out holds a run that differs in" in line


def test_what_is_asked_in_reversed_order(contested: Contested, endpoint: Scripted) -> None:
    def by_order(request: dict[str, Any]) -> list[float]:
        """Whatever label the prompt names first."""
        first_is_last = "IRRELEVANT, CONTRADICTS or SUPPORTS?" in str(request["messages"])
        return [0.1, 0.1, 0.8] if first_is_last else [0.8, 0.1, 0.1]

    endpoint.weigh = by_order
    said = contested.done("fit-prior", "--pairs", "pairs.jsonl", "--endpoint", endpoint.url)
    assert "labels asked in reversed order agree on 0 of 18 pairs" in said.out


def test_a_correction_of_another_model_is_refused(
    contested: Contested, endpoint: Scripted, tmp_path: Path
) -> None:
    contested.done("fit-prior", "--pairs", "pairs.jsonl", "--endpoint", endpoint.url)
    prompts = tmp_path / "prompts" / "evidence"
    prompts.mkdir(parents=True)
    (prompts / "relation.j2").write_text(
        '{{ document | fenced("DOCUMENT") }}{{ claim | fenced("CLAIM") }}'
    )
    given = ("--endpoint", endpoint.url, "--prior", "prior.json", "--prompts", prompts.parent)
    line = contested.refused(*RUN, "out", *given)
    assert "prior.json corrects another model, engine or prompt than is asked here" in line
    said = contested.done(
        "fit-prior", "--pairs", "pairs.jsonl", "--out", "own.json", *given[:2], *given[4:]
    )
    assert "the prompt lists no labels" in said.out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--labeller", "nli", "--prior", "batch"), "--prior has no effect with --labeller nli"),
        (("--evidence", "json", "--prior", "batch"), "--prior has no effect with --evidence json"),
        (("--prior", "nowhere.json"), "--prior nowhere.json cannot be read"),
        (
            ("--prior", "damaged.json"),
            "'correction': 2 labels want a bias of 2",
        ),
        (("--prior", "pairs.jsonl"), "pairs.jsonl is no correction: "),
    ],
)
def test_what_corrects_nothing_is_refused(
    given: tuple[str, ...], said: str, contested: Contested, endpoint: Scripted
) -> None:
    short = {"labels": ["A", "B"], "method": "bias", "weights": [[1, 0], [0, 1]], "bias": [0]}
    Path("damaged.json").write_text(json.dumps({"correction": short}))
    where = () if "nli" in given else ("--endpoint", endpoint.url)
    assert said in contested.refused(*RUN, "out", *where, *given)
    assert not endpoint.requests


def test_pairs_of_one_group_hold_nothing_out(contested: Contested, endpoint: Scripted) -> None:
    Path("one.jsonl").write_text(Path("pairs.jsonl").read_text().splitlines()[0] + "\n")
    line = contested.refused("fit-prior", "--pairs", "one.jsonl", "--endpoint", endpoint.url)
    assert "all pairs are of one group" in line


def test_a_single_answer_takes_a_file_alone(contested: Contested, endpoint: Scripted) -> None:
    Path("answer.txt").write_text(CLAIM.format(1))
    Path("guide.txt").write_text(SAYS["SUPPORTS"].format(1))
    score = (
        *("score", "--response", "answer.txt", "--documents", "guide.txt", "--claims", "sentences"),
        *("--evidence", "choice", "--endpoint", endpoint.url, "--prior"),
    )
    line = contested.refused(*score, "batch")
    assert "--prior batch is estimated when a run begins; here name the file" in line
    contested.done("fit-prior", "--pairs", "pairs.jsonl", "--endpoint", endpoint.url)
    assert "supports" in contested.done(*score, "prior.json").out


def test_a_dry_run_asks_nothing_and_tells_of_the_pairs(
    contested: Contested, endpoint: Scripted, files: Path
) -> None:
    before = contents(files)
    said = contested.done(
        *RUN, "out", "--endpoint", endpoint.url, "--prior", "batch", "--dry-run"
    ).out
    assert "first 18 pairs for --prior" in said
    assert not endpoint.requests
    assert contents(files) == before


def test_pairs_that_cannot_be_asked_are_passed_over(
    contested: Contested, endpoint: Scripted
) -> None:
    endpoint.refuses = lambda prompt: "bridge 0 " in prompt or "Bridge 0 " in prompt
    given = ("--endpoint", endpoint.url, "--prior", "batch", "--on-error", "skip")
    contested.done(*RUN, "out", *given)
    assert config("out")["prior"]["pairs"] == 3 * (EXAMPLES - 1)
    endpoint.refuses = lambda _: True
    line = contested.refused(*RUN, "none", *given, "--cache", "apart.sqlite")
    assert "--prior batch finds no pair of claim and document that could be judged" in line


def test_sentences_are_the_claims_of_responses_that_bring_none(
    contested: Contested, endpoint: Scripted
) -> None:
    records = [
        {
            "id": str(n),
            "documents": [{"id": "a", "text": SAYS[label].format(n)} for label in ("SUPPORTS",)],
            "response": f"{CLAIM.format(n)} It is old.",
        }
        for n in range(3)
    ]
    Path("records.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in records))
    contested.done(
        *("run", "conflictscore", "--data", "records.jsonl", "--out", "out", "--repeat", "2"),
        *("--claims", "sentences", "--prior", "batch", "--endpoint", endpoint.url),
    )
    assert config("out", "conflictscore")["prior"]["pairs"] == 6
    again = config("out", "conflictscore.repeat-1")
    assert again["prior"] == config("out", "conflictscore")["prior"]


@pytest.mark.parametrize(
    ("arguments", "entry"),
    [
        ("conrag --labeller llm --evidence choice --method bm25", "conrag.claims"),
        ("truthfulqa --claims sentences --setting binary", "truthfulqa.scripted"),
        ("report-writing --claims sentences --prompting copied", "report-writing.scripted"),
        ("both-sides --claims sentences", "both-sides.llm-sentences"),
    ],
)
def test_every_experiment_knows_pairs_beforehand(
    arguments: str, entry: str, contested: Contested, endpoint: Scripted
) -> None:
    endpoint.reply = lambda _: "(A)"
    contested.done(
        "run", *arguments.split(), "--limit", "2", "--prior", "batch", "--endpoint", endpoint.url
    )
    assert config("results", entry)["prior"]["pairs"] > 3
