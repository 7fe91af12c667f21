"""ConRAG's supervision: pairs from FEVER, SciFact and RAGTruth, on small files of our own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from releases import lines

from nli.labels import Label
from nli.pairs import LabelledPair, write_pairs
from pipelines.data.fever import FeverClaim, Wikipedia
from pipelines.data.ragtruth import HallucinatedSpan, Response, Source
from pipelines.data.released import half
from pipelines.data.scifact import Abstract, Rationale, ScientificClaim
from pipelines.supervision import official, recipes
from pipelines.supervision.settings import PairSettings

Facts = tuple[str, str, Label]


def facts(pairs: Sequence[LabelledPair]) -> list[Facts]:
    return [(pair.premise, pair.hypothesis, pair.label) for pair in pairs]


# FEVER


def fever_claim(number: int, label: str, *sets: Sequence[tuple[str, int]]) -> FeverClaim:
    evidence = [[[1, 2, page, sentence] for page, sentence in one] for one in sets]
    return FeverClaim.model_validate(
        {"id": number, "claim": f"Claim {number}.", "label": label, "evidence": evidence}
    )


WIKI = Wikipedia({"P": {0: "P zero.", 2: "P two."}, "Q": {1: "Q one."}}, ("Random a.", "Random b."))


def test_fever_evidence_sets_are_premises_and_random_sentences_are_irrelevant() -> None:
    claims = [
        fever_claim(1, "SUPPORTS", [("P", 0)], [("P", 2), ("Q", 1)]),
        fever_claim(2, "REFUTES", [("Q", 1)]),
        fever_claim(3, "NOT ENOUGH INFO"),
    ]
    made = facts(official.fever_pairs(claims, WIKI, Random(1)))
    assert made[:3] == [
        ("P zero.", "Claim 1.", Label.SUPPORT),
        ("P two. Q one.", "Claim 1.", Label.SUPPORT),
        ("Q one.", "Claim 2.", Label.REFUTE),
    ]
    premise, claim, label = made[3]
    assert premise in WIKI.sampled
    assert (claim, label) == ("Claim 3.", Label.IRRELEVANT)
    assert len(made) == 4


def fever_release(folder: Path, page: str = "P") -> Path:
    def line(number: int, label: str, page: str | None, sentence: int | None) -> dict[str, Any]:
        evidence = [[[1, 2, page, sentence]]]
        return {"id": number, "claim": f"C {number}.", "label": label, "evidence": evidence}

    train = [
        line(1, "SUPPORTS", "P", 0),
        line(2, "REFUTES", "P", 1),
        line(3, "NOT ENOUGH INFO", None, None),
        line(4, "REFUTES", "Gone", 1),
    ]
    lines(folder / "train.jsonl", *train)
    lines(folder / "shared_task_dev.jsonl", line(9, "SUPPORTS", "Q", 0))
    pages = [
        {"id": page, "text": "", "lines": "0\tZero of P .\tlink\tLink\n1\tOne of P ."},
        {"id": "Q", "text": "", "lines": "0\tZero of Q ."},
    ]
    (folder / "wiki-pages").mkdir()
    lines(folder / "wiki-pages" / "wiki-001.jsonl", *pages)
    return folder


def test_the_fever_release_keeps_its_own_split(tmp_path: Path) -> None:
    folder = fever_release(tmp_path)
    train = recipes.build({"fever": folder}, PairSettings())
    assert facts(train.pairs)[:2] == [
        ("Zero of P.", "C 1.", Label.SUPPORT),
        ("One of P.", "C 2.", Label.REFUTE),
    ]
    assert [pair.label for pair in train.pairs] == [Label.SUPPORT, Label.REFUTE, Label.IRRELEVANT]
    assert train.notes == ("1 of FEVER's 3 evidence sets are not in wiki-pages; left out.",)
    test = recipes.build({"fever": folder}, PairSettings(half="test"))
    assert facts(test.pairs) == [("Zero of Q.", "C 9.", Label.SUPPORT)]
    both = recipes.build({"fever": folder}, PairSettings(half="all"))
    assert {pair.hypothesis for pair in both.pairs} == {"C 1.", "C 2.", "C 3.", "C 9."}


# SciFact


def test_scifact_rationales_decide_and_their_neighbours_do_not() -> None:
    claim = ScientificClaim(
        id=1,
        claim="A helps.",
        evidence={
            "11": (
                Rationale(label="CONTRADICT", sentences=(2, 1)),
                Rationale(label="CONTRADICT", sentences=(3,)),
            ),
            "12": (Rationale(label="SUPPORT", sentences=(0,)),),
        },
        cited_doc_ids=(11, 12, 13),
    )
    corpus = {
        "11": Abstract(doc_id=11, title="", abstract=("We ask.", "One.", "Two.", "Three.", " ")),
        "12": Abstract(doc_id=12, title="", abstract=("It does.", "Mice were kept.")),
        "13": Abstract(doc_id=13, title="", abstract=("Unlabelled.",)),
    }
    assert facts(official.scifact_pairs([claim], corpus)) == [
        ("One. Two.", "A helps.", Label.REFUTE),
        ("Three.", "A helps.", Label.REFUTE),
        ("We ask.", "A helps.", Label.IRRELEVANT),
        ("It does.", "A helps.", Label.SUPPORT),
        ("Mice were kept.", "A helps.", Label.IRRELEVANT),
    ]


# RAGTruth

ARTICLE = (
    "The harbour bridge was opened in 1932 by the mayor. Its building took eight years. "
    "Six workers died. Steel came from England. The arch is grey. "
    "The toll for a car is two pounds. Bicycles cross the bridge free of charge. "
    "In winter the walkway closes at dusk."
)


def response(text: str, *marked: tuple[str, str], **fields: Any) -> Response:
    labels = [
        HallucinatedSpan(
            start=text.index(span), end=text.index(span) + len(span), label_type=kind, **fields
        )
        for span, kind in marked
    ]
    return Response(id="1", source_id="s", response=text, labels=tuple(labels), split="train")


SOURCES = {"s": Source(source_id="s", task_type="Summary", source_info=ARTICLE)}


def refuted(*responses: Response, sources: Mapping[str, Source] = SOURCES) -> list[LabelledPair]:
    return official.ragtruth_pairs(responses, sources)


def test_a_contradictory_span_gives_its_sentence_and_the_nearest_passage() -> None:
    text = "The bridge is old. Bicycles pay a toll of two pounds to cross it. It shines at night."
    marked = ("pay a toll", "Evident Conflict"), ("shines at night", "Evident Baseless Info")
    assert facts(refuted(response(text, *marked))) == [
        (
            "The toll for a car is two pounds. Bicycles cross the bridge free of charge. "
            "In winter the walkway closes at dusk.",
            "Bicycles pay a toll of two pounds to cross it.",
            Label.REFUTE,
        )
    ]


# Several releases together

PAIR = LabelledPair(premise="A.", hypothesis="B.", label=Label.SUPPORT, source="one")


def test_nothing_that_a_test_half_shows_is_trained_on(tmp_path: Path, released_data: Path) -> None:
    """A claim of FoolMeTwice's test half does not come in by another file either."""
    path = released_data / "fm2" / "dev.jsonl.gz"
    recipe = recipes.HALVES["fool-me-twice"]
    items = recipe.read(path)
    test = next(item for item in items if half(item.text) == "test")
    sentence = test.retrieved_evidence[0].text
    ready = tmp_path / "ready.jsonl"
    leaks = [
        PAIR.model_copy(update={"hypothesis": test.text.upper()}),
        PAIR.model_copy(update={"premise": f" {sentence} "}),
    ]
    write_pairs(ready, [PAIR, *leaks])
    built = recipes.build({"fool-me-twice": path}, PairSettings(nli=[ready]))
    assert [pair for pair in built.pairs if pair.source == "one"] == [PAIR]
    assert "2 pairs contain a reserved text and are left out." in built.notes
    assert all(half(pair.hypothesis) == "train" for pair in built.pairs if pair != PAIR)
    assert len(built.pairs) > 300
