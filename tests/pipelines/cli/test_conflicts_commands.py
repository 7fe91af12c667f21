"""`contested conflicts measure`, as a person meets it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Contested, write
from tagging import ScriptedTagger, offer, word_for_word

from pipelines.conflicts.aside import set_aside
from pipelines.conflicts.prediction import Prediction
from pipelines.conflicts.question import Query, Source
from pipelines.conflicts.result import QueryResult
from pipelines.conflicts.taxonomy import CATEGORY, ConflictType
from pipelines.data.released import half
from pipelines.evidence.priors import read_prior

OUTDATED, OPINIONS = ConflictType.OUTDATED, ConflictType.OPINIONS

THINGS = tuple(f"{one}{two}" for one in ("tea", "cocoa", "milk", "ale") for two in "abcdefg")

MEASURE = ["conflicts", "measure", "--data", "mine.jsonl"]


class Letters:
    """Stands in for an embedding model: a unit vector by the first letter of a text."""

    digest = "letters"

    def __init__(self, *_: object, **__: object) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> "np.ndarray[Any, np.dtype[np.float32]]":
        vectors = np.zeros((len(texts), 128), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            row[ord(text[0].lower()) % 128] = 1
        self.asked += texts
        return vectors


@pytest.fixture(autouse=True)
def tagger(monkeypatch: pytest.MonkeyPatch) -> ScriptedTagger:
    """Stands in for the shipped tagger: a text supports what it says word for word."""
    return offer(monkeypatch, ScriptedTagger(word_for_word))


@pytest.fixture(autouse=True)
def embedder(monkeypatch: pytest.MonkeyPatch) -> Letters:
    made = Letters()
    monkeypatch.setattr("pipelines.cli.conflicts.Embedder", lambda *_, **__: made)
    return made


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Queries of two types that the form of the question tells apart."""
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


def questions() -> list[str]:
    lines = Path("mine.jsonl").read_text().splitlines()
    return [json.loads(line)["question"] for line in lines]


def said(*, outdated: float, rest: float) -> list[str]:
    """Results of a model that always says opinions: with 0.9 where right, else with `outdated`."""
    lines = []
    for place, question in enumerate(questions()):
        right = 0.9 if question.startswith("Is") else outdated
        others = dict.fromkeys(list(ConflictType)[:2] + list(ConflictType)[4:], rest)
        shares = others | {OPINIONS: right, OUTDATED: 1 - 3 * rest - right}
        asked = Query(id=str(place), query=question, sources=(Source(text="So."),))
        found = Prediction(type=OPINIONS, by="choice", probabilities=shares)
        result = QueryResult(
            id=str(place), asked=asked, status="answered", predictions={"choice": found}
        )
        lines.append(result.model_dump_json())
    return lines


# What types are worth.


def test_types_are_measured_where_they_were_not_learnt(
    contested: Contested, embedder: Letters
) -> None:
    done = contested.done(*MEASURE, "--tables", "tables")
    assert "Types on queries that had no part in them" in done.out
    own = [each for each in questions() if not set_aside(each)]
    rows = {row["method"]: row for row in rows_of("tables", "conflicts_measured")}
    assert list(rows) == [
        "Most frequent type", "Most frequent type, yes/no or not",
        "Question alone", "Question and sources",
    ]  # fmt: skip
    assert {(row["queries"], row["queries_are"]) for row in rows.values()} == {
        (len(own), "cross-validated")
    }
    assert [row["accuracy"] for row in rows.values()][1:] == [1, 1, 1]
    assert rows["Most frequent type"]["accuracy"] < 0.7
    assert rows["Most frequent type, yes/no or not"]["difference"] is None
    # Nothing of what is set aside was read.
    assert not {each for each in embedder.asked if set_aside(each)} & set(questions())


def test_what_is_set_aside_is_measured_by_what_the_others_taught(contested: Contested) -> None:
    contested.done(*MEASURE, "--aside", "--tables", "tables")
    kept = [each for each in questions() if set_aside(each)]
    rows = rows_of("tables", "conflicts_measured")
    assert {(row["queries"], row["queries_are"]) for row in rows} == {(len(kept), "set aside")}
    assert [row["accuracy"] for row in rows][1:] == [1, 1, 1]


