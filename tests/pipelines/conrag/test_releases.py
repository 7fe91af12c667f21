"""Claims to be measured on, from small files of the releases' own formats and from real ones."""

from pathlib import Path
from typing import Any

import pytest
from releases import lines

from pipelines.conrag.data import (
    ResponseSentence,
    fever_passages,
    from_fever,
    from_fool_me_twice,
    from_ragtruth,
    from_scifact,
    read,
)
from pipelines.conrag.evidence import Stance
from pipelines.conrag.experiment import in_claims
from pipelines.data import fever, fool_me_twice
from pipelines.data.ragtruth import Response, Source
from pipelines.data.records import Document
from pipelines.data.scifact import Abstract, ScientificClaim
from pipelines.errors import InputError
from pipelines.judge.judgement import Relation
from pipelines.retrieval.index import build


def test_gold_sentences_are_in_the_pool_though_they_were_not_retrieved() -> None:
    claim = fool_me_twice.GameClaim.model_validate(
        {
            "id": "x", "text": "It was built in 1902.", "label": "REFUTES",
            "gold_evidence": [{"text": "It was built in 1911."}],
            "retrieved_evidence": [{"text": "It is of brick."}, {"text": "It is  of brick."}],
            "wikipedia_page": "Dam",
        }
    )  # fmt: skip
    (query,) = from_fool_me_twice([claim])
    assert {each.text for each in query.passages} == {"It was built in 1911.", "It is  of brick."}
    assert query.stance is Stance.REFUTE
    (gold,) = query.evidence
    assert {each.text for each in query.passages if each.id in gold} == {"It was built in 1911."}
    assert set(query.relations.values()) == {Relation.CONTRADICTS}


def test_rationales_of_abstracts() -> None:
    corpus = {"7": Abstract(doc_id=7, title="T", abstract=("One.", "Two.", " "))}
    marked = {"7": [{"label": "CONTRADICT", "sentences": [1]}]}
    rows = [
        {"id": 1, "claim": "So it is.", "cited_doc_ids": [7, 8], "evidence": marked},
        {"id": 2, "claim": "Or not.", "evidence": {}},
    ]
    query, silent = from_scifact([*map(ScientificClaim.model_validate, rows)], corpus)
    assert [one.id for one in query.passages] == ["7:0", "7:1"]
    assert (query.stance, query.evidence) == (Stance.REFUTE, (frozenset({"7:1"}),))
    assert (silent.stance, silent.evidence, silent.passages) == (Stance.NOT_ENOUGH_INFO, (), ())


FILM = "Gladiator_-LRB-2000_film-RRB-"
PAGES = {
    FILM: {0: "Gladiator is a film.", 2: "It was shot in Malta.", 1: "It came out in 2000."},
    "Caf\u00e9": {0: "A cafe serves coffee."},
    "Malta": {0: "Malta is an island.", 3: "It lies south of Sicily."},
}


def fever_claim(number: int, label: str, *sets: list[tuple[str, int]]) -> fever.FeverClaim:
    evidence = [[[1, 2, page, line] for page, line in pointers] for pointers in sets]
    return fever.FeverClaim.model_validate(
        {"id": number, "claim": "So it is.", "label": label, "evidence": evidence}
    )


def test_pages_that_fevers_evidence_names() -> None:
    claim = fever_claim(4, "REFUTES", [(FILM, 1)], [(FILM, 2), ("Malta", 3)], [(FILM, 1)])
    (query,) = from_fever([claim], PAGES)
    film = [(f"{FILM}:{number}", "Gladiator (2000 film)") for number in range(3)]
    malta = [("Malta:0", "Malta"), ("Malta:3", "Malta")]
    assert [(one.id, one.title) for one in query.passages] == film + malta
    assert (query.id, query.source, query.stance) == ("4", "fever", Stance.REFUTE)
    one, two = frozenset({f"{FILM}:1"}), frozenset({f"{FILM}:2", "Malta:3"})
    assert query.evidence == (one, two)
    assert query.relations == dict.fromkeys(one | two, Relation.CONTRADICTS)


