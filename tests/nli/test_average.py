"""Averages of weights before and after a training."""

from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file
from tiny_encoders import cross_encoder

from nli.average import average
from nli.errors import TaggerError
from nli.tagger import Tagger
from nli.training import WEIGHTS


def test_an_average_lies_between_and_is_a_tagger(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    for folder, seed in ((before, 1), (after, 2)):
        cross_encoder(folder, seed=seed)
    average(before, after, 0.75, tmp_path / "out")
    old, new, mixed = (load_file(folder / WEIGHTS) for folder in (before, after, tmp_path / "out"))
    name = next(iter(new))
    by_hand = 0.25 * old[name].float() + 0.75 * new[name].float()
    assert (mixed[name].float() - by_hand).abs().max() < 1e-3
    assert Tagger.load(tmp_path / "out").digest != Tagger.load(after).digest


def test_what_cannot_be_averaged_is_refused(tmp_path: Path) -> None:
    before, after, out = tmp_path / "before", tmp_path / "after", tmp_path / "out"
    for folder in (before, after):
        cross_encoder(folder)
    with pytest.raises(TaggerError, match="from 0 to 1"):
        average(before, after, 2, out)
    out.mkdir()
    with pytest.raises(TaggerError, match="exists"):
        average(before, after, 0.5, out)
    weights = load_file(after / WEIGHTS)
    weights.pop(next(iter(weights)))
    save_file(weights, after / WEIGHTS, metadata={"format": "pt"})
    with pytest.raises(TaggerError, match="differ in shape"):
        average(before, after, 0.5, tmp_path / "another")
