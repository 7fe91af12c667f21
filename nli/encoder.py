"""The cross-encoder that training begins with: an encoder with a classifier for three labels."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nli.errors import TaggerError
from nli.folder import check_files
from nli.labels import LABELS, label_order
from nli.model import most_tokens, plain_text, reason
from nli.pairs import LabelledPair

if TYPE_CHECKING:
    from sentence_transformers.cross_encoder import CrossEncoder


def new_cross_encoder(encoder: Path, *, max_tokens: int, seed: int) -> "CrossEncoder":
    """The model that training begins with: the encoder, with a classifier for three labels.

    The classifier of an earlier tagger is kept, with its outputs in the order of `LABELS`. If their
    names are not those of the three labels, it gets a new output layer.

    Raises:
        TaggerError: The folder holds no usable encoder.
    """
    import torch
    from sentence_transformers.cross_encoder import CrossEncoder

    before = check_files(encoder)
    torch.manual_seed(seed)
    try:
        model = CrossEncoder(
            str(encoder),
            num_labels=len(LABELS),
            max_length=max_tokens,
            local_files_only=True,
            # Eager attention trains short pairs 1.5 times as fast on CPUs as the fused kernels do.
            model_kwargs={
                "attn_implementation": "eager",
                "dtype": torch.float32,
                "use_safetensors": True,
                "ignore_mismatched_sizes": True,  # a classifier with another number of labels
            },
            # Drawing dropout's random numbers costs a CPU more than dropout gains in a few passes.
            config_kwargs={"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0},
        )
        _order_outputs(model.model, before)
    except Exception as error:  # whatever error an architecture's code raises on a broken folder
        raise TaggerError(f"{encoder} cannot be used as an encoder: {reason(error)}") from error
    plain_text(model.tokenizer)
    model.max_seq_length = min(max_tokens, most_tokens(model.model, model.tokenizer))
    config = model.model.config
    config.id2label = {number: label.value for number, label in enumerate(LABELS)}
    config.label2id = {label.value: number for number, label in enumerate(LABELS)}
    return model


def token_lengths(model: "CrossEncoder", pairs: Sequence[LabelledPair]) -> list[int]:
    """Numbers of tokens of the pairs as the model reads them, possibly cut."""
    read = model.tokenizer(
        [pair.premise for pair in pairs],
        [pair.hypothesis for pair in pairs],
        truncation=True,
        max_length=model.max_seq_length,
    )
    return [len(ids) for ids in read["input_ids"]]


def _order_outputs(model: Any, before: Mapping[str, Any]) -> None:
    """Put a classifier's three outputs into the order of `LABELS`, or initialise them."""
    import torch

    architectures = before.get("architectures") or [""]
    if not str(architectures[0]).endswith("ForSequenceClassification"):
        return  # there was no classifier, so it is new
    output = [module for module in model.modules() if isinstance(module, torch.nn.Linear)][-1]
    try:
        order = label_order(before)
    except TaggerError:
        torch.nn.init.normal_(output.weight, std=getattr(model.config, "initializer_range", 0.02))
        if output.bias is not None:
            torch.nn.init.zeros_(output.bias)
        return
    rows = [order.index(label) for label in LABELS]
    with torch.no_grad():
        output.weight.copy_(output.weight[rows])
        if output.bias is not None:
            output.bias.copy_(output.bias[rows])
