"""An example in its texts: arguments, sentences of the response, and the words of both."""

import re
from typing import NamedTuple

from nli.sentences import sentences
from pipelines.npov.example import SIDES, NpovExample
from pipelines.npov.prompt import argument_spans, as_read, npov_prompt, unbraced
from salience.words import Word, content_words


class Words(NamedTuple):
    """Content words of each argument, and of each sentence; places are of prompt and response."""

    given: tuple[tuple[Word, ...], ...]
    response: tuple[tuple[Word, ...], ...]


def arguments_read(example: NpovExample) -> list[str]:
    """Arguments as a model reads them, those of the pro side first."""
    return [unbraced(each) for side in SIDES for each in example.arguments(side)]


def sentences_read(example: NpovExample) -> list[str]:
    """Sentences of the response as a model reads it."""
    response = as_read(example.response)
    return [response[span.start : span.end] for span in sentences(response)]


_SPEECH = re.compile(
    r"^(?:(?:(?:on|in|at|by|for|from|to) [\w' -]{1,30}|\w+), )?(?:(?!\bthat\b)[\w' -]){1,40}\b"
    r"(?:say|argue|hold|add|claim|believe|maintain|contend|object|counter|point out|note|insist|"
    r"think|feel|warn|fear|suggest|reply|respond|stress)(?:s|es|d|ed)? that (?=\S)",
    re.IGNORECASE,
)


def what_is_said(sentence: str) -> str:
    """A sentence without who says it: "Critics say that it is dear" becomes "it is dear".

    Otherwise a tagger judges whether an argument supports that critics say so.
    """
    return _SPEECH.sub("", sentence)


def words_read(example: NpovExample) -> Words:
    """Content words for detectors that have no tokens: each is a word of one token, the text."""
    prompt, response = npov_prompt(example), as_read(example.response)
    text, base = prompt.text + response, len(prompt.text)
    whole = [(0, len(text))]
    spans = [(base + span.start, base + span.end) for span in sentences(response)]
    given, said = (
        tuple(tuple(content_words(text, whole, span)) for span in own)
        for own in (argument_spans(prompt), spans)
    )
    return Words(given, said)
