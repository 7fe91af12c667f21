"""Tiny decoders with random weights and a tokenizer, loaded like real ones."""

from functools import cache
from pathlib import Path
from typing import Any

from tiny_decoders import decoder

from salience.decoder import Decoder

VOCABULARY = 400
TEXTS = (
    "User question: {Should the dam stay?}.\nNeutral response: {People see this differently. "
    "Supporters say that it holds drinking water.}.\nGiven pro arguments: {pro: The dam holds "
    "water.}.\nGiven con arguments: {con: Salmon cannot pass.}.\nAll the given arguments are "
    "covered by the neutral response: {YES}",
    "Only given arguments are contained in the neutral response: {NO}",
)


@cache
def tokenizer() -> Any:
    """A byte-pair tokenizer trained on these texts."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast

    pairs = ByteLevelBPETokenizer()
    pairs.train_from_iterator(
        TEXTS, vocab_size=VOCABULARY, special_tokens=["<end>"], show_progress=False
    )
    return PreTrainedTokenizerFast(tokenizer_object=pairs._tokenizer, eos_token="<end>")


def model(architecture: str, seed: int = 7) -> Any:
    """A frozen model with a context of a few hundred tokens."""
    return decoder(architecture, seed=seed, vocab_size=VOCABULARY, max_position_embeddings=400)


def loaded(architecture: str = "llama", **given: Any) -> Decoder:
    """A decoder as `Decoder.load` returns it; a model or a tokenizer may be given."""
    return Decoder(
        folder=Path("tiny"),
        precision="fp32",
        device="cpu",
        model=given.get("model") or model(architecture),
        tokenizer=given.get("tokenizer") or tokenizer(),
    )


def saved(folder: Path) -> Path:
    """A folder with a tiny Llama and its tokenizer."""
    model("llama").save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder
