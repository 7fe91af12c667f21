"""`contested run conrag`, as a person meets it: claims, RAGTruth, ALCE, QAMPARI, FEVER."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, contents, table
from scripted import KEY, Scripted, prompt_of

EXAMPLE = {
    "id": "bridge",
    "source": "mine",
    "claim": "The bridge was opened in 1932.",
    "documents": [
        {"id": "guide", "text": "The bridge was opened by the mayor in 1932."},
        {"id": "study", "text": "Traffic first crossed the bridge in May 1936."},
    ],
    "relations": ["SUPPORTS", "CONTRADICTS"],
    "conflict": True,
}
WATER = {
    "id": "0",
    "text": "The watermill was built in 1902.",
    "label": "SUPPORTS",
    "wikipedia_page": "Watermill",
    "gold_evidence": [{"text": "The watermill dates from 1902."}],
    "retrieved_evidence": [{"text": "It is of stone."}],
}
RESPONSE: dict[str, Any] = {
    "id": "1",
    "source_id": "s1",
    "labels": [{"start": 25, "end": 29, "label_type": "Evident Conflict"}],
    "split": "test",
    "response": "The bridge was opened in 1936. The mayor opened it.",
}
FAITHFUL = RESPONSE | {"id": "2", "labels": [], "response": "The mayor opened the bridge in 1932."}
FAULTY = RESPONSE | {"id": "3", "quality": "truncated"}
SOURCE = {
    "source_id": "s1",
    "task_type": "QA",
    "source_info": {
        "question": "when was the bridge opened",
        "passages": "passage 1:The bridge was opened by the mayor in 1932.\n\n"
        "passage 2:Ferries cross the river, too.\n\n",
    },
}
RAGTRUTH = ["--dataset", "ragtruth", "--data", "response.jsonl", "--corpus", "source_info.jsonl"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONTESTED_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CONTESTED_API_KEY", KEY)
    Path("claims.jsonl").write_text(json.dumps(EXAMPLE) + "\n")
    Path("fm2.jsonl").write_text(json.dumps(WATER) + "\n")
    responses = [RESPONSE, FAITHFUL, FAULTY]
    Path("response.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in responses))
    Path("source_info.jsonl").write_text(json.dumps(SOURCE) + "\n")
    Path("others.jsonl").write_text(json.dumps(SOURCE | {"source_id": "s2"}) + "\n")
    Path("faulty.jsonl").write_text(json.dumps(FAULTY) + "\n")
    return tmp_path


def test_hallucinations_in_responses(contested: Contested, folder: Path) -> None:
    contested.done("run", "conrag", *RAGTRUTH, "--method", "bm25", "--out", "out")
    out = folder / "out"
    lines = (out / "conrag.ragtruth.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["1:1", "1:2", "2:1"]
    rows = table(out, "conrag_hallucination")
    ours = {row["method"]: row for row in rows if row["figures"] == "this run"}
    assert list(ours) == ["RelRAG", "NLI-RAG", "CiteRAG", "ConRAG", "Oracle"]
    assert (ours["ConRAG"]["sentences"], ours["ConRAG"]["responses"]) == (3, 2)
    # One of the six words of the first sentence is marked.
    assert ours["Oracle"]["token_f1"] == pytest.approx(2 / (2 + 5))
    assert [row["token_f1"] for row in rows if row["figures"] == "paper, Table VI"] == [
        0.397, 0.464, 0.466, 0.556, 0.611,
    ]  # fmt: skip
    assert table(out, "conrag_citations")[0]["figures"] == "paper, Table V"
    report = (out / "report.html").read_text()
    assert "Token F1, ragtruth" in report
    assert "Passage AUC, ragtruth" in report
    before = contents(out)
    contested.done("run", "conrag", *RAGTRUTH, "--method", "bm25", "--out", "out")
    assert contents(out) == before


# QAMPARI, and FEVER.

FEVER = ["--dataset", "fever", "--data", "dev.jsonl", "--corpus", "wiki-pages"]


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


def test_fever_on_the_pages_of_all_claims(contested: Contested, folder: Path) -> None:
    wikipedia()
    command = ["run", "conrag", *FEVER, "--among", "all", "--method", "bm25", "--out", "out"]
    contested.done(*command)
    out = folder / "out"
    lines = (out / "conrag.fever.jsonl").read_text().splitlines()
    found = [[one["passage"]["id"] for one in json.loads(line)["passages"]] for line in lines]
    assert found == [["Alder_Bridge:0"], [], []], "Salmon are on no page of the claims"
    config = json.loads((out / "run.json").read_text())["pipelines"]["conrag.fever"]["config"]
    assert config["retrieval"]["among"] == "all"
    assert "2 of 3 claims had no passage" in (out / "tables" / "conrag_stance.md").read_text()
    assert "bm25 in all passages" in (out / "report.html").read_text()
    before = contents(out)
    contested.done(*command)
    assert contents(out) == before
