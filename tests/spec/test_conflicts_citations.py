"""Which sources each sentence of an answer cites: worked by hand, and for any text."""

import time
from collections.abc import Callable, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipelines.conflicts.citations import cited_sentences
from pipelines.conflicts.result import Sentence


def marked(text: str, numbers: Sequence[int]) -> str:
    """A sentence, and behind it the numbers that it names: "It opened. <1 2>"."""
    return f"{text} <{' '.join(map(str, numbers))}>" if numbers else text


def found(text: str, sources: int = 3) -> list[str]:
    """Sentences with all numbers that they name."""
    return [marked(each.text, each.cites + each.unknown) for each in cited_sentences(text, sources)]


FORMS_OF = {
    "1": [
        "[1]", "([1])", "**[1]**", "【1】", "[1](https://tower.example/a_b)",
        "[1](https://en.wikipedia.org/wiki/Bridge_(x))", "【1†source】",
    ],
    "1 2": [
        "[1][2]", "[1], [2]", "[1] and [2]", "[1, 2]", "[sources 1, 2]", "[Source 1, Source 2]",
        "([1], [2])", "[1](https://tower.example/a_(b)_c(d))[2]", "【1†source, 2†source】",
    ],
    "2 1": ["[2] [1]"],
    "1 2 3": ["[1,2,3]", "[1-3]", "[1–3]", "[1]-[3]", "[1, 2-3]", "[1-3][2]"],
    "1 3": ["[1; 3]", "[1 and 3]", "【1†source】【3†L1-L5】"],
    "2": ["[Source 2]", "[d2]", "[ 2 ]", "(see [2])"],
    "3": ["[Result 3]"],
    "3 1": ["[3][1][3]"],
}  # fmt: skip
"""Numbers -> marks that name them."""


@pytest.mark.parametrize(
    ("mark", "numbers"), [(mark, each) for each, marks in FORMS_OF.items() for mark in marks]
)
def test_forms(mark: str, numbers: str) -> None:
    for text in (f"It opened {mark}.", f"It opened. {mark}", f"It opened.{mark}"):
        assert found(text) == [f"It opened. <{numbers}>"]
        assert found(f"{text} It shut.") == [f"It opened. <{numbers}>", "It shut."]
    assert found(f"It opened {mark} in May.") == [f"It opened in May. <{numbers}>"]
    assert found(f"It opened {mark}, then shut.") == [f"It opened, then shut. <{numbers}>"]


