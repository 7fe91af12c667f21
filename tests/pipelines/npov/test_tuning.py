"""Soft prompt tuning on tiny decoders: what is learned, from what, and how it goes on."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_loaded import loaded, tokenizer

from pipelines.errors import InputError
from pipelines.npov import classifier, tuning
from pipelines.npov import tuning as tuner
from pipelines.npov.classifier import Pair, scored, tokenised, with_prompt
from pipelines.npov.soft_prompt import SoftPrompt, TunedOn, TuningSettings

TRAIN: list[Pair] = [
    (f"User question: {{Should the {what} stay?}}.\nNeutral response: {{", answer)
    for what, answer in [("dam", "YES}"), ("water", "YES}"), ("salmon", "YES}"), ("dam pro", "NO}")]
]
DEV: list[Pair] = [("User question: {Should salmon pass?}.\nNeutral response: {", "YES}")]
SETTINGS = TuningSettings(
    steps=40, warmup=4, batch=2, evaluate_every=10, patience=4, learning_rate=0.3
)
MODEL = "ab" * 32
LONG = ("Salmon cannot pass. " * 99, "YES}")


def tuned(out: Path, **changed: Any) -> SoftPrompt:
    known: dict[str, Any] = {"decoder": loaded(), "train": TRAIN, "dev": DEV}
    known |= {"settings": SETTINGS, "task": "coverage", "model": MODEL}
    known |= {"tuned_on": TunedOn(learned=(), watched=())}
    return tuning.tune(out=out, **known | changed)


def least_loss(prompt: SoftPrompt) -> float:
    return min(loss for _, loss in prompt.curve)


def test_the_dev_loss_falls_and_the_best_prompt_is_kept(tmp_path: Path) -> None:
    out, steps = tmp_path / "prompt.safetensors", []
    weights = {name: each.clone() for name, each in loaded().model.state_dict().items()}
    found = tuned(
        out,
        on_progress=lambda step, most, loss: steps.append((step, most, loss)),
    )
    assert [step for step, _, _ in steps] == list(range(1, 41))
    assert [step for step, _ in found.curve] == [0, 10, 20, 30, 40]
    assert least_loss(found) < 0.7 * found.curve[0][1]
    read = SoftPrompt.load(out)
    assert np.array_equal(read.vectors, found.vectors)
    assert (read.curve, read.model, read.settings) == (found.curve, MODEL, SETTINGS)
    assert not tuning.state_path(out).exists()
    # What was learned is all in the file, and nothing of the model was changed.
    assert all(each.equal(weights[name]) for name, each in loaded().model.state_dict().items())
    items = tokenised(loaded(), DEV, reserved=5)
    own = scored(with_prompt(loaded(), read.vectors), items, reserved=5)
    assert -np.concatenate(own).mean() == pytest.approx(least_loss(found), rel=1e-5)


class Killed(BaseException):
    pass


@pytest.mark.parametrize("last", [10, 27])
def test_a_tuning_that_was_killed_goes_on_as_if_it_had_not_been(tmp_path: Path, last: int) -> None:
    out, steps = tmp_path / "prompt.safetensors", []

    def kill(step: int, *_: object) -> None:
        if step == last:
            raise Killed

    with pytest.raises(Killed):
        tuned(out, on_progress=kill)
    SoftPrompt.load(out)  # the best so far can be used
    with pytest.raises(InputError, match=r"unfinished is from another tuning .*--out"):
        tuned(out, train=TRAIN[1:])
    found = tuned(out, on_progress=lambda step, *_: steps.append(step))
    assert steps[0] == (last - 1) // 10 * 10 + 1
    whole = tuned(tmp_path / "whole.safetensors")
    assert found.curve == whole.curve
    assert out.read_bytes() == (tmp_path / "whole.safetensors").read_bytes()
    with pytest.raises(InputError, match="already exists"):
        tuned(out)


def test_a_damaged_state_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "prompt.safetensors"
    tuning.state_path(out).write_bytes(b"nothing")
    with pytest.raises(InputError, match="unfinished is damaged or not a safetensors file"):
        tuned(out)


def test_it_ends_when_the_dev_loss_no_longer_falls(tmp_path: Path) -> None:
    # What is learned is the opposite of what it is watched by.
    opposite = [(given, "NO}") for given, _ in DEV * 4]
    changed = {"steps": 400, "batch": 4, "evaluate_every": 5, "patience": 2}
    settings = SETTINGS.model_copy(update=changed)
    found = tuned(tmp_path / "p.safetensors", train=opposite, settings=settings)
    last = found.curve[-1][0]
    assert last < 400
    assert found.step == last - 2 * 5
    assert dict(found.curve)[found.step] == least_loss(found)


@pytest.mark.parametrize("architecture", ["llama", "gemma3"])
def test_the_loss_is_of_target_tokens_after_the_vectors_and_padding_is_not_seen(
    architecture: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    decoder = loaded(architecture)
    vectors = tuner.initial_vectors(decoder, SETTINGS)
    pairs = [*TRAIN, (TRAIN[0][0] * 3, "YES}")]
    items = tokenised(decoder, pairs, reserved=5)
    prompted = with_prompt(decoder, vectors)
    found = scored(prompted, items, reserved=5)
    monkeypatch.setattr(classifier, "BATCH_TOKENS", 1)
    one_by_one = scored(prompted, items, reserved=5)
    bare = scored(decoder.model, items)
    embed = decoder.model.get_input_embeddings()
    for (text, target), together, alone, without in zip(
        pairs, found, one_by_one, bare, strict=True
    ):
        encoded = decoder.encode(text, target)
        ids = torch.tensor([encoded.ids])
        with torch.no_grad():
            whole = torch.cat([torch.from_numpy(vectors)[None], embed(ids)], dim=1)
            every = decoder.model(inputs_embeds=whole).logits[0].log_softmax(dim=-1)
        by_hand = [
            float(every[5 + n - 1, encoded.ids[n]])
            for n in range(encoded.prompt_tokens, len(encoded.ids))
        ]
        assert together == pytest.approx(by_hand, abs=1e-4)
        assert alone == pytest.approx(by_hand, abs=1e-4)
        assert without != pytest.approx(by_hand, abs=1e-2)


def test_parts_of_a_batch_add_up_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = SETTINGS.model_copy(update={"steps": 3, "warmup": 1, "evaluate_every": 3})
    whole = tuned(tmp_path / "whole", settings=settings)
    monkeypatch.setattr(classifier, "BATCH_TOKENS", 1)
    in_parts = tuned(tmp_path / "parts", settings=settings)
    assert in_parts.vectors == pytest.approx(whole.vectors, abs=1e-3)


def test_the_rate_rises_to_its_peak_and_falls_to_the_last_step() -> None:
    settings = TuningSettings(steps=10, warmup=4, learning_rate=0.6)
    rates = [tuning.rate(settings, step) for step in range(1, 11)]
    assert rates == pytest.approx([0.15, 0.3, 0.45, 0.6, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
    paper = TuningSettings()
    assert tuning.rate(paper, 500) == tuning.rate(paper, 501) == 0.1
    assert tuning.rate(TuningSettings(warmup=0), 1) == 0.1


@given(st.integers(1, 40), st.integers(1, 20), st.integers(0, 5))
def test_every_example_comes_once_in_a_pass(count: int, batch: int, seed: int) -> None:
    settings = TuningSettings(batch=batch, seed=seed)
    drawn = [place for step in range(1, 31) for place in tuning.batch_places(settings, count, step)]
    assert len(drawn) == 30 * batch
    for start in range(0, len(drawn) - count + 1, count):
        assert sorted(drawn[start : start + count]) == list(range(count))
    unfinished = drawn[len(drawn) // count * count :]
    assert len(set(unfinished)) == len(unfinished)


def test_first_vectors_are_embeddings_of_frequent_tokens() -> None:
    decoder = loaded("gemma3")
    usable = tuner.frequent_tokens(tokenizer(), 400)
    texts = tokenizer().convert_ids_to_tokens(usable)
    assert usable == sorted(usable)
    assert all(len(text) > 1 for text in texts)
    assert "<end>" not in texts
    vectors = tuner.initial_vectors(decoder, SETTINGS)
    assert vectors.shape == (5, 32)
    scale = decoder.model.config.hidden_size**0.5  # Gemma scales what it looks up
    table = decoder.model.get_input_embeddings().weight.numpy()[usable] * scale
    for vector in vectors:
        assert np.abs(table - vector).max(axis=1).min() < 1e-4
    assert tuner.initial_vectors(decoder, TuningSettings(tokens=900)).shape == (900, 32)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"train": []}, "there are no training examples"),
        ({"dev": []}, "there are no dev examples"),
        ({"train": [*TRAIN, LONG]}, r"example 5 \(“Salmon cannot .*…”\): .*reads"),
        ({"dev": [("water", "")]}, r"example 1 \(“water”\): the response has no tokens"),
        ({"settings": SETTINGS.model_copy(update={"learning_rate": 1e38})}, "not a finite number"),
    ],
)
def test_what_cannot_be_learned_is_one_line(
    tmp_path: Path, changed: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError, match=problem) as refused:
        tuned(tmp_path / "prompt.safetensors", **changed)
    assert "\n" not in str(refused.value)


def test_room_for_the_prompt_is_counted() -> None:
    decoder, given, target = loaded(), "dam", "YES}"
    while len(decoder.encode(given, target).ids) < 398:
        given += " dam"
    assert len(tokenised(decoder, [(given, target)], reserved=2)) == 1
    says = "398 tokens and 5 of the soft prompt, but tiny reads at most 400"
    with pytest.raises(InputError, match=says):
        tokenised(decoder, [(given, target)], reserved=5)
