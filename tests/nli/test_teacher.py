"""What a teacher says is computed once, whatever kills the computation."""

from pathlib import Path

import pytest

from nli import teacher as teaching
from nli.errors import TaggerError
from nli.model import Encoder
from nli.pairs import Pair
from nli.tagger import Tagger
from nli.teacher import teachings

PAIRS = [Pair(f"the river is {word}", "it is cold") for word in ("deep", "old", "new", "red")]


def test_a_killed_computation_goes_on_and_nothing_is_computed_twice(
    folders: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teaching, "AT_ONCE", 1)
    tagger, file = Tagger(Encoder.load(folders[0], precision="fp32")), tmp_path / "new" / "t.jsonl"
    done: list[int] = []

    def kill(more: int) -> None:
        done.append(more)
        if sum(done) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        teachings(tagger, PAIRS, file, kill)
    assert len(file.read_text().splitlines()) == 2
    file.write_bytes(file.read_bytes()[:-9])  # the second line is torn

    told: list[int] = []
    found = teachings(tagger, [*PAIRS, PAIRS[0]], file, told.append)
    assert told[0] == 2, "one pair was known, and one comes twice"
    assert sum(told) == 5
    assert found[0] == found[4]
    for pair, shares in zip(PAIRS, found, strict=False):
        assert shares == pytest.approx(tagger.tag([pair])[0].probabilities, abs=1e-6)

    monkeypatch.setattr(Encoder, "logits", None)
    assert teachings(tagger, PAIRS[::-1], file) == found[3::-1]


def test_another_teacher_is_asked_anew(folders: tuple[Path, ...], tmp_path: Path) -> None:
    one, other = (Tagger(Encoder.load(folder, precision="fp32")) for folder in folders[:2])
    first = teachings(one, PAIRS, tmp_path / "t.jsonl")
    assert teachings(other, PAIRS, tmp_path / "t.jsonl") is not first
    assert len((tmp_path / "t.jsonl").read_text().splitlines()) == 2 * len(PAIRS)
    assert teachings(one, PAIRS, tmp_path / "t.jsonl") == first


def test_a_file_that_cannot_be_written_is_named(folders: tuple[Path, ...], tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    tagger = Tagger(Encoder.load(folders[0], precision="fp32"))
    with pytest.raises(TaggerError, match="taken cannot be used"):
        teachings(tagger, PAIRS, tmp_path / "taken")
