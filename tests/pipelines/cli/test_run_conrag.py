"""`contested run conrag`, as a person meets it: claims, RAGTruth, ALCE, QAMPARI."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, at, contents, entries, ours, records, table, write
from scripted import Scripted, prompt_of

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
def files() -> None:
    write("claims.jsonl", EXAMPLE)
    write("response.jsonl", RESPONSE, FAITHFUL, FAULTY)
    write("source_info.jsonl", SOURCE)


def test_hallucinations_in_responses(contested: Contested) -> None:
    contested.done("run", "conrag", *RAGTRUTH, "--method", "bm25", "--out", "out")
    out = Path("out")
    results = records(out / "conrag.ragtruth.jsonl")
    assert [result["id"] for result in results] == ["1:1", "1:2", "2:1"]
    rows = table(out, "conrag_hallucination")
    found = {row["method"]: row for row in ours("conrag_hallucination")}
    assert list(found) == ["RelRAG", "NLI-RAG", "CiteRAG", "ConRAG", "Oracle"]
    assert (found["ConRAG"]["sentences"], found["ConRAG"]["responses"]) == (3, 2)
    # One of the six words of the first sentence is marked.
    assert found["Oracle"]["token_f1"] == pytest.approx(2 / (2 + 5))
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


def test_an_index_of_another_corpus_is_not_searched(contested: Contested) -> None:
    run = ["run", "conrag", *RAGTRUTH, "--method", "bm25", "--out", "out"]
    contested.done(*run)
    # A run killed before it recorded its corpus leaves only its index.
    for file in Path("out").iterdir():
        if file.is_file():
            file.unlink()
    other = json.loads(json.dumps(SOURCE).replace("by the mayor", "by the king"))
    write("source_info.jsonl", other)
    contested.done(*run)
    results = json.dumps(records(Path("out/conrag.ragtruth.jsonl")))
    assert "opened by the king in 1932" in results
    assert "opened by the mayor in 1932." not in results


ALCE = ["--dataset", "alce", "--data", "asqa.json"]


def alce_file() -> None:
    docs = [
        {"title": "Guide", "text": "The bridge was opened by the mayor in 1932."},
        {"title": "Study", "text": "Traffic first crossed the bridge in May 1936."},
        {"title": "Food", "text": "Cheese is made of milk."},
    ]
    question = {
        "sample_id": "7",
        "question": "When was the bridge opened?",
        "qa_pairs": [{"short_answers": ["1932"]}],
        "docs": docs,
    }
    Path("asqa.json").write_text(json.dumps([question]))


def answering(request: dict[str, Any]) -> str:
    """A writer that knows the year, and cites the first passage for it."""
    schema = request["response_format"]["json_schema"]["name"]
    if schema == "FirstAnswerReply":
        return '{"answers": ["1932"]}'
    said = {"about": "answer", "sent": "The bridge was opened in 1932.", "cites": [1]}
    return json.dumps({"stance": "SUPPORT", "conflict": "", "sentences": [said]})


def judging(request: dict[str, Any]) -> str:
    """As `answering`; as a judge it lets nothing bear anything out."""
    if request["response_format"]["json_schema"]["name"] != "RelationReply":
        return answering(request)
    return json.dumps({"snippet": "", "reasoning": "It does not say.", "answer": "IRRELEVANT"})


def sorting(request: dict[str, Any]) -> str:
    """As `judging`; of evidence it sorts the first passage alone."""
    if request["response_format"]["json_schema"]["name"] != "SortReply":
        return judging(request)
    first = {"number": 1, "reason": "It has the year."}
    return json.dumps({"support": [first], "refute": [], "irrelevant": []})


def test_questions_as_in_the_paper(contested: Contested, endpoint: Scripted) -> None:
    alce_file()
    endpoint.reply = sorting
    told = contested.done("run", "conrag", *ALCE, "--as-in-paper", *at(endpoint), "--out", "out")
    asked = {
        each["response_format"]["json_schema"]["name"]
        for each in endpoint.requests
        if "response_format" in each
    }
    assert {"SortReply", "RelationReply"} <= asked
    assert "--sort model" in " ".join(told.err.split())
    entry = entries("out")["conrag.alce-asqa"]
    assert (entry["preset"], entry["config"]["conrag"]["sort"]) == ("as-in-paper", "model")
    assert entry["config"]["citations"]["model"]["name"] == "scripted"


def test_what_a_language_model_writes_is_drawn_by_the_seed(
    contested: Contested, endpoint: Scripted
) -> None:
    run = ["run", "conrag", "--data", "claims.jsonl", "--generator", "model", "--method", "bm25"]
    endpoint.reply = answering
    contested.done(*run, *at(endpoint), "--out", "greedy")
    greedy = len(endpoint.requests)
    contested.done(*run, *at(endpoint), "--temperature", "0.7", "--out", "out")
    drawn = [(each["temperature"], each["seed"]) for each in endpoint.requests]
    assert set(drawn[:greedy]) == {(0, 0)}, "nothing is drawn at 0"
    assert set(drawn[greedy:]) == {(0.7, 42)}, "Table III"


# QAMPARI.


def listing(request: dict[str, Any]) -> str:
    """A writer of lists, in which one bridge is right and one is not."""
    if request["response_format"]["json_schema"]["name"] == "FirstAnswerReply":
        return '{"answers": ["Alder Bridge"]}'
    assert "asks for a list" in prompt_of(request)
    said = {"about": "answer", "sent": "the Alder Bridge, Reed Crossing.", "cites": [1]}
    return json.dumps({"conflict": "", "sentences": [said]})


def test_lists_of_qampari(contested: Contested, endpoint: Scripted) -> None:
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
    endpoint.reply = listing
    contested.done(*asked, *at(endpoint))
    (row,) = ours("conrag_citations", method="ConRAG")
    assert row["dataset"] == "alce-qampari"
    assert (row["list_precision"], row["list_f1_5"], row["answer_recall"]) == (0.5, 0.5, 0.5)
    assert row["str_em_substrings"] is None
    assert row["statements"] == 2
