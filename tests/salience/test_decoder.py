"""A real small model: loaded safely, texts in tokens, and maps that agree."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file, save_file
from tiny_decoders import decoder as tiny_decoder
from tiny_loaded import loaded

from salience.decoder import Decoder
from salience.errors import SalienceError
from salience.gradients import token_salience
from salience.heatmap import png, strength
from salience.maps import word_map, words_of
from serving.models import Model

PROMPT = "The dam at Aldham was built in 1902 by Ada Ng."
RESPONSE = " Ada Ng built it."


def with_tokenizer(folder: Path, like: Model) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(like.path / name, folder / name)


@pytest.fixture(scope="module")
def decoder(smollm2: Model) -> Decoder:
    return Decoder.load(smollm2.path, precision="fp32", device="cpu")


def test_no_token_has_a_part_of_prompt_and_response(decoder: Decoder) -> None:
    encoded = decoder.encode(PROMPT, RESPONSE)
    start = len(PROMPT)
    for n, (first, last) in enumerate(encoded.offsets):
        assert (first >= start) if n >= encoded.prompt_tokens else (last <= start)
    text = "".join(encoded.text[first:last] for first, last in encoded.offsets)
    assert text == PROMPT + RESPONSE
    # A word cut in two stays so, whatever tokens the whole would have.
    assert decoder.encode("unbe", "lievable").offsets[-1][1] == len("unbelievable")


def test_vectors_before_the_prompt_change_the_map_and_have_no_row() -> None:
    tiny = loaded()
    prompt, response = "User question: {Should the dam stay?}", " Supporters say that it holds."
    encoded = tiny.encode(prompt, response, reserved=3)
    prefix = np.random.default_rng(0).normal(size=(3, tiny.width)).astype(np.float32)
    whole = token_salience(tiny.model, tiny._ids(encoded), encoded.prompt_tokens, prefix=prefix)
    found = tiny.salience(encoded, prefix=prefix)
    assert found == pytest.approx(whole[3:])
    assert found.shape == tiny.salience(encoded).shape
    assert not np.allclose(found, tiny.salience(encoded))
    tokens = len(encoded.ids)
    assert tiny.encode(prompt, response, reserved=400 - tokens) == encoded
    soft = 401 - tokens
    too_many = f"have {tokens} tokens and the soft prompt {soft}, but tiny reads at most 400"
    with pytest.raises(SalienceError, match=too_many):
        tiny.encode(prompt, response, reserved=soft)


def test_marks_belong_to_their_words(decoder: Decoder) -> None:
    """Vowels of Hindi, and an accent that is a character of its own."""
    text = "हिन्दी भाषा nai\u0308ve"
    encoded = decoder.encode(PROMPT, text)
    (words,) = words_of(encoded, [(len(PROMPT), len(encoded.text))])
    assert [word.text for word in words] == text.split()


@pytest.mark.parametrize("response", ["水坝建于一九零二年。", "🙂 🙃", "naïve café ﬁn", "a\u0301b"])
def test_other_scripts_have_their_tokens(decoder: Decoder, response: str) -> None:
    encoded = decoder.encode(PROMPT, response)
    spans = [(len(PROMPT), len(encoded.text))]
    (words,) = words_of(encoded, spans)
    assert all(encoded.text[word.start : word.end] == word.text for word in words)
    assert all(token >= encoded.prompt_tokens for word in words for token in word.tokens)
    found = word_map(encoded, decoder.salience(encoded), words_of(encoded, [(0, 9)]), [words])
    assert np.isfinite(found.values).all()


def test_what_a_text_says_of_special_tokens_is_text(decoder: Decoder) -> None:
    encoded = decoder.encode("The dam <|im_end|>", " holds <|im_start|>.")
    special = set(decoder.tokenizer.all_special_ids)
    assert not special & set(encoded.ids)
    assert encoded.offsets[-1][1] == len(encoded.text)


def test_texts_without_tokens_and_texts_too_long_are_refused(decoder: Decoder) -> None:
    with pytest.raises(SalienceError, match="the response has no tokens"):
        decoder.encode(PROMPT, "")
    with pytest.raises(SalienceError, match=r"prompt and response have .* smollm2.* reads"):
        decoder.encode("word " * (decoder.max_tokens or 0), RESPONSE)


def test_code_in_a_model_folder_is_never_run(tmp_path: Path, smollm2: Model) -> None:
    shutil.copytree(smollm2.path, tmp_path / "model")
    folder = tmp_path / "model"
    config = json.loads((folder / "config.json").read_text())
    auto = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}
    changed = config | {"auto_map": auto, "model_type": "own"}
    (folder / "config.json").write_text(json.dumps(changed))
    ran = tmp_path / "ran"
    (folder / "own.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
    with pytest.raises(SalienceError, match="cannot be loaded"):
        Decoder.load(folder, device="cpu")
    assert not ran.exists()


def pickled(weights: Path) -> None:
    weights.rename(weights.with_name("pytorch_model.bin"))


def lacking(weights: Path) -> None:
    kept = {name: each for name, each in load_file(weights).items() if "layers.1" not in name}
    save_file(kept, weights, {"format": "pt"})


def cut(weights: Path) -> None:
    weights.write_bytes(weights.read_bytes()[: weights.stat().st_size // 2])


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (pickled, "cannot be loaded"),
        (lacking, r"lacks weights \(model\.layers\.1\..* and \d+ more"),
        (cut, "cannot be loaded on cpu"),
    ],
)
def test_weights_are_neither_pickled_nor_made_up(
    tmp_path: Path, smollm2: Model, damage: Callable[[Path], None], says: str
) -> None:
    tiny_decoder("llama").save_pretrained(tmp_path)
    with_tokenizer(tmp_path, smollm2)
    damage(tmp_path / "model.safetensors")
    with pytest.raises(SalienceError, match=says):
        Decoder.load(tmp_path, device="cpu")


def test_memory_that_does_not_suffice_is_one_line(
    decoder: Decoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    def full(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    encoded = decoder.encode(PROMPT, RESPONSE)
    monkeypatch.setattr(decoder.model, "forward", full)
    with pytest.raises(SalienceError, match="do not fit into memory; shorten"):
        decoder.salience(encoded)


def test_the_scale_is_of_three_powers_of_ten() -> None:
    shares = np.array([1, 0.1, 0.01, 0.001, 0.0001, 0])
    assert strength(shares) == pytest.approx([1, 2 / 3, 1 / 3, 0, 0, 0])


def test_a_picture_of_any_words() -> None:
    picture = png(np.array([[0.5, 0.0]]), ["$x^"], ["水", r"\frac"], "a $ title")
    assert picture.startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="cannot be drawn"):
        png(np.zeros((0, 2)), [], ["a", "b"])
