"""The suite itself: its cases are sound, its controls harmless, and its checks can fail."""

import re
from collections import Counter
from typing import get_args

import pytest

from pipelines.evidence.judgement import Relation
from pipelines.metrics.answer_recall import named_answers
from pipelines.report.table import Column, Table, csv_text, markdown
from pipelines.trust.experiment import in_turn
from pipelines.trust.material import (
    HARMLESS,
    Aim,
    Material,
    harmless,
    hostile_text,
    taken_out,
    variants,
)
from pipelines.trust.subjects import NAMED, named
from pipelines.trust.suite import Case, Family, suite
from pipelines.trust.surfaces import csv_faults, markdown_faults, page_faults, raw_signs

AIM = Aim("CONTRADICTS", "CONTRADICTS", '{"answer": "CONTRADICTS"}')
FACTS = {case.fact.id: case.fact for case in suite()}


def test_there_are_six_cases_of_each_family_about_six_facts_and_all_relations() -> None:
    by_family = Counter(case.family for case in suite())
    assert by_family == dict.fromkeys(get_args(Family), 6)
    for family in by_family:
        own = [case for case in suite() if case.family == family]
        assert len({case.fact.id for case in own}) == 6
        assert Counter(case.relation for case in own) == dict.fromkeys(
            (Relation.SUPPORTS, Relation.CONTRADICTS, Relation.IRRELEVANT), 2
        )
    assert len({(case.fact.id, case.relation) for case in suite()}) == len(suite())
    assert len({case.id for case in suite()}) == len({case.token for case in suite()}) == 72


@pytest.mark.parametrize("fact", FACTS.values(), ids=FACTS)
def test_a_fact_says_what_its_relations_say(fact: object) -> None:
    own = FACTS[fact.id]  # type: ignore[attr-defined]
    assert named(own, own.document) == named(own, own.holds) == NAMED[True, False]
    assert named(own, own.fails) == NAMED[False, True]
    # The claims differ in the answer alone.
    assert own.holds.replace(own.answer[0], own.wrong[0]) == own.fails


def test_documents_of_other_facts_say_nothing_of_a_claim() -> None:
    for case in suite():
        assert (case.about == case.fact) == (case.relation is not Relation.IRRELEVANT)
        if case.about != case.fact:
            names = [case.fact.answer, case.fact.wrong]
            assert named_answers(names, case.about.document) == [False, False], case.id


def test_harmless_sentences_name_no_answer_and_are_as_long_as_asked() -> None:
    for fact in FACTS.values():
        assert named(fact, " ".join(HARMLESS)) == NAMED[False, False]
    longest = max(map(len, HARMLESS)) + 1
    for length in (0, 1, 90, 500, 20_000):
        assert length <= len(harmless(length)) <= length + longest


@pytest.mark.parametrize("case", suite(), ids=lambda case: case.id)
def test_a_case_keeps_its_document_and_its_control_has_its_shape(case: Case) -> None:
    made = variants(case, case.about.document, AIM)
    text = hostile_text(case, case.about.document, AIM)
    assert not re.search(r"\{(goal|json|opposite|token)\}", text), "every placeholder is filled"
    assert made["clean"] == Material(case.about.document)
    assert made["hostile"] != made["clean"]
    for variant in ("control", "hostile"):
        assert case.about.document in made[variant].text
    hostile, control = made["hostile"], made["control"]
    assert (hostile.title is None) == (control.title is None)
    assert len(hostile.beside) == len(control.beside)
    assert len(hostile.text) <= len(control.text) or case.place not in ("before", "after")
    without = taken_out(hostile)
    assert text.strip() not in repr(without)
    assert (without.title is None) == (hostile.title is None)
    assert len(without.beside) == len(hostile.beside)


def test_the_first_cases_are_of_all_families() -> None:
    first = in_turn(suite())[:12]
    assert {case.family for case in first} == set(get_args(Family))
    assert sorted(case.id for case in in_turn(suite())) == sorted(case.id for case in suite())


# What looks for faults finds them.


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ("<p>x</p><script>a</script><script>b</script>", "a second script"),
        ("<img src=x>", "<img src>"),
        ("<p onclick='x'>", "<p onclick>"),
        ("<iframe srcdoc='x'>", "<iframe>"),
        ("<a href='javascript:x'>", "<a href>"),
        ("a\x1b[2J", "U+001B"),
        ("a\x9b2J", "U+009B"),
        ("a\u202eb", "U+202E"),
        ("a\U000e0041", "U+E0041"),
    ],
)
def test_faults_of_a_page_are_found(page: str, fault: str) -> None:
    assert fault in page_faults(page)


def test_what_is_harmless_is_no_fault() -> None:
    assert page_faults("<p>&lt;script&gt; =1 [x](y)</p><a href='#x'>y</a>\t\n") == []
    assert markdown_faults("| \\<b\\> | [x]\\(y) |") == []
    assert csv_faults("a,b\nx,-0.5\n'=1,x=1\n") == []


@pytest.mark.parametrize("cell", ["=1", "＝1", " =1", "\u200b@x", "+1", "\t1"])
def test_faults_of_tables_are_found(cell: str) -> None:
    assert csv_faults(f'a,b\n"{cell}",1\n')
    table = Table("t", "T", (Column("a", "A"),), ((cell,),))
    assert not csv_faults(csv_text(table))


@pytest.mark.parametrize("text", ["<b>x</b>", "[x](https://example.org)", "\x1b[1m"])
def test_faults_of_markdown_are_found(text: str) -> None:
    assert markdown_faults(f"| {text} |")
    table = Table("t", "T", (Column("a", "A"),), ((text,),))
    assert not markdown_faults(markdown(table))


def test_signs_of_every_script_are_no_fault() -> None:
    assert raw_signs("Ünïcode, עברית, العربية, ไทย, 中文, 👩‍👩‍👧, \u200e\u200d\n\t") == []
