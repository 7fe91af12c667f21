"""The judges with a real cross-encoder, a tiny one of random weights."""

from pathlib import Path

import pytest
from commands import Contested, entries, loading, write
from tiny_encoders import cross_encoder

from pipelines.conflictscore.result import Result
from pipelines.judge.judgement import Relation
from pipelines.judge.tagger import tagger_folder


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cross_encoder(tmp_path_factory.mktemp("taggers") / "tiny")


def test_a_stored_run_loads_no_model(tiny: Path, tmp_path: Path) -> None:
    record = {
        "id": "bridge",
        "response": "The bridge was opened in 1932 by some mayor. It is not old.",
        "documents": [
            {"id": "a", "text": "The bridge was opened in 1932. It is red."},
            {"id": "b", "text": "It was opened in 1936 by a new mayor."},
        ],
    }
    data = tmp_path / "data.jsonl"
    write(data, record)
    run = ["run", "conflictscore", "--data", data, "--judge", "tagger", "--claims", "sentences"]
    run += ["--tagger", tiny]
    shown, _, loaded = loading(*run, "--dry-run")
    assert "pairs to tag: at most 4" in shown
    assert loaded == set()
    _, said, loaded = loading(*run, "--out", tmp_path / "one")
    assert "4 pairs tagged on cpu by tiny" in said
    assert "torch" in loaded
    _, said, loaded = loading(*run, "--out", tmp_path / "two")
    assert "0 pairs tagged by tiny; 4 of 4 judgements from the store" in said
    assert loaded == set()
    one, two = ((tmp_path / name / "conflictscore.jsonl").read_text() for name in ("one", "two"))
    assert one == two
    judgements = Result.model_validate_json(one).judgements
    texts = {document["id"]: document["text"] for document in record["documents"]}  # type: ignore[index]
    for judgement in judgements:
        assert judgement.probabilities is not None
        assert sum(judgement.probabilities.values()) == pytest.approx(1, abs=1e-6)
        best = max(judgement.probabilities, key=judgement.probabilities.__getitem__)
        assert judgement.relation is best
        if best is Relation.IRRELEVANT:
            assert judgement.snippet is None, "no place makes a text irrelevant"
        else:
            assert judgement.snippet
            assert judgement.snippet in texts[judgement.document]
    config = entries(tmp_path / "one")["conflictscore"]["config"]
    assert config["tagger"]["digest"] == tagger_folder(tiny).digest


def test_a_registered_tagger_has_a_name(contested: Contested, tiny: Path, tmp_path: Path) -> None:
    contested.done("models", "add", tiny, "--name", "my-tagger")
    (tmp_path / "answer.txt").write_text("The bridge was opened in 1932.")
    (tmp_path / "a.txt").write_text("It is red. The bridge was opened in 1936.")
    score = ["score", "--response", tmp_path / "answer.txt"]
    done = contested.done(*score, "--documents", tmp_path / "a.txt", "--tagger", "my-tagger")
    assert "1 pairs tagged on cpu by my-tagger" in done.err
