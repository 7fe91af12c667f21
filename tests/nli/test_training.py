"""Fine-tuning: what is trained on in which order, and that a kill loses little."""

import json
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_encoders import cross_encoder, mpnet

from nli.encoder import new_cross_encoder
from nli.errors import TaggerError
from nli.labels import LABELS, Label
from nli.model import Encoder
from nli.pairs import LabelledPair, Pair
from nli.passes import TrainingSettings, batches
from nli.training import CurvePoint, Progress, curve, keep_point, train

NOUNS = ("lake", "river", "town", "mayor", "bridge", "school", "north", "south")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A two-layer encoder without a classifier."""
    from transformers import AutoModel

    folder = cross_encoder(tmp_path_factory.mktemp("tiny") / "encoder")
    AutoModel.from_pretrained(folder).save_pretrained(folder)
    return folder


def learnable(count: int, seed: int) -> list[LabelledPair]:
    """Pairs whose label is in the premise: what was opened, what was not, and what is not named."""
    rng = random.Random(seed)
    made = []
    for number in range(count):
        noun, other = rng.sample(NOUNS, 2)
        label = LABELS[number % 3]
        opened = {
            Label.SUPPORT: f"opened a {noun}",
            Label.REFUTE: f"opened no {noun}",
            Label.IRRELEVANT: f"opened a {other}",
        }[label]
        made.append(
            LabelledPair(premise=opened, hypothesis=f"a {noun}", label=label, source="towns")
        )
    return made


def settings(encoder: Path, **changed: object) -> TrainingSettings:
    quick = {"epochs": 1, "learning_rate": 5e-3, "batch_tokens": 128, "warmup_steps": 0}
    return TrainingSettings.model_validate({"base": encoder, **quick, "evaluations": 2, **changed})


def new(encoder: Path) -> Any:
    """The model that training of this encoder begins with."""
    return new_cross_encoder(encoder, max_tokens=320, seed=42)


def test_a_finished_training_is_not_repeated(encoder: Path, tmp_path: Path) -> None:
    chosen, out = settings(encoder), tmp_path / "tagger"
    pairs, dev = learnable(60, seed=1), learnable(6, seed=2)
    first = train(chosen, pairs, dev, out)
    weights = out / "model.safetensors"
    written = weights.stat().st_mtime_ns
    assert train(chosen, pairs, dev, out) == first == curve(out)
    assert weights.stat().st_mtime_ns == written
    # One that was finished before there was a setting had that setting's default.
    known = json.loads((out / "training.json").read_text())
    del known["checkpoints"]
    (out / "training.json").write_text(json.dumps(known))
    assert train(chosen, pairs, dev, out) == first
    with pytest.raises(TaggerError, match="another 'seed'"):
        train(chosen.model_copy(update={"seed": 1}), pairs, dev, out)


def test_an_mpnet_is_trained_and_tags_as_it_was_trained(tmp_path: Path) -> None:
    """It has no segments, pads with 1, counts positions from there, and joins texts by two ends."""
    import torch

    base, out = mpnet(tmp_path / "mpnet"), tmp_path / "tagger"
    pairs = [
        LabelledPair(premise=f"{town} is cold", hypothesis="it rains", label=label, source="towns")
        for town in ("north", "south", "river", "lake")
        for label in LABELS
    ]
    train(settings(base), pairs, pairs, out)
    config = json.loads((out / "config.json").read_text())
    assert config["architectures"] == ["MPNetForSequenceClassification"]
    tagger = Encoder.load(out, precision="fp32", device="cpu")
    assert tagger.special_tokens == 4
    assert tagger.max_tokens == config["max_position_embeddings"] - 2, "the last two are no one's"
    longest = Pair("the " * (tagger.max_tokens - 4 - 2), "it rains")
    together = tagger.logits([longest, Pair("north is cold", "it rains")])
    model = new(out)
    with torch.inference_mode():
        inputs = model.tokenizer("north is cold", "it rains", return_tensors="pt")
        alone = model.model.eval()(**inputs).logits[0]
    assert together[1] == pytest.approx(alone.tolist(), abs=1e-4)
    with pytest.raises(TaggerError, match="tokens where the model reads"):
        tagger.logits([Pair("the " * (tagger.max_tokens - 4 - 1), "it rains")])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"pairs": [p for p in learnable(9, 1) if p.label != Label.REFUTE]}, "label 'refute'"),
        ({"dev": []}, "development pairs are missing"),
        ({"encoder": Path("nowhere")}, "nowhere does not exist"),
    ],
)
def test_what_cannot_be_trained_on_is_refused(
    encoder: Path, tmp_path: Path, changed: dict[str, object], message: str
) -> None:
    given = {"pairs": learnable(9, 1), "dev": learnable(3, 2), "encoder": encoder} | changed
    with pytest.raises(TaggerError, match=message):
        train(settings(given["encoder"]), given["pairs"], given["dev"], tmp_path / "out")  # type: ignore[arg-type]


def test_a_folder_of_another_training_is_refused(encoder: Path, tmp_path: Path) -> None:
    pairs, dev = learnable(60, seed=1), learnable(6, seed=2)
    first, more = settings(encoder), settings(encoder, epochs=2)
    train(first, pairs, dev, tmp_path)
    for name, chosen, own, watched in (
        ("epochs", more, pairs, dev),
        ("pairs_sha256", first, pairs[::-1], dev),
        ("dev_sha256", first, pairs, dev[:3]),
    ):
        with pytest.raises(TaggerError, match=f"another '{name}'"):
            train(chosen, own, watched, tmp_path)


def test_a_folder_with_another_model_is_not_trained_in(encoder: Path, tmp_path: Path) -> None:
    pairs, dev = learnable(9, seed=1), learnable(3, seed=2)
    with pytest.raises(TaggerError, match="the encoder to start from"):
        train(settings(encoder), pairs, dev, encoder.parent / "." / encoder.name)
    (tmp_path / "model.safetensors").write_bytes(b"of another program")
    with pytest.raises(TaggerError, match="was not trained here"):
        train(settings(encoder), pairs, dev, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["model.safetensors"]


def test_a_killed_training_goes_on_and_ends_as_an_undisturbed_one(
    encoder: Path, tmp_path: Path
) -> None:
    """From the last checkpoint that is whole: one is damaged, one was not finished."""

    def kill(at: Progress) -> None:
        if at.pairs > 0.8 * at.total:
            raise KeyboardInterrupt

    chosen, out = settings(encoder, evaluations=4), tmp_path / "out"
    pairs, dev = learnable(120, seed=1), learnable(6, seed=2)
    with pytest.raises(KeyboardInterrupt):
        train(chosen, pairs, dev, out, on_progress=kill)
    older, newest = sorted(
        (out / "checkpoints").glob("checkpoint-*"),
        key=lambda folder: int(folder.name.partition("-")[2]),
    )
    (newest / "trainer_state.json").write_text('{"epoch": 0.')
    shutil.copytree(older, torn := older.with_name("checkpoint-9999"))
    (torn / "trainer_state.json").unlink()
    begun: list[int] = []
    points = train(chosen, pairs, dev, out, on_progress=lambda at: begun.append(at.pairs))
    assert 0 < len(begun) < 0.8 * points[-1].step, "it went on from the older checkpoint"
    undisturbed = train(chosen, pairs, dev, tmp_path / "whole")
    assert [point.step for point in points] == [point.step for point in undisturbed]
    assert points[-1].loss == pytest.approx(undisturbed[-1].loss, rel=0.02)


def test_a_torn_line_of_the_curve_costs_that_line_alone(tmp_path: Path) -> None:
    points = [CurvePoint(step=n, pairs=9 * n, loss=0.5, accuracy=0.8) for n in (1, 2, 3)]
    keep_point(tmp_path, points[0])
    line = points[1].model_dump_json().encode()
    with (tmp_path / "curve.jsonl").open("ab") as file:
        file.write(line[: len(line) // 2])
    assert curve(tmp_path) == points[:1]
    keep_point(tmp_path, points[2])
    assert curve(tmp_path) == [points[0], points[2]]


def test_a_tagger_is_gone_on_with_whatever_its_label_order(folders: tuple[Path, ...]) -> None:
    import torch

    texts = ["the lake is deep", "it rains here", "no river"], ["old bridge", "cold", "the town"]
    found = []
    for folder in folders:
        model = new(folder)
        assert [*model.model.config.id2label.values()] == [label.value for label in LABELS]
        with torch.inference_mode():
            inputs = model.tokenizer(*texts, padding=True, return_tensors="pt")
            found.append(model.model.eval()(**inputs).logits)
    assert torch.allclose(found[0], found[1], atol=1e-5)
    assert torch.allclose(found[0], found[2], atol=1e-5)
    assert found[0].std() > 0.1


def test_an_unfit_encoder_is_refused(folders: tuple[Path, ...], tmp_path: Path) -> None:
    def spoilt(name: str) -> Path:
        return shutil.copytree(folders[0], tmp_path / name)

    mute = spoilt("mute")
    (mute / "tokenizer.json").unlink()
    with pytest.raises(TaggerError, match="no tokenizer"):
        train(settings(mute), learnable(9, 1), learnable(3, 2), tmp_path / "out")
    assert not (tmp_path / "out").exists(), "nothing is begun"
    torn = spoilt("torn")
    weights = torn / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(TaggerError, match=r"torn cannot be used as an encoder: [^\n]+$"):
        new(torn)


def test_a_part_of_a_source_is_drawn_anew_in_every_pass() -> None:
    sources = ["large"] * 100 + ["small"] * 4
    chosen = settings(Path(), epochs=2, repeats={"large": 0.25, "small": 1.5})
    counts = Counter(index for batch in batches(chosen, sources, [9] * 104) for index in batch)
    large = [counts[n] for n in range(100)]
    assert sum(large) == 50
    assert 25 < sum(count > 0 for count in large) < 50
    assert sum(counts.values()) - 50 == 2 * 6
    assert min(counts[n] for n in range(100, 104)) >= 2


@given(
    lengths=st.lists(st.integers(3, 60), min_size=1, max_size=60),
    epochs=st.sampled_from([0.5, 1.0, 1.5, 3.0]),
    seed=st.integers(0, 5),
)
def test_every_pair_comes_as_often_as_it_should_and_batches_fit(
    lengths: list[int], epochs: float, seed: int
) -> None:
    sources = ["often" if n % 4 == 0 else "once" for n in range(len(lengths))]
    chosen = settings(Path(), epochs=epochs, repeats={"often": 3}, seed=seed)
    planned = batches(chosen, sources, lengths)
    counts = Counter(index for batch in planned for index in batch)
    once = sum({"often": 3, "once": 1}[source] for source in sources)
    assert sum(counts.values()) == round(once * epochs)
    if epochs == int(epochs):
        assert all(
            counts[n] == epochs * {"often": 3, "once": 1}[source]
            for n, source in enumerate(sources)
        )
    for batch in planned:
        assert len(batch) == 1 or len(batch) * max(lengths[n] for n in batch) <= 128
    assert batches(chosen, sources, lengths) == planned
