import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_encoders import change

from nli.errors import TaggerError
from nli.folder import check_folder, folder_digest, weights_digest
from nli.model import Encoder

Spoil = Callable[[Path], object]


def only_pickles(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"")


def without_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def labels(*names: str) -> Spoil:
    return lambda folder: change(
        folder / "config.json", id2label={str(n): name for n, name in enumerate(names)}
    )


BAD: list[tuple[Spoil, str]] = [
    (only_pickles, r"only pickle weights \(pytorch_model.bin\)"),
    (lambda folder: (folder / "model.safetensors").unlink(), "no safetensors"),
    (lambda folder: (folder / "config.json").unlink(), "no config.json"),
    (lambda folder: (folder / "config.json").write_text("{"), "not JSON"),
    (lambda folder: (folder / "config.json").write_text("[" * 100_000), "not JSON"),
    (lambda folder: (folder / "modules.json").write_text("[" * 100_000), "does not list modules"),
    (lambda folder: change(folder / "config.json", auto_map={"AutoModel": "x.Y"}), "Python code"),
    (
        lambda folder: change(folder / "tokenizer_config.json", auto_map={"AutoTokenizer": "x.Y"}),
        "Python code",
    ),
    (without_tokenizer, "no tokenizer"),
    (lambda folder: change(folder / "config.json", architectures=["BertModel"]), "no classifier"),
    (lambda folder: (folder / "modules.json").write_text('[{"path": ""}, {"path": "1"}]'), "1"),
    (labels("entailment", "contradiction", "maybe"), "'maybe'"),
]


@pytest.mark.parametrize(("spoil", "reason"), BAD)
def test_an_unusable_folder_is_refused_with_the_reason(
    folder: Path, spoil: Spoil, reason: str
) -> None:
    check_folder(folder)
    spoil(folder)
    with pytest.raises(TaggerError, match=reason) as caught:
        Encoder.load(folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path, reason in (
        (Path("cross-encoder/nli-MiniLM2-L6-H768"), "name on a model hub"),
        (tmp_path / "none", "does not exist"),
        (tmp_path / "file", "is a file"),
    ):
        with pytest.raises(TaggerError, match=reason):
            check_folder(path)


def test_weights_that_are_not_what_the_config_says_are_refused(
    folder: Path, folders: tuple[Path, ...]
) -> None:
    (folder / "model.safetensors").write_bytes(b"cut short")
    with pytest.raises(TaggerError, match="cannot be loaded"):
        Encoder.load(folder)
    shutil.copy(folders[0] / "model.safetensors", folder)
    change(folder / "config.json", num_hidden_layers=3)
    with pytest.raises(TaggerError, match="lacks weights"):
        Encoder.load(folder)


def test_the_digest_is_of_what_decides(folder: Path, folders: tuple[Path, ...]) -> None:
    digest = folder_digest(folder)
    assert digest == folder_digest(folders[0]) == Encoder.load(folder).digest
    assert digest != folder_digest(folders[1])
    (folder / "README.md").write_text("A card.")
    assert folder_digest(folder) == digest

    # As `sha256sum` prints it.
    files = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]
    sums = [f"{hashlib.sha256((folder / f).read_bytes()).hexdigest()}  {f}\n" for f in files]
    assert digest == hashlib.sha256("".join(sums).encode()).hexdigest()

    (folder / "calibration.json").write_text("{}")
    assert folder_digest(folder) != digest
    assert weights_digest(folder) == digest
