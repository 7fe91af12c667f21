"""`contested run conrag`, as a person meets it, over RAGTruth."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, contents, table
from scripted import KEY

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
    responses = [RESPONSE, FAITHFUL, FAULTY]
    Path("response.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in responses))
    Path("source_info.jsonl").write_text(json.dumps(SOURCE) + "\n")
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
