"""Sentences that are found on all pages of FEVER's Wikipedia, on a small dump of our own."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.conrag.data import Query, from_fever, read
from pipelines.conrag.search import digest_of_pages, in_claims, in_wikipedia
from pipelines.data.fever import FeverClaim, page_title
from pipelines.errors import InputError
from pipelines.retrieval import index as indexes

LONG = "Weirs_" + "of_the_north_" * 20
LONG_CAFE = "Tearooms_" + "of_the_cafe\u0301_" * 20
BRIDGE = "Alder_Bridge_-LRB-Maine-RRB-"
THREE = {f"{BRIDGE}:1", f"{BRIDGE}:3", "Alder:0"}


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
        text = "".join(f"{json.dumps(row)}\n" for row in pages)
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
    search = in_wikipedia(dump(tmp_path / "wiki"), tmp_path / "out", lambda: files.append(1))
    assert len(files) == 2
    asked = query("Alder Bridge was opened in 1932.", (BRIDGE, 1))
    found = search.find(asked, 20)
    assert frozenset({found[0].passage.id}) in asked.evidence
    assert (found[0].passage.text, found[0].relevance) == ("It was opened in 1932.", 1)
    # The other sentence of the page, and the tree; none of pages that share no word.
    assert {one.passage.id for one in found} == THREE
    assert search.find(asked, 1) == found[:1]
    assert search.find(query("Xylophones sing.", ("X", 0)), 5) == []
    for text, title in (
        ("Weirs of the north were built.", LONG),
        ("coffee", "Caf\u00e9"),
        ("cake", LONG_CAFE.replace("e\u0301", "\u00e9")),
    ):
        asked = query(text, (title, 0))
        (odd,) = search.find(asked, 5)
        assert asked.evidence == (frozenset({odd.passage.id}),)
        assert odd.passage.title == page_title(title)


def test_an_index_is_made_once_for_a_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = dump(tmp_path / "wiki")
    in_wikipedia(one, tmp_path / "out")
    with monkeypatch.context() as patched:
        patched.setattr(indexes, "_write", None)
        about = in_wikipedia(one, tmp_path / "out").about
    assert (about["among"], about["passages"]) == ("wiki", digest_of_pages(one))
    other = in_wikipedia(dump(tmp_path / "wiki2", page("Dam", "Dams.")), tmp_path / "out")
    assert [found.passage.id for found in other.find(query("dams", ("Dam", 0)), 5)] == ["Dam:0"]
    with pytest.raises(InputError, match=r"has no wiki-\*\.jsonl"):
        in_wikipedia(tmp_path / "out", tmp_path / "more")


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
    search = in_claims(data, tmp_path / "index", method="bm25", among="own", embedder=None)
    with_evidence, _, without = data.queries
    assert without.passages == ()
    assert {found.passage.id for found in search.find(without, 5)} == THREE
    assert {found.passage.id for found in search.find(with_evidence, 5)} == THREE - {"Alder:0"}
