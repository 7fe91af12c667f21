"""Words of a text, as lexical comparisons count them."""

import re

FUNCTION_WORDS = frozenset(
    """
    a about after all also an and any are as at be been before being between both but by can could
    did do does during each for from had has have he her here him his how i if in into is it its
    just like may might more most much must my no nor not of off on once only or other our out over
    own per same she should so some such than that the their them then there these they this those
    through to too under until up upon very was we were what when where which while who whom whose
    why will with would yet you your
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list
)


def words(text: str) -> list[str]:
    """Words and numbers of a text in lower case, function words aside, in order.

    A number is one word without its separators: "1,200" is "1200".
    """
    plain = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text.lower())
    return [word for word in re.findall(r"\w+", plain) if word not in FUNCTION_WORDS]


def content_words(text: str) -> frozenset[str]:
    """The distinct `words` of a text."""
    return frozenset(words(text))
