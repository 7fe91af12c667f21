"""Judges beside people as experiments: `behaviour-judge`, `both-sides`, `atomic-facts`."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, at, ours, write
from conflicts_endpoint import WEIGHTS
from people import annotated, biography, judged
from scripted import Scripted, fenced_text
from tagging import SUPPORT, UNSURE, ScriptedTagger, offer

from nli.pairs import Pair
from pipelines.conflicts.judges.experiment import EXPERIMENT
from pipelines.conflicts.taxonomy import CATEGORY, ConflictType
from pipelines.errors import InputError
from pipelines.experiment.gathered import gathered

OUTDATED, OPINIONS = ConflictType.OUTDATED, ConflictType.OPINIONS

BEHAVIOUR = ["run", "behaviour-judge", "--out", "out"]
BOTH = ["run", "both-sides", "--out", "out"]
FACTS = ["run", "atomic-facts", "--out", "out"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# The judge of behaviour.


def answer(name: str, adherent: bool, text: str, of: ConflictType = OPINIONS) -> dict[str, Any]:
    return {
        "id": name, "query": f"Is tea good, {name}?", "conflict_type": of, "answer": text,
        "adherent": adherent,
    }  # fmt: skip


ANSWERS = [
    answer("a", True, "Yes [1]."),
    answer("b", True, "Yes [2]."),
    answer("c", True, "No [1]."),
    answer("d", False, "No [2]."),
    answer("e", False, "Yes <script>alert(1)</script>.", OUTDATED),
    answer("f", False, "No [3].", OUTDATED),
    answer("g", True, "Mumble.", OUTDATED),
]
"""What the judge below says of "Yes" and "No", people say of a, b, d and f."""


@pytest.fixture
def judge(endpoint: Scripted) -> Scripted:
    """Says that answers with "Yes" behave; of a mumble nothing that can be read."""

    def reply(request: dict[str, Any]) -> str:
        text = fenced_text(request, "ANSWER")
        if text.startswith("Mumble"):
            return "{"
        return json.dumps({"reason": "It begins so.", "adheres": text.startswith("Yes")})

    endpoint.reply, endpoint.weigh = reply, lambda _: WEIGHTS[:2]
    write("judged.jsonl", *ANSWERS)
    return endpoint


def test_agreement_worked_by_hand(contested: Contested, judge: Scripted) -> None:
    """Four of six verdicts are people's: 2/3. People have three of each, the judge too: chance
    agrees on 1/2, so kappa is (2/3 - 1/2) / (1/2) = 1/3.
    """
    done = contested.done(*BEHAVIOUR, "--data", "judged.jsonl", *at(judge))
    assert "7 calls to scripted" in done.err
    whole, opinions, outdated = ours("conflicts_judge", judge="scripted, json")
    assert (whole["answers"], whole["unreadable"]) == (7, 1)
    assert whole["accuracy"] == pytest.approx(2 / 3)
    assert whole["kappa"] == pytest.approx(1 / 3)
    counts = ("both_adherent", "judge_alone", "people_alone", "neither")
    assert [whole[each] for each in counts] == [2, 1, 1, 2]
    assert (opinions["type"], opinions["accuracy"]) == (CATEGORY[OPINIONS].label, 3 / 4)
    assert (outdated["answers"], outdated["unreadable"], outdated["accuracy"]) == (3, 1, 1 / 2)
    verdicts = {row["id"]: (row["people"], row["judge"]) for row in ours("conflicts_verdicts")}
    assert verdicts["c"] == ("adheres", "does not")
    assert verdicts["g"] == ("adheres", "unreadable")
    page = Path("out/report.html").read_text()
    assert "agree with people?" in page
    assert "<script>alert(1)" not in page
    contested.done(*BEHAVIOUR, "--data", "judged.jsonl", *at(judge))
    assert len(judge.requests) == 7


def test_answers_that_fail_are_counted(contested: Contested, judge: Scripted) -> None:
    judge.refuses = lambda prompt: "good, a?" in prompt
    contested.done(*BEHAVIOUR, "--data", "judged.jsonl", "--on-error", "skip", *at(judge))
    assert ours("conflicts_judge", judge="scripted, json")[0]["answers"] == 6
    told = Path("out/tables/conflicts_judge.md").read_text()
    assert "json: 1 failed and are not among the answers." in told


def test_a_judge_with_probabilities_stands_beside_one_with_reasons(
    contested: Contested, judge: Scripted
) -> None:
    """YES has a third of YES and NO, so no answer behaves: 3 of 7 are as people say."""
    contested.done(*BEHAVIOUR, "--data", "judged.jsonl", *at(judge))
    contested.done(*BEHAVIOUR, "--data", "judged.jsonl", "--behaviour", "choice", *at(judge))
    whole = ours("conflicts_judge", judge="scripted, choice", type="all")[0]
    assert (whole["unreadable"], whole["accuracy"]) == (0, pytest.approx(3 / 7))
    assert whole["kappa"] == pytest.approx(0)
    assert whole["area"] == 0.5
    assert ours("conflicts_judge", judge="scripted, json", type="all")[0]["area"] is None


def test_the_bundled_answers(contested: Contested, judge: Scripted) -> None:
    """Whoever always says yes is right about half of them, and no better than chance."""
    judge.reply = lambda _: json.dumps({"reason": "Why not.", "adheres": True})
    contested.done(*BEHAVIOUR, *at(judge))
    own = ours("conflicts_judge", judge="scripted, json")
    assert [(row["answers"], row["accuracy"], row["kappa"]) for row in own] == [
        (40, 0.5, 0), *[(8, 0.5, 0)] * 5
    ]  # fmt: skip
    told = contested.done(*BEHAVIOUR, "--limit", 3, "--dry-run", *at(judge))
    assert told.out.startswith("3 answers from behaviour.jsonl\n")
    assert len(judge.requests) == 40


def test_wikicontradicts_answers_are_judged_as_conflicting_opinions(
    contested: Contested, judge: Scripted
) -> None:
    judge.reply = lambda request: json.dumps(
        {"reason": "r", "adheres": "whereas" in fenced_text(request, "ANSWER")}
    )
    write("wiki.jsonl", judged("mill", "model-a"), judged("inn", "model-b", label3="Correct"))
    contested.done(*BEHAVIOUR, "--wikicontradict", "wiki.jsonl", *at(judge))
    whole = ours("conflicts_judge", type="all")[0]
    assert (whole["answers"], whole["accuracy"], whole["always_yes"]) == (4, 0.75, 0.75)
    contested.refused(
        *BEHAVIOUR, "--wikicontradict", "wiki.jsonl", "--data", "judged.jsonl",
        says=["--wikicontradict has no effect with --data"],
    )  # fmt: skip
    contested.refused(*BEHAVIOUR, "--half", "test", says=["--half has no effect with --data"])


def test_runs_of_two_folders_compare_where_they_share_data_and_half(
    contested: Contested, judge: Scripted
) -> None:
    contested.done(*BEHAVIOUR, "--data", "judged.jsonl", *at(judge))
    shutil.copytree("out", "other")
    folders = {"one": Path("out"), "two": Path("other")}
    assert list(gathered(EXPERIMENT, folders).entries) == ["one", "two"]
    about = Path("other/run.json")
    about.write_text(about.read_text().replace('"half": "all"', '"half": "test"'))
    with pytest.raises(InputError, match=r'they differ in half \("all" there, "test" now\)'):
        gathered(EXPERIMENT, folders)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (None, "judged.jsonl has no entry"),
        ("{", "judged.jsonl:2: not valid JSON"),
        (answer("b", True, "Yes.") | {"conflict_type": "Quarrel"}, "judged.jsonl:2: "),
        (answer("b", True, ""), "judged.jsonl:2: the field 'answer'"),
        (answer("b", True, "Yes.") | {"adherent": "yes"}, "judged.jsonl:2: the field 'adherent'"),
        (answer("a", True, "Yes."), "judged.jsonl:2: the id 'a' stands here a second time"),
    ],
)
def test_files_that_are_no_labelled_answers(
    row: object, said: str, contested: Contested, judge: Scripted
) -> None:
    text = row if isinstance(row, str) else json.dumps(row)
    Path("judged.jsonl").write_text("\n" if row is None else f"{json.dumps(ANSWERS[0])}\n{text}\n")
    assert said in contested.refused(*BEHAVIOUR, "--data", "judged.jsonl", *at(judge))
    assert "missing.jsonl does not exist" in contested.refused(
        *BEHAVIOUR, "--data", "missing.jsonl"
    )
    assert "--behaviour" in contested.refused(*BEHAVIOUR, "--behaviour", "words")
    assert not judge.requests


# Both sides.


def years(pair: Pair) -> tuple[float, float, float]:
    """A passage supports what names its year, contradicts what names another one alone."""
    own = {year for year in ("1902", "1936") if year in pair.premise}
    said = {year for year in ("1902", "1936") if year in pair.hypothesis}
    return SUPPORT if own & said else (0.05, 0.9, 0.05) if said else UNSURE


def test_conflictscore_beside_people(contested: Contested, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told answers name both years and are correct: areas are 1, and the metric always agrees."""
    tagger = offer(monkeypatch, ScriptedTagger(years))
    things = ("mill", "inn", "school")
    write("wiki.jsonl", *(judged(thing, model) for thing in things for model in ("a", "b")))
    command = [*BOTH, "--data", "wiki.jsonl", "--labeller", "nli", "--claims", "sentences"]
    assert contested.done(*command, "--dry-run").out.startswith(
        "12 answers to 3 questions, half: all; people say of 6 that they show both sides"
    )
    contested.done(*command)
    found = {row["sign"]: row for row in ours("both_sides_areas", run="nli-sentences")}
    assert [found[name]["area"] for name in ("1 − CS-C", "least support of a passage")] == [1, 1]
    agreed = {row["decision"]: row for row in ours("both_sides_agreement")}
    assert agreed["no claim in conflict"]["accuracy"] == 1
    assert agreed["always yes"]["accuracy"] == 0.5
    of = ours("both_sides_models", model="a", prompt="told of contradictions")[0]
    assert (of["both"], of["cs_c"], of["answers"]) == (1, 0, 3)
    asked = len(tagger.batches)
    contested.done(*command)  # is resumed, and has nothing to do
    assert len(tagger.batches) == asked
    contested.done(*command[:-1], "whole")
    runs = [row["run"] for row in ours("both_sides_areas")]
    assert {*runs} == {"nli-sentences", "nli-whole", "no model"}
    assert runs.count("no model") == 2  # what needs none is measured once
    assert "as people do?" in Path("out/report.html").read_text()
    contested.refused(*command, "--half", "test", says=["out holds results"])


