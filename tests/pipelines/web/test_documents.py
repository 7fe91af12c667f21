"""What is read of files: texts as people see them, and one line where there is none."""

import pytest

from pipelines.data.extraction import html_text
from pipelines.errors import InputError
from pipelines.web.tasks import read


def pdf(text: str) -> bytes:
    """A PDF with one line of text."""
    stream = f"BT /F1 24 Tf 72 700 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    made, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, start=1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = len(made)
    made += b"xref\n0 6\n0000000000 65535 f \n" + table
    return made + b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % end


HTML = """<!doctype html><html><head><title>The bridge</title><style>p {color: red}</style>
<script>alert("no text")</script></head><body><h1>Opening</h1>
<p>It was <b>opened</b> in
1932.</p><ul><li>by the mayor<li>in May</ul><table><tr><td>year<td>1932</table>
<template>hidden</template>5 &lt; 6 &amp; 7<br>end</body></html>"""


def test_the_text_of_a_page_is_what_it_shows() -> None:
    assert html_text(HTML) == (
        "The bridge\n\nOpening\n\nIt was opened in 1932.\n\nby the mayor\nin May\n\nyear 1932\n\n"
        "5 < 6 & 7\nend"
    )


@pytest.mark.parametrize(
    ("name", "data", "texts"),
    [
        ("a.txt", "\ufeffÄ text. ".encode(), {"a.txt": "Ä text."}),
        ("../../etc/guide.MD", b"# A\n\nText.", {"guide.MD": "# A\n\nText."}),
        ("C:\\texts\\a.txt", b"Text.", {"a.txt": "Text."}),
        ("a.html", b"<p>One<p>Two", {"a.html": "One\n\nTwo"}),
        (
            "a.jsonl",
            b'{"id": "x", "text": "One."}\n\n{"id": "y", "title": "Two", "text": "2."}\n',
            {"x": "One.", "y": "Two\n\n2."},
        ),
    ],
)
def test_what_is_read(name: str, data: bytes, texts: dict[str, str]) -> None:
    assert {each.name: each.text for each in read(name, data)} == texts


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.docx", b"PK", "a.docx cannot be read; names of documents end in .txt"),
        ("a.txt", b"\xff\xfe", "a.txt is not UTF-8 at byte 1; save the file as UTF-8"),
        ("a.txt", b"a\0b", "a.txt has a NUL character"),
        ("a.txt", b"  \n", "a.txt is empty; give it text"),
        ("a.html", b"<script>x</script>", "a.html has no text"),
        ("a.jsonl", b'{"id": "x"}', "a.jsonl:1: "),
        ("a.jsonl", b"[" * 100_000, "a.jsonl: cannot be read as JSON"),
        (f"{'a' * 300}.txt", b"a", "cannot name a document"),
        ("a.pdf", b"no PDF", "a.pdf cannot be read as PDF ("),
    ],
)
def test_what_is_not_read_is_said_in_one_line(name: str, data: bytes, said: str) -> None:
    with pytest.raises(InputError) as raised:
        read(name, data)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "/tmp" not in str(raised.value)


def test_a_pdf() -> None:
    pytest.importorskip("pypdf")
    (found,) = read("study.pdf", pdf("The bridge was opened in 1936."))
    assert (found.name, found.text) == ("study.pdf", "The bridge was opened in 1936.")
    with pytest.raises(InputError, match="no text; a scan needs"):
        read("scan.pdf", pdf(""))
