"""ConflictScore beside people's verdicts as an experiment: `both-sides`."""

from pathlib import Path

import pytest
from commands import Contested, at, ours, write
from people import judged
from scripted import Scripted
from tagging import SUPPORT, UNSURE, ScriptedTagger, offer

from nli.pairs import Pair

BOTH = ["run", "both-sides", "--out", "out"]


def years(pair: Pair) -> tuple[float, float, float]:
    """A passage supports what names its year, contradicts what names another one alone."""
    own = {year for year in ("1902", "1936") if year in pair.premise}
    said = {year for year in ("1902", "1936") if year in pair.hypothesis}
    return SUPPORT if own & said else (0.05, 0.9, 0.05) if said else UNSURE


def test_conflictscore_beside_people(contested: Contested, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told answers name both years and are correct: areas are 1."""
    tagger = offer(monkeypatch, ScriptedTagger(years))
    things = ("mill", "inn", "school")
    write("wiki.jsonl", *(judged(thing, model) for thing in things for model in ("a", "b")))
    command = [*BOTH, "--data", "wiki.jsonl", "--judge", "tagger", "--claims", "sentences"]
    assert contested.done(*command, "--dry-run").out.startswith(
        "12 answers to 3 questions, half: all; people say of 6 that they show both sides"
    )
    contested.done(*command)
    found = {row["sign"]: row for row in ours("both_sides_areas", run="tagger-sentences")}
    signs = ("1 − CS-C", "both sides", "both sides and hedging words")
    assert [found[sign]["area"] for sign in signs] == [1, 1, 1]
    asked = len(tagger.batches)
    contested.done(*command)  # is resumed, and has nothing to do
    assert len(tagger.batches) == asked
    contested.done(*command[:-1], "whole")
    runs = [row["run"] for row in ours("both_sides_areas")]
    assert {*runs} == {"tagger-sentences", "tagger-whole", "no model"}
    assert runs.count("no model") == 2  # what needs none is measured once
    assert "as people do?" in Path("out/report.html").read_text()
    contested.refused(*command, "--half", "test", says=["out holds results"])


def test_both_sides_by_a_language_model(contested: Contested, endpoint: Scripted) -> None:
    contested.done(*BOTH, *at(endpoint))
    rows = ours("both_sides_areas", run="model-atomic")
    assert {row["answers"] + row["without"] for row in rows} == {12}
    assert {row["both"] for row in ours("both_sides_areas", run="no model")} == {4}
    assert any("Claims" in str(request.get("response_format")) for request in endpoint.requests)
