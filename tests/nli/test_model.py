import gc
import random
import threading
import weakref
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from tiny_encoders import MAX_TOKENS, WORDS, Architecture, cross_encoder

from nli.errors import TaggerError
from nli.labels import LABELS
from nli.memory import CPU_BUDGET, GPU_BUDGET, TokenBudget, token_budget
from nli.model import TOKENISED_AT_ONCE, Encoder, Precision, native_precision
from nli.pairs import Pair
from nli.tagger import Tagger


def some_pairs(count: int, seed: int = 0) -> list[Pair]:
    draw = random.Random(seed)
    words = WORDS.split()

    def text(most: int) -> str:
        return " ".join(draw.choices(words, k=draw.randint(1, most)))

    return [Pair(text(30), text(8)) for _ in range(count)]


def test_logits_are_in_one_order_whatever_the_models_order(folders: tuple[Path, ...]) -> None:
    pairs = some_pairs(40)
    encoders = [Encoder.load(folder, precision="fp32", device="cpu") for folder in folders]
    assert len({encoder.labels for encoder in encoders}) == 3
    first, *others = [encoder.logits(pairs) for encoder in encoders]
    for other in others:
        np.testing.assert_allclose(other, first, atol=1e-5)
    # The models differ enough for a wrong order to be seen.
    assert np.abs(first - first[:, [1, 2, 0]]).mean() > 0.1
    assert len(set(first.argmax(axis=1))) == len(LABELS)


@pytest.mark.parametrize("architecture", ["Bert", "DebertaV2", "ModernBert"])
def test_published_taggers_are_read_in_their_order_and_to_the_last_bit(
    architecture: Architecture, tmp_path: Path
) -> None:
    """Label names as published, windows; DeBERTa-v3 and ModernBERT have no token types."""
    names = ("entailment", "neutral", "contradiction")
    folder = cross_encoder(tmp_path / "tagger", names, architecture=architecture)
    tagger = Tagger.load(folder, precision="fp32", device="cpu")
    assert tagger.encoder.max_tokens == MAX_TOKENS
    pairs = some_pairs(20)
    logits = tagger.encoder.logits(pairs)
    for pair, row in zip(pairs, logits, strict=True):
        assert np.array_equal(tagger.encoder.logits([pair])[0], row)
    np.testing.assert_allclose(logits[:, [0, 2, 1]], by_transformers(folder, pairs), atol=1e-4)
    long = Pair("The lake is deep. " * 40, "The lake is red.")
    (tag,) = tagger.tag([long])
    assert tag.windows > 1
    assert sum(tag.probabilities) == pytest.approx(1)


