"""Hostile texts are sound, and their controls harmless; what looks for faults finds them."""

import re

import pytest
from pages import safe
from surfaces import csv_faults, markdown_faults, raw_signs

from pipelines.data.records import Document
from pipelines.prompts import fenced
from pipelines.trust.trial import Case, cases, harmless, taken_out


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_a_case_keeps_its_document_and_its_control_has_its_shape(case: Case) -> None:
    text = case.written("SUPPORTS", '{"answer": "SUPPORTS"}')
    assert not re.search(r"\{(goal|json|opposite)\}", text), "every placeholder is filled"
    hostile, control = case.placed(text), case.placed(text, harmless)
    assert hostile != [Document(id="page", text=case.document)] != control
    without = taken_out(hostile)
    for made in (hostile, control, without):
        assert len(made) == len(hostile)
        assert [each.title is None for each in made] == [each.title is None for each in hostile]
    assert case.document in hostile[0].text
    assert case.document in control[0].text
    assert len(hostile[0].text) <= len(control[0].text)
    assert text.strip() not in repr(without)


def test_one_text_has_the_mark_that_its_document_would_have() -> None:
    (case,) = (case for case in cases() if case.id == "fences/own-mark")
    assert case.text.startswith(fenced(case.document, "DOCUMENT").rpartition("\n")[2])


@pytest.mark.parametrize(
    "page",
    [
        "<p>x</p><script>a</script><script>b</script>",
        "<iframe srcdoc='x'>",
        "<a href='javascript:x'>",
        "<p onclick='x'>",
        "<video poster='https://example.org'>",
    ],
)
def test_faults_of_a_page_are_found(page: str) -> None:
    with pytest.raises(AssertionError):
        safe(page)
    safe("<p>&lt;script&gt; =1 [x](y)</p><a href='#x'>y</a>")


def test_raw_signs_are_found() -> None:
    assert raw_signs("a\x1b[2J\u202eb\U000e0041\t\n") == ["U+001B", "U+202E", "U+E0041"]
    assert (
        raw_signs("Ünïcode, עברית, العربية, ไทย, 中文, 👩\u200d👩\u200d👧, \u200e\u200d\n\t") == []
    )


@pytest.mark.parametrize("cell", ["=1", "＝1", " =1", "\u200b@x", "+1", "\t1"])
def test_faults_of_csv_files_are_found(cell: str) -> None:
    assert csv_faults(f'a,b\n"{cell}",1\n')
    assert csv_faults("a,b\nx,-0.5\n'=1,x=1\n") == []


@pytest.mark.parametrize("text", ["<b>x</b>", "[x](https://example.org)", "\x1b[1m"])
def test_faults_of_markdown_are_found(text: str) -> None:
    assert markdown_faults(f"| {text} |")
    assert markdown_faults("| \\<b\\> | [x]\\(y) |") == []
