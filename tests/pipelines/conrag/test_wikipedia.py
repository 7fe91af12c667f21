"""Sentences that are found on all pages of FEVER's Wikipedia, on a small dump of our own."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.conrag.data import from_fever, read
from pipelines.conrag.query import Query
from pipelines.conrag.search import Search, WikipediaSearch, digest_of_pages
from pipelines.data.fever import FeverClaim, page_title
from pipelines.errors import InputError
from pipelines.retrieval import index as indexes

LONG = "Weirs_" + "of_the_north_" * 20
LONG_CAFE = "Tearooms_" + "of_the_cafe\u0301_" * 20
BRIDGE = "Alder_Bridge_-LRB-Maine-RRB-"


def page(title: str, *sentences: str) -> dict[str, str]:
    lines = "\n".join(f"{number}\t{text}\tlink" for number, text in enumerate(sentences))
    return {"id": title, "text": " ".join(sentences), "lines": lines}


def dump(folder: Path, *more: dict[str, str]) -> Path:
    folder.mkdir()
    first = [
        {"id": "", "text": "", "lines": ""},
        page(BRIDGE, "", "It was opened in 1932 .", "", "Salmon pass below it ."),
        page("Alder", "Alder is a tree ."),
    ]
    second = [
        page(LONG, "Many weirs were built ."),
        page("Cafe\u0301", "A café serves coffee ."),
        page(LONG_CAFE, "They serve cake ."),
        *more,
    ]
    for number, pages in enumerate((first, second), start=1):
        text = "".join(f"{json.dumps(each)}\n" for each in pages)
        (folder / f"wiki-{number:03}.jsonl").write_text(text)
    return folder


def claim(
    text: str, label: str = "NOT ENOUGH INFO", *evidence: tuple[str, int], number: int = 1
) -> dict[str, Any]:
    sets = [[[1, 2, name, line]] for name, line in evidence] or [[[1, None, None, None]]]
    return {"id": number, "claim": text, "label": label, "evidence": sets}


def query(text: str, *evidence: tuple[str, int]) -> Query:
    (found,) = from_fever([FeverClaim.model_validate(claim(text, "SUPPORTS", *evidence))], {})
    return found


def test_sentences_of_all_pages_are_found_and_called_as_evidence_calls_them(
    tmp_path: Path,
) -> None:
    files = []
    search = WikipediaSearch(dump(tmp_path / "wiki"), tmp_path / "out", lambda: files.append(1))
    assert len(files) == 2
    asked = query("Alder Bridge was opened in 1932.", (BRIDGE, 1))
    found = search(asked, 20)
    assert frozenset({found[0].passage.id}) in asked.evidence
    assert found[0].passage.text == "It was opened in 1932."
    assert found[0].passage.title == "Alder Bridge (Maine)"
    assert found[0].relevance == 1
    # The other sentence of the page, and the tree; none of pages that share no word.
    assert {each.passage.id for each in found} == {f"{BRIDGE}:1", f"{BRIDGE}:3", "Alder:0"}
    assert search(asked, 1) == found[:1]
    assert search(query("Xylophones sing.", ("X", 0)), 5) == []


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Weirs of the north were built.", LONG),
        ("coffee", "Caf\u00e9"),
        ("cake", LONG_CAFE.replace("e\u0301", "\u00e9")),
    ],
)
def test_odd_titles_are_those_of_the_evidence(text: str, title: str, tmp_path: Path) -> None:
    asked = query(text, (title, 0))
    (found,) = WikipediaSearch(dump(tmp_path / "wiki"), tmp_path / "out")(asked, 5)
    assert asked.evidence == (frozenset({found.passage.id}),)
    assert found.passage.title == page_title(title)


def test_an_index_is_made_once_for_a_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = dump(tmp_path / "wiki")
    WikipediaSearch(one, tmp_path / "out")
    with monkeypatch.context() as patched:
        patched.setattr(indexes, "_write", None)
        assert WikipediaSearch(one, tmp_path / "out").about() == {
            "method": "bm25",
            "among": "wiki",
            "model": None,
            "pages": 10,
            "passages": digest_of_pages(one),
        }
    other = WikipediaSearch(dump(tmp_path / "wiki2", page("Dam", "Dams.")), tmp_path / "out")
    assert [each.passage.id for each in other(query("dams", ("Dam", 0)), 5)] == ["Dam:0"]
    assert len(list((tmp_path / "out").glob("index-wiki-*"))) == 2
    with pytest.raises(InputError, match=r"has no wiki-\*\.jsonl"):
        WikipediaSearch(tmp_path / "out", tmp_path / "more")


def test_a_claim_without_evidence_is_searched_for_on_the_pages_of_the_others(
    tmp_path: Path,
) -> None:
    path = tmp_path / "dev.jsonl"
    rows = [
        claim("Alder Bridge was opened in 1932.", "SUPPORTS", (BRIDGE, 1)),
        claim("Alders are trees.", "SUPPORTS", ("Alder", 0), number=2),
        claim("Salmon like Alder Bridge.", number=3),
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    data = read("fever", path, corpus=dump(tmp_path / "wiki"))
    search = Search(data, tmp_path / "index", method="bm25", among="own", embedder=None)
    with_evidence, _, without = data.queries
    assert without.passages == ()
    assert {each.passage.id for each in search(without, 5)} == {
        f"{BRIDGE}:1",
        f"{BRIDGE}:3",
        "Alder:0",
    }
    assert {each.passage.id for each in search(with_evidence, 5)} == {f"{BRIDGE}:1", f"{BRIDGE}:3"}
