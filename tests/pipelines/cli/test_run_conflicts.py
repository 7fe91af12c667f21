"""`contested run conflicts`, as a person meets it: figures, run folders, faults, kills."""

import re
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, at, contents, entries, ours, records, table, write
from conflicts_endpoint import speaks, weigh
from scripted import Scripted
from tagging import ScriptedTagger, offer, word_for_word
from tiny_words import word_counting

from pipelines.retrieval.dense import Embedder

STRATEGIES = ["Vanilla", "Pipeline", "Taxonomy-aware", "Oracle"]


def query(question: str, label: str | None, answer: str, *texts: str) -> dict[str, Any]:
    """A query in the official format; the second source has a date."""
    results = [{"title": "", "short_text": text} for text in texts]
    results[1] |= {"title": "News", "url": "https://news.example/1", "date": "Mar 3, 2024"}
    made = {"source": "own", "question": question, "correct_answer": answer}
    typed = {} if label is None else {"conflict_type": label}
    return made | typed | {"search_results": results}


TOWER = query(
    "When did the tower open?",
    "No conflict",
    "1889",
    "The tower opened in 1889.",
    "Its gates have been open ever since.",
)
# Questions of opinion have no right answer, whatever stands in the file.
TEA = query(
    "Is tea good for sleep?",
    "Conflicting opinions and research outcomes",
    "it depends",
    "Tea is good for sleep.",
    "A study found no effect of tea.",
)

RUN = ["run", "conflicts", "--out", "out"]
BY_MODEL = ["--classifier", "json", "--types", "json"]
TYPES = ["--strategy", "none", "--classifier", "yes-no"]


@pytest.fixture(autouse=True)
def tagger(monkeypatch: pytest.MonkeyPatch) -> ScriptedTagger:
    """Stands in for the shipped tagger."""
    return offer(monkeypatch, ScriptedTagger(word_for_word))


@pytest.fixture
def endpoint(endpoint: Scripted) -> Scripted:
    """A writer and judges that go by words."""
    endpoint.reply, endpoint.weigh = speaks, weigh
    return endpoint


def answers(name: str = "conflicts_answers", **chosen: object) -> dict[str, dict[str, Any]]:
    """This run's rows by strategy."""
    return {row["strategy"]: row for row in ours(name, **chosen)}


def results(name: str = "scripted", out: str = "out") -> list[dict[str, Any]]:
    return records(f"{out}/conflicts.{name}.jsonl")


def column(rows: dict[str, dict[str, Any]], key: str) -> list[Any]:
    """A column of the four strategies."""
    return [rows[strategy][key] for strategy in STRATEGIES]


# Files of one's own.


def test_a_file_without_types(contested: Contested, endpoint: Scripted) -> None:
    untyped = [{k: v for k, v in each.items() if k != "conflict_type"} for each in (TOWER, TEA)]
    write("untyped.jsonl", *untyped)
    contested.done(*RUN, *at(endpoint), "--data", "untyped.jsonl", *BY_MODEL)
    for result in results():
        assert list(result["outcomes"]) == ["vanilla", "pipeline", "taxonomy-aware"]
        judged = {name: each["judged"] for name, each in result["outcomes"].items()}
        # By the type that the answer was told, gave itself, or might have been told.
        assert judged["vanilla"]["adherence"]["type"] == "outdated"
        assert judged["pipeline"]["adherence"]["type"] == "outdated"
        assert judged["pipeline"]["adherence"]["adheres"] is True
        assert judged["taxonomy-aware"]["adherence"]["type"] == "outdated"
    rows = answers()
    assert list(rows) == STRATEGIES[:3]
    assert {(row["untyped"], row["behaviour"]) for row in rows.values()} == {(2, None)}
    assert rows["Vanilla"]["grounding"] == 1
    (types, joint, most, _) = ours("conflicts_types")
    assert (types["untyped"], types["accuracy"]) == (2, None)
    assert (joint["untyped"], most["accuracy"]) == (2, None)


# What cannot be read, or cannot be asked.


@pytest.fixture
def small(endpoint: Scripted, tmp_path: Path) -> Scripted:
    """An endpoint of 1,800 tokens, whose tokenizer counts words and marks."""
    endpoint.root, endpoint.context = str(word_counting(tmp_path / "tiny")), 1800
    return endpoint


LONG = query(
    "When did the wide bridge open?",
    "No conflict",
    "1901",
    "The wide bridge opened in 1901." + " Word" * 900,
    "The wide bridge is wide." + " Word" * 500,
)


def test_sources_that_do_not_fit(contested: Contested, small: Scripted) -> None:
    # An answer has no more tokens than it may have.
    small.reply = lambda request: speaks(request).replace(" Word", "")
    write("long.jsonl", TOWER, LONG)
    command = [*RUN, *at(small), "--data", "long.jsonl", *BY_MODEL, "--answer-tokens", 64]
    message = contested.refused(*command)
    assert re.match(r"'2': the sources of query '2' are too long for .* --on-overflow cut", message)

    contested.done(*command, "--on-error", "skip")
    assert [result["status"] for result in results()] == ["answered", "failed"]
    assert column(answers(), "failed") == [1] * 4
    assert column(answers(), "queries") == [2] * 4
    (failure,) = table(Path("out"), "conflicts_failures")
    assert (failure["query"], failure["what"]) == ("2", "failed")
    assert "too long" in failure["reason"]

    contested.done(*command, "--on-overflow", "cut", "--out", "cut")
    tower, long = results(out="cut")
    assert (tower["truncations"], long["status"]) == ([], "answered")
    first, second = long["truncations"]
    assert (first["text"], second["text"]) == ("document 1", "document 2")
    # Both are cut to one length, and their beginnings stay.
    assert 50 < first["kept"] == second["kept"] < 506
    assert {p for p in small.prompts() if " Word" * 520 in p} == set()
    assert long["asked"]["sources"][0]["text"].endswith("Word"), "the whole source is kept"


def test_segments_are_chosen_from_pages_once(
    contested: Contested, small_embedder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = "The sea is salt. " * 60 + "The tower opened in 1889. " + "It rains a lot. " * 200
    result = {"title": "Guide", "short_text": "The sea.", "response_str": page}
    write("pages.jsonl", TOWER | {"search_results": [result]})
    command = [*RUN, *TYPES, "--data", "pages.jsonl", "--embedder", small_embedder]
    contested.done(*command)
    (found,) = results("types")
    (source,) = found["asked"]["sources"]
    assert "The tower opened in 1889." in source["text"]
    assert len(source["text"]) < len(page) / 2
    assert entries("out")["conflicts.types"]["config"]["segments"] != "released"

    def unwanted(*_: object) -> None:
        raise AssertionError("the folder has this segment")

    monkeypatch.setattr(Embedder, "embed", unwanted)
    before = contents(Path("out"))
    contested.done(*command)
    assert contents(Path("out")) == before
    contested.done(*command, "--name", "again")
    assert "differs in segments" in contested.refused(*RUN, *TYPES, "--data", "pages.jsonl")
