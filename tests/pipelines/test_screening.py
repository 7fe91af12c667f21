"""Documents screened for contradictions: which pairs are read, what they come to, how it ends."""

import json
from pathlib import Path

import pytest
from commands import Contested, write
from tagging import ScriptedTagger, offer

import contested as library
from nli.pairs import Pair
from pipelines.data.records import Document
from pipelines.screening import candidates, screen, statements

TEXTS = {
    "guide": "# Bridge\n\nThe bridge opened in 1932. The mayor was there.",
    "study": "The bridge opened in 1936. Nobody knows why.",
    "menu": "Apple cake costs four pounds.",
}
DOCUMENTS = [Document(id=name, text=text) for name, text in TEXTS.items()]
FIRST, SECOND = "The bridge opened in 1932.", "The bridge opened in 1936."


def by_year(pair: Pair) -> tuple[float, float, float]:
    """The later year denies the earlier with 0.9, the earlier the later with 0.7."""
    if "1932" in pair.premise:
        return (0.1, 0.7, 0.2)
    return (0.1, 0.9, 0.0)


def test_statements_keep_their_places_and_headings_are_none() -> None:
    assert [statement.text for statement in statements(DOCUMENTS[0])] == [
        FIRST,
        "The mayor was there.",
    ]
    for document in DOCUMENTS:
        for statement in statements(document):
            assert document.text[statement.start : statement.end] == statement.text


def test_only_what_shares_a_word_with_another_document_is_compared() -> None:
    stated = [statement for document in DOCUMENTS for statement in statements(document)]
    assert [(one.text, other.text) for one, other in candidates(stated)] == [(FIRST, SECOND)]


def test_pairs_are_read_both_ways_and_told_from_the_threshold() -> None:
    tagger = ScriptedTagger(by_year, shows=False)
    found = screen([DOCUMENTS], tagger, 0.8)
    assert tagger.batches == [
        [
            Pair(f"{FIRST} The mayor was there.", SECOND),
            Pair(f"{SECOND} Nobody knows why.", FIRST),
        ]
    ]
    assert (found.statements, found.compared) == (4, 1)
    (told,) = found.contradictions
    assert (told.first.document, told.second.document) == ("guide", "study")
    assert found.likeliest("study", "guide") == told.probability == pytest.approx(0.8)
    assert found.likeliest("guide", "menu") is None
    assert not screen([DOCUMENTS], tagger, 0.81).contradictions


def test_documents_of_other_records_are_not_compared() -> None:
    assert (
        screen([DOCUMENTS[:1], DOCUMENTS[1:]], ScriptedTagger(by_year, shows=False), 0.0).compared
        == 0
    )


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ScriptedTagger:
    monkeypatch.chdir(tmp_path)
    for name, text in TEXTS.items():
        Path(f"{name}.md").write_text(text)
    return offer(monkeypatch, ScriptedTagger(by_year, shows=False))


@pytest.mark.usefixtures("scripted")
def test_the_exit_code_says_whether_any_contradict(contested: Contested) -> None:
    told = contested("screen", "guide.md", "study.md", "menu.md")
    assert told.code == 1
    assert "guide.md against study.md: 0.80" in told.out
    assert told.out.index(FIRST) < told.out.index("│ 0.80")
    assert "< 0.5" not in told.out.partition("; < 0.5: below")[0]
    assert "│ < 0.9" in contested("screen", *map("{}.md".format, TEXTS), "--threshold", "0.9").out
    assert contested("screen", "guide.md", "menu.md").code == 0


@pytest.mark.usefixtures("scripted")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "name either documents, or a file of records with --data"),
        (["guide.md", "--data", "records.jsonl"], "name either documents, or a file of records"),
        (["guide.md"], "name two or more"),
        (["guide.md", "absent.md"], "absent.md"),
        (["records.jsonl"], "records.jsonl holds records; write --data records.jsonl"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    contested: Contested, arguments: list[str], says: str
) -> None:
    document = {"id": "d", "text": "Yes."}
    record = {"id": "r1", "documents": [document], "response": "Yes."}
    write("records.jsonl", record)
    contested.refused("screen", *arguments, says=[says])


@pytest.mark.usefixtures("scripted")
def test_the_library_finds_what_the_command_finds(contested: Contested) -> None:
    texts = {f"{name}.md": text for name, text in TEXTS.items()}
    found = library.screen(texts)
    told = contested("screen", "guide.md", "study.md", "menu.md", "--json")
    assert json.loads(told.out) == found.model_dump()
    assert "0.80" in str(found)
