"""Passages, their index on the disk, and what is found in it."""

import json
import shutil
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.retrieval import index as indexes
from pipelines.retrieval.dense import Embedder
from pipelines.retrieval.documents import passages, sections
from pipelines.retrieval.index import Index, build, normalised, reciprocal_rank_fusion

TEXTS = (
    "The dam at Aldham was built in 1902 by the river board.",
    "Floods reached the lower town of Aldham in 1911.",
    "Cheese is made of milk, salt and rennet.",
    "A weir holds back the water of a river.",
)
DOCUMENTS = [
    Document(id=f"d{n}", text=text, title="Cheese" if n == 2 else None)
    for n, text in enumerate(TEXTS)
]


@pytest.fixture(scope="module")
def embedder(small_embedder: Path) -> Embedder:
    return Embedder(small_embedder)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Path:
    folder = tmp_path_factory.mktemp("indexes") / "index"
    embedded = count(1)
    build(DOCUMENTS, folder, embedder, lambda: next(embedded))
    assert next(embedded) == len(DOCUMENTS) + 1
    return folder


# Passages


def test_a_long_one_is_cut_between_sentences_and_keeps_its_title() -> None:
    text = " ".join(f"Sentence {n} has exactly six words." for n in range(40))
    document = Document(id="report", text=text, title="Report", url="https://x.example/r")
    cut = passages(document, words=30, overlap=1)
    assert [each.id for each in cut[:2]] == ["report#1", "report#2"]
    assert {(each.title, each.url) for each in cut} == {("Report", "https://x.example/r")}
    assert all(len(each.text.split()) <= 30 for each in cut)
    assert all(each.text.startswith("Sentence") and each.text.endswith("words.") for each in cut)
    # The last sentence of one is the first of the next.
    assert cut[1].text.startswith(cut[0].text.rsplit("Sentence", 1)[1].join(["Sentence", ""]))


@given(st.lists(st.sampled_from(["One.", "Two words.", "A b c d e f g", "\n\n"]), min_size=1))
def test_no_word_is_lost(parts: list[str]) -> None:
    text = " ".join(parts)
    if not text.strip():
        return
    cut = passages(Document(id="d", text=text), words=4, overlap=0)
    assert " ".join(each.text for each in cut).split() == text.split()


def test_markdown_sections_have_the_path_of_their_headings() -> None:
    text = (
        "Before.\n# Dams\nOn dams.\n## Aldham ##\nBuilt in 1902.\n### Floods\n\n"
        "# Locks\nOn locks.\n```\n# no heading\n```\n"
    )
    found = sections(Document(id="a.md", text=text, title="Dams"))
    assert [each.id for each in found] == ["a.md#1", "a.md#2", "a.md#3", "a.md#4"]
    assert [(each.title, each.text.split("\n")[0]) for each in found] == [
        ("Dams", "Before."),
        ("Dams", "On dams."),
        ("Dams > Aldham", "Built in 1902."),
        ("Dams > Locks", "On locks."),
    ]
    assert "# no heading" in found[-1].text


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    ["# a" + " " * 1_000_000 + "b", "#" + " " * 1_000_000, "# a\nx\n```\n```\n" * 70_000],
    ids=["spaces in a heading", "spaces alone", "fences and headings"],
)
def test_markdown_of_a_million_characters_is_cut_in_time(text: str) -> None:
    for each in sections(Document(id="a.md", text=text)):
        assert len(each.title or "") <= 200


# Rankings


def test_fusion_by_hand() -> None:
    fused = reciprocal_rank_fusion([["a", "b", "c"], ["b", "d"]])
    assert [item for item, _ in fused] == ["b", "a", "d", "c"]
    by_hand = [1 / 62 + 1 / 61, 1 / 61, 1 / 62, 1 / 63]
    assert [score for _, score in fused] == pytest.approx(by_hand)


@given(st.lists(st.floats(-5, 50), max_size=8))
def test_relevance_lies_in_zero_and_one(scores: list[float]) -> None:
    shares = normalised(scores)
    assert all(0 <= share <= 1 for share in shares)
    if any(score > 1e-9 for score in scores):
        assert max(shares) == 1


# The index


@pytest.mark.parametrize("method", ["bm25", "dense", "hybrid"])
def test_the_passage_on_the_subject_is_found(
    built: Path, embedder: Embedder, method: indexes.Method
) -> None:
    found = Index(built, embedder).search("When was the Aldham dam built?", k=3, method=method)
    assert found[0].passage == DOCUMENTS[0]
    assert found[0].relevance == 1
    relevance = [each.relevance for each in found]
    assert relevance == sorted(relevance, reverse=True)
    assert len({each.passage.id for each in found}) == len(found) <= 3


def test_another_model_is_refused(built: Path, embedder: Embedder, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(embedder.path, other)
    (other / "1_Pooling" / "config.json").write_text("{}")
    with pytest.raises(InputError, match=r"built with the embedding model .*, not with "):
        Index(built, Embedder(other))


@pytest.mark.parametrize(
    ("about", "problem"),
    [
        (None, "is not an index"),
        ("{", "is damaged"),
        ('{"format": 9, "files": "files-1", "passages": 1}', "another version"),
        ('{"format": 1, "files": "files-1", "passages": 1}', "delete it and build"),
        ('{"format": 1, "files": "../files-1", "passages": 1}', "is damaged"),
    ],
)
def test_what_is_no_index_is_refused(about: str | None, problem: str, tmp_path: Path) -> None:
    build(DOCUMENTS, tmp_path / "i")
    path = tmp_path / "i" / "index.json"
    path.unlink() if about is None else path.write_text(about)
    with pytest.raises(InputError, match=problem) as told:
        Index(tmp_path / "i")
    assert "remove" not in str(told.value)  # an index.json may be of something else


@pytest.mark.parametrize("killed_in", ["_write", "write_bm25", "replace_text"])
@pytest.mark.parametrize("before", [0, 2])
def test_a_kill_leaves_the_old_index(
    before: int, killed_in: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "i"
    if before:
        build(DOCUMENTS[:before], folder)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(indexes, killed_in, killed)
    with pytest.raises(KeyboardInterrupt):
        build(DOCUMENTS, folder)
    if before:
        assert Index(folder).about.passages == before
        assert Index(folder).search("dam")[0].passage == DOCUMENTS[0]
    else:
        with pytest.raises(InputError, match="is not an index"):
            Index(folder)
    monkeypatch.undo()
    assert build(DOCUMENTS, folder).about.passages == 4
    assert len(list(folder.glob("files-*"))) == 1 + bool(before)


def test_what_is_no_index_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="holds other files"):
        build(DOCUMENTS, tmp_path)
    with pytest.raises(InputError, match="two passages have the id 'd0'"):
        build([DOCUMENTS[0], DOCUMENTS[0]], tmp_path / "i")
    with pytest.raises(InputError, match="no passage"):
        build([], tmp_path / "i")


def test_nothing_on_the_disk_is_a_pickle(built: Path) -> None:
    for file in built.rglob("*"):
        if file.suffix == ".npy":
            assert file.read_bytes()[:6] == b"\x93NUMPY"
            assert b"'descr': '|O'" not in file.read_bytes()[:128]
        elif file.suffix in (".json", ".jsonl"):
            text = file.read_text("utf-8")
            json.loads(text.splitlines()[0] if file.suffix == ".jsonl" else text)
        else:
            assert file.is_dir() or not file.read_bytes()
