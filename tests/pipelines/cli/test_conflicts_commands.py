"""`contested conflicts train` and `validate`, as a person meets them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, write
from conflicts_endpoint import WEIGHTS
from scripted import Scripted, fenced_text
from tagging import ScriptedTagger, offer, word_for_word

from nli.pairs import Pair
from pipelines.conflicts.classifier import read
from pipelines.conflicts.datasets import SAMPLES
from pipelines.conflicts.features import GROUPS
from pipelines.conflicts.taxonomy import CATEGORY, ConflictType

OUTDATED, OPINIONS = ConflictType.OUTDATED, ConflictType.OPINIONS

THINGS = ("tea", "coffee", "cocoa", "milk", "juice", "water", "lemonade", "cider")

TRAIN = ["conflicts", "train", "--data", "mine.jsonl", "--folds", 2]
FORM = ["--features", "question"]
VALIDATE = ["conflicts", "validate"]


@pytest.fixture(autouse=True)
def tagger(monkeypatch: pytest.MonkeyPatch) -> ScriptedTagger:
    """Stands in for the shipped tagger: a text supports what it says word for word."""
    return offer(monkeypatch, ScriptedTagger(word_for_word))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sixteen queries of two types that the form of the question tells apart."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    write("mine.jsonl", *map(price, THINGS), *map(taste, THINGS))
    return tmp_path


def query(question: str, of: ConflictType, *texts: str) -> dict[str, Any]:
    return {
        "question": question,
        "conflict_type": CATEGORY[of].label,
        "search_results": [{"short_text": text} for text in texts],
    }


def price(thing: str) -> dict[str, Any]:
    texts = (f"The price of {thing} is 4 in 2019.", f"In 2023 the price of {thing} is 5.")
    return query(f"What is the current price of {thing}?", OUTDATED, *texts)


def taste(thing: str) -> dict[str, Any]:
    return query(f"Is {thing} good for you?", OPINIONS, f"Yes, {thing} is.", f"No, {thing} is bad.")


def rows_of(folder: str, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(Path(folder, f"{name}.json").read_text())["rows"]
    return found


# Training.


def test_a_trained_classifier_can_be_used(contested: Contested) -> None:
    """Each query is judged by the fold that never saw it, so what is right here was learnt."""
    done = contested.done(*TRAIN, *FORM, "--tables", "tables")
    assert "What the classifier learns from" in done.out
    assert "classifier: types.json" in done.err
    rows = {row["groups"]: row for row in rows_of("tables", "conflicts_features")}
    assert rows["none: the commonest type"]["accuracy"] == 1 / 2
    assert rows["all groups"]["accuracy"] == 1
    assert {row["queries"] for row in rows.values()} == {16}

    made = read(Path("types.json"))
    assert set(made.whole.types) == {OUTDATED, OPINIONS}
    assert "yes_no" in made.whole.features
    assert set(made.whole.features) <= set(GROUPS["question"])
    assert [len(fold.held_out) for fold in made.folds] == [8, 8]
    assert (made.trained_on["file"], made.trained_on["queries"]) == ("mine.jsonl", 16)
    contested.done(
        "run", "conflicts", "--data", "mine.jsonl", "--classifier-file", "types.json",
        "--strategy", "none", "--classifier", "nli", "--out", "out",
    )  # fmt: skip
    types, _ = rows_of("out/tables", "conflicts_types")[:2]
    assert types["accuracy"] == 1
    about = json.loads(Path("out/run.json").read_text())["pipelines"]["conflicts.types"]
    assert about["seen_in_training"] == 16
    assert about["config"]["classifier"]["trained_on"]["file"] == "mine.jsonl"
    assert "16 of the file" in Path("out/report.html").read_text()
    # A question that it does not know is judged by the whole.
    Path("a.txt").write_text("Yes, beer is good.")
    Path("b.txt").write_text("No, beer is bad.")
    out = contested.done(
        "resolve", "Is beer good for you?", "--documents", "a.txt", "b.txt", "--strategy", "none",
        "--classifier-file", "types.json",
    ).out  # fmt: skip
    assert f"type: {CATEGORY[OPINIONS].label}" in out


def test_the_table_has_each_group_alone_and_all_but_each(contested: Contested) -> None:
    contested.done(*TRAIN, *FORM, "--features", "dates", "--tables", "tables")
    assert [row["groups"] for row in rows_of("tables", "conflicts_features")] == [
        "none: the commonest type", "none: the commonest of yes/no questions, and of others",
        "all groups", "question alone", "dates alone", "all but question", "all but dates",
    ]  # fmt: skip


def test_the_bundled_samples_are_enough_for_two_folds(contested: Contested) -> None:
    """Two queries of each type; of some groups no feature varies in a fold."""
    command = ["conflicts", "train", "--data", SAMPLES, "--folds"]
    contested.done(*command, 2, "--features", "stances", "--features", "wording")
    made = read(Path("types.json"))
    assert set(made.whole.types) == set(ConflictType)
    assert "too few queries of a type: 2 of the commonest" in contested.refused(*command, 3)


def test_features_that_tell_nothing(contested: Contested) -> None:
    """No source has a date of its own, no text says "as of": types alone are learnt."""
    texts = ("Some say so.", "Others say so.")
    write(
        "mine.jsonl",
        *(query(f"Is {thing} good?", OPINIONS, *texts) for thing in THINGS),
        *(query(f"Is {thing} cheap?", OUTDATED, *texts) for thing in THINGS[:4]),
    )
    contested.done(*TRAIN, "--features", "dates")
    made = read(Path("types.json"))
    assert made.whole.features == ()
    shares = made.whole.probabilities({})
    assert (shares[OPINIONS], shares[OUTDATED]) == pytest.approx((2 / 3, 1 / 3), abs=1e-5)


def test_a_seed_decides_the_folds(contested: Contested) -> None:
    def held_out(seed: int) -> set[frozenset[str]]:
        contested.done(*TRAIN, *FORM, "--seed", seed)
        return {fold.held_out for fold in read(Path("types.json")).folds}

    assert held_out(1) == held_out(1) != held_out(2)


def test_a_dry_run_trains_nothing(contested: Contested, tagger: ScriptedTagger) -> None:
    told = contested.done(*TRAIN, "--dry-run")
    assert told.out == "16 queries with 32 sources from mine.jsonl\n"
    assert not tagger.batches
    assert not Path("types.json").exists()


def test_queries_without_a_type_are_left_aside(contested: Contested) -> None:
    untyped = {key: value for key, value in taste("beer").items() if key != "conflict_type"}
    write("mine.jsonl", untyped, *map(price, THINGS[:3]), *map(taste, THINGS[:3]))
    contested.done(*TRAIN, *FORM)
    assert read(Path("types.json")).trained_on["queries"] == 6
    assert contested.done(*TRAIN, "--dry-run").out.startswith("6 queries with 12 sources")


@pytest.mark.parametrize(
    ("rows", "more", "said"),
    [
        ([price("tea"), taste("tea")], [], "mine.jsonl has 2 different queries with a type, too"),
        ([price("tea")] * 9 + [taste("tea")], [], "has 2 different queries"),
        (
            [price(each) for each in THINGS],
            [],
            "mine.jsonl has one type of conflict only, so there is nothing to learn",
        ),
        (
            [*map(price, THINGS), taste("tea")],
            [],
            "8 of the commonest, 'outdated', and 1 of the next, where 2 folds need 2 and 2",
        ),
        (
            [*map(price, THINGS), taste("tea"), taste("tea") | {"conflict_type": "No conflict"}],
            [],
            "as 'opinions' and as 'no-conflict'; leave one of them out",
        ),
        (None, ["--folds", 9], "has 16 different queries with a type, too few for 9 folds"),
        (None, ["--folds", 1], "--folds"),
        (None, ["--features", "colour"], "--features is 'colour'; it can be question, stances"),
        (None, ["--tagger", "."], ". has no safetensors file"),
        (None, ["--data", "missing.jsonl"], "missing.jsonl does not exist"),
        (None, ["--limit", 3], "has 3 different queries"),
        (None, ["--seed", -1], "--seed"),
        (None, ["--seed", 2**32], "--seed"),
        (None, ["--out", "."], ". cannot be written (it is a folder); name a file"),
        (None, ["--out", "mine.jsonl/types.json"], "(a part of its path is a file, not a folder)"),
        (None, ["--out", "/proc/contested/types.json"], "/proc/contested/types.json cannot be"),
        (None, ["--tables", "mine.jsonl"], "mine.jsonl/conflicts_features.json cannot be written"),
    ],
)
def test_what_cannot_be_trained(
    rows: Sequence[object] | None,
    more: list[object],
    said: str,
    contested: Contested,
    tagger: ScriptedTagger,
) -> None:
    if rows is not None:
        write("mine.jsonl", *rows)
    assert said in contested.refused(*TRAIN, *more)
    assert not tagger.batches, "it is said before anything is read"
    assert not Path("types.json").exists()


def test_the_largest_seed_is_taken(contested: Contested) -> None:
    contested.done(*TRAIN, *FORM, "--seed", 2**32 - 1)


def test_the_table_is_shown_though_the_file_cannot_be_written(
    contested: Contested, tagger: ScriptedTagger
) -> None:
    """Something is put in its way after the command has looked."""
    weigh = tagger.weigh

    def blocks(pair: Pair) -> tuple[float, float, float]:
        Path("types.json").mkdir(exist_ok=True)
        return weigh(pair)

    tagger.weigh = blocks
    outcome = contested(*TRAIN, *FORM)
    assert outcome.code == 2
    assert "types.json cannot be written (it is a folder)" in outcome.err
    assert "What the classifier learns from" in outcome.out


# Judges against people.


def answer(name: str, adherent: bool, text: str, of: ConflictType = OPINIONS) -> dict[str, Any]:
    return {
        "id": name, "query": "Is tea good?", "conflict_type": of, "answer": text,
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
    done = contested.done(
        *VALIDATE, "--data", "judged.jsonl", "--endpoint", judge.url, "--tables", "tables"
    )
    assert "The judge against people" in done.out
    assert "7 calls to scripted" in done.err
    whole, opinions, outdated = (
        row for row in rows_of("tables", "conflicts_judge") if row["judge"] == "scripted"
    )
    assert (whole["answers"], whole["unreadable"]) == (7, 1)
    assert whole["accuracy"] == pytest.approx(2 / 3)
    assert whole["kappa"] == pytest.approx(1 / 3)
    counts = ("both_adherent", "judge_alone", "people_alone", "neither")
    assert [whole[each] for each in counts] == [2, 1, 1, 2]
    assert (opinions["type"], opinions["accuracy"]) == (CATEGORY[OPINIONS].label, 3 / 4)
    assert (outdated["answers"], outdated["unreadable"], outdated["accuracy"]) == (3, 1, 1 / 2)
    verdicts = {row["id"]: (row["people"], row["judge"]) for row in
                rows_of("tables", "conflicts_verdicts")}  # fmt: skip
    assert verdicts["c"] == ("adheres", "does not")
    assert verdicts["g"] == ("adheres", "unreadable")


def test_a_judge_with_probabilities(contested: Contested, judge: Scripted) -> None:
    """YES has a third of YES and NO, so no answer behaves: 3 of 7 are as people say."""
    contested.done(
        *VALIDATE, "--data", "judged.jsonl", "--behaviour", "choice", "--endpoint", judge.url,
        "--tables", "tables",
    )  # fmt: skip
    whole = rows_of("tables", "conflicts_judge")[0]
    assert (whole["unreadable"], whole["accuracy"]) == (0, pytest.approx(3 / 7))
    assert whole["kappa"] == pytest.approx(0)


def test_the_bundled_answers(contested: Contested, judge: Scripted) -> None:
    """Whoever always says yes is right about half of them, and no better than chance."""
    judge.reply = lambda _: json.dumps({"reason": "Why not.", "adheres": True})
    contested.done(*VALIDATE, "--endpoint", judge.url, "--tables", "tables")
    own = [row for row in rows_of("tables", "conflicts_judge") if row["judge"] == "scripted"]
    assert [(row["answers"], row["accuracy"], row["kappa"]) for row in own] == [
        (40, 0.5, 0), *[(8, 0.5, 0)] * 5
    ]  # fmt: skip
    told = contested.done(*VALIDATE, "--limit", 3, "--dry-run")
    assert told.out == "3 answers from behaviour.jsonl: 3 calls to the model\n"
    assert len(judge.requests) == 40


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
    command = [*VALIDATE, "--data", "judged.jsonl", "--endpoint", judge.url]
    assert said in contested.refused(*command)
    assert not judge.requests
    assert "missing.jsonl does not exist" in contested.refused(*VALIDATE, "--data", "missing.jsonl")
    message = contested.refused(*VALIDATE, "--endpoint", judge.url, "--tables", "mine.jsonl")
    assert message.startswith("mine.jsonl/conflicts_judge.json cannot be written")
    assert not judge.requests
    assert "--behaviour" in contested.refused(*VALIDATE, "--behaviour", "words")
