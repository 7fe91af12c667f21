"""Tiny taggers that several test files share."""

import shutil
from pathlib import Path

import pytest
from tiny_encoders import cross_encoder

from nli.labels import Label
from nli.model import Encoder

S, R, I = Label.SUPPORT, Label.REFUTE, Label.IRRELEVANT  # noqa: E741


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """The same model three times, its logits in three orders."""
    place = tmp_path_factory.mktemp("tiny")
    orders = ((S, R, I), (I, S, R), (R, I, S))
    return tuple(cross_encoder(place / str(n), order) for n, order in enumerate(orders))


@pytest.fixture
def folder(folders: tuple[Path, ...], tmp_path: Path) -> Path:
    """A copy of the first of them, to be changed."""
    return Path(shutil.copytree(folders[0], tmp_path / "tagger"))


@pytest.fixture(scope="session")
def encoder(folders: tuple[Path, ...]) -> Encoder:
    """The first of them, in fp32."""
    return Encoder.load(folders[0], precision="fp32", device="cpu")
