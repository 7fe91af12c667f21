"""A complete model folder with four zeros as weights, for tests that only read it."""

from pathlib import Path

from model_shapes import folder as model_folder
from tokenizers import Tokenizer, models, pre_tokenizers


def word_counting(folder: Path, *words: str) -> Path:
    """A model folder with one token per word and punctuation mark, and a small vocabulary."""
    model_folder(folder, {"architectures": ["LlamaForCausalLM"]}, ("F32", [4], 16))
    vocabulary = {word: number for number, word in enumerate(("[UNK]", *words))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "chat_template.jinja").write_text(
        "{% for message in messages %}{{ message.content }}\n{% endfor %}"
    )
    return folder