def test_a_models_types_and_their_combination(contested: Contested, tagger: ScriptedTagger) -> None:
    """It always prefers opinions, and more so where they are right."""
    lines = said(outdated=0.6, rest=0.02)
    Path("run.jsonl").write_text("\n".join(lines))
    command = [*MEASURE, "--question-alone", "--types", "run.jsonl"]
    contested.done(*command, "--tables", "tables")
    assert not tagger.batches
    rows = {row["method"]: row for row in rows_of("tables", "conflicts_measured")}
    own = [each for each in questions() if not set_aside(each)]
    share = sum(each.startswith("Is") for each in own) / len(own)
    assert rows["LLM, by choice"]["accuracy"] == pytest.approx(share)
    assert rows["LLM, by choice, less its mean log-probabilities"]["accuracy"] == 1
    assert rows["LLM and question alone"]["accuracy"] == 1
    assert rows["LLM and question alone"]["chosen"].startswith("chances")

    Path("run.jsonl").write_text("\n".join(lines[1:]))
    message = contested.refused(*command)
    assert "run.jsonl has no probabilities for 1 of 56 queries" in message


def test_a_models_types_are_corrected_by_the_queries_that_are_not_aside(
    contested: Contested,
) -> None:
    """It always says opinions; where outdated is right, it says so a little less."""
    lines = said(outdated=0.8, rest=0.001)
    Path("run").mkdir()
    Path("run/conflicts.mine.jsonl").write_text("\n".join(lines))
    command = [*MEASURE, "--question-alone", "--types", "run/conflicts.mine.jsonl"]
    command += ["--correction", "types.json"]
    assert "run has no run.json that says which model" in contested.refused(*command)
    config = {
        "model": {"name": "asked", "digest": "d" * 64},
        "prompts": {"conflicts/classify_choice": "e" * 64},
    }
    entry = {"config": config, "started": "2026-01-01T00:00:00Z"}
    Path("run/run.json").write_text(json.dumps({"pipelines": {"conflicts.mine": entry}}))
    told = contested.done(*command)
    assert "correction of asked: " in told.out
    made = read_prior(Path("types.json"))
    assert (made.name, made.model, made.prompt) == ("asked", "d" * 64, "e" * 64)
    assert made.correction.pairs == sum(not set_aside(each) for each in questions())
    figures = {each.method: each.accuracy.value for each in made.held_out}
    assert figures["none"] < 0.7
    assert figures[made.correction.method] == 1
    message = contested.refused(*MEASURE, "--correction", "types.json")
    assert "name its results by --types" in message


def test_other_data_are_learnt_from_as_well(contested: Contested, embedder: Letters) -> None:
    asked = [f"Who made {thing}?" for thing in THINGS]
    documents = [{"text": "Ann.", "type": "correct", "answer": "Ann"}]
    write(
        "ram.jsonl",
        *({"question": each, "documents": documents, "gold_answers": ["Ann"]} for each in asked),
    )
    sides = {
        f"{name}{n}_self_contained": f"By {who}."
        for n, who in ((1, "Bo"), (2, "Cy"))
        for name in ("context", "answer")
    }
    write("wiki.jsonl", {"question": "Who sold tea?", **sides}, {"question": "Who?", **sides})
    more = ["--ramdocs", "ram.jsonl", "--wikicontradict", "wiki.jsonl"]
    read = [each for each in (*asked, "Who sold tea?", "Who?") if half(each) == "train"]
    told = contested.done(*MEASURE, *more, "--dry-run")
    assert told.out.splitlines()[1:] == [f"{len(read)} further queries to learn from"]
    contested.done(*MEASURE, *more, "--tables", "tables")
    rows = {row["method"]: row for row in rows_of("tables", "conflicts_measured")}
    assert rows["Question and sources, with further queries"]["accuracy"] == 1
    assert {each for each in embedder.asked if each.startswith("Who")} == set(read)
    message = contested.refused(*MEASURE, *more, "--question-alone")
    assert "--ramdocs has no effect with --question-alone" in message


def test_a_dry_run_reads_nothing(
    contested: Contested, tagger: ScriptedTagger, embedder: Letters
) -> None:
    kept = sum(map(set_aside, questions()))
    told = contested.done(*MEASURE, "--dry-run")
    assert told.out == f"56 queries from mine.jsonl, {kept} of them set aside\n"
    assert not tagger.batches
    assert not embedder.asked


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--limit", 5], "too few"),
        (["--tagger", "."], ". has no safetensors file"),
        (["--tagger", ".", "--question-alone"], "--tagger has no effect with --question-alone"),
        (["--data", "missing.jsonl"], "missing.jsonl does not exist"),
        (["--types", "missing.jsonl"], "missing.jsonl does not exist"),
        (["--types", "mine.jsonl"], "mine.jsonl:1: "),
        (["--seed", -1], "--seed"),
        (["--tables", "mine.jsonl"], "mine.jsonl/conflicts_measured.json cannot be written"),
    ],
)
def test_what_cannot_be_measured(more: list[object], said: str, contested: Contested) -> None:
    assert said in contested.refused(*MEASURE, *more)
