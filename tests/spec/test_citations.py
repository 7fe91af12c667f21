"""Citation precision and recall by ALCE's published rules, worked by hand."""

from typing import NamedTuple

import pytest

from pipelines.metrics.alce import citation_counts

PASSAGES = "0123"
"""Ids of the passages."""


class Cited(NamedTuple):
    text: str
    cites: tuple[str, ...]
    dropped: tuple[str, ...] = ()


def says(text: str, cites: str = "", dropped: str = "") -> Cited:
    return Cited(text, (*cites,), (*dropped,))


class Facts:
    """An entailment model that knows the facts in every passage and those that a sentence needs.

    A sentence is entailed if the passages together contain all its facts.
    """

    passages = ("ab", "b", "c", "")

    def __call__(self, cites: tuple[str, ...], sentence: str) -> bool:
        return set(sentence) <= {fact for name in cites for fact in self.passages[int(name)]}


# sentence, citations -> supported, precise, counted
CASES = {
    "no citation": ("a", "", False, 0, 0),
    "one that supports": ("a", "0", True, 1, 1),
    "one that supports more than is said": ("b", "0", True, 1, 1),
    "one that supports a part": ("abc", "0", False, 0, 1),
    "one that has nothing to do with it": ("a", "3", False, 0, 1),
    "two that both support": ("b", "01", True, 2, 2),
    "two that are needed together": ("abc", "02", True, 2, 2),
    "one that supports and one superfluous": ("a", "03", True, 1, 2),
    "superfluous first": ("a", "30", True, 1, 2),
    "two needed and one superfluous": ("abc", "023", True, 2, 3),
    "a part that the others have as well": ("abc", "012", True, 2, 3),
    "two that do not support even together": ("abc", "12", False, 0, 2),
    "out of range": ("a", "4", False, 0, 0),
    "out of range beside one that supports": ("a", "09", False, 0, 0),
    "the same one twice": ("a", "00", True, 2, 2),
    "the same needed one twice": ("abc", "002", True, 1, 3),
    "two that say the same beside a needed one": ("bc", "102", True, 1, 3),
    "the fourth is not looked at": ("ac", "3102", False, 0, 3),
    "the fourth is still out of range": ("a", "0129", False, 0, 0),
}


@pytest.mark.parametrize("name", CASES)
def test_one_sentence(name: str) -> None:
    text, cites, supported, precise, counted = CASES[name]
    counts = citation_counts([says(text, cites)], PASSAGES, Facts())
    assert (counts.supported, counts.needed, counts.citations) == (supported, precise, counted)


def test_an_answer_of_several_sentences() -> None:
    answer = [
        says("abc", "023"),  # supported, two of three precise
        says("a", "1"),  # not supported
        says("a"),  # nothing cited
        says("a", "07"),  # out of range: neither citation counts
    ]
    counts = citation_counts(answer, PASSAGES, Facts())
    assert counts.recall == pytest.approx(1 / 4)
    assert counts.precision == pytest.approx(2 / 4)


def test_dropped_citations_stay_in_the_denominator() -> None:
    written = [
        says("abc", "02"),  # supported, both precise
        says("a", "13"),  # neither supports it
    ]
    dropping = [written[0], says("a", dropped="23")]
    partly = [written[0], says("a", "1", dropped="3")]
    for answer in (written, dropping, partly):
        counts = citation_counts(answer, PASSAGES, Facts())
        assert (counts.needed, counts.citations, counts.precision) == (2, 4, 0.5)
    many = [says("a", dropped="01230")]
    assert citation_counts(many, PASSAGES, Facts()).citations == 3


def test_an_answer_without_citations_has_precision_zero_and_an_empty_one_has_none() -> None:
    silent = citation_counts([says("a")], PASSAGES, Facts())
    assert (silent.recall, silent.precision) == (0.0, 0.0)
    empty = citation_counts([], PASSAGES, Facts())
    assert (empty.recall, empty.precision) == (None, None)
