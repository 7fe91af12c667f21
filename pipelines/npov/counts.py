"""Detectors that read nothing: what lengths and numbers alone tell of errors.

They stand beside every figure. A test set whose errors these find says little about detectors that
read; where they are at chance, it is not lengths that the others go by.
"""

from nli.sentences import sentences
from pipelines.npov.example import SIDES, NpovExample
from pipelines.npov.result import ErrorScores
from salience.words import word_pattern


def length_errors(example: NpovExample) -> ErrorScores:
    """The longer a response the likelier it adds something, the shorter the likelier it omits it.

    Scores are its words, of any kind, and their negative.
    """
    words = sum(1 for _ in word_pattern().finditer(example.response))
    return ErrorScores(hallucination=words, coverage=-words)


def count_errors(example: NpovExample) -> ErrorScores:
    """Sentences of the response less arguments given: above 0 it may add, below 0 leave out.

    A template gives each argument its sentence; an abbreviation may count as the end of one.
    """
    given = sum(len(example.arguments(side)) for side in SIDES)
    surplus = len(sentences(example.response)) - given
    return ErrorScores(hallucination=surplus, coverage=-surplus)


def side_errors(example: NpovExample) -> ErrorScores:
    """How many arguments more one side is given than the other, of which either error is likelier.

    The paper's responses have as many of either (NPOV, footnote 3), so that an error put into what
    was given makes sides unequal.
    """
    pro, con = (len(example.arguments(side)) for side in SIDES)
    return ErrorScores(hallucination=abs(pro - con), coverage=abs(pro - con))
