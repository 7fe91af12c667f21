"""Counting tokens by pieces equals the tokenizer's count, and counts a shared prefix once."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from serving.models import Model
from serving.tokens import PIECE, ChatTokenizer, most_tokens, pieces

CORPUS = [
    "The river is long. It's 1,250 km — so the survey of 1923 said…\n\nNobody asked why.",
    "Die Brücke über den Fluß wurde 1932 eröffnet; „sagt man“.\n- naïve\tcafé ½ ² ﷺ",
    "河流很长。没有人问为什么。 The river 河 is long.\r\n  indented   text\n",
] * 20


def trained(tokenizer: Tokenizer, **how: Any) -> Tokenizer:
    trainer = trainers.BpeTrainer(vocab_size=600, show_progress=False, **how)
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def byte_level() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return trained(tokenizer, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())


def like_gemma() -> Tokenizer:
    """Words start with a marker and newlines stand alone; after training nothing splits a text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split("▁", "merged_with_next"), pre_tokenizers.Split("\n", "isolated")]
    )
    tokenizer.decoder = decoders.Replace("▁", " ")
    trained(tokenizer)
    tokenizer.pre_tokenizer = None
    return tokenizer


def like_llama2() -> Tokenizer:
    """A marker is prepended to every text, so a piece alone has one token more than in its text."""
    tokenizer = like_gemma()
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    return tokenizer


def over_words() -> Tokenizer:
    """Nothing pre-splits a text, so tokens may span whitespace."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.decoder = decoders.Fuse()
    return trained(tokenizer)


def chat(tokenizer: Tokenizer) -> ChatTokenizer:
    return ChatTokenizer(tokenizer, "{{ messages[0].content }}", {})


MADE = {made.__name__: made() for made in (byte_level, like_gemma, like_llama2, over_words)}


def test_only_tokenizers_whose_pieces_add_up_are_counted_so() -> None:
    counted = {name for name, tokenizer in MADE.items() if chat(tokenizer).pieces_add_up}
    assert counted == {"byte_level", "like_gemma"}


def texts() -> st.SearchStrategy[str]:
    part = st.one_of(st.sampled_from(CORPUS[:3]), st.text(max_size=40))
    return st.lists(part, max_size=25).map("".join)


@pytest.mark.parametrize("name", MADE)
@given(parts=st.lists(texts(), min_size=1, max_size=3))
@settings(max_examples=15, deadline=None)
def test_counts_are_the_tokenizers_own_and_bounds_hold(name: str, parts: Sequence[str]) -> None:
    tokenizer = chat(MADE[name])
    for part in parts:
        text = parts[0] + part
        tokens = len(tokenizer.encode(text))
        if tokenizer.pieces_add_up:
            assert tokens <= most_tokens(text)
        assert tokenizer.count([{"role": "user", "content": text}]) == tokens
        assert "".join(pieces(text)) == text


def test_an_equal_beginning_is_tokenised_once() -> None:
    tokenizer = chat(MADE["byte_level"])
    document = " ".join(f"The river is {km} km long." for km in range(1000))
    tokenizer.count([{"role": "user", "content": f"{document} Nobody asked why."}])
    before = {*tokenizer._known}
    tokenizer.count([{"role": "user", "content": f"{document} It said so."}])
    assert 0 < sum(map(len, tokenizer._known.keys() - before)) <= 2 * PIECE
    before = {*tokenizer._known}
    loud = [{"role": "user", "content": document.upper()}]
    assert tokenizer.count(loud, room=len(document)) == len(document)
    assert {*tokenizer._known} == before, "what fits whatever its tokens are is not counted"


def test_a_real_model_is_counted_in_pieces(smollm2: Model) -> None:
    tokenizer = ChatTokenizer.from_folder(smollm2.path)
    assert tokenizer.pieces_add_up
    for text in ("\n\n".join(CORPUS), "The river is long. " * 500, "x" * 5000):
        messages = [{"role": "user", "content": text}]
        assert tokenizer.count(messages) == len(tokenizer.encode(tokenizer.render(messages)))
