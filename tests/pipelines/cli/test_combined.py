"""`--labeller combined` and `contested fit-combination`, as a person meets them."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, kill_midway, results, table
from scripted import Scripted, fenced_text
from shipped_fits import come_with_the_program
from tagging import ScriptedTagger, folder_of, offer

from nli.labels import LABELS, Label
from nli.pairs import LabelledPair, Pair, write_pairs
from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.evidence import known_combinations, known_priors
from pipelines.evidence.combination import read_combination

RUN = ["run", "conflict-detection", "--labeller", "combined", "--out", "out"]
FIT = ["fit-combination", "--pairs", "pairs.jsonl"]


def entry(name: str = "conflict-detection.combined") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path("out/run.json").read_text())["pipelines"][name]
    return found


def judged(name: str = "conflict-detection.combined") -> list[DetectionResult]:
    lines = Path(f"out/{name}.jsonl").read_text().splitlines()
    return [DetectionResult.model_validate_json(line) for line in lines]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--evidence", "json"], "--evidence json gives no probabilities"),
        (["--evidence", "together"], "--evidence together gives no probabilities"),
        (
            ["--combination", "none", "--risk", "0.1"],
            "--risk has no effect with --labeller combined",
        ),
        (["--combination", "none.json"], "none.json cannot be read"),
        (
            ["--combination", "bad.json", "--prior", "none"],
            "--prior has no effect with --combination, which takes back itself",
        ),
        (["--combination", "bad.json"], "bad.json is no combination"),
        (["--combination", "empty.json"], "does not say what it was fitted for"),
        (
            ["--labeller", "llm", "--combination", "c.json"],
            "--combination has no effect with --labeller llm",
        ),
    ],
)
def test_what_has_no_effect_or_is_not_there_is_refused(
    options: list[str], said: str, contested: Contested
) -> None:
    Path("bad.json").write_text('{"relevance": {"tagger": -1}}')
    Path("empty.json").write_text("{}")
    assert said in contested.refused(*RUN, *options)
    assert not Path("out").exists()


def test_one_answer_is_scored_though_its_usual_way_of_asking_gives_no_probabilities(
    contested: Contested, endpoint: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, ScriptedTagger(lambda _: (0.5, 0.3, 0.2)))
    Path("answer.txt").write_text("The bridge was opened in 1932.")
    Path("plaque.txt").write_text("Opened 1932.")
    score = ["score", "--response", "answer.txt", "--documents", "plaque.txt"]
    done = contested.done(
        *score, "--labeller", "combined", "--claims", "whole", "--endpoint", endpoint.url, "--json"
    )
    (found,) = json.loads(done.out)["judgements"]
    assert found["source"] == "combined-llm"


def test_a_run_by_the_shipped_tagger_and_a_model(contested: Contested, endpoint: Scripted) -> None:
    """Beside the tagger alone and the model alone, in one table; killed, and resumed."""
    endpoint.weigh = lambda request: (
        [0.6, 0.3, 0.1] if "not" in fenced_text(request, "CLAIM") else [0.3, 0.6, 0.1]
    )
    served = ["--endpoint", endpoint.url, "--concurrency", "2", "--limit", "8"]
    told = contested.done(*RUN, *served, "--dry-run").out
    pairs = int(told.split(" pairs of claim and document")[0].rsplit("\n", 1)[-1])
    assert "to be judged by combined" in told
    assert f"calls to scripted: from 0 to {pairs}\n" in told

    endpoint.delay_s = 0.05
    kill_midway([*RUN, *served], lambda: len(endpoint.requests) > 5)
    assert not Path("out/report.html").exists()
    before = len(endpoint.requests)
    endpoint.delay_s = 0
    done = contested.done(*RUN, *served)
    found = [each for result in judged() for each in result.judgements]
    sources = [each.source for each in found]
    by_both = sources.count("combined-llm")
    assert set(sources) == {"combined-nli", "combined-llm"}
    assert before < len(endpoint.requests) <= by_both + 4, "few were asked twice"
    assert all(each.relation == "IRRELEVANT" for each in found if each.source == "combined-nli")
    assert "pairs tagged by contested-nli" in done.err

    about = entry()["config"]
    assert (about["tagger"]["name"], about["model"]["name"]) == ("contested-nli", "scripted")
    assert about["combination"]["relevance"] == {"intercept": 0.0, "tagger": 1.0, "model": 0.0}
    assert about["combination"]["risk"] is None
    assert about["settings"]["evidence"] == "choice"
    assert "combination" not in about["settings"]

    contested.done("run", "conflict-detection", "--labeller", "nli", "--limit", "8", "--out", "out")
    contested.done("run", "conflict-detection", "--out", "out", *served)
    tables = Path("out/tables/conflict_detection.md").read_text()
    for name in ("combined: contested-nli and scripted", "nli: contested-nli", "llm-choice: "):
        assert name in tables
    share = f"{(len(sources) - by_both) / len(sources):.2f}"
    assert f"combined: contested-nli and scripted: {share} [" in tables
    assert "of the labels took no call to the language model" in tables
    page = Path("out/report.html").read_text("utf-8")
    assert "judge of relevance" in page


def write_made(pairs: int = 240) -> None:
    """Labelled pairs whose premise says what the tagger and the model make of them."""
    draw = random.Random(0)
    rows = []
    for number in range(pairs):
        label = LABELS[number % 3]
        sure = draw.uniform(0.4, 0.95)
        none = sure if label is Label.IRRELEVANT else 1 - sure
        support = {Label.SUPPORT: 0.45, Label.REFUTE: 0.05, Label.IRRELEVANT: 0.2}[label]
        rows.append(
            LabelledPair(
                premise=f"Made {none:.3f} {support * draw.uniform(0.5, 1.5):.3f} text {number}.",
                hypothesis="A claim.",
                label=label,
                source="made",
                group=f"question {number}",
            )
        )
    write_pairs(Path("pairs.jsonl"), rows)


def made_number(text: str, place: int) -> float:
    """A number of a made premise; of any other text 0.3."""
    words = text.split()
    return float(words[place]) if words[:1] == ["Made"] else 0.3


def tagged(pair: Pair) -> tuple[float, float, float]:
    none = made_number(pair.premise, 1)
    return (1 - none) / 2 + 0.001, (1 - none) / 2 - 0.001, none


def weighed(request: dict[str, Any]) -> list[float]:
    support = made_number(fenced_text(request, "DOCUMENT"), 2)
    return [0.9 * support, 0.9 * (1 - support), 0.1]


def test_a_combination_is_fitted_and_used(
    contested: Contested, endpoint: Scripted, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    offer(monkeypatch, ScriptedTagger(tagged))
    endpoint.weigh = weighed
    write_made()
    served = ["--endpoint", endpoint.url]
    fit = [*FIT, *served, "--tables", "fit"]
    assert "240 pairs from pairs.jsonl (80 support, 80 refute, 80 irrelevant) to tag" in (
        contested.done(*fit, "--dry-run").out
    )
    assert not endpoint.requests
    done = contested.done(*fit)
    asked = len(endpoint.requests)
    assert f"{240 - asked:,} of 240 pairs were not asked of the model" in done.out
    assert 240 > asked > 160
    made = read_combination(Path("combination.json"))
    assert made.fitted_for and made.risk
    assert made.fitted_for.tagger == "0123456789abcdef"
    assert made.spared == 0.8
    rows = {
        row["judge"]: row
        for row in json.loads(Path("fit/combination-fit.json").read_text())["rows"]
    }
    assert rows["tagger"]["pairs"] == 240
    assert rows["model, where asked"]["pairs"] == asked
    assert rows["both, fitted"]["accuracy"] > rows["both, unfitted"]["accuracy"]
    assert rows["both, fitted"]["brier"] < rows["both, unfitted"]["brier"]
    left = Path("combination.json").read_bytes()
    # A correction that comes for the model changes nothing: a run by the file asks without it.
    Path("known").mkdir()
    prior = ["fit-prior", "--pairs", "pairs.jsonl", *served, "--method", "bias"]
    contested.done(*prior, "--out", "known/scripted.json")
    come_with_the_program(monkeypatch, known_priors, "known")
    known = len(endpoint.requests)
    contested.done(*fit)
    assert len(endpoint.requests) == known, "the second time the store knows"
    assert Path("combination.json").read_bytes() == left

    use = [*RUN, *served, "--combination", "combination.json", "--risk", "0.3"]
    contested.done(*use)
    about = entry()["config"]["combination"]
    assert about["fitted_for"] == list(made.fitted_for)
    assert about["polarity"] == made.polarity.model_dump()
    assert about["risk"]["risk"] == 0.3
    told = Path("out/tables/conflict_detection.md").read_text()
    assert "At most 0.3 of all pairs are expected to be among them and wrong" in told
    Path("moved.json").write_bytes(left)
    assert contested.done(*use[:-3], "moved.json", *use[-2:]).code == 0

    score = ["run", "conflictscore", "--out", "scores", "--claims", "sentences", "--limit", "2"]
    contested.done(*score, *served, "--labeller", "combined", *use[-4:])
    (chosen,) = [row for row in table(folder / "scores", "combination") if row["chosen"]]
    assert chosen["bound"] <= 0.3
    names = {row["labeller"] for row in table(folder / "scores", "labellers")}
    assert names <= {"combined-nli", "combined-llm"}
    assert results(folder / "scores")


def test_a_combination_that_comes_with_the_program_is_the_default(
    contested: Contested, endpoint: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, ScriptedTagger(tagged))
    endpoint.weigh = weighed
    write_made()
    served = ["--endpoint", endpoint.url]
    for folder in ("corrections", "combinations"):
        Path(folder).mkdir()
    contested.done(*FIT, *served, "--out", "combinations/scripted.json")
    prior = ["fit-prior", "--pairs", "pairs.jsonl", *served, "--method", "bias"]
    contested.done(*prior, "--out", "corrections/scripted.json")
    come_with_the_program(monkeypatch, known_priors, "corrections")
    come_with_the_program(monkeypatch, known_combinations, "combinations")

    def config(out: str, *options: str) -> dict[str, Any]:
        contested.done(*RUN[:-1], out, *served, *options)
        (one,) = json.loads(Path(f"{out}/run.json").read_text())["pipelines"].values()
        found: dict[str, Any] = one["config"]
        return found

    known = config("known", "--risk", "0.3")
    made = read_combination(Path("combinations/scripted.json"))
    assert made.fitted_for
    assert known["combination"]["fitted_for"] == list(made.fitted_for)
    assert known["combination"]["risk"]["risk"] == 0.3
    assert "prior" not in known, "the fit takes back what the model favours"
    named = config("file", "--risk", "0.3", "--combination", "combinations/scripted.json")
    assert named == known
    unfitted = config("unfitted", "--combination", "none")
    assert unfitted["combination"]["fitted_for"] is None
    assert "prior" in unfitted
    raw = config("raw", "--prior", "none")
    assert raw["combination"]["fitted_for"] is None, "another way to correct was named"
    assert "prior" not in raw


def test_a_combination_is_refused_for_other_judges(
    contested: Contested, endpoint: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, ScriptedTagger(tagged))
    endpoint.weigh = weighed
    write_made()
    served = ["--endpoint", endpoint.url]
    contested.done(*FIT, *served)
    asked = len(endpoint.requests)
    use = [*RUN, "--combination", "combination.json"]
    with Scripted(root="/elsewhere") as another:
        line = contested.refused(*use, "--endpoint", another.url)
        assert "was fitted for another model scripted" in line
        assert not another.requests
    prompts = Path("prompts/evidence")
    prompts.mkdir(parents=True)
    (prompts / "relation.j2").write_text("{{ document }} {{ claim }} SUPPORTS?")
    line = contested.refused(*use, *served, "--prompts", "prompts")
    assert "was fitted for another prompt" in line
    folder = folder_of(ScriptedTagger(tagged), digest="fedcba9876543210")
    monkeypatch.setattr("pipelines.experiment.options.shipped_tagger", lambda: folder)
    line = contested.refused(*use, *served)
    assert "was fitted for another tagger scripted-nli" in line
    assert len(endpoint.requests) == asked
    assert not Path("out/run.json").exists()


def test_too_few_pairs_are_one_line(
    contested: Contested, endpoint: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, ScriptedTagger(tagged))
    endpoint.weigh = weighed
    write_made(30)
    line = contested.refused(*FIT, "--endpoint", endpoint.url)
    assert "at least 30 are needed" in line
    assert not Path("combination.json").exists()


def test_lines_of_older_runs_are_still_read() -> None:
    old = {
        "id": "x",
        "example": {
            "id": "x",
            "source": "s",
            "claim": "A claim.",
            "documents": [{"id": "d", "text": "A text."}],
            "conflict": False,
        },
        "status": "labelled",
        "judgements": [
            {"claim": "A claim.", "document": "d", "relation": "SUPPORTS", "source": "cascade-nli"}
        ],
        "conflict": False,
    }
    assert DetectionResult.model_validate(old).judgements[0].source == "cascade-nli"
