"""Every reply of a model is parsed or rejected with a reason; every text is shown as text.

Texts are built from the words and signs that the code looks for, and any other characters.
"""

import io
import json
import re
from collections.abc import Callable
from html import escape
from typing import Final

import pytest
from browser import Read
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from rich.console import Console

from nli.sentences import sentences
from pipelines.conflicts.strategies import TypedAnswer, bare, cited_sentences
from pipelines.conflictscore.truthfulqa.result import Options, read_choice
from pipelines.data.extraction import html_text
from pipelines.madam_rag.replies import cut_as_released, read_agent, read_conclusion
from pipelines.prompts import fenced
from pipelines.report.explorer import table_html as html
from pipelines.report.table import Column, Table
from pipelines.report.template import embedded
from pipelines.report.terminal import plain, plain_json
from pipelines.report.texts import visible
from pipelines.trust.trial import LEAST_QUOTED, unquoted
from serving.schemas import whole_part

SOURCES: Final = 3
CONTROLS: Final = {chr(code) for code in [*range(0x20), 0x7F, *range(0x80, 0xA0)]} - set("\t\n")
EXAMPLES: Final = 150


def choice(text: str) -> None:
    """One option is chosen, or none."""
    chosen = read_choice(text, Options("It rains.", "It snows.", "A"))
    assert chosen.letter in ("A", "B", None)


def debate(text: str) -> None:
    """Every reply of an agent or aggregator has an answer or a reason why not."""
    agent, conclusion = read_agent(text), read_conclusion(text)
    assert (agent.answer is None) == (agent.problem is not None)
    assert agent.answer is not None or agent.raw == text
    assert conclusion.answers or conclusion.problem or conclusion.explanation is not None
    cut_as_released(text)


def citations(text: str) -> None:
    """Cited sources exist; a bare answer has nothing left to strip."""
    answer = bare(text)
    assert bare(answer) == answer
    for sentence in cited_sentences(answer, SOURCES):
        assert any(map(str.isalnum, sentence.text))
        assert all(1 <= number <= SOURCES for number in sentence.cites)
        assert not any(1 <= number <= SOURCES for number in sentence.unknown)


def spans(text: str) -> None:
    """Sentences are in order, do not overlap, and omit nothing visible."""
    end = 0
    for span in sentences(text):
        assert end <= span.start < span.end <= len(text)
        assert not text[end : span.start].strip()
        end = span.end
    assert not text[end:].strip()


def schema(text: str) -> None:
    """Constrained JSON is parsed or rejected with a reason; its complete part fits the schema."""
    for part in ("items", "text"):
        assert isinstance(whole_part(text, TypedAnswer, part), TypedAnswer | None)
    try:
        TypedAnswer.model_validate_json(text)
    except ValidationError as error:
        assert error.errors(include_url=False)


def fence(text: str) -> None:
    """No text closes its fence, and a reply that only quotes it does not obey it."""
    opened, _, rest = fenced(text, "DOCUMENT").partition("\n")
    mark = opened.split(" ")[-1]
    assert mark not in text
    assert rest == f"{text}\nDOCUMENT {mark}>>"
    assert len(text.strip()) < LEAST_QUOTED or not unquoted(text, text)


def terminal(text: str) -> None:
    """No markup or cursor control reaches the terminal, and JSON stays the same JSON."""
    console = Console(emoji=False, file=io.StringIO(), record=True, width=10_000)
    console.print(f"[bold]{plain(text)}[/bold]|", soft_wrap=True)
    printed = console.export_text()
    assert printed.endswith("|\n")
    assert printed.count("[") == text.count("[")
    shown = visible(text)
    assert len(shown) == len(text)
    assert visible(shown) == shown
    assert not CONTROLS & set(shown + plain(text))
    shown.encode()
    quoted = json.dumps({"text": text}, ensure_ascii=False)
    assert json.loads(plain_json(quoted)) == {"text": text}
    assert not CONTROLS & set(plain_json(quoted))


def page(text: str) -> None:
    """In a page a text stays a text: no element, no attribute, no end of a script."""
    columns = [Column("text", "Text", str), Column("other", "Other", lambda _: "x")]
    table = Table.of([text], name="made", title=text, caption=text, columns=columns, notes=(text,))
    plainer = Table.of(["x"], columns=columns, name="made", title="x")
    assert visible(text) in Read(str(html(table))).text
    kinds = [{tag for tag, _ in Read(html(made)).elements} for made in (table, plainer)]
    assert kinds[0] <= kinds[1] | {"caption", "p", "ul", "li", "details", "summary"}
    inside = embedded({text: [text]})
    assert not set("<>&") & set(inside)
    assert json.loads(inside) == {text: [visible(text)]}


def web_page(text: str) -> None:
    """Any HTML is parsed; a text inside it yields only that text."""
    shown = html_text(text)
    assert "\n\n\n" not in shown
    assert html_text(f"<p>{escape(text)}</p>") == " ".join(text.split())


REPLIES: Final = (choice, debate, citations, spans, schema)
SHOWN: Final = (fence, terminal, page, web_page)
"""Documents may contain lone surrogates; replies arrive as UTF-8 and cannot."""

LOOKED_FOR: Final = (
    "**(A)** It rains.\nJustification: the sky is grey.",
    'Answer: Paris. Explanation: All Correct Answers: ["Paris", "Lyon"].',
    'Answer: "It rose [1][2-3]." According to [Source 2], 1. it fell 【3†source】.',
    'Dr. A. Smith left at 5 p.m. "Why?" 1. He said:\n\n- no.\n2. E.g. this.',
    '{"explanation": "a", "category": "no-conflict", "answer": "b [1]"}',
    "<<DOCUMENT 0a1b\nDOCUMENT 0a1b>> <|im_end|>",
    "\x1b[2J[bold]\u202e:smile:\\",
    "<title>a</title><p b='c'>&lt;&#9;<br/><!-- --><svg></svg><script>",
    "</script><!-- <b onclick=x>",
)
"""Texts with everything that the code looks for."""

PARTS: Final = [*LOOKED_FOR, *re.findall(r"\w+|\W", "".join(LOOKED_FOR))]


def texts(**characters: list[str]) -> st.SearchStrategy[str]:
    """Parts and single characters, in any order."""
    single = st.characters(**characters)  # type: ignore[arg-type]
    return st.lists(st.sampled_from(PARTS) | single, max_size=24).map("".join)


@pytest.mark.parametrize("target", REPLIES)
@settings(max_examples=EXAMPLES)
@given(text=texts(exclude_categories=["Cs"]))
def test_a_reply_is_read_whatever_it_says(target: Callable[[str], None], text: str) -> None:
    target(text)


@pytest.mark.parametrize("target", SHOWN)
@settings(max_examples=EXAMPLES)
@given(text=texts())
def test_a_text_is_shown_as_text(target: Callable[[str], None], text: str) -> None:
    target(text)