@pytest.mark.parametrize(
    "text",
    [
        "The mayor [sic] spoke.", "It was [a] tower.", "He said that [the city] paid.",
        "It is [the tower](https://tower.example/1) there.", "It is [1](tower.html) there.",
        "It is [1](https://tower.example/(a(b))) there.", "It is 【†source】 there.",
        "In the years [1900-2000] it stood.", "It is [3-1] there.", "It is [1 or 2] there.",
        "It is [1.5] there.", "It is [] there.", "It is [01] there.", "It is [[1 there.",
        "It is a[1", "It is [1, the first] there.", "It is [1234567] there.",
    ],
)  # fmt: skip
def test_what_is_no_citation_stays(text: str) -> None:
    assert cited_sentences(text, 3) == (Sentence(text=text),)


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "It opened in 1889. [1][2] It is tall.[3]",
            ["It opened in 1889. <1 2>", "It is tall. <3>"],
        ),
        ("It opened. [1].", ["It opened. <1>"]),
        ('He said "Yes." [1] Then he went.', ['He said "Yes." <1>', "Then he went."]),
        ("It rose by 3% [1]! Really [2]?", ["It rose by 3%! <1>", "Really? <2>"]),
        ("It rose [1] and fell [2].", ["It rose and fell. <1 2>"]),
        # Abbreviations do not end a sentence, with a mark behind them or not.
        ("In Jan. [1] and Feb. [2] it rose.", ["In Jan. and Feb. it rose. <1 2>"]),
        # The subject of a sentence.
        (
            "It opened in 1889 [1]. [2] says otherwise.",
            ["It opened in 1889. <1>", "says otherwise. <2>"],
        ),
        ("[1] It opened. [2] It shut.", ["It opened. <1 2>", "It shut."]),
        # Lists and other Markdown.
        (
            "There are two:\n- **Iron** [1]\n- Steel. [2]\n* [3] Wood\n\nThat is all.",
            ["There are two:", "- **Iron** <1>", "- Steel. <2>", "* Wood <3>", "That is all."],
        ),
        ("**It opened. [1]** It shut.", ["**It opened.** <1>", "It shut."]),
        ("**It opened.** [1] It shut.", ["**It opened.** <1>", "It shut."]),
        # A heading is no sentence; its mark is for what stands under it.
        ("# The tower [1]\nIt opened.", ["It opened. <1>"]),
        # Alone on a line.
        ("It opened.\n[1]\nIt shut.", ["It opened. <1>", "It shut."]),
        ("It opened.\n\n[1] [2]\n\nIt shut.", ["It opened. <1 2>", "It shut."]),
        ("It opened.\n- [1]", ["It opened. <1>"]),
        ("[1]\nIt opened.", ["It opened. <1>"]),
        # A list of sources.
        (
            "It opened [1].\n\nSources:\n[1]: A page\n[2] Another page",
            ["It opened. <1>", "Sources:", "A page <1>", "Another page <2>"],
        ),
        ("塔很高[1]。它很老。[2]", ["塔很高。 <1>", "它很老。 <2>"]),
        ("[1][2]", []),
        ("", []),
    ],
)
def test_by_hand(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The facts are: 1. The bridge opened in 1936 [1]. 2. It closed in 1950 [2].",
            ["The facts are:", "1. The bridge opened in 1936. <1>", "2. It closed in 1950. <2>"],
        ),
        (  # without full stops before the numbers
            "The facts are: 1) The bridge opened [1] 2) It closed [2]",
            ["The facts are:", "1) The bridge opened <1>", "2) It closed <2>"],
        ),
        ("(1) It opened [1]. (2) It shut [2].", ["(1) It opened. <1>", "(2) It shut. <2>"]),
        ("1. [1] It opened. 2. [2] It shut.", ["1. It opened. <1>", "2. It shut. <2>"]),
        # Several sentences in an item, and text behind the last.
        (
            "1. It opened. It was new [1]. 2. It shut [2]. That is all.",
            ["1. It opened.", "It was new. <1>", "2. It shut. <2>", "That is all."],
        ),
        # A number of which nothing follows is no sentence.
        ("1. It opened [1]. 2. It shut [2]. 3.", ["1. It opened. <1>", "2. It shut. <2>"]),
        ("1.\nIt opened. [1]\n2.\nIt shut. [2]", ["It opened. <1>", "It shut. <2>"]),
        (
            "Two: **1.** It opened [1]. **2.** It shut [2].",
            ["Two:", "It opened. <1>", "It shut. <2>"],
        ),
        # Numbers at the end of a sentence, parts of a sentence, and a number without a second one.
        ("It has 12. It shut.", ["It has 12.", "It shut."]),
        ("It has 1. It had 2. It shut.", ["It has 1.", "It had 2.", "It shut."]),
        ("How many? 12. They shut.", ["How many?", "12.", "They shut."]),
        ("It opened in 1936. It shut.", ["It opened in 1936.", "It shut."]),
        ("The answer is: 1. It is low.", ["The answer is: 1.", "It is low."]),
        (
            "It has two parts: 1) the deck; 2) the towers [1].",
            ["It has two parts: 1) the deck; 2) the towers. <1>"],
        ),
    ],
)
def test_numbers_of_list_items_within_a_line(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("According to [2], it opened.", "According to source 2, it opened. <2>"),
        ("according to [2] it opened.", "according to source 2 it opened. <2>"),
        ("According to [1][3], it opened.", "According to sources 1 and 3, it opened. <1 3>"),
        ("As per [1], [2] and [3], it did.", "As per sources 1, 2 and 3, it did. <1 2 3>"),
        ("In [1], it is 9; in [2], 8.", "In source 1, it is 9; in source 2, 8. <1 2>"),
        ("It opened, as stated in [2].", "It opened, as stated in source 2. <2>"),
        ("It opened (as seen in [2]).", "It opened (as seen in source 2). <2>"),
        ("So say both; see [1].", "So say both; see source 1. <1>"),
        ("From [2], it is known.", "From source 2, it is known. <2>"),
        ("Per [9], it opened.", "Per source 9, it opened. <9>"),
        ("Said by [1] but not by [2].", "Said by source 1 but not by source 2. <1 2>"),
        # The sentence has its noun, or ends in a preposition of its own.
        ("It was opened by [1] the mayor.", "It was opened by the mayor. <1>"),
        ("In [1] 1936 it opened.", "In 1936 it opened. <1>"),
        ("It is the town he lived in [1].", "It is the town he lived in. <1>"),
        ("It opened nearby [1].", "It opened nearby. <1>"),
        ("It opened (see [2]).", "It opened. <2>"),
    ],
)
def test_a_citation_that_a_sentence_speaks_of_is_a_noun(text: str, expected: str) -> None:
    assert found(text) == [expected]


def test_the_noun_may_have_no_number() -> None:
    text = "According to [2], it opened. By [1][3], it shut."
    bare = cited_sentences(text, 3, numbered=False)
    assert [each.text for each in bare] == [
        "According to the source, it opened.",
        "By the sources, it shut.",
    ]
    assert [each.cites for each in bare] == [(2,), (1, 3)]


words = st.from_regex(r"[a-z]{2,8}", fullmatch=True)
plain = st.builds(
    lambda first, rest, stop: " ".join([first.capitalize(), *rest]) + stop,
    words.map(lambda word: f"Z{word}"),  # no abbreviation of a title
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
        + ["1. ", "2) ", "3.", "in ", "according to ", "†"]
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
    # Letters of no mark are in the sentences, all of them and in their order.
    kept = [sign for each in cited for sign in each.text if sign in "QW"]
    assert kept == [sign for sign in text if sign in "QW"]


@given(st.lists(plain, max_size=5).map(" ".join))
def test_a_text_without_marks_is_its_sentences(text: str) -> None:
    assert " ".join(each.text for each in cited_sentences(text, 3)) == text


@pytest.mark.parametrize(
    "part",
    ["[", "[1", "[1]", "[1] ", "[1]x", "[1,", "[1](https://", "\n[1]", "a [1].\n", "**[1]**", "("]
    + ["[1](https://(", "[1](https://(a)", "(a)", "(", "【1†", "†", "1. A ", ". 1. A. 2. B", "2) "]
    + ["in [1], ", "by ", "according to "],
)
def test_long_texts_take_no_long_time(part: str) -> None:
    # A reading in quadratic time would take minutes; no machine needs as long as this.
    text = part * (100_000 // len(part))
    began = time.process_time()
    cited_sentences(text, 3)
    assert time.process_time() - began < 20
