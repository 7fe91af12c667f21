"""ConflictBench's builders, on real releases and on small ones of known outcome."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from people import contradiction
from releases import lines

from pipelines.conflictscore.detection import bench
from pipelines.conflictscore.detection import questions as sources
from pipelines.conflictscore.detection.questions import Question
from pipelines.data.ambigdocs import AmbiguousQuestion
from pipelines.data.conflictingqa import ContentiousQuestion
from pipelines.data.contraqa import ContraQuestion
from pipelines.data.macnoise import NoisyQuestion
from pipelines.data.ramdocs import RamQuestion
from pipelines.data.released import half
from pipelines.errors import InputError
from pipelines.judge.examples import ContestedClaim, read
from pipelines.judge.judgement import Relation

Questions = dict[str, list[Question]]
Examples = list[ContestedClaim]

S, C, I = Relation.SUPPORTS, Relation.CONTRADICTS, Relation.IRRELEVANT  # noqa: E741

FILES = {
    "ramdocs": "ramdocs/RAMDocs_250.jsonl",
    "conflictqa": "conflictqa/strategyqa_gpt4.jsonl.gz",
    "climate-fever": "climate_fever/climate-fever.jsonl.gz",
}


@pytest.fixture(scope="module")
def questions(released_data: Path) -> Questions:
    return bench.read({name: [released_data / file] for name, file in FILES.items()})


def of(examples: Examples, source: str) -> Examples:
    return [example for example in examples if example.source == source]


def test_halves_do_not_mix(questions: Questions) -> None:
    # A text that two questions share may stand in both halves; it belongs to both.
    halves_of: dict[tuple[str, str], set[str]] = {}
    for name, own in questions.items():
        for each in own:
            for passage in each.passages:
                halves_of.setdefault((name, passage.text), set()).add(half(each.key))
    for part in ("train", "test"):
        for example in bench.build(questions, part=part):
            key = example.question or example.claim
            assert half(key) == part
            source = "ramdocs" if example.source == bench.HARD else example.source
            for document in example.documents:
                assert part in halves_of[source, document.text]


# Each source, by hand


def relations_of(question: Question | None) -> list[tuple[str, Relation]]:
    assert question is not None
    return [(passage.text, passage.relation) for passage in question.passages]


def ram_question(gold: Sequence[str], *documents: tuple[str, str, str]) -> RamQuestion:
    fields = ("text", "type", "answer")
    return RamQuestion.model_validate(
        {
            "question": "What sport is Doak associated with?",
            "documents": [dict(zip(fields, each, strict=True)) for each in documents],
            "gold_answers": gold,
        }
    )


def test_ramdocs_by_hand() -> None:
    record = ram_question(
        ["Tennis", "Football", "Golf"],
        ("a", "correct", "American football"),
        ("b", "correct", "Football"),
        ("c", "misinfo", "Chess"),
        ("d", "noise", "unknown"),
        ("e", "correct", "Golf"),
    )
    question = sources.ramdocs(record)
    assert question is not None
    assert question.asked == ("What sport is Doak associated with?", "Football")
    assert relations_of(question) == [("a", S), ("b", S), ("c", C), ("d", I), ("e", C)]
    assert sources.ramdocs(ram_question(["Golf"], ("c", "misinfo", "Chess"))) is None


def test_ambigdocs_and_contraqa_by_hand() -> None:
    answers = {"a": "Paris", "b": "Utah", "c": "paris", "d": "Paris, Texas"}
    documents = [
        {"title": text.upper(), "text": text, "answer": answer} for text, answer in answers.items()
    ]
    question = AmbiguousQuestion.model_validate(
        {"question": "Where is it?", "documents": documents}
    )
    assert relations_of(sources.ambigdocs(question)) == [("a", S), ("b", C), ("c", S), ("d", C)]
    record = ContraQuestion.model_validate(
        {
            "id": "q", "question": "When?", "answers": {"text": ["1932", "May 1932"]},
            "context": "In 1932.", "fake": "In 1936.",
        }
    )  # fmt: skip
    assert sources.contraqa(record).asked == ("When?", "1932")
    assert relations_of(sources.contraqa(record)) == [("In 1932.", S), ("In 1936.", C)]


def test_macnoise_by_hand() -> None:
    """A twin contradicts, even one that avoids the point; the last passage has no answer."""
    pairs = [("In 1932.", "In 1936."), ("1932!", "It is fine."), ("1932.", "1932."), ("A", "B")]
    contexts = [
        {"text": f"title: B context: {one}", "text_pert": f"title: B context: {other}"}
        for one, other in pairs
    ]
    question = sources.macnoise(
        NoisyQuestion.model_validate(
            {"question": "When?", "answers": ["1932"], "ctxs": contexts, "pert_lbls": [1, 1, 1, 0]}
        )
    )
    assert relations_of(question) == [
        ("In 1932.", S),
        ("In 1936.", C),
        ("1932!", S),
        ("It is fine.", C),
        ("1932.", S),
        ("A", I),
    ]
    assert question is not None
    assert question.passages[0].title == "B"


def test_conflictingqa_by_hand() -> None:
    pages = [
        {"search_query": "Is tea good?", "text_window": text, "stance": stance}
        for text, stance in (("a", "yes"), ("b", "no"))
    ]
    record = ContentiousQuestion.model_validate({"question": "Is tea good?", "pages": pages})
    question = replace(sources.conflictingqa(record), name="1")
    (example,) = bench.build({"conflictingqa": [question]}, part="all")
    assert (example.id, example.claim) == ("conflictingqa/1", "Tea is good.")
    assert (example.relations, example.conflict) == ((S, C), True)


# Files of a user


EXAMPLE = {
    "id": "a",
    "source": "mine",
    "claim": "It opened in 1932.",
    "documents": [{"id": "x", "text": "1932."}, {"id": "y", "text": "1936."}],
    "relations": ["SUPPORTS", "CONTRADICTS"],
    "conflict": True,
}


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        ({"conflict": False}, "'conflict' says no conflict, its 'relations' say otherwise"),
        ({"relations": ["SUPPORTS"]}, "1 'relations' for 2 'documents'"),
        ({"relations": ["SUPPORTS", "INVALID"]}, "SUPPORTS, CONTRADICTS or IRRELEVANT"),
        ({"documents": [{"id": "x", "text": " "}]}, "'documents.0.text' is empty"),
        ({"documents": []}, "'documents' is empty"),
        ({"documents": [{"id": "x", "text": "1"}] * 2}, "two documents have the id 'x'"),
        ({"conflict": "yes"}, "'conflict'"),
        ({"label": 1}, "'label'"),
    ],
)
def test_a_bad_example_is_refused(wrong: dict[str, object], part: str, tmp_path: Path) -> None:
    path = tmp_path / "bench.jsonl"
    path.write_text(f"{json.dumps(EXAMPLE)}\n{json.dumps({**EXAMPLE, 'id': 'b', **wrong})}\n")
    with pytest.raises(InputError) as error:
        read(path)
    assert str(error.value).startswith(f"{path}:2: ")
    assert part in str(error.value)


# WikiContradict


def test_wikicontradict_has_as_many_documents_with_and_without_conflict(tmp_path: Path) -> None:
    """Either answer is a claim; without conflict a passage on another question stands by."""
    things = ("mill", "inn", "school", "theatre", "harbour", "library")
    path = lines(tmp_path / "wiki.jsonl", *map(contradiction, things))
    examples = bench.build(bench.read({"wikicontradict": [path]}), part="all")
    assert Counter(each.conflict for each in examples) == {True: 12, False: 12}
    for each in examples:
        assert Counter(each.relations) == {S: 1, (C if each.conflict else I): 1}
        thing, year = each.claim.split()[4], each.claim.split()[-1]
        texts = dict(zip(each.relations or (), each.documents, strict=True))
        assert texts[S].text == f"The {thing} was opened in {year}"
        assert each.question == f"When was the {thing} opened?"
        assert (thing in texts[C].text) if each.conflict else (thing not in texts[I].text)
    by_default = bench.build(bench.read({"wikicontradict": [path]}))
    assert {half(each.group) for each in by_default} == {"test"}
