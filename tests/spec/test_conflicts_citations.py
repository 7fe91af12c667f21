"""The sources that each sentence of an answer cites: worked by hand, and for any text."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from text_rows import rows

from pipelines.conflicts.result import Sentence
from pipelines.conflicts.strategies import cited_sentences
from pipelines.text.citations import without_lists, without_marks


def marked(text: str, numbers: Sequence[int]) -> str:
    """A sentence followed by the numbers it cites: "It opened. <1 2>"."""
    return f"{text} <{' '.join(map(str, numbers))}>" if numbers else text


def found(text: str, sources: int = 3) -> list[str]:
    """Sentences with all numbers they cite."""
    return [marked(each.text, each.cites + each.unknown) for each in cited_sentences(text, sources)]


FORMS_OF = {
    "1": [
        "[1]", "([1])", "**[1]**", "【1】", "[1](https://tower.example/a_b)",
        "[1](https://en.wikipedia.org/wiki/Bridge_(x))", "【1†source】", "[^1]", "[^1^]", "\\[1\\]",
        "[citation:1]", "[cite: 1]", "[1](#ref1)", "［1］", "[１]", "[Source: 1]", "[[1]](#a)", "¹",
        "<sup>1</sup>", "<sup>[1]</sup>", '<sup><a href="#n">1</a></sup>', "[\\[1\\]](#b)",
    ],
    "1 2": [
        "[1][2]", "[1], [2]", "[1] and [2]", "[1, 2]", "[sources 1, 2]", "[Source 1, Source 2]",
        "([1], [2])", "[1 2]", "¹,²", "[citation:1][citation:2]", "<sup>1, 2</sup>", "[^1][^2]",
        "[1](https://tower.example/a_(b)_c(d))[2]", "【1†source, 2†source】",
    ],
    "2 1": ["[2] [1]"],
    "1 2 3": ["[1,2,3]", "[1-3]", "[1–3]", "[1]-[3]", "[1, 2-3]", "[1-3][2]"],
    "1 3": ["[1; 3]", "[1 and 3]", "【1†source】【3†L1-L5】"],
    "2": ["[Source 2]", "[d2]", "[ 2 ]", "(see [2])"],
    "3": ["[Result 3]"],
    "3 1": ["[3][1][3]"],
}  # fmt: skip
"""Numbers -> marks that cite them."""


@pytest.mark.parametrize(
    ("mark", "numbers"), [(mark, each) for each, marks in FORMS_OF.items() for mark in marks]
)
def test_forms(mark: str, numbers: str) -> None:
    for text in (f"It opened {mark}.", f"It opened. {mark}", f"It opened.{mark}"):
        assert found(text) == [f"It opened. <{numbers}>"]
        assert found(f"{text} It shut.") == [f"It opened. <{numbers}>", "It shut."]
    assert found(f"It opened {mark} in May.") == [f"It opened in May. <{numbers}>"]
    assert found(f"It opened {mark}, then shut.") == [f"It opened, then shut. <{numbers}>"]


@pytest.mark.parametrize("row", rows("citations.jsonl"), ids=lambda row: row["kind"])
def test_sentences_and_what_they_cite(row: dict[str, Any]) -> None:
    cited = [[each.text, [*each.cites, *each.unknown]] for each in cited_sentences(row["text"], 3)]
    assert cited == row["sentences"]


def test_numbers_of_no_source_are_unknown() -> None:
    assert cited_sentences("It opened in May [2019]. It shut [0][2][4][2].", 3) == (
        Sentence(text="It opened in May [2019]."),
        Sentence(text="It shut.", cites=(2,), unknown=(0, 4)),
    )
    assert cited_sentences("It opened [2-4].", 3) == (
        Sentence(text="It opened.", cites=(2, 3), unknown=(4,)),
    )
    assert cited_sentences("It opened [1].", 0) == (Sentence(text="It opened.", unknown=(1,)),)


def test_a_range_has_at_most_twenty() -> None:
    assert found("It opened [1-20].", 30) == [marked("It opened.", range(1, 21))]
    assert found("It opened [1-21].", 30) == ["It opened [1-21]."]


def test_a_text_without_its_citations() -> None:
    text = "# Mill\n\nAccording to [2], it opened.¹ By [1][3], it shut.\n\nSources:\n[1] Guide"
    assert without_marks(text).rstrip() == (
        "# Mill\n\nAccording to the source, it opened. By the sources, it shut."
    )
    assert without_marks("") == ""


words = st.from_regex(r"[a-z]{2,8}", fullmatch=True)
plain = st.builds(
    lambda first, rest, stop: " ".join([first.capitalize(), *rest]) + stop,
    words.map(lambda word: f"Z{word}"),  # not an abbreviated title
    st.lists(words.map(lambda word: f"z{word}z"), min_size=1, max_size=5),
    st.sampled_from([".", "!", "?"]),
)
numbers = st.lists(st.integers(1, 9), unique=True, max_size=4)
Form = Callable[[list[int]], str]
FORMS: list[Form] = [
    lambda cited: "".join(f"[{n}]" for n in cited),
    lambda cited: " ".join(f"[{n}]" for n in cited),
    lambda cited: f"[{', '.join(map(str, cited))}]",
    lambda cited: f"[{'; '.join(f'Source {n}' for n in cited)}]",
]


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(plain, numbers, st.sampled_from(FORMS), st.sampled_from(["in", " in", "behind"])),
        max_size=5,
    ),
    st.sampled_from([" ", "\n", "\n\n"]),
)
def test_marks_that_are_put_in_come_out(
    parts: list[tuple[str, list[int], Form, str]], between: str
) -> None:
    written = []
    for text, cited, form, where in parts:
        mark = form(cited) if cited else ""
        space = " " if where.startswith(" ") or where == "behind" else ""
        inside = text[:-1] + space + mark + text[-1]
        written.append(text if not mark else f"{text} {mark}" if where == "behind" else inside)
    assert found(between.join(written), 9) == [marked(text, cited) for text, cited, _, _ in parts]


hostile = st.lists(
    st.sampled_from(
        ["[", "]", "[1]", "[2", "1", ",", "-", "–", " ", "\n", ".", "(", ")", "*", "_", ":", "q"]
        + ["[9]", "【", "】", "and", "Q", "W", "- ", "**", "^", "(see ", "\ud800", "ß"]
        + ["1. ", "2) ", "3.", "in ", "according to ", "†", "¹", "<sup>", "</sup>", "\\[", "[^1]: "]
    )
    | st.characters(),
    max_size=40,
).map("".join)


@given(hostile)
@example("**[1]**[2]**")
@example("[1](see [2])")
@example("It. [1] ßa")
def test_any_text(text: str) -> None:
    cited = cited_sentences(text, 3)
    for each in cited:
        assert set(each.cites) <= {1, 2, 3}
        assert not set(each.unknown) & {1, 2, 3}
        assert "  " not in each.text
        assert each.text == each.text.strip() != ""
    # Letters of no mark and no list are in the sentences, all of them and in their order.
    kept = [sign for each in cited for sign in each.text if sign in "QW"]
    assert kept == [sign for sign in without_lists(text) if sign in "QW"]


@pytest.mark.parametrize(
    "part",
    ["[", "[1", "[1]", "[1] ", "[1]x", "[1,", "[1](https://", "\n[1]", "a [1].\n", "**[1]**", "("]
    + ["[1](https://(", "[1](https://(a)", "(a)", "【1†", "†", "1. A ", ". 1. A. 2. B", "2) "]
    + ["in [1], ", "by ", "according to ", "¹", "a¹ ", "<sup>", "<sup>1", "<sup><a ", "\\[1\\]"]
    + ["[[1]]", "\n", "\n \n", "Sources\n", "Sources: a\n", "Sources\n[1] x\nx\n", "[^a]: b\n  c\n"]
    + ["Sources\nx\n#\n", "Sources\n\n\nx\n# y\n", "a. Sources: [1] ", "**Source:** [1]\n"],
)
def test_long_texts_take_no_long_time(part: str) -> None:
    # A reading in quadratic time takes much longer; no machine needs as long as this.
    text = part * (40_000 // len(part))
    began = time.process_time()
    cited_sentences(text, 3)
    assert time.process_time() - began < 8
