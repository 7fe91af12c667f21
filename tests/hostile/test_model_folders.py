"""A stranger's model folders and profiles: every fault is one line, never a traceback."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, the_line
from tiny_words import word_counting
from tokenizers import Tokenizer

from pipelines.cli import app
from serving import profile
from serving.errors import ServingError
from serving.folders import check_folder
from serving.tokens import ChatTokenizer

DEEP = "[" * 100_000
DEEP_OBJECT = '{"a":' * 50_000


def header(text: str) -> bytes:
    """A safetensors file with an arbitrary header."""
    return struct.pack("<Q", len(text)) + text.encode() + bytes(16)


def tokenizer(**parts: Any) -> str:
    """A one-word tokenizer with other parts."""
    usual = {"version": "1.0", "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}}
    return json.dumps(usual | parts)


CLS = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
TEMPLATE = {"type": "TemplateProcessing", "single": CLS, "pair": [], "special_tokens": {}}

FILES: dict[str, tuple[str, str | bytes, str]] = {
    "a deep configuration": ("config.json", DEEP, "is not JSON"),
    "a number of 9,999 digits": ("config.json", f'{{"n": {"9" * 9999}}}', "is not JSON"),
    "a deep list of shards": ("model.safetensors.index.json", DEEP, "is not JSON"),
    "deep settings of the tokenizer": ("tokenizer_config.json", DEEP_OBJECT, "is not JSON"),
    "a header of deep objects": (
        "model.safetensors",
        header(DEEP_OBJECT),
        "is not a safetensors file",
    ),
    "offsets as text": (
        "model.safetensors",
        header('{"w": {"data_offsets": ["a", "b"]}}'),
        "is not a safetensors file",
    ),
    "a tokenizer that panics as it is read": (
        "tokenizer.json",
        tokenizer(normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
        "cannot be read as a tokenizer",
    ),
    "a tokenizer that panics as it is used": (
        "tokenizer.json",
        tokenizer(post_processor=TEMPLATE),
        "cannot be read as a tokenizer",
    ),
    "a tokenizer that lacks its word for the unknown": (
        "tokenizer.json",
        tokenizer(model={"type": "WordLevel", "vocab": {}, "unk_token": "b"}),
        "cannot be read as a tokenizer",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_one_line(name: str, tmp_path: Path) -> None:
    folder = word_counting(tmp_path / "model")
    file, content, says = FILES[name]
    (folder / file).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ServingError, match=says) as refused:
        check_folder(folder)
        ChatTokenizer.from_folder(folder)
    assert file in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 600


def test_a_tokenizer_that_panics_in_a_library_is_one_line(
    contested: Contested, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text(str(FILES["a tokenizer that panics as it is read"][1]))
    monkeypatch.setattr(app, "app", lambda **_: Tokenizer.from_file(str(file)))
    monkeypatch.setenv("RUST_BACKTRACE", "0")
    assert the_line(contested()).startswith("a tokenizer failed (Precompiled")


PROFILES = {
    "deep": "a = " + DEEP,
    "deep tables": "a = " + "{a=" * 20_000 + "1" + "}" * 20_000,
    "a key of many parts": ".".join("a" * 5000) + " = 1",
    "a number of 9,999 digits": "a = " + "9" * 9999,
}


@pytest.mark.parametrize("name", PROFILES)
def test_a_hostile_profile_is_one_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(PROFILES[name])
    with pytest.raises(ServingError, match="profile ") as refused:
        profile.load(str(path))
    assert "\n" not in str(refused.value)
