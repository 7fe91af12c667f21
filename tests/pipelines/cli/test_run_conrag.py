"""`contested run conrag`, as a person meets it."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, contents, table
from scripted import KEY, Scripted

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
    "model": "some-model",
    "temperature": 0.7,
    "labels": [
        {
            "start": 25,
            "end": 29,
            "text": "1936",
            "meta": "EVIDENT CONFLICT\nOriginal: 1932\nGenerated: 1936",
            "label_type": "Evident Conflict",
            "implicit_true": False,
            "due_to_null": False,
        }
    ],
    "split": "test",
    "quality": "good",
    "response": "The bridge was opened in 1936. The mayor opened it.",
}
FAITHFUL = RESPONSE | {"id": "2", "labels": [], "response": "The mayor opened the bridge in 1932."}
FAULTY = RESPONSE | {"id": "3", "quality": "truncated"}
SOURCE = {
    "source_id": "s1",
    "task_type": "QA",
    "source": "MARCO",
    "source_info": {
        "question": "when was the bridge opened",
        "passages": "passage 1:The bridge was opened by the mayor in 1932.\n\n"
        "passage 2:Ferries cross the river, too.\n\n",
    },
    "prompt": "Answer.",
}
RAGTRUTH = ["--dataset", "ragtruth", "--data", "response.jsonl", "--corpus", "source_info.jsonl"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONTESTED_HOME", str(tmp_path / "home"))
    Path("claims.jsonl").write_text(json.dumps(EXAMPLE) + "\n")
    Path("fm2.jsonl").write_text(json.dumps(WATER) + "\n")
    responses = [RESPONSE, FAITHFUL, FAULTY]
    Path("response.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in responses))
    Path("source_info.jsonl").write_text(json.dumps(SOURCE) + "\n")
    Path("others.jsonl").write_text(json.dumps(SOURCE | {"source_id": "s2"}) + "\n")
    Path("faulty.jsonl").write_text(json.dumps(FAULTY) + "\n")
    return tmp_path


def test_the_bundled_claims_by_the_shipped_tagger(contested: Contested, folder: Path) -> None:
    contested.done("run", "conrag", "--limit", "4", "--method", "bm25", "--out", "out")
    out = folder / "out"
    lines = (out / "conrag.claims.jsonl").read_text().splitlines()
    assert len(lines) == 4
    rows = [row for row in table(out, "conrag_stance") if row["figures"] == "this run"]
    assert [row["method"] for row in rows] == ["RelRAG", "NLI-RAG", "CiteRAG", "ConRAG", "Oracle"]
    assert {row["claims"] for row in rows} == {4}
    # Where every tag is right the rule is, but for a dispute of two passages against one.
    assert rows[-1]["accuracy"] == 0.75
    page = (out / "report.html").read_text()
    assert "<dt>claims</dt>" in page
    assert "contested-nli" in page
    before = contents(out)
    contested.done("run", "conrag", "--limit", "4", "--method", "bm25", "--out", "out")
    assert contents(out) == before, "a finished run is left as it is"


def test_two_data_sets_in_one_folder_stand_in_one_table(contested: Contested, folder: Path) -> None:
    for arguments in (["--data", "claims.jsonl"], ["--dataset", "fool-me-twice", "--data",
                                                   "fm2.jsonl"]):  # fmt: skip
        contested.done("run", "conrag", *arguments, "--method", "bm25", "--out", "out")
    rows = table(folder / "out", "conrag_stance")
    assert {row["dataset"] for row in rows if row["figures"] == "this run"} == {
        "claims",
        "fool-me-twice",
    }
    again = ["run", "conrag", "--data", "claims.jsonl", "--method", "bm25", "--out", "out"]
    assert "differs in conrag.delta (" in contested.refused(*again, "--delta", "0.2")


def test_splits_of_the_release_and_rows_that_are_not_in_its_format(
    contested: Contested, folder: Path
) -> None:
    rows = [
        RESPONSE | {"split": "train"},
        FAITHFUL | {"split": "test"},
        RESPONSE | {"id": "9", "labels": [RESPONSE["labels"][0] | {"label_type": "Typo"}]},
    ]
    Path("response.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    told = contested.done("run", "conrag", *RAGTRUTH, "--half", "test", "--method", "bm25").err
    assert (
        "rows skipped: 1; the first: response.jsonl:3: the field 'labels.0.label_type'"
        in " ".join(told.split())
    )
    lines = Path("results/conrag.ragtruth.jsonl").read_text().splitlines()
    assert {json.loads(line)["id"].split(":")[0] for line in lines} == {"2"}
    assert table(Path("results"), "conrag_data")[0]["skipped"] == 1


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


def test_a_dry_run_reads_the_data_and_nothing_else(contested: Contested, folder: Path) -> None:
    told = contested.done("run", "conrag", "--data", "claims.jsonl", "--dry-run", "--out", "out")
    assert told.out == (
        "1 claims from claims.jsonl, 2 passages, tagged by nli\n"
        "0 of 1 claims are done\n"
        "pairs to tag: at most 4\n"  # two passages, and two packets of them
        "no language model is asked\n"
        "bounds, item by item; what the cache has, or items share, is not subtracted\n"
    )
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--dataset wice", "--dataset wice needs its file; name it with --data"),
        ("--dataset scifact --data claims.jsonl", "needs its passages; name corpus.jsonl"),
        ("--dataset ragtruth --data response.jsonl", "needs its passages; name source_info.jsonl"),
        (
            "--dataset ragtruth --data response.jsonl --corpus others.jsonl",
            "response '1' was written from source 's1', which is not among the sources",
        ),
        (
            "--dataset ragtruth --data response.jsonl --corpus claims.jsonl",
            "claims.jsonl:1: the field 'source_id' is missing",
        ),
        (
            "--dataset ragtruth --data faulty.jsonl --corpus source_info.jsonl",
            "faulty.jsonl has no claim that can be checked",
        ),
        ("--data claims.jsonl --corpus claims.jsonl", "--corpus has no effect"),
        ("--data none.jsonl", "none.jsonl does not exist"),
        ("--data fm2.jsonl", "fm2.jsonl:1: the field 'source' is missing"),
        ("--dataset fool-me-twice --data fm2.jsonl --half train", "has no claim in the train half"),
        ("--dataset ladders", "is not one of"),
        ("--endpoint http://127.0.0.1:1/v1", "--endpoint has no effect with --labeller nli"),
        ("--method bm25 --embedder .", "--embedder has no effect with --method bm25"),
        ("--embedder .", "no safetensors weights"),
        ("--tau nan", "tau"),
        ("--out claims.jsonl", "cannot be written"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(
    arguments: str, said: str, contested: Contested, folder: Path
) -> None:
    assert said in contested.refused("run", "conrag", *arguments.split())
    assert not list(folder.glob("results/conrag*"))


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


def test_questions_of_alce(
    contested: Contested, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alce_file()
    monkeypatch.setenv("CONTESTED_API_KEY", KEY)
    with Scripted(reply=answering) as endpoint:
        run = ["run", "conrag", *ALCE, "--endpoint", endpoint.url, "--out", "out"]
        contested.done(*run)
        asked = len(endpoint.requests)
        before = contents(folder / "out")
        contested.done(*run)
        assert (len(endpoint.requests), contents(folder / "out")) == (asked, before)
    out = folder / "out"
    rows = {
        row["method"]: row for row in table(out, "conrag_citations") if row["figures"] == "this run"
    }
    assert list(rows) == [
        "RelRAG", "NLI-RAG", "CiteRAG", "ConRAG", "Oracle", "w/o conflict tagging",
        "w/o evidence clustering", "w/o uncertainty policy", "w/o citation binding",
    ]  # fmt: skip
    ours = rows["ConRAG"]
    assert (ours["dataset"], ours["precision"], ours["recall"]) == ("alce-asqa", 1, 1)
    assert (ours["answer_recall"], ours["statements"], ours["unreadable"]) == (1, 1, 0)
    assert not [row for row in table(out, "conrag_stance") if row["figures"] == "this run"]
    entry = json.loads((out / "run.json").read_text())["pipelines"]["conrag.alce-asqa"]
    assert entry["config"]["writer"]["name"] == "scripted"
    assert entry["config"]["retrieval"]["method"] == "the release's ranking"
    assert "conrag/first_answer" in entry["config"]["prompts"]
    itself = "citations judged by contested-nli, which also selected the evidence and so grades"
    assert itself in notes(out)
    assert entry["config"]["citations"]["model"]["name"] == "contested-nli"
    (point,) = [
        row for row in table(out, "conrag_precision_recall")
        if row["figures"] == "this run" and row["method"] == "ConRAG"
    ]  # fmt: skip
    assert (point["least"], point["precision"], point["recall"]) == ("0", 1, 1)
    page = (out / "report.html").read_text()
    assert "Citations, alce-asqa" in page
    assert "writes answers" in page
    assert "the release&#39;s ranking" in page


def notes(out: Path) -> str:
    return " ".join(json.loads((out / "tables/conrag_citations.json").read_text())["notes"])


def judging(request: dict[str, Any]) -> str:
    """As `answering`; as a judge it lets nothing bear anything out."""
    if request["response_format"]["json_schema"]["name"] != "RelationReply":
        return answering(request)
    return json.dumps({"snippet": "", "reasoning": "It does not say.", "answer": "IRRELEVANT"})


def test_another_than_the_selector_judges_citations(
    contested: Contested, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alce_file()
    monkeypatch.setenv("CONTESTED_API_KEY", KEY)
    with Scripted(reply=judging) as endpoint:
        run = ["run", "conrag", *ALCE, "--endpoint", endpoint.url]
        dry = contested.done(*run, "--judge", "llm", "--dry-run", "--out", "by-llm").out
        assert "citations judged by llm" in " ".join(dry.split())
        told = contested.done(*run, "--judge", "llm", "--on-overflow", "cut", "--out", "by-llm")
        asked = [each for each in endpoint.requests if "RelationReply" in str(each)]
        assert asked
        assert "pairs tagged by contested-nli" in told.err
        # The other way round: the model selects, the tagger judges.
        told = contested.done(*run, "--labeller", "llm", "--out", "by-tagger")
        assert "pairs tagged by contested-nli" in told.err
    for out, judge, tagger in (
        ("by-llm", "scripted", "contested-nli"),
        ("by-tagger", "contested-nli", "scripted"),
    ):
        config = json.loads((folder / out / "run.json").read_text())["pipelines"][
            "conrag.alce-asqa"
        ]["config"]
        assert (config["citations"]["model"]["name"], config["model"]["name"]) == (judge, tagger)
        assert "grades itself" not in notes(folder / out)
        assert f"citations judged by {judge}" in (folder / out / "report.html").read_text()
    assert "citations judged by scripted, which also wrote the answers" in notes(folder / "by-llm")
    ours = next(
        row
        for row in table(folder / "by-llm", "conrag_citations")
        if row["figures"] == "this run" and row["method"] == "ConRAG"
    )
    assert ours["recall"] == 0, "by the judge, though the tagger finds it borne out"


def sorting(request: dict[str, Any]) -> str:
    """As `judging`; of evidence it sorts the first passage alone."""
    if request["response_format"]["json_schema"]["name"] != "SortReply":
        return judging(request)
    first = {"number": 1, "reason": "It has the year."}
    return json.dumps({"support": [first], "refute": [], "irrelevant": []})


def test_questions_as_in_the_paper(
    contested: Contested, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alce_file()
    monkeypatch.setenv("CONTESTED_API_KEY", KEY)
    with Scripted(reply=sorting) as endpoint:
        told = contested.done(
            "run", "conrag", *ALCE, "--as-in-paper", "--endpoint", endpoint.url, "--out", "out"
        )
        asked = {
            each["response_format"]["json_schema"]["name"]
            for each in endpoint.requests
            if "response_format" in each
        }
    assert {"SortReply", "RelationReply"} <= asked
    assert "--sort model" in " ".join(told.err.split())
    entry = json.loads((folder / "out" / "run.json").read_text())["pipelines"]["conrag.alce-asqa"]
    assert (entry["preset"], entry["config"]["conrag"]["sort"]) == ("as-in-paper", "model")
    assert entry["config"]["citations"]["model"]["name"] == "scripted"


def test_the_model_sorts_before_it_writes(
    contested: Contested, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTESTED_API_KEY", KEY)
    with Scripted(reply=sorting) as endpoint:
        contested.done(
            "run", "conrag", "--data", "claims.jsonl", "--generator", "llm", "--sort", "model",
            "--method", "bm25", "--endpoint", endpoint.url, "--out", "out",
        )  # fmt: skip
    result = json.loads((folder / "out" / "conrag.claims.jsonl").read_text())
    placed = {each["id"]: each["reason"] for each in result["outcomes"]["ConRAG"]["sorted"]}
    assert sorted(placed.values(), key=str) == ["It has the year.", None]


def test_a_language_model_can_write_of_claims(
    contested: Contested, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTESTED_API_KEY", KEY)
    with Scripted(reply=answering) as endpoint:
        contested.done(
            "run", "conrag", "--data", "claims.jsonl", "--generator", "llm", "--method", "bm25",
            "--endpoint", endpoint.url, "--out", "out",
        )  # fmt: skip
    result = json.loads((folder / "out" / "conrag.claims.jsonl").read_text())
    said = {name: each["statements"][0]["text"] for name, each in result["outcomes"].items()}
    assert set(said.values()) == {"The bridge was opened in 1932."}
    assert result["outcomes"]["RelRAG"]["stance"] == "SUPPORT"


def test_what_a_language_model_writes_is_drawn_by_the_seed(
    contested: Contested, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTESTED_API_KEY", KEY)
    run = ["run", "conrag", "--data", "claims.jsonl", "--generator", "llm", "--method", "bm25"]
    with Scripted(reply=answering) as endpoint:
        run += ["--endpoint", endpoint.url]
        contested.done(*run, "--out", "greedy")
        greedy = len(endpoint.requests)
        contested.done(*run, "--temperature", "0.7", "--out", "out")
        drawn = [(each["temperature"], each["seed"]) for each in endpoint.requests]
    assert set(drawn[:greedy]) == {(0, 0)}, "nothing is drawn at 0"
    assert set(drawn[greedy:]) == {(0.7, 42)}, "Table III"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--temperature", "0.7"], "--temperature has no effect with --generator template"),
        (["--seed", "7"], "--seed has no effect with --temperature 0"),
    ],
)
def test_sampling_options_without_an_effect(
    options: list[str], problem: str, contested: Contested
) -> None:
    assert problem in contested.refused("run", "conrag", "--data", "claims.jsonl", *options)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([*ALCE, "--generator", "template"], "--dataset alce has questions"),
        ([*ALCE, "--method", "bm25"], "--method has no effect with --dataset alce"),
        ([*ALCE, "--among", "all"], "--among has no effect with --dataset alce"),
        (["--data", "claims.jsonl", "--endpoint", "http://127.0.0.1:1/v1"], "--endpoint has no"),
        (["--data", "claims.jsonl", "--judge", "llm"], "--judge has no effect with --dataset"),
        ([*ALCE, "--judge", "llm", "--judge-tagger", "x"], "--judge-tagger has no effect"),
        ([*ALCE, "--judge-model", "x"], "--judge-model has no effect with --judge nli"),
        ([*ALCE, "--judge-tagger", "nowhere/at-all"], "nowhere/at-all"),
        ([*ALCE, "--on-overflow", "cut"], "--on-overflow has no effect with --labeller nli"),
        (["--data", "claims.jsonl", "--sort", "model"], "add --generator llm"),
    ],
)
def test_what_does_not_go_with_questions(
    arguments: list[str], problem: str, contested: Contested
) -> None:
    alce_file()
    assert problem in contested.refused("run", "conrag", *arguments, "--out", "out")
    assert not Path("out").exists()


def test_a_dry_run_of_questions_says_who_writes(contested: Contested) -> None:
    alce_file()
    said = contested.done("run", "conrag", *ALCE, "--out", "out", "--dry-run").out
    assert "1 questions from asqa.json" in said
    assert "written by a language model" in said
