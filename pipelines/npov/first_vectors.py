"""Where the vectors of a soft prompt start: embeddings of frequent tokens (NPOV, appendix B)."""

import re
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.errors import InputError
from pipelines.npov.settings import TuningSettings
from salience.decoder import Decoder

FREQUENT = 5_000
"""Tokens that the first vectors are drawn from."""

_ONE_BYTE = re.compile(r"<0x[0-9A-F]{2}>|.", re.DOTALL)


def initial_vectors(decoder: Decoder, settings: TuningSettings) -> NDArray[np.float32]:
    """Embeddings of frequent tokens, drawn at random, as the model's layers see them.

    Args:
        decoder: Whose embeddings.
        settings: How many, and the seed.

    Returns:
        (tokens, d); where there are fewer frequent tokens, some again.
    """
    import torch

    embed = decoder.model.get_input_embeddings()
    usable = frequent_tokens(decoder.tokenizer, embed.weight.shape[0])
    draw = Random(settings.seed)  # noqa: S311  (a sample, not a secret)
    chosen = draw.sample(usable, settings.tokens) if len(usable) >= settings.tokens else usable
    # By the layer and not from its weights: some models scale what they look up.
    with torch.no_grad():
        found = embed(torch.tensor(chosen, device=decoder.model.device)).float().cpu().numpy()
    return np.resize(found, (settings.tokens, found.shape[1]))


def frequent_tokens(tokenizer: Any, vocabulary: int) -> list[int]:
    """Token ids that stand for the 5,000 most frequent tokens.

    How frequent tokens are is not known offline. Vocabularies of byte pairs are in the order in
    which pairs were merged, the most frequent pair first, so the lowest ids are taken that are
    neither special nor added, and no single character or byte.

    Args:
        tokenizer: Of transformers.
        vocabulary: How many embeddings the model has.

    Raises:
        InputError: There is no such token.
    """
    special = {*tokenizer.all_special_ids, *tokenizer.get_added_vocab().values()}
    found: list[int] = []
    for token, text in enumerate(
        tokenizer.convert_ids_to_tokens(range(min(vocabulary, len(tokenizer))))
    ):
        if token not in special and text and not _ONE_BYTE.fullmatch(text):
            found.append(token)
            if len(found) == FREQUENT:
                break
    if not found:
        raise InputError("the model's vocabulary has single characters alone; take another model")
    return found