CAFE = ["Caf\u00e9:0"]
ODD_EVIDENCE: dict[str, tuple[list[list[tuple[str, int]]], list[list[str]], list[str]]] = {
    "without evidence there are no pages": ([], [], []),
    "two spellings of a letter are one page": ([[("Cafe\u0301", 0)]], [CAFE], CAFE),
    "evidence that is on no page stays": (
        [[("Lost", 0)], [("Malta", 9)]], [["Lost:0"], ["Malta:9"]], ["Malta:0", "Malta:3"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD_EVIDENCE)
def test_odd_evidence_of_fever(name: str) -> None:
    given, evidence, passages = ODD_EVIDENCE[name]
    label = "SUPPORTS" if given else "NOT ENOUGH INFO"
    (query,) = from_fever([fever_claim(5, label, *given)], PAGES)
    assert query.evidence == tuple(map(frozenset, evidence))
    assert [one.id for one in query.passages] == passages
    assert (query.stance is Stance.SUPPORT) == bool(given)


def test_titles_that_are_longer_than_ids_are_told_apart() -> None:
    long, other = "A" * 240, "A" * 239 + "B"
    corpus = fever_passages({long: {0: "One.", 12: "Two."}, other: {0: "Three."}})
    names = [each.id for each in corpus]
    assert len(set(names)) == 3
    assert all(len(name) < 200 for name in names)
    (query,) = from_fever([fever_claim(1, "SUPPORTS", [(long, 12)])], {long: {12: "Two."}})
    assert query.evidence == (frozenset({names[1]}),)


TEXT = "It was built in 1936. It is grey. Nobody lives there."
"""Three sentences, of five, three and three tokens."""


def response(number: int, *labels: tuple[str, str], **fields: Any) -> Response:
    spans = []
    for part, kind in labels:
        start = TEXT.index(part)
        spans.append({"start": start, "end": start + len(part), "label_type": kind})
    own = {"id": str(number), "source_id": "s1", "response": TEXT, "split": "test"}
    return Response.model_validate(own | {"labels": spans} | fields)


def source(name: str, task: str, info: Any) -> Source:
    return Source.model_validate({"source_id": name, "task_type": task, "source_info": info})


BUILT = {"question": "when", "passages": "passage 1:Built in 1932.\n\npassage 2:It is\ngrey."}
SOURCES = {
    "s1": source("s1", "QA", BUILT),
    "s2": source("s2", "Summary", "The mill is old. " * 100),
}


def test_the_sentences_of_a_response_are_claims_against_the_passages_of_its_source() -> None:
    marks = [("1936", "Evident Conflict"), ("Nobody lives", "Subtle Baseless Info")]
    sentences = list(from_ragtruth([response(7, *marks)], SOURCES))
    assert [(one.id, one.claim, one.stance) for one in sentences] == [
        ("7:1", "It was built in 1936.", Stance.REFUTE),
        ("7:2", "It is grey.", Stance.SUPPORT),
        ("7:3", "Nobody lives there.", Stance.NOT_ENOUGH_INFO),
    ]
    assert sentences[0].passages == (
        Document(id="s1:1", text="Built in 1932."),
        Document(id="s1:2", text="It is\ngrey."),
    )
    assert [one.response for one in sentences] == [
        ResponseSentence(response="7", source="s1", tokens=tokens, hallucinated=marked)
        for tokens, marked in ((5, 1), (3, 0), (3, 2))
    ]


SPACE = {
    "start": TEXT.index(" It is"),
    "end": TEXT.index("It is"),
    "label_type": "Evident Conflict",
}
S, R, N = Stance
# marks -> stances of the sentences, hallucinated words of the first one
MARKS: dict[str, tuple[Response, list[Stance], int]] = {
    "one that contradicts counts before one that goes beyond": (
        response(1, ("It was built", "Evident Baseless Info"), ("1936", "Subtle Conflict")),
        [R, S, S], 4,
    ),
    "one over two sentences is in both": (
        response(1, ("1936. It", "Evident Conflict")), [R, R, S], 1,
    ),
    "one of a space is in none": (response(1, labels=[SPACE]), [S, S, S], 0),
}  # fmt: skip


@pytest.mark.parametrize("name", MARKS)
def test_marks_of_people(name: str) -> None:
    given, stances, hallucinated = MARKS[name]
    sentences = list(from_ragtruth([given], SOURCES))
    assert [one.stance for one in sentences] == stances
    assert sentences[0].response is not None
    assert sentences[0].response.hallucinated == hallucinated


def test_a_long_source_is_cut_into_passages() -> None:
    first, *_ = from_ragtruth([response(1, source_id="s2")], SOURCES)
    assert len(first.passages) > 3
    assert {one.id.partition("#")[0] for one in first.passages} == {"s2:1"}


def test_which_responses_are_left_out() -> None:
    responses = [
        response(1),
        response(2, quality="truncated", source_id="s9"),
        response(4, response=" \n", labels=[]),
    ]
    assert {one.id.partition(":")[0] for one in from_ragtruth(responses, SOURCES)} == {"1"}
    with pytest.raises(InputError, match="response '5' was written from source 's9'"):
        list(from_ragtruth([response(5, source_id="s9")], SOURCES))


# A dump of FEVER's Wikipedia, and claims that it holds evidence for


def test_a_claim_without_evidence_is_searched_for_on_the_pages_of_the_others(
    tmp_path: Path,
) -> None:
    bridge, dump = "Alder_Bridge_-LRB-Maine-RRB-", tmp_path / "wiki"
    pages = {
        bridge: "0\tIt was opened in 1932 .\n1\tSalmon pass below it .",
        "Alder": "0\tAlder is a tree .",
        "Cafe": "0\tSalmon is served there .",
    }
    claims = [
        ("Alder Bridge was opened in 1932.", "SUPPORTS", [[[1, 2, bridge, 0]]]),
        ("Alders are trees.", "SUPPORTS", [[[1, 2, "Alder", 0]]]),
        ("Salmon like Alder Bridge.", "NOT ENOUGH INFO", [[[1, None, None, None]]]),
    ]
    dump.mkdir()
    lines(dump / "wiki-001.jsonl", *({"id": name, "lines": text} for name, text in pages.items()))
    names = ("id", "claim", "label", "evidence")
    rows = [dict(zip(names, (n, *each), strict=True)) for n, each in enumerate(claims)]
    data = read("fever", lines(tmp_path / "dev.jsonl", *rows), corpus=dump)
    search = in_claims(data, build(data.corpus, tmp_path / "index"), "bm25", "own")
    with_evidence, _, without = data.queries
    own = {f"{bridge}:0", f"{bridge}:1"}
    assert without.passages == ()
    assert {found.passage.id for found in search.find(without, 5)} == own | {"Alder:0"}
    assert {found.passage.id for found in search.find(with_evidence, 5)} == own
