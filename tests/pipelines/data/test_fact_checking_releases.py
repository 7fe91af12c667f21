"""FEVER, SciFact and RAGTruth in their official formats, on small files of our own."""

from pathlib import Path
from random import Random
from typing import Any

from releases import RAGTRUTH, lines

from pipelines.conrag.data import from_scifact
from pipelines.conrag.evidence import Stance
from pipelines.data import fever, ragtruth, scifact


def claim(number: int, text: str, label: str, evidence: Any) -> dict[str, Any]:
    claimed = {"id": number, "verifiable": "VERIFIABLE", "label": label}
    return claimed | {"claim": text, "evidence": evidence}


def page(name: str, *sentences: str) -> dict[str, str]:
    numbered = (f"{number}\t{sentence}" for number, sentence in enumerate(sentences))
    return {"id": name, "text": " ".join(sentences), "lines": "\n".join(numbered)}


# FEVER


def test_fever_claims(tmp_path: Path) -> None:
    sets = [
        [[10, 20, "Harbour_Bridge", 0]],
        [[11, 21, "Harbour_Bridge", 2], [11, 22, "Sydney", 1]],
        [[12, 23, "Harbour_Bridge", 0]],
        [[13, None, None, None]],
    ]
    path = lines(
        tmp_path / "train.jsonl",
        claim(1, "The bridge opened in 1932.", "SUPPORTS", sets),
        claim(2, "The bridge is blue.", "NOT ENOUGH INFO", [[[14, None, None, None]]]),
        claim(3, "The bridge sings.", "NOT ENOUGH INFO", [[15, None, None, None]]),
    )
    first, second, third = fever.read(path)
    # The same set by two annotators is one set; a set that points nowhere is none.
    assert first.evidence == ((("Harbour_Bridge", 0),), (("Harbour_Bridge", 2), ("Sydney", 1)))
    assert first.label == "SUPPORTS"
    assert second.evidence == third.evidence == ()


def test_fever_pages(tmp_path: Path) -> None:
    lines(
        tmp_path / "wiki-001.jsonl",
        {"id": "", "text": "", "lines": ""},
        page(
            "Gladiator_-LRB-2000_film-RRB-",
            "Gladiator -LRB- 2000 -RRB- is a film , `` epic '' and long .\tepic\tEpic film",
            "",
            "It starred Crowe 's friends .",
        ),
    )
    # "é" as a letter and an accent in the dump, as one letter in the evidence.
    lines(tmp_path / "wiki-002.jsonl", page("Cafe\u0301", "A café serves coffee ."))
    wanted = ["Gladiator_-LRB-2000_film-RRB-", "Caf\u00e9", "Elsewhere"]
    found = fever.read_wikipedia(tmp_path, wanted, 0, Random(1))
    assert found.sampled == ()
    assert dict(found.pages) == {
        "Gladiator_-LRB-2000_film-RRB-": {
            0: 'Gladiator (2000) is a film, " epic " and long.',
            2: "It starred Crowe's friends.",
        },
        "Caf\u00e9": {0: "A café serves coffee."},
    }


# SciFact

SCIENCE = {
    "id": 263,
    "claim": "Cells of type A act on B.",
    "evidence": {
        "11": [
            {"sentences": [1, 2], "label": "CONTRADICT"},
            {"sentences": [4], "label": "CONTRADICT"},
        ]
    },
    "cited_doc_ids": [11, 12],
}
ABSTRACT = {
    "doc_id": 11,
    "title": "On A and B",
    "abstract": ["We study A.", "A was given.", "B stayed.", "Mice were kept.", "So A fails."],
    "structured": False,
}


def test_citation_integrity_comes_in_scifacts_format(tmp_path: Path) -> None:
    wrong = {"11": [{"sentences": [0], "label": "REFUTE"}]}
    (read,) = scifact.read(lines(tmp_path / "claims_test.jsonl", SCIENCE | {"evidence": wrong}))
    assert read.evidence["11"][0].label == "CONTRADICT"
    bare = ABSTRACT | {"doc_id": 12, "title": "", "abstract": []}
    corpus = scifact.read_corpus(lines(tmp_path / "corpus.jsonl", ABSTRACT, bare))
    queries = list(from_scifact([read], corpus))
    assert [each.title for each in queries[0].passages] == ["On A and B"] * 5
    assert queries[0].stance is Stance.REFUTE


# RAGTruth

QA_SOURCE = {
    "source_id": "s1",
    "task_type": "QA",
    "source": "MARCO",
    "source_info": {
        "question": "when was it built",
        "passages": "passage 1:It was built in 1932.\n\npassage 2:Tolls are\ntwo pounds.\n\n",
    },
    "prompt": "Answer.",
}


def test_ragtruth(tmp_path: Path) -> None:
    (one,) = ragtruth.read(lines(tmp_path / "response.jsonl", RAGTRUTH)).responses
    assert one.response[one.labels[0].start : one.labels[0].end] == "It was built in 1936"
    summary = {"source_id": "s2", "task_type": "Summary", "source_info": " News. "}
    cafe = {
        "name": "Cafe",
        "business_stars": 4.5,
        "hours": {"Monday": "9:0-17:0"},
        "attributes": {"WiFi": None},
        "review_info": [{"review_stars": 5.0, "review_text": "Good tea."}, {"review_text": "So."}],
    }
    table = {"source_id": "s3", "task_type": "Data2txt", "source_info": cafe}
    path = lines(tmp_path / "source.jsonl", QA_SOURCE, QA_SOURCE | summary, QA_SOURCE | table)
    sources = ragtruth.read_sources(path)
    assert sources["s1"].passages() == ("It was built in 1932.", "Tolls are\ntwo pounds.")
    assert sources["s2"].passages() == ("News.",)
    assert sources["s3"].passages() == (
        "name: Cafe\nbusiness stars: 4.5\nhours, Monday: 9:0-17:0\nattributes, WiFi: not given",
        "review stars: 5.0\nreview text: Good tea.",
        "review text: So.",
    )


def test_ragtruth_released_responses(released_data: Path) -> None:
    path = released_data / "ragtruth" / "ragtruth_sample_50_responses.jsonl"
    found, skipped = ragtruth.read(path)
    assert skipped == ()
    assert len(found) == 50
    spans = [span for response in found for span in response.labels]
    assert len(spans) == 19
    assert sum(span.label_type in ragtruth.CONFLICTS for span in spans) == 11
    assert sum(bool(response.labels) for response in found) == 14
