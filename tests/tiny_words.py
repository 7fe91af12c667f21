"""A model folder that is complete, but whose weights are four zeros: it is only read."""

import json
import struct
from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers


def word_counting(folder: Path, *words: str) -> Path:
    """Make the folder of a model whose tokenizer counts words and marks; it knows a few words."""
    folder.mkdir()
    vocabulary = {word: number for number, word in enumerate(("[UNK]", *words))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "chat_template.jinja").write_text(
        "{% for message in messages %}{{ message.content }}\n{% endfor %}"
    )
    (folder / "config.json").write_text('{"architectures": ["LlamaForCausalLM"]}')
    header = json.dumps({"w": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(16))
    return folder
