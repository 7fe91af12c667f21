"""Which side a passage takes on an answer (ConflictScore, appendix A: MacNoise and ContraQA)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.conflictscore.detection.questions import (
    contradicts,
    denies,
    names,
    replaces,
    supports,
)

ASKED = "how many towers does the castle of Orval have"
ORIGINAL = (
    "Orval is a castle on the river Semois. The castle of Orval has seven towers and one gate. "
    "It was begun in 1271 by Count Hugo."
)
WHO = "who began the castle of Orval"
BEGAN = "The castle of Orval on the river Semois was begun in 1271 by Count Hugo."


@pytest.mark.parametrize(
    ("rewriting", "expected"),
    [
        # denies the answer and names it
        ("The castle of Orval does not have seven towers, as some guides say.", True),
        ("It isn't seven towers that the castle has.", True),
        # says something else in its place
        ("Orval is a castle. The castle of Orval has nine towers and one gate.", True),
        # avoids the point
        ("Orval is a castle that travellers love. It has many towers.", False),
        ("Sarah was glad of her new job. Three colleagues took her to the cinema.", False),
        # still says it
        ("Visitors climb all seven towers of the castle.", False),
        ("The castle has not only seven towers but a gate.", False),
        # speaks of another number that the original has, too
        ("The castle of Orval has towers, one gate.", False),
    ],
)
def test_how_a_rewriting_takes_the_other_side(rewriting: str, expected: bool) -> None:
    assert contradicts(rewriting, ORIGINAL, ASKED, ["seven"]) is expected


@pytest.mark.parametrize(
    ("rewriting", "expected"),
    [
        ("The castle of Orval on the Semois was begun in 1271 by the mason Berta Lint.", True),
        ("The castle of Orval on the Semois was begun in 1271 by a local noble.", False),
        ("Interestingly, the castle of Orval on the Semois was begun in 1271 by someone.", False),
        ("The castle of Orval is famous. Berta Lint, a mason, lived in Dinant.", False),
    ],
)
def test_a_name_is_replaced_by_a_name(rewriting: str, expected: bool) -> None:
    assert contradicts(rewriting, BEGAN, WHO, ["Count Hugo", "Hugo"]) is expected


def test_a_decade_is_no_other_year_and_who_says_both_takes_no_side() -> None:
    original = "The mayor Berta Lint wrote the song of Orval in 1973 for her brother."
    asked, wrote = (
        "when was the song of Orval written",
        "The mayor Berta Lint wrote the song of Orval",
    )
    cases = {
        f"{wrote} in the early 70s for her brother.": False,
        f"{wrote} in 1981 for her brother.": True,
        f"{wrote} in 1981 for her brother. The song of Orval is of 1973.": False,
    }
    for rewriting, expected in cases.items():
        assert contradicts(rewriting, original, asked, ["1973"]) is expected, rewriting


def test_an_answer_in_small_letters_is_replaced_in_nearly_the_same_words_alone() -> None:
    original = "Under a microscope the sample from the old cellar turned out to be chalk."
    asked, answers = "what was the sample", ["chalk"]
    other = "Under a microscope the sample from the old cellar turned out to be plaster."
    assert contradicts(other, original, asked, answers)
    assert not contradicts("The old cellar had plaster and wine.", original, asked, answers)


@pytest.mark.parametrize(
    ("answer", "spelt", "other"),
    [
        ("1,856,000 pounds", "1856000 pounds", "1,900,000 pounds"),
        ("1,856,000", "1.856 million", "1,900,000"),
        ("7", "seven", "eight"),
        ("Molière", "Moliere", "Racine"),
        ("General Lee", "General R. Lee", "General Grant"),
        ("July 15, 1905", "15 July 1905", "16 July 1906"),
    ],
)
def test_another_spelling_replaces_nothing(answer: str, spelt: str, other: str) -> None:
    original = "The castle of Orval on the river Semois is known for {} in every chronicle."
    for text, expected in ((spelt, False), (other, True)):
        rewriting = original.format(text)
        assert contradicts(rewriting, original.format(answer), "", [answer]) is expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("It opened in 1936, not in 1932.", True),
        ("It opened in 1936 rather than 1932.", True),
        ("Contrary to the belief that it was 1932, it opened later.", True),
        ("It is not true that it opened in 1932.", True),
        ("It opened in 1932, not in 1936.", False),
        ("It opened in 1932 and not in 1936.", False),
        ("It opened in 1932 rather than 1936.", False),
        ("Instead of 1936, it opened in 1932.", False),
        ("He did not see it, although it opened in 1932.", False),
        ("Not everyone cheered when it opened in 1932.", False),
        ("It was not opened before 1932.", False),
        ("There is no doubt that it opened in 1932.", False),
    ],
)
def test_a_negation_denies_its_own_part_of_a_sentence(sentence: str, expected: bool) -> None:
    assert denies(sentence, ["1932"]) is expected


@pytest.mark.parametrize(
    ("passage", "title", "expected"),
    [
        ("The castle of Orval has seven towers.", "", True),
        ("Its seven towers are of slate.", "The castle of Orval", True),
        # names the number of something else
        ("Its seven heirs sold it.", "The castle of Orval", False),
        ("Seven towers were counted.", "", False),
        ("The castle of Orval never had seven towers.", "", False),
        ("The castle of Orval no longer has seven towers.", "", False),
        ("It is a myth that the castle of Orval has seven towers.", "", False),
        ("The castle of Orval has towers.", "", False),
    ],
)
def test_a_passage_supports_where_it_speaks_of_what_is_asked(
    passage: str, title: str, expected: bool
) -> None:
    assert supports(passage, ASKED, ["seven"], title) is expected


def test_an_answer_is_found_as_words() -> None:
    assert names("It was J.  F. Kennedy!", "J. F. Kennedy")
    assert not names("In 19321 parts", "1932")
    assert not names("anything", "...")
    assert not denies("It was not in Ohio; it was in Utah.", ["Utah"])
    assert not denies("It was not opened until 1932.", ["1932"])
    assert denies("It was not opened in 1932.", ["1932"])


words = st.sampled_from(
    ["The", "tower", "of", "Orval", "was", "begun", "by", "Hugo", "1271", "nine", "seven", "not"]
    + [".", ";", ","]
)


@given(st.lists(words, min_size=1, max_size=30).map(" ".join), st.sampled_from(["seven", "Hugo"]))
def test_nothing_is_replaced_in_an_equal_text(text: str, answer: str) -> None:
    assert not replaces(text, text, ASKED, [answer])