def test_both_sides_by_a_language_model(contested: Contested, endpoint: Scripted) -> None:
    contested.done(*BOTH, *at(endpoint))
    rows = ours("both_sides_areas", run="llm-atomic")
    assert {row["answers"] for row in rows} == {12}
    assert {row["both"] for row in rows} == {4}
    assert any("Claims" in str(request.get("response_format")) for request in endpoint.requests)


# Atomic facts.


BIOGRAPHY = biography(
    "Ada Ng",
    annotated(
        "Ada Ng sings and she acts.",
        ["Ada Ng sings.", "Ada Ng acts."],
        ("Ada Ng sings.",),
    ),
    annotated("Ada Ng lives in Rome.", ["Ada Ng lives in Rome."], ("Ada Ng lives in Rome.",)),
    annotated("Ada Ng mumbles.", ["Ada Ng mumbles."]),
)


@pytest.fixture
def tagger(monkeypatch: pytest.MonkeyPatch) -> ScriptedTagger:
    """A text supports itself alone."""
    same = ScriptedTagger(lambda pair: SUPPORT if pair.premise == pair.hypothesis else UNSURE)
    return offer(monkeypatch, same)


def test_facts_beside_peoples(
    contested: Contested, endpoint: Scripted, tagger: ScriptedTagger
) -> None:
    """Ours: sings, acts, dances; lives in Rome; a reply that cannot be read is in no figure.

    Of four facts three are people's three. The sentences themselves, of which none is lost: two of
    three, and of four.
    """

    def reply(request: dict[str, Any]) -> str:
        text = fenced_text(request, "TEXT")
        if "mumbles" in text:
            return "I cannot."
        parts = ["Ada Ng sings.", "Ada Ng acts.", "Ada Ng dances."] if "sings" in text else [text]
        return json.dumps({"claims": parts})

    endpoint.reply = reply
    write("ChatGPT.jsonl", BIOGRAPHY)
    contested.done(*FACTS, "--data", "ChatGPT.jsonl", *at(endpoint))
    found = {(row["by"], row["ruler"]): row for row in ours("atomic_facts")}
    own = found["this program, scripted", "content words"]
    assert (own["precision"], own["recall"], own["unread"]) == (3 / 4, 1, 1)
    assert (own["facts"], own["people"], own["sentences"]) == (4, 3, 2)
    whole = found["the sentence itself", "content words"]
    assert (whole["precision"], whole["recall"], whole["unread"]) == (1, 3 / 4, 0)
    strict = found["the sentence itself", "tagger, both ways"]
    assert (strict["precision"], strict["recall"]) == (2 / 3, 1 / 2)
    asked = len(endpoint.requests)
    contested.done(*FACTS, "--data", "ChatGPT.jsonl", "--split", "none")
    assert len(endpoint.requests) == asked
    assert len(ours("atomic_facts", by="the sentence itself")) == 2
    assert "the facts that people see?" in Path("out/report.html").read_text()


def test_which_sentences_are_split(contested: Contested, tagger: ScriptedTagger) -> None:
    write("ChatGPT.jsonl", BIOGRAPHY)
    command = [*FACTS, "--data", "ChatGPT.jsonl", "--split", "none"]
    told = contested.done(*command, "--sample", 2, "--dry-run").out
    assert told.startswith("2 of 3 sentences, with ")
    Path("other").mkdir()
    write("other/ChatGPT.jsonl", BIOGRAPHY)
    assert "same name" in contested.refused(*command, "--data", "other/ChatGPT.jsonl")
    write("none.jsonl", BIOGRAPHY | {"annotations": None})
    assert "no sentence that people split" in contested.refused(*FACTS, "--data", "none.jsonl")
    message = contested.refused(*command, "--model", "some")
    assert "--model has no effect with --split none" in message
