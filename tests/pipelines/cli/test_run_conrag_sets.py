"""`contested run conrag` on QAMPARI and on all of FEVER's Wikipedia, as a person meets it."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, contents, table
from scripted import KEY, Scripted

FEVER = ["--dataset", "fever", "--data", "dev.jsonl", "--corpus", "wiki-pages"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONTESTED_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CONTESTED_API_KEY", KEY)
    return tmp_path


def prompt_of(request: dict[str, Any]) -> str:
    text: str = request["messages"][-1]["content"]
    return text


def listing(request: dict[str, Any]) -> str:
    """A writer of lists, in which one bridge is right and one is not."""
    if request["response_format"]["json_schema"]["name"] == "FirstAnswerReply":
        return '{"answers": ["Alder Bridge"]}'
    assert "asks for a list" in prompt_of(request)
    said = {"about": "answer", "sent": "the Alder Bridge, Reed Crossing.", "cites": [1]}
    return json.dumps({"conflict": "", "sentences": [said]})


def test_lists_of_qampari(contested: Contested, folder: Path) -> None:
    question = {
        "id": "7__dev",
        "question": "Which bridges did Ada Ng build?",
        "answers": [["Alder Bridge", "Old Alder Bridge"], ["Mill Bridge"]],
        "docs": [
            {"title": "Ada Ng", "text": "Ada Ng built Alder Bridge."},
            {"title": "Food", "text": "Cheese is made of milk."},
        ],
    }
    Path("qampari.json").write_text(json.dumps([question]))
    asked = ["run", "conrag", "--dataset", "alce", "--data", "qampari.json", "--out", "out"]
    with Scripted(reply=listing) as endpoint:
        contested.done(*asked, "--endpoint", endpoint.url)
        before = contents(folder / "out")
        contested.done(*asked, "--endpoint", endpoint.url)
        assert contents(folder / "out") == before, "a finished run is left as it is"
    (ours,) = [
        row
        for row in table(folder / "out", "conrag_citations")
        if (row["method"], row["figures"]) == ("ConRAG", "this run")
    ]
    assert ours["dataset"] == "alce-qampari"
    assert (ours["list_precision"], ours["list_f1_5"], ours["answer_recall"]) == (0.5, 0.5, 0.5)
    assert ours["str_em_substrings"] is None
    assert ours["statements"] == 2


def wikipedia() -> None:
    Path("wiki-pages").mkdir()
    pages = {"Alder_Bridge": "It was opened in 1932 .", "Salmon": "Salmon are fish ."}
    rows = [{"id": name, "text": text, "lines": f"0\t{text}"} for name, text in pages.items()]
    Path("wiki-pages/wiki-001.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    claims = [
        {"id": 1, "claim": "Alder Bridge was opened in 1932.", "label": "SUPPORTS",
         "evidence": [[[1, 2, "Alder_Bridge", 0]]]},
        {"id": 2, "claim": "Salmon are old.", "label": "NOT ENOUGH INFO",
         "evidence": [[[3, None, None, None]]]},
        {"id": 3, "claim": "Xylophones sing.", "label": "NOT ENOUGH INFO",
         "evidence": [[[4, None, None, None]]]},
    ]  # fmt: skip
    Path("dev.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in claims))


def test_fever_on_all_pages(contested: Contested, folder: Path) -> None:
    wikipedia()
    command = ["run", "conrag", *FEVER, "--among", "wiki", "--out", "out"]
    told = contested.done(*command, "--dry-run").out
    assert "all pages of Wikipedia" in told
    assert "pairs to tag: unknown" in told, "nobody knows yet what is found"
    contested.done(*command)
    out = folder / "out"
    lines = (out / "conrag.fever.jsonl").read_text().splitlines()
    found = [[each["id"] for each in json.loads(line)["passages"]] for line in lines]
    assert found == [["Alder_Bridge:0"], ["Salmon:0"], []]
    config = json.loads((out / "run.json").read_text())["pipelines"]["conrag.fever"]["config"]
    assert config["retrieval"]["among"] == "wiki"
    assert "1 of 3 claims had no passage" in (out / "tables" / "conrag_stance.md").read_text()
    assert "bm25 in all of Wikipedia" in (out / "report.html").read_text()
    before = contents(out)
    contested.done(*command)
    assert contents(out) == before


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--among", "wiki"], "--among wiki searches the pages of fever"),
        ([*FEVER[:4], "--among", "wiki"], "needs its passages; name the folder wiki-pages"),
        ([*FEVER[:5], ".", "--among", "wiki"], "has no wiki-*.jsonl"),
    ],
)
def test_what_does_not_go_with_all_pages(
    arguments: list[str], problem: str, contested: Contested
) -> None:
    wikipedia()
    assert problem in " ".join(contested.refused("run", "conrag", *arguments).split())
