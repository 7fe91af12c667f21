"""Claims that a small model copies from the prompt's examples do not count as the response's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.conflictscore.claims import is_copied, shared_words

PROMPT = "The Eiffel Tower was opened in Paris in 1889 and carries restaurants and antennas."
RESPONSE = "Pluto is no planet. It was opened to debate in 2006, and astronomers voted."


def test_the_share_of_words_by_hand() -> None:
    """The response has three of "Pluto", "opened", "debates" and "1889", by their stems."""
    assert shared_words("Pluto was opened for debates in 1889.", RESPONSE) == 0.75
    assert shared_words("It was not so.", RESPONSE) == 0.0


@pytest.mark.parametrize(
    ("claim", "copied"),
    [
        ("The Eiffel Tower carries antennas.", True),
        ("The Eiffel Tower carries cafés.", True),
        ("Astronomers voted on Pluto in Paris.", False),
        ("Pluto carries restaurants in Paris.", False),  # a quarter is from the response
        ("Pluto ist kein Planet mehr.", False),
        ("Les astronomes ont voté.", False),
        ("It is.", False),
    ],
)
def test_what_is_copied(claim: str, copied: bool) -> None:
    assert is_copied(claim, RESPONSE, PROMPT) == copied


def test_what_prompt_and_response_both_say_is_the_responses() -> None:
    assert not is_copied("The Eiffel Tower carries antennas.", PROMPT, PROMPT)


@given(st.lists(st.sampled_from(RESPONSE.split()), min_size=1))
def test_nothing_that_is_made_of_the_responses_words_is_copied(words: list[str]) -> None:
    assert not is_copied(" ".join(words), RESPONSE, PROMPT)
