"""Samples of whole claims, by which the scores of a run are corrected."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from annotations import C, I, S, X, subject, write_run
from commands import Contested, table

from pipelines.annotation.agreement import ratings
from pipelines.annotation.sample import Labels, draw, opened
from pipelines.annotation.subject import Subject
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.scores import conflict_score_count, conflict_score_ratio
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.judge.judgement import Judgement, Relation

JUDGED = {
    "one": [[S, C], [S, S]],
    "two": [[I, C]],
    "three": [[S, I], [I, I], [C, C], [C, S]],
}
"""Response -> a row for each claim, with a relation for each document."""

CLAIMS = [(name, row) for name, rows in JUDGED.items() for row in range(len(rows))]


def write_responses(judged: Mapping[str, Sequence[Sequence[Relation]]], folder: Path) -> Subject:
    """A run of conflictscore in which the judge said this."""
    write_run([], folder=folder, entry="conflictscore")
    lines = []
    for name, rows in judged.items():
        ids = [f"d{place}" for place in range(len(rows[0]))]
        made = Result(
            id=name,
            group=name,
            response="An answer.",
            documents=tuple(Document(id=each, text=f"Text of {each}.") for each in ids),
            status="scored",
            claims=tuple(f"Claim {row}." for row in range(len(rows))),
            judgements=tuple(
                Judgement(claim=f"Claim {row}.", document=each, relation=relation, source="judge")
                for row, own in enumerate(rows)
                for each, relation in zip(ids, own, strict=True)
            ),
            cs_c=conflict_score_count(rows),
            cs_r=conflict_score_ratio(rows),
        )
        lines.append(made.model_dump_json() + "\n")
    (folder / "conflictscore.jsonl").write_text("".join(lines))
    return subject(folder)


def say(own: Subject, says: Mapping[tuple[str, int], Sequence[Relation]], who: str) -> None:
    """Label all documents of these claims."""
    drawn = opened(own, None, None, None).items
    labels = Labels(own, drawn, who)
    for item in drawn:
        response, claim, document = json.loads(item)
        if (response, claim - 1) in says:
            labels.give(item, says[response, claim - 1][int(document[1:])].value)


def test_claims_are_drawn_with_all_their_documents(tmp_path: Path) -> None:
    own = write_responses(JUDGED, tmp_path / "out")
    made = draw(own, 5, "label", 0, whole=True)
    assert {name: (each.drawn, each.items) for name, each in made.strata.items()} == {
        "contradicted": (2, 2),
        "in conflict": (1, 2),
        "supported": (1, 2),
        "without evidence": (1, 1),
    }
    parts = [json.loads(item) for item in made.items]
    assert [document for _, _, document in parts] == ["d0", "d1"] * 5
    assert [each[:2] for each in parts[::2]] == [each[:2] for each in parts[1::2]]


def test_unread_documents_leave_a_claim_without_a_verdict(tmp_path: Path) -> None:
    own = write_responses({"one": [[S, X], [C, S], [I, X]]}, tmp_path / "out")
    assert [each.label for each in own.units(whole=True).values()] == [
        None, "in conflict", "without evidence",
    ]  # fmt: skip


def test_scores_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, contested: Contested
) -> None:
    """The person sees no conflict in the last claim, where the judge does, and agrees besides.

    CS-C by the judge: (1/2 + 0 + 1/4) / 3 = 1/4; by the person: (1/2 + 0 + 0) / 3 = 1/6.
    CS-R by the judge: (1/4 + 1 + (1 + 1/2) / 4) / 3 = 13/24; by the person, for whom the last
    claim is contradicted by one document and nothing supports it, (1/4 + 1 + 1/2) / 3 = 7/12.
    Two of seven claims are in conflict by the judge, one by the person.
    """
    monkeypatch.chdir(tmp_path)
    own = write_responses(JUDGED, tmp_path / "out")
    opened(own, None, None, None, whole=True)
    says = {(name, row): JUDGED[name][row] for name, row in CLAIMS}
    say(own, says | {("three", 3): [C, I]}, "anna")
    contested.done("annotate", "out", "--results")
    rows = {row["score"]: row for row in table(Path("out"), "annotation_scores")}
    found = {name: (row["judge"], row["corrected"]) for name, row in rows.items()}
    assert found["CS-C"] == pytest.approx((1 / 4, 1 / 6))
    assert found["CS-R"] == pytest.approx((13 / 24, 7 / 12))
    assert found["Conflicting claims"] == pytest.approx((2 / 7, 1 / 7))
    assert (rows["CS-C"]["corrected_low"], rows["CS-C"]["claims"]) == (pytest.approx(1 / 6), 7)
    page = Path("out/report.html").read_text("utf-8")
    assert "Scores, corrected by people" in page


def test_who_says_what_the_judge_says_finds_the_scores_of_the_run(tmp_path: Path) -> None:
    own = write_responses(JUDGED, tmp_path / "out")
    opened(own, None, None, None, whole=True)
    say(own, {(name, row): JUDGED[name][row] for name, row in CLAIMS}, "anna")
    (rated,) = ratings([own])
    count, ratio, _ = rated.scores
    for score, of_response in ((count, conflict_score_count), (ratio, conflict_score_ratio)):
        each = [of_response(rows) for rows in JUDGED.values()]
        mean = sum(value or 0 for value in each) / len(each)
        found = rated.score(score)
        assert found.judge is not None
        assert found.corrected is not None
        assert found.judge.value == pytest.approx(mean)
        assert found.corrected.value == pytest.approx(mean)


def test_a_claim_counts_once_all_its_documents_are_labelled(tmp_path: Path) -> None:
    own = write_responses(JUDGED, tmp_path / "out")
    drawn = opened(own, None, "none", None, whole=True)
    anna = Labels(own, drawn.items, "anna")
    anna.give(drawn.items[0], "SUPPORTS")
    (rated,) = ratings([own])
    count, *_ = rated.scores
    assert (rated.units, rated.score(count).corrected, rated.accuracy) == ((0, 7), None, None)
    anna.give(drawn.items[1], "CONTRADICTS")
    (rated,) = ratings([own])
    found = rated.score(count).corrected
    assert found is not None
    assert (rated.units, found.n) == ((1, 7), 1)
    assert found.low is not None
    assert found.low < found.value


def test_samples_of_pairs_and_of_claims_are_not_mixed(tmp_path: Path) -> None:
    own = write_responses(JUDGED, tmp_path / "out")
    opened(own, 5, None, None)
    with pytest.raises(InputError, match="has another sample \\(--sample 5 --by label --seed 0\\)"):
        opened(own, None, None, None, whole=True)
    (own.path / "sample.json").unlink()
    made = opened(own, 5, None, None, whole=True)
    assert opened(own, None, None, None) == made
    with pytest.raises(InputError, match="--seed 0 --whole-claims"):
        opened(own, 6, None, None)
