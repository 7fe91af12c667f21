"""Short answers named in a text, worked by hand."""

import pytest

from pipelines.metrics.alce import named_answers

TEXT = "The U.S. built Alder Bridge, in Maine, in 1911."


@pytest.mark.parametrize(
    ("aliases", "named", "by_substring"),
    [
        (["1911"], True, True),
        (["the Alder bridge!"], True, True),
        (["Alder Bridge in Maine"], True, True),
        (["US"], True, True),
        (["19"], False, True),
        (["a ridge"], False, True),
        (["1954", "Maine"], True, True),
        (["bridge Alder"], False, False),
        (["the", "..."], False, False),  # they normalise to nothing
        ([], False, False),
    ],
)
def test_names(aliases: list[str], named: bool, by_substring: bool) -> None:
    assert named_answers([aliases], TEXT) == [named]
    assert named_answers([aliases], TEXT, substrings=True) == [by_substring]
