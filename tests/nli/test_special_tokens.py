"""Special tokens that texts have are plain text to every encoder."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_encoders import WORDS, cross_encoder

from nli.errors import TaggerError
from nli.model import Encoder
from nli.pairs import Pair
from nli.tagger import Tagger, UnfitError

TEXTS = Path(__file__).parents[1] / "texts" / "special_tokens.jsonl"
PAIRS = [
    Pair(row["premise"], row["hypothesis"])
    for row in map(json.loads, TEXTS.read_text("utf-8").splitlines())
]


def change_tokenizer(folder: Path, **parts: object) -> None:
    file = folder / "tokenizer.json"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | parts))


def by_pieces(folder: Path, kind: str) -> Path:
    """A tagger with another tokenizer: SentencePiece's pieces, words by white space, or bytes."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    cross_encoder(folder)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    vocabulary = [*special, "▁", *"abcdefghijklmnopqrstuvwxyz<>/[].ABCDEFGHIKLMNOPRSTU"]
    if kind == "pieces":
        scores = [(piece, 0.0 if piece in special else -4.0) for piece in vocabulary]
        raw = Tokenizer(models.Unigram(scores, unk_id=3))
        raw.normalizer = normalizers.NFKC()
        raw.pre_tokenizer = pre_tokenizers.Metaspace()
    elif kind == "words":
        words = {word: n for n, word in enumerate([*special, *dict.fromkeys(WORDS.split())])}
        raw = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
        raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    else:
        alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
        letters = {letter: n for n, letter in enumerate([*special, *alphabet][:80])}
        raw = Tokenizer(models.BPE(letters, [], unk_token="<unk>"))
        raw.pre_tokenizer = pre_tokenizers.ByteLevel()
    raw.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    PreTrainedTokenizerFast(
        **{"tokenizer_object": raw, "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"},
        **{"sep_token": "</s>", "cls_token": "<s>", "pad_token": "<pad>", "mask_token": "<mask>"},
        model_max_length=512,
    ).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("kind", ["word pieces", "pieces", "words", "bytes"])
def test_no_text_makes_a_special_token(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "tagger"
    folder = cross_encoder(path) if kind == "word pieces" else by_pieces(path, kind)
    encoder = replace(Encoder.load(folder, precision="fp32", device="cpu"), max_tokens=512)
    tokenizer = encoder._tokenizer
    control = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    for pair in PAIRS:
        ((ids, _),) = encoder._encoded([pair])
        written = [token for token in ids if token in control]
        assert len(written) == encoder.special_tokens, tokenizer.convert_ids_to_tokens(ids)
        assert len(ids) == sum(encoder.count(list(pair))) + encoder.special_tokens


def test_training_and_embeddings_read_them_as_text(tmp_path: Path) -> None:
    from nli.encoder import new_cross_encoder
    from pipelines.retrieval.dense import Embedder, default_embedder

    model = new_cross_encoder(by_pieces(tmp_path / "encoder", "pieces"), max_tokens=64, seed=1)
    path = default_embedder()
    assert path is not None
    for tokenizer in (model.tokenizer, Embedder(path).tokenizer):
        control = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
        for pair in PAIRS:
            assert not control & set(tokenizer(pair.premise, add_special_tokens=False)["input_ids"])


FAULTS: dict[str, dict[str, object]] = {
    "a charsmap out of bounds": {
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": "BAAAAP////8="}
    },
    "pieces of no length": {"pre_tokenizer": {"type": "FixedLength", "length": 0}},
    "no word for what is unknown": {
        "model": {"type": "WordLevel", "vocab": {"x": 0}, "unk_token": "[GONE]"}
    },
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_tokenizer_that_fails_on_a_text_is_one_line(fault: str, folder: Path) -> None:
    change_tokenizer(folder, **FAULTS[fault])
    with pytest.raises(UnfitError, match=r"^the tokenizer of \S+ cannot read a text \(.+\); leave"):
        Tagger.load(folder).tag([Pair("The lake is deep.", "It is deep.")])


def test_a_tokenizer_that_fails_as_it_is_read_is_one_line(folder: Path) -> None:
    change_tokenizer(folder, normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"})
    with pytest.raises(TaggerError, match=r"cannot be loaded: .+; fetch the model again"):
        Tagger.load(folder)


def test_a_text_that_cannot_be_read_costs_its_own_pairs(folder: Path) -> None:
    pairs = [Pair("The lake is deep.", "It is deep."), Pair("The lake \ud800 is.", "It is deep.")]
    with pytest.raises(UnfitError) as refused:
        Tagger.load(folder).tag(pairs)
    assert list(refused.value.reasons) == pairs[1:]
