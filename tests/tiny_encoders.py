"""Tiny cross-encoders with random weights, built in seconds, in any label order."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from nli.labels import LABELS, Label

WORDS = """the a of in is was not no lake river town mayor bridge school north south deep old new
red blue cold warm never always built closed opened moved it they rain falls here there and but"""
MAX_TOKENS = 64

Architecture = Literal["Bert", "DebertaV2", "ModernBert"]


def cross_encoder(
    folder: Path,
    order: Sequence[Label | str] = LABELS,
    *,
    architecture: Architecture = "Bert",
) -> Path:
    """A two-layer model: the same function of the text in any label order.

    Args:
        folder: Target folder; must not exist.
        order: Name of each logit; for `Label`s the classifier's rows are put in this order.
        architecture: "DebertaV2" is also the architecture of DeBERTa-v3.
    """
    import torch

    model = _model(architecture)
    rows = [LABELS.index(name) if isinstance(name, Label) else n for n, name in enumerate(order)]
    with torch.no_grad():
        weight, bias = _classifier(architecture)
        model.classifier.weight.copy_(weight[rows])
        model.classifier.bias.copy_(bias[rows])
    model.config.id2label = {n: str(name) for n, name in enumerate(order)}
    model.config.label2id = {str(name): n for n, name in enumerate(order)}
    model.save_pretrained(folder)
    _tokenizer().save_pretrained(folder)
    return folder


def mpnet(folder: Path, *, tokens: int = MAX_TOKENS, seed: int = 1) -> Path:
    """A two-layer MPNet with a limit of `tokens`, laid out like all-mpnet-base-v2."""
    import torch
    from transformers import MPNetConfig, MPNetForMaskedLM, MPNetTokenizerFast

    torch.manual_seed(seed)
    words = ["<s>", "<pad>", "</s>", "[UNK]", ".", *dict.fromkeys(WORDS.split()), "<mask>"]
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", "utf-8")
    tokenizer = MPNetTokenizerFast.from_pretrained(folder, model_max_length=512)
    (folder / "vocab.txt").unlink()
    config = MPNetConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=tokens + 2,
    )
    MPNetForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def change(file: Path, **entries: object) -> None:
    """Change entries of a JSON file, created if missing; None removes an entry."""
    value = json.loads(file.read_text()) if file.exists() else {}
    for name, entry in entries.items():
        value.pop(name, None)
        if entry is not None:
            value[name] = entry
    file.write_text(json.dumps(value))


ARCHITECTURES: dict[Architecture, dict[str, Any]] = {
    "Bert": {},
    "DebertaV2": {
        **{"relative_attention": True, "position_biased_input": False, "type_vocab_size": 0},
        **{"pos_att_type": ["p2c", "c2p"], "share_att_key": True, "position_buckets": 16},
        **{"norm_rel_ebd": "layer_norm", "max_relative_positions": -1},
    },
    "ModernBert": {"local_attention": 16, "global_attn_every_n_layers": 2, "pad_token_id": 0},
}
"""Architecture -> settings of its published models that affect computation."""


@cache
def _model(architecture: Architecture) -> Any:
    import torch
    import transformers

    torch.manual_seed(1)
    config = getattr(transformers, f"{architecture}Config")(
        vocab_size=_tokenizer().vocab_size,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=MAX_TOKENS,
        num_labels=3,
        initializer_range=0.6,  # large, so that logits of texts differ clearly
        **ARCHITECTURES[architecture],
    )
    return getattr(transformers, f"{architecture}ForSequenceClassification")(config).eval()


@cache
def _classifier(architecture: Architecture) -> Any:
    head = _model(architecture).classifier
    return head.weight.detach().clone(), head.bias.detach().clone()


@cache
def _tokenizer() -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *".,!?-'\"()", *letters]
    pieces += [f"##{letter}" for letter in letters]
    pieces += [word for word in WORDS.split() if word not in pieces]
    vocab = {piece: number for number, piece in enumerate(pieces)}
    raw = Tokenizer(WordPiece(vocab, unk_token="[UNK]"))
    raw.normalizer = BertNormalizer(lowercase=True)
    raw.pre_tokenizer = BertPreTokenizer()
    raw.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocab["[CLS]"]), ("[SEP]", vocab["[SEP]"])],
    )
    # Some published tokenizers have truncation and padding switched on; here nothing may be
    # truncated.
    raw.enable_truncation(16)
    raw.enable_padding(length=16, pad_id=0, pad_token="[PAD]")
    return PreTrainedTokenizerFast(
        tokenizer_object=raw,
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        mask_token="[MASK]",
        model_max_length=MAX_TOKENS,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )
