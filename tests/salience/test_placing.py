"""Decoders on several devices: how layers are dealt out, and maps that are those of one device."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch
from cards import CARDS, computing, split
from tiny_decoders import ARCHITECTURES, decoder, token_ids
from tiny_loaded import loaded, saved

from pipelines.npov.classifier import scored, tokenised, with_prompt
from pipelines.npov.soft_prompt import TuningSettings
from pipelines.npov.tuning import Tuner
from salience import placing
from salience.decoder import Decoder
from salience.errors import SalienceError
from salience.gradients import token_salience
from salience.limits import Limits
from salience.placing import blocks_of, dealt
from salience.variants import Target

TOKENS, PROMPT = 16, 9
ONE, TWO = CARDS
Free = Callable[[torch.device], int]


def on_cards(model: Any) -> Any:
    """Split so that the head, tied or not, and the last layers are on different cards."""
    places = dealt(list(blocks_of(model)), {ONE: 1, TWO: 1}, placing._tied(model))
    assert set(places.values()) == {ONE, TWO}
    return split(model, places)


def test_layers_are_dealt_out_by_free_memory() -> None:
    blocks = [("embed", 200), *[(f"layers.{n}", 100) for n in range(8)], ("norm", 0), ("head", 0)]
    found = dealt(blocks, {ONE: 300, TWO: 700}, {"head": "embed"})
    # 300 of 1,000 bytes fall to the first: the embeddings and one layer.
    assert [name for name, place in found.items() if place == ONE] == ["embed", "layers.0", "head"]
    found = dealt(blocks, {ONE: 700, TWO: 300}, {})
    assert [name for name, place in found.items() if place == TWO] == [
        "layers.5", "layers.6", "layers.7", "norm", "head",
    ]  # fmt: skip


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("target", get_args(Target))
@pytest.mark.parametrize("together", [True, False])
def test_a_split_model_gives_the_same_map(
    architecture: str, target: Target, together: bool
) -> None:
    whole, ids = decoder(architecture), token_ids(TOKENS)
    wanted = token_salience(whole, ids, PROMPT, target=target)
    with computing():
        model, limits = on_cards(whole), Limits(together=together)
        ids = ids.to(model.device)
        found = token_salience(model, ids, PROMPT, target=target, limits=limits)
    assert limits.together is together, "a wrong device would show as a part that cannot be batched"
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("architecture", ["llama", "gemma3"])
def test_soft_prompts_are_tuned_on_a_split_model(architecture: str) -> None:
    whole = loaded(architecture)
    pairs = [("The dam holds water", " and salmon"), ("Salmon", " cannot pass.")]
    items = tokenised(whole, pairs, reserved=3)
    drawn = np.random.default_rng(0).normal(size=(3, whole.width)).astype(np.float32)
    settings = TuningSettings(tokens=3)

    def tuned(decoder: Decoder) -> list[float]:
        """Losses of three steps, with the optimiser restored before the last."""
        tuner = Tuner(decoder, settings)
        losses = [tuner.update(items, 0.1) for _ in range(2)]
        tuner.restore(tuner.vectors(), tuner.momentum())
        return [*losses, tuner.update(items, 0.1)]

    wanted, losses = scored(with_prompt(whole, drawn), items, reserved=3), tuned(whole)
    with computing():
        model = replace(whole, model=on_cards(whole.model))
        found = scored(with_prompt(model, drawn), items, reserved=3)
        assert tuned(model) == pytest.approx(losses, rel=1e-4)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, torch.device]]:
    """Where transformers is told to put weights; they are put on the CPU, as no card is here."""
    from transformers import AutoModelForCausalLM

    maps: list[dict[str, torch.device]] = []
    real = AutoModelForCausalLM.from_pretrained

    def recorded(*arguments: Any, device_map: dict[str, torch.device], **options: Any) -> Any:
        maps.append(device_map)
        return real(*arguments, device_map={"": "cpu"}, **options)

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", recorded)
    return maps


def test_weights_go_straight_to_their_devices(
    tmp_path: Path, given: list[dict[str, torch.device]]
) -> None:
    names = ("cpu:0", "cpu:1")
    decoder = Decoder.load(saved(tmp_path), precision="fp32", device=names)
    assert decoder.device == "cpu:0, cpu:1"
    places = {name: str(place) for name, place in given[0].items()}
    assert places["model.embed_tokens"] == places["lm_head"] == "cpu:0"
    assert places["model.layers.2"] == "cpu:1"
    # A single device has all of it.
    Decoder.load(tmp_path, precision="fp32", device="cpu")
    Decoder.load(tmp_path, precision="fp32", device=["cpu:0"])
    assert given[1:] == [{"": torch.device("cpu")}, {"": torch.device("cpu:0")}]


def free(amounts: dict[str, int]) -> Free:
    return lambda device: amounts[str(device)]


def test_weights_that_do_not_fit_are_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: list[dict[str, torch.device]]
) -> None:
    cards = ("cpu:0", "cpu:1")
    folder = saved(tmp_path / "tiny")
    needed = sum(4 * each.numel() for each in loaded().model.parameters())
    # Nine tenths of what is free are for weights.
    least = -(-needed * 10 // 18)
    amounts = {"cpu:0": least, "cpu:1": least}
    monkeypatch.setattr(placing, "free_memory", free(amounts))
    Decoder.load(folder, precision="fp32", device=cards)
    amounts["cpu:1"] -= 20
    monkeypatch.setattr(placing, "GIB", 2**10)
    with pytest.raises(
        SalienceError,
        match=r"^the weights of tiny need 1\d\d\.\d GiB of free memory, .* there are [\d.]+ GiB on "
        r"cpu:0, [\d.]+ GiB on cpu:1; name more devices",
    ) as refused:
        Decoder.load(folder, precision="fp32", device=cards)
    assert "\n" not in str(refused.value)
    assert len(given) == 1, "it is refused before weights are read"
    Decoder.load(folder, precision="bf16", device=cards)  # half of the bytes
