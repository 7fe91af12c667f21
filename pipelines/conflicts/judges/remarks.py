"""Sentences that state no fact: questions, headings, remarks on the sources, advice, opinions.

For the tagger alone; a language model is asked (FACTS; `prompts/grounding.j2`).
"""

import re
from typing import Final

from pipelines.text.refusals import SOURCES, THIS, clauses, is_unknown

REMARK_CHARACTERS: Final = 200
"""Longer sentences are never taken for a mere remark on the sources."""

_NO_NUMBER = r"[^0-9]*"
"""An opinion or advice with a number has something that can be looked up."""
_REMARKS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        # The sources disagree about this. Search results vary widely.
        rf"{SOURCES} (?:do not agree|disagree|agree|differ|vary|conflict|"
        rf"contradict (?:each other|one another)|are (?:divided|in conflict|in agreement|mixed)|"
        rf"give (?:different|conflicting|various) (?:answers|information|accounts|figures|dates))"
        r"(?: (?:widely|greatly|considerably|strongly|slightly|somewhat|a lot))?"
        rf"(?: (?:on|about|over|in|here|with each other|with one another)(?: {THIS})?)?",
        # The results answer the query.
        rf"{SOURCES} answers?(?: {THIS})?",
        # Here is a summary of the sources.
        r"(?:here|below|this|the following) (?:is|are) (?:an?|the|my|their) (?:\w+ )?"
        rf"(?:summary|overview|answers?|list|views?|points)(?: of (?:{SOURCES}|the views|"
        r"the debate))?",
        r"(?:it|that|this|the answer) depends",
        # I think it is worth a visit. In my view it is overrated.
        rf"(?:i|we) (?:think|believe|feel|hope|recommend|suggest|advise)\b{_NO_NUMBER}",
        rf"in (?:my|our) (?:opinion|view)\b{_NO_NUMBER}",
        # Please ask an engineer. It is best to consult a doctor.
        r"(?:please\b|it is (?:best|advisable|wise|important) to "
        r"(?:ask|consult|check|verify|seek|see)\b|"
        rf"always (?:ask|consult|check)\b|consult\b){_NO_NUMBER}",
    )
)


def states_a_fact(sentence: str) -> bool:
    """Whether a sentence states anything that could be looked up.

    A rule of this program: a tagger knows three relations, and none of them is the paper's "no
    factual information". No fact is a question, a heading ("#", or a colon at the end), and a
    sentence that speaks of the sources or of the answer itself alone: "The sources disagree.",
    "Here is a summary.", "I could not find an answer."; so are an opinion of the answer's own ("I
    think it is overrated.") and advice ("Please ask a doctor."), if they give no number, and that
    something is unclear ("The exact origin is unclear."). What they do not say is none either ("The
    results do not say when it opened."): it is what the prompt asks for where they do not answer.
    Where it goes on to what they say ("The sources disagree whether the dam is safe."), it is a
    fact like any other; so is everything that the rule does not know.

    Args:
        sentence: Without its citations.
    """
    bare = sentence.strip().strip("*_\"'“”‘’ ").strip()
    if not any(map(str.isalnum, bare)) or bare.startswith("#") or bare.endswith(("?", ":")):
        return False
    if len(bare) > REMARK_CHARACTERS:
        return True
    told = ", ".join(filter(None, clauses(bare)))
    return not (is_unknown(bare) or any(remark.fullmatch(told) for remark in _REMARKS))
