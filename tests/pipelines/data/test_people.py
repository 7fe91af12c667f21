"""WikiContradict: real files, small ones, and what is refused."""

from collections import Counter
from pathlib import Path

from people import CONTRADICTION, JUDGED, judged
from releases import lines, refusal, without

from pipelines.data import wikicontradict
from pipelines.data.released import half

WIKI = "wikicontradict/wiki_contradict"


def test_the_real_contradictions(released_data: Path) -> None:
    path = released_data / f"{WIKI}_refined.jsonl.gz"
    records = wikicontradict.read(path)
    found = wikicontradict.sides(path)
    assert len(records) == 253
    assert sum(each.differ for each in records) == 202
    assert len(found) == 404
    assert Counter(half(each.question) for each in found) == {"train": 198, "test": 206}


def test_the_real_judged_answers(released_data: Path) -> None:
    path = released_data / f"{WIKI}_simple_humaneval.jsonl.gz"
    found = wikicontradict.judged_answers(path)
    assert len({each.id for each in found}) == len(found) == 410
    assert len({each.question for each in found}) == 41
    assert len({each.model for each in found}) == 5
    # 21 of Llama 3's 48 answers are correct when it is told of contradictions, as its authors say.
    told = [each for each in found if each.prompt == "told of contradictions"]
    by = Counter(each.model for each in told if each.both_sides)
    assert max(by, key=lambda name: by[name]) == "llama-3-70b-instruct"


def test_a_contradiction_has_two_sides(tmp_path: Path) -> None:
    same = CONTRADICTION | {"context2_self_contained": "The mill was  opened in 1902. "}
    first, second = wikicontradict.sides(lines(tmp_path / "w.jsonl", same, CONTRADICTION))
    assert first.claim == "The opening of the mill was in 1902."
    assert (first.supporting, first.contradicting) == (second.contradicting, second.supporting)
    assert second.supporting == "The mill was opened in 1936."


def test_answers_from_both_passages_alone_are_taken(tmp_path: Path) -> None:
    same = judged("mill", "model-b", context2_self_contained=JUDGED["context1_self_contained"])
    path = lines(tmp_path / "h.jsonl", same, JUDGED)
    plain, told = wikicontradict.judged_answers(path)
    assert [each.id for each in (plain, told)] == ["2/3", "2/4"]
    assert (plain.answer, plain.both_sides) == (JUDGED["answer3"], False)
    assert (told.answer, told.both_sides) == (JUDGED["answer4"], True)
    assert plain.passages == told.passages
    assert plain.prompt != told.prompt


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", CONTRADICTION, without(CONTRADICTION, "question"))
    assert ":2: the field 'question' is missing" in refusal(wikicontradict.sides, path)
    path = lines(tmp_path / "b.jsonl", JUDGED | {"label3": "Perhaps"})
    assert ":1: the field 'label3'" in refusal(wikicontradict.judged_answers, path)
    path = lines(tmp_path / "c.jsonl", JUDGED)
    assert "answer1_self_contained" in refusal(wikicontradict.read, path)
