"""`contested compare`: run folders beside each other, as a person and as a program meet them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import Contested
from pages import Reading, safe, unpacked
from scripted import Scripted
from surfaces import raw_signs

from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.data.records import Document
from pipelines.judge.examples import ContestedClaim
from pipelines.judge.judgement import Judgement, Relation
from pipelines.judge.settings import JudgeSettings
from pipelines.runs.folder import RunFolder

HOSTILE = "</script><script>alert(1)</script>"


def run(contested: Contested, endpoint: Scripted, out: str, *options: str) -> None:
    """Conflict Detection by a scripted model on six of the bundled examples."""
    served = ["--endpoint", endpoint.url, "--limit", "6"]
    contested.done("run", "conflict-detection", "--out", out, *served, *options)


def made(
    out: str,
    found: Sequence[bool | None],
    *,
    name: str = "tagger",
    model: str = "m",
    questions: int | None = None,
) -> None:
    """A run over examples that all have a conflict, with what was found of each by hand."""
    folder = RunFolder(Path(out))
    about = {
        "data": {"name": "made.jsonl", "sha256": "0" * 64},
        "model": {"name": model, "digest": "1" * 64, "engine": "by hand"},
        "settings": JudgeSettings(judge="model").judging(),
    }
    entry = f"conflict-detection.{name}"
    folder.begin(entry, about, {"python": "3"})
    for number, conflict in enumerate(found):
        question = number if questions is None else number % questions
        example = ContestedClaim(
            id=f"e{number}",
            source="made",
            question=f"Question {question}?",
            claim=f"Claim {number}. {HOSTILE}",
            documents=(
                Document(id="a", text=f"So it is. {HOSTILE}"),
                Document(id="b", text="So it is not."),
            ),
            relations=(Relation.SUPPORTS, Relation.CONTRADICTS),
            conflict=True,
        )
        second = Relation.CONTRADICTS if conflict else Relation.IRRELEVANT
        relations = (Relation.SUPPORTS, Relation.INVALID if conflict is None else second)
        folder.log(entry, DetectionResult).append(
            DetectionResult(
                id=example.id,
                example=example,
                status="invalid" if conflict is None else "labelled",
                conflict=conflict,
                judgements=tuple(
                    Judgement(claim=example.claim, document=each.id, relation=own, source="tagger")
                    for each, own in zip(example.documents, relations, strict=True)
                ),
            )
        )


def compared(contested: Contested, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(contested.done("compare", *arguments, "--json").out)
    return found


# Real runs.


def test_a_changed_prompt_and_another_model_are_found(
    contested: Contested, endpoint: Scripted
) -> None:
    run(contested, endpoint, "a")
    prompt = Path("own/judge/relation.j2")
    prompt.parent.mkdir(parents=True)
    prompt.write_text("Document: {{ document | fenced('DOCUMENT') }}\nClaim: {{ claim }}\nLabel:")
    run(contested, endpoint, "prompted", "--prompts", "own")
    with Scripted(model="another", weigh=lambda _: [0.1, 0.1, 0.8]) as other:
        run(contested, other, "other")
    (changed,) = compared(contested, "a", "prompted")["differences"]
    assert (changed["part"], changed["what"]) == ("prompts", "judge/relation")
    assert changed["first"].endswith(" (as shipped)")
    assert not changed["second"].endswith(" (as shipped)")
    found = compared(contested, "a", "other")
    assert {row["part"] for row in found["differences"]} == {"model"}
    assert "name" in {row["what"] for row in found["differences"]}
    # One who calls everything irrelevant finds no conflict anywhere.
    assert {row["second"] for row in found["changed"]} <= {"no conflict"}


# By hand.


def test_paired_differences_by_hand(contested: Contested) -> None:
    made("a", [True, True, False, True, None, True])
    made("b", [True, False, False, False, True, None])
    found = compared(contested, "a", "b")
    (score,) = found["scores"]
    # Four examples were decided by both: 0, -1, 0, -1, whose deviation is sqrt(1/3).
    assert score["examples"] == 4
    assert score["difference"] == -0.5
    half = 3.18244630528371 * (1 / 3) ** 0.5 / 2  # t(3) at 97.5 %
    assert score["difference_low"] == -1, "cut to what a difference can be"
    assert score["difference_high"] == pytest.approx(-0.5 + half)
    assert (score["p"], score["test"]) == (0.5, "McNemar")  # 2 * (1/2)^2
    assert (score["first"], score["second"]) == (4 / 5, 2 / 5)
    assert "Bonferroni" in contested.done("compare", "a", "b").out
    (share,) = found["verdicts"]
    assert (share["examples"], share["changed"]) == (6, 4)
    assert [(row["example"], row["first"], row["second"]) for row in found["changed"]] == [
        ("e1", "conflict", "no conflict"),
        ("e3", "conflict", "no conflict"),
        ("e4", "undetermined", "conflict"),
        ("e5", "conflict", "undetermined"),
    ]


def test_what_cannot_be_compared_is_one_line(contested: Contested) -> None:
    made("a", [True])
    made("b", [True])
    assert "is not a run folder" in contested.refused("compare", "a", "nowhere")
    assert "is a run folder" in contested.refused("compare", "a", "b", "--out", "b")
    with RunFolder(Path("b")).locked():
        assert "a run is writing b" in contested.refused("compare", "a", "b")
    log = Path("b/conflict-detection.tagger.jsonl")
    whole = log.read_text()
    log.write_text('{"id": "e0"}\n')
    assert f"{log}:1: not a result of this version" in contested.refused("compare", "a", "b")
    log.write_text("")
    assert "b has no results yet" in contested.refused("compare", "a", "b")
    log.write_text(whole)
    about = json.loads(Path("b/run.json").read_text())
    del about["pipelines"]["conflict-detection.tagger"]["config"]["data"]
    Path("b/run.json").write_text(json.dumps(about))
    said = contested.refused("compare", "a", "b", "--out", "c")
    assert "a or b was not written by this version" in said
    Path("b/run.json").write_text("{}")
    assert "was not written by this program" in contested.refused("compare", "a", "b")


def test_which_runs_belong_together(contested: Contested) -> None:
    """The only ones of an experiment whatever their names; of several, those of one name."""
    made("a", [True])
    made("b", [True], name="model-choice")
    (score,) = compared(contested, "a", "b")["scores"]
    assert score["run"] == "conflict-detection.tagger / model-choice"
    made("a", [True], name="other")
    about = json.loads(Path("a/run.json").read_text())
    about["pipelines"]["later.tagger"] = about["pipelines"]["conflict-detection.tagger"]
    Path("a/run.json").write_text(json.dumps(about))
    made("b", [True], name="tagger")
    found = compared(contested, "a", "b")
    assert [row["run"] for row in found["scores"]] == ["conflict-detection.tagger"]
    assert found["not_compared"] == [
        "conflict-detection.other of A has no counterpart in B",
        "later.tagger of A is not known to this version",
        "conflict-detection.model-choice of B has no counterpart in A",
    ]


# The page.


def test_the_page_has_changed_verdicts_first(contested: Contested, reading: Reading) -> None:
    made("a", [True, True, False])
    made("b", [True, True, True], model="large")
    contested.done("compare", "a", "b", "--out", "ab")
    page = Path("ab/comparison.html").absolute()
    safe(page.read_text("utf-8"))
    listed = unpacked(page.read_text("utf-8"))
    assert [entry["id"] for entry in listed] == ["e2", "e0", "e1"]
    assert [chip["text"] for chip in listed[0]["chips"]] == ["A: no conflict", "B: conflict"]
    assert {path.name for path in Path("ab/tables").iterdir()} >= {"scores.csv", "changed.md"}

    wide = reading(page, "#conflict-detection/tagger/e2")
    one, other = (wide.locator(".side").nth(place).bounding_box() for place in (0, 1))
    assert one
    assert other
    assert one["y"] == other["y"]
    assert one["x"] < other["x"]
    # The documents of both sides have the same numbers: an address leads to those of A.
    wide.goto(f"{page.as_uri()}#conflict-detection/tagger/e2?source=1")
    source = wide.locator(".side summary.wanted")
    assert source.count() == 2
    assert source.first.evaluate("each => each === document.activeElement")
    wide.goto(f"{page.as_uri()}#conflict-detection")
    wide.get_by_role("link", name="conflict-detection.tagger: e2").click()
    assert wide.locator(".side-title").all_inner_texts() == ["A: a", "B: b"]

    narrow = reading(page, "#conflict-detection/tagger/e2", width=420)
    one, other = (narrow.locator(".side").nth(place).bounding_box() for place in (0, 1))
    assert one
    assert other
    assert one["y"] < other["y"]
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 420


@pytest.mark.parametrize("shown", [[], ["--json"]], ids=["tables", "json"])
def test_names_of_others_reach_no_terminal(shown: list[str], contested: Contested) -> None:
    """A folder that somebody sent may have anything for the name of its data or its runs."""
    odd = "made\x1b[2J\x9b\u202e.jsonl"
    for out in ("a", "b"):
        made(out, [True, False])
        path = Path(out, "run.json")
        about = json.loads(path.read_text())
        about["pipelines"]["conflict-detection.tagger"]["config"]["data"]["name"] = f"{out}{odd}"
        about["pipelines"][f"unknown\x1b[2J{out}"] = {"config": {}}
        path.write_text(json.dumps(about))
    done = contested.done("compare", "a", "b", *shown)
    assert raw_signs(done.out + done.err) == []
    if shown:
        assert json.loads(done.out)["differences"][0]["first"] == f"a{odd}", "the text is whole"