def by_transformers(folder: Path, pairs: list[Pair]) -> Any:
    """What the model itself makes of each pair alone, in its own order of labels."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        rows = [
            model(
                **tokenizer(*pair, return_tensors="pt", truncation=True, max_length=MAX_TOKENS)
            ).logits[0]
            for pair in pairs
        ]
    return torch.stack(rows).numpy()


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_order_company_and_duplicates_change_no_bit(
    folders: tuple[Path, ...], precision: Precision
) -> None:
    encoder = Encoder.load(folders[0], precision=precision, device="cpu")
    pairs = some_pairs(60)
    found = encoder.logits(pairs)
    draw = random.Random(1)
    for size in (60, 31, 7, 3, 1):
        for _ in range(3):
            company = draw.sample(range(60), size)
            again = encoder.logits([pairs[place] for place in company])
            assert np.array_equal(again, found[company])
    assert np.array_equal(encoder.logits(pairs * 3), np.concatenate([found] * 3))


def test_the_next_pairs_are_tokenised_while_some_are_scored(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs, threads = some_pairs(5 * TOKENISED_AT_ONCE), threading.active_count()
    alone = encoder.logits(pairs)
    encoded, forward, scored = Encoder._encoded, Encoder._forward, threading.Event()
    last = min(pairs, key=lambda pair: len(pair.premise) + len(pair.hypothesis))

    def late(self: Encoder, part: list[Pair]) -> Any:
        assert last not in part or scored.wait(20), "nothing is scored before all is tokenised"
        return encoded(self, part)

    def noted(self: Encoder, batch: list[Any]) -> Any:
        scored.set()
        return forward(self, batch)

    monkeypatch.setattr("torch.get_num_threads", lambda: 3)
    monkeypatch.setattr(Encoder, "_encoded", late)
    monkeypatch.setattr(Encoder, "_forward", noted)
    assert np.array_equal(encoder.logits(pairs), alone)
    monkeypatch.setattr(Encoder, "_forward", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        encoder.logits(pairs)
    assert threading.active_count() <= threads, "a fork that follows would lose them"


def test_duplicates_are_scored_once_and_all_counted(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored: list[int] = []
    forward = Encoder._forward

    def counted(self: Encoder, batch: list[Any]) -> Any:
        scored.append(len(batch))
        return forward(self, batch)

    monkeypatch.setattr(Encoder, "_forward", counted)
    done: list[int] = []
    encoder.logits(some_pairs(50) * 4, done.append)
    assert sum(scored) == len(set(some_pairs(50)))
    assert sum(done) == 200


def test_nothing_is_cut_and_what_does_not_fit_is_refused(encoder: Encoder) -> None:
    assert encoder.max_tokens == MAX_TOKENS
    assert encoder.special_tokens == 3
    assert encoder.count(["the lake is deep", "", "the " * 100]) == [4, 0, 100]
    fits = MAX_TOKENS - encoder.special_tokens - 1
    end = [encoder.logits([Pair("the " * (fits - 1) + word, "old")]) for word in ("red", "blue")]
    assert not np.allclose(end[0], end[1], atol=1e-3)
    with pytest.raises(TaggerError, match="a pair has 65 tokens where the model reads 64"):
        encoder.logits([Pair("the " * (fits + 1), "old")])


def test_less_precision_gives_about_the_same(folders: tuple[Path, ...]) -> None:
    pairs = some_pairs(60)
    exact = Encoder.load(folders[1], precision="fp32", device="cpu").logits(pairs)
    rough = Encoder.load(folders[1], precision="bf16", device="cpu").logits(pairs)
    assert not np.array_equal(exact, rough)
    assert np.corrcoef(exact.ravel(), rough.ravel())[0, 1] > 0.95


def test_scores_that_are_no_numbers_are_refused(encoder: Encoder) -> None:
    import torch

    def model(input_ids: Any, **_: Any) -> SimpleNamespace:
        return SimpleNamespace(logits=torch.full((len(input_ids), 3), torch.nan))

    broken = replace(encoder, _model=model)
    with pytest.raises(TaggerError, match=rf"{encoder.folder} .* in fp32; its weights are damaged"):
        broken.logits(some_pairs(3))
    with pytest.raises(TaggerError, match="in fp16; load it in fp32"):
        replace(broken, precision="fp16").logits(some_pairs(3))


@pytest.mark.parametrize(
    ("capability", "hip", "expected"),
    [((7, 5), None, "fp16"), ((8, 0), None, "bf16"), ((7, 5), "6.2", "bf16")],
)
def test_bf16_is_not_chosen_where_a_gpu_emulates_it(
    monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], hip: str | None, expected: str
) -> None:
    import torch

    # The other cards can do it.
    by_card = {torch.device("cuda:1"): capability}
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda card: by_card.get(card, (9, 0)))
    monkeypatch.setattr(torch.version, "hip", hip)
    assert native_precision(torch.device("cuda:1")) == expected


@pytest.mark.parametrize(
    ("able", "expected"),
    [
        ({"avx2": True, "avx512_bf16": True, "amx_bf16": False}, "bf16"),
        ({"avx2": True, "avx512_bf16": False, "amx_bf16": True}, "bf16"),
        ({"avx2": True, "avx512_bf16": False, "amx_bf16": False}, "fp32"),
        ({"architecture": "aarch64"}, "fp32"),
    ],
)
def test_a_cpu_without_bf16_computes_in_fp32(
    monkeypatch: pytest.MonkeyPatch, able: dict[str, object], expected: str
) -> None:
    import torch

    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: able)
    assert native_precision(torch.device("cpu")) == expected


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"precision": "fp8"}, "'fp8' is not a precision"),
        ({"precision": "fp16", "device": "cpu"}, "slow on a CPU"),
        ({"device": "gpu"}, "'gpu' is not a device"),
        ({"device": "cuda:99"}, "GPU 'cuda:99' does not exist here"),
    ],
)
def test_a_device_or_precision_that_is_not_there_is_refused(
    folders: tuple[Path, ...], options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(TaggerError, match=reason):
        Encoder.load(folders[0], **options)


def test_every_text_counts_the_same_alone_and_in_a_pair(encoder: Encoder) -> None:
    texts = ["The lake.", "it rains", "x9 y-z"]
    for one, two in product(texts, texts):
        length = sum(encoder.count([one, two])) + encoder.special_tokens
        assert len(encoder._encoded([Pair(one, two)])[0][0]) == length


def narrow(monkeypatch: pytest.MonkeyPatch, most: int) -> list[int]:
    """A device with room for so many tokens, and how many each attempt has."""
    taken: list[int] = []
    forward = Encoder._forward

    def limited(self: Encoder, batch: list[Any]) -> Any:
        import torch

        width, rows = self._shape(len(batch[0][0]))
        taken.append(width * rows)
        if taken[-1] > most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB")
        return forward(self, batch)

    monkeypatch.setattr(Encoder, "_forward", limited)
    return taken


def test_where_memory_ends_batches_are_halved_and_nothing_is_lost(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = some_pairs(120)
    exact = encoder.logits(pairs)
    own = replace(encoder, _budget=TokenBudget(1024))
    taken = narrow(monkeypatch, 300)
    done: list[int] = []
    np.testing.assert_allclose(own.logits(pairs, done.append), exact, atol=1e-5)
    assert sum(done) == len(pairs)
    assert [size > 300 for size in taken[:3]] == [True, True, False]
    assert max(taken[2:]) <= taken[1] // 2, "the rest is taken in smaller batches"
    assert own._budget.tokens == taken[1] // 2
    taken.clear()
    np.testing.assert_allclose(own.logits(pairs), exact, atol=1e-5)
    assert max(taken) <= 300, "the next call does not fail again"


def test_a_pair_that_does_not_fit_alone_is_one_line(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrow(monkeypatch, 10)
    own = replace(encoder, _budget=TokenBudget(1024))
    with pytest.raises(
        TaggerError, match=r"a pair of \d+ tokens does not fit into the memory of cpu; stop other"
    ) as refused:
        own.logits(some_pairs(20))
    assert "\n" not in str(refused.value)


def test_other_faults_are_told_apart(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("shapes differ")

    monkeypatch.setattr(Encoder, "_forward", broken)
    with pytest.raises(RuntimeError, match="shapes differ"):
        encoder.logits(some_pairs(3))


def test_a_failed_batch_holds_no_memory(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    held: list[weakref.ref[Any]] = []

    def short(_: Encoder, batch: list[Any]) -> Any:
        assert [each() for each in held] == [None] * len(held)
        large = torch.zeros(9)
        held.append(weakref.ref(large))
        if len(batch) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return np.zeros((1, 3), dtype=np.float32)

    monkeypatch.setattr(Encoder, "_forward", short)
    gc.disable()  # it is not left to chance
    try:
        replace(encoder, _budget=TokenBudget(1024)).logits(some_pairs(20))
    finally:
        gc.enable()
    assert len(held) > 20


def test_the_budget_of_a_gpu_follows_its_free_memory(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    # Of BERT-large in bf16, reading 512 tokens: (4096 + 8 * 1024 + 4 * 16 * 512) * 2 bytes a token.
    config = SimpleNamespace(intermediate_size=4096, hidden_size=1024, num_attention_heads=16)
    weight = torch.empty(1, dtype=torch.bfloat16)
    large: Any = SimpleNamespace(config=config, parameters=lambda: iter([weight]))
    free: dict[Any, int] = {}
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda card: (free[card], 2**35))
    card = torch.device("cuda:1")
    free[card] = 2**30
    assert token_budget(large, card, 512) == 2**29 // (45056 * 2)
    free[card] = 2**35
    assert token_budget(large, card, 512) == GPU_BUDGET
    free[card] = 2**20
    assert token_budget(large, card, 512) == 512, "one pair is always tried"
    assert token_budget(large, torch.device("cpu"), 512) == CPU_BUDGET


def test_a_model_that_a_device_has_no_room_for_is_one_line(
    folders: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    def full(*_: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(torch.nn.Module, "to", full)
    with pytest.raises(TaggerError, match=r"does not fit into the memory of cpu"):
        Encoder.load(folders[0], precision="fp32", device="cpu")
