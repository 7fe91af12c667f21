"""Everyday records of our own as training pairs."""

import random
from pathlib import Path

import pytest
from direction.measure import HALVES, records
from releases import lines

from nli.labels import Label
from pipelines.errors import InputError
from pipelines.supervision import everyday
from pipelines.supervision.everyday import EverydayRecord, from_everyday

SHIPPED = Path(everyday.__file__).with_suffix(".jsonl")


def test_every_claim_is_paired_with_every_document(tmp_path: Path) -> None:
    record = {
        "documents": ["The pool opens at seven.", "Swimmers wait until nine.", "It is heated."],
        "claims": {"One can swim at eight.": "SRI", "The pool is cold.": "IIR"},
    }
    path = lines(tmp_path / "everyday.jsonl", record)
    pairs = from_everyday(path, "train", random.Random()).pairs
    support, refute, irrelevant = Label.SUPPORT, Label.REFUTE, Label.IRRELEVANT
    assert [pair.label for pair in pairs] == [
        *(support, refute, irrelevant),
        *(irrelevant, irrelevant, refute),
    ]
    assert pairs[1].premise == "Swimmers wait until nine."
    assert pairs[1].hypothesis == "One can swim at eight."


def test_every_eighth_record_is_held_out(tmp_path: Path) -> None:
    rows = [{"documents": [f"Text {n}."], "claims": {"It holds.": "S"}} for n in range(1, 18)]
    path = lines(tmp_path / "everyday.jsonl", *rows)
    train, dev, both, test = (
        [pair.premise for pair in from_everyday(path, part, random.Random()).pairs]
        for part in ("train", "dev", "all", "test")
    )
    assert dev == ["Text 8.", "Text 16."]
    assert sorted([*train, *dev]) == sorted(both)
    assert len(both) == 17
    assert not test


@pytest.mark.parametrize("letters", ["S", "SRX", "SRII"])
def test_letters_are_one_for_each_document(letters: str, tmp_path: Path) -> None:
    record = {"documents": ["A.", "B.", "C."], "claims": {"It opened.": letters}}
    with pytest.raises(InputError, match=rf"jsonl:1: .*'It opened\.' has the letters {letters};"):
        from_everyday(lines(tmp_path / "everyday.jsonl", record), "all", random.Random())


def test_no_text_that_measures_is_trained_on() -> None:
    rows = SHIPPED.read_text("utf-8").splitlines()
    trained = [EverydayRecord.model_validate_json(row) for row in rows]
    texts = {text for record in trained for text in (*record.documents, *record.claims)}
    measured = {
        text
        for half in HALVES
        for record in records(half)
        for text in (
            *(document.text for document in record.documents),
            *(record.responses or {}).values(),
            *record.metadata["ask"],
        )
    }
    assert len(texts) > 1_000
    assert not texts & measured
