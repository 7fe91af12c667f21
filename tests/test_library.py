"""The library's front: results, printing, and that importing it loads nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from by_schema import reply, weigh
from commands import Contested
from scripted import KEY, Scripted

import contested as library

DOCUMENTS = {
    "guide": "The bridge was opened by the mayor in 1932. <script>alert(1)</script>",
    "study": "The bridge was not opened in 1932.",
}
CLAIM = "The bridge was opened in 1932."


def test_importing_it_loads_no_library() -> None:
    heavy = "{'numpy', 'torch', 'pydantic', 'transformers', 'rich', 'aiohttp'}"
    code = f"import contested, sys; print(sorted({heavy} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_score_is_that_of_the_command(
    contested: Contested, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = library.score(CLAIM, DOCUMENTS, judge="tagger")
    assert (found.result.cs_c, found.result.evidence) == (1, 1)
    assert "+ supports" in str(found)
    assert "- contradicts" in str(found)
    shown = found._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert "<script>alert" not in shown
    monkeypatch.chdir(tmp_path)
    Path("response.txt").write_text(CLAIM)
    for name, text in DOCUMENTS.items():
        Path(f"{name}.txt").write_text(text)
    files = ["--response", "response.txt", "--documents", "guide.txt", "study.txt"]
    told = contested.done("score", *files, "--judge", "tagger", "--json")
    assert json.loads(told.out) == found.model_dump()


async def test_both_kinds_of_function_work_in_an_event_loop() -> None:
    waited = library.score(CLAIM, DOCUMENTS, judge="tagger", claims=[CLAIM, "It is red."])
    awaited = await library.ascore(CLAIM, DOCUMENTS, judge="tagger", claims=[CLAIM, "It is red."])
    assert waited.result == awaited.result
    assert waited.result.claims == (CLAIM, "It is red.")


def test_both_sides_of_a_claim(
    contested: Contested, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = library.ask(CLAIM, [*DOCUMENTS.values()])
    assert answer.result.disputed
    assert {row.passage.id for row in answer.result.evidence} == {"d1", "d2"}
    assert "disputed" in str(answer)
    monkeypatch.chdir(tmp_path)
    for number, text in enumerate(DOCUMENTS.values(), 1):
        Path(f"d{number}.txt").write_text(text)
    files = ["--documents", "d1.txt", "d2.txt", "--method", "bm25"]
    told = contested.done("ask", CLAIM, *files, "--json")
    assert json.loads(told.out) == answer.model_dump()


def test_a_row_of_labels_for_each_claim() -> None:
    rows = library.tag([CLAIM, "The bridge was not opened in 1932."], DOCUMENTS)
    assert [[one.relation.value for one in row] for row in rows] == [
        ["SUPPORTS", "CONTRADICTS"],
        ["CONTRADICTS", "SUPPORTS"],
    ]


def test_what_asks_a_model(endpoint: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTESTED_API_KEY", KEY)
    endpoint.reply, endpoint.weigh = reply, weigh
    debate = library.debate("When?", DOCUMENTS, rounds=2, endpoint=endpoint.url)
    assert debate.result.rounds
    assert "Agent 2" in str(debate)
    resolved = library.resolve("When?", DOCUMENTS, endpoint=endpoint.url)
    assert resolved.result.outcomes["pipeline"].answer.text
    assert [source.title for source in resolved.result.asked.sources] == [*DOCUMENTS]


def test_a_text_is_no_list_and_a_misspelt_argument_is_refused() -> None:
    with pytest.raises(library.Error, match="documents: give a list of texts"):
        library.score(CLAIM, CLAIM)
    with pytest.raises(library.Error, match="claims: give a list of texts"):
        library.tag(CLAIM, DOCUMENTS)
    with pytest.raises(library.Error, match="pro: give a list of texts"):
        library.check(CLAIM, CLAIM, [CLAIM], CLAIM)
    with pytest.raises(TypeError, match="there is no argument 'judg'; did you mean 'judge'"):
        library.ask(CLAIM, DOCUMENTS, judg="model")  # type: ignore[call-arg]


def test_errors_name_arguments_but_keep_commands() -> None:
    with pytest.raises(library.Error, match=r"^`model` has no effect with `judge` tagger"):
        library.ask(CLAIM, DOCUMENTS, judge="tagger", model="m")
    with pytest.raises(
        library.Error, match=r"with scripts/fetch_models\.sh --tagger contested-nli-large, or"
    ):
        library.ask(CLAIM, DOCUMENTS, tagger="m")


@pytest.mark.parametrize(
    ("documents", "message"),
    [([], "there are no documents"), ({"a": " "}, "document 'a': "), ({"": "b"}, "document '': ")],
)
def test_what_cannot_be_done_is_one_line(documents: library.Given, message: str) -> None:
    with pytest.raises(library.Error, match=message) as raised:
        library.score(CLAIM, documents)
    assert "\n" not in str(raised.value)
