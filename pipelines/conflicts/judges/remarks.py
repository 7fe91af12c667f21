"""Sentences that state no fact: questions, headings, remarks on the sources, advice, opinions.

For the tagger alone; a language model is asked (FACTS; `prompts/grounding.j2`).
"""

import re
from typing import Final

REMARK_CHARACTERS: Final = 200
"""Longer sentences are never taken for a mere remark on the sources."""

_TEXTS = r"(?:search results?|sources?|results?|documents?|pages?|texts?|references?)"
_WHICH = (
    r"(?:(?:the|these|those|all|both|most|some|several|many|my|your|provided|available|given|"
    r"retrieved|cited|different|various|of) )*"
)
_SOURCES = _WHICH + _TEXTS
# "Documents" may be those of an archive; results, and documents that were given, are those at hand.
_AT_HAND = (
    rf"(?:{_WHICH}(?:search results?|results?|sources?)|"
    rf"(?:{_WHICH}(?:provided|available|given|retrieved|cited) {_WHICH}{_TEXTS}))"
)
_THIS = (
    r"(?:this|that|it|the question|this question|your question|the query|this query|your query|"
    r"the answer|this point|the matter)"
)
_NOT = r"(?:do not|does not|don['’]t|doesn['’]t|did not|didn['’]t|cannot|can not|can['’]t)"
_TELL = (
    r"(?:answer|say|state|mention|address|tell|settle|resolve|specify|indicate|give|provide|"
    r"contain|include|cover|explain|reveal|report|discuss|clarify|offer|have)"
)
_NAMES = r"(?:say|state|mention|tell|specify|indicate|explain|reveal|discuss|clarify)"
_TELLS = rf"(?:{_TELL}s?|addresses|discusses|clarifies|has)"
_SOUGHT = (
    r"(?:answer|information|details?|mention|data|evidence|statement|indication|dates?|years?|"
    r"time|place|name|numbers?|figures?|reasons?)"
)
# What follows goes on about the same: neither a clause of its own nor what the sources do say.
_MORE = r"(?:(?! (?:but|although|though|however|while|yet|because|only|except)\b)[^,;:])*"
_ASKED = (
    r"(?:when|who|whom|whose|what|where|which|why|how|whether|if|by whom|for whom|about|on|"
    r"regarding|concerning|as to|of|to|for)"
)
_ABOUT = rf"(?: {_ASKED}\b{_MORE})?"
_ANSWER = rf"(?:\w+ ){{0,3}}{_SOUGHT}"
_IN_THEM = rf"(?: (?:in|from|by|with|based on|using) {_SOURCES})"
_UNCLEAR = r"(?:unclear|uncertain|not clear|not certain)"
_PLAIN = r"[^,;:]{1,80}?"
_NO_NUMBER = r"[^0-9]*"
"""An opinion or advice with a number has something that can be looked up."""
_REMARKS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # The sources disagree about this. Search results vary widely.
        rf"{_SOURCES} (?:do not agree|don['’]t agree|disagree|agree|differ|vary|conflict|"
        rf"contradict (?:each other|one another)|are (?:divided|in conflict|in agreement|mixed)|"
        rf"give (?:different|conflicting|various) (?:answers|information|accounts|figures|dates))"
        r"(?: (?:widely|greatly|considerably|strongly|slightly|somewhat|a lot))?"
        rf"(?: (?:on|about|over|in|here|with each other|with one another)(?: {_THIS})?)?",
        # The results do not answer the query. None of the documents says when it opened.
        rf"{_SOURCES} (?:{_NOT}|answers?)(?: {_THIS})?",
        rf"(?:(?:no|none of) {_SOURCES} {_TELLS}|{_SOURCES} {_NOT}(?: \w+ly)? {_TELL})"
        rf"(?: (?:{_THIS}|anything|{_ANSWER}))?{_ABOUT}",
        # The results do not mention the architect of the bridge.
        rf"(?:(?:no|none of) {_AT_HAND} {_NAMES}s?|{_AT_HAND} {_NOT}(?: \w+ly)? {_NAMES}) "
        rf"the{_MORE}",
        # The results contain no information about it. They say nothing of its builder.
        rf"{_SOURCES} {_TELLS} (?:no {_ANSWER}|nothing){_ABOUT}",
        # Here is a summary of the sources.
        r"(?:here|below|this|the following) (?:is|are) (?:an?|the|my|their) (?:\w+ )?"
        rf"(?:summary|overview|answers?|list|views?|points)(?: of (?:{_SOURCES}|the views|"
        r"the debate))?",
        # I could not find an answer in the sources. I do not know when it opened.
        r"(?:i|we) (?:could not|couldn['’]t|cannot|can['’]t|did not|didn['’]t|do not|don['’]t|"
        r"was unable to|am unable to|were unable to|was not able to|am not able to) "
        r"(?:find|give|determine|answer|say|know|tell)"
        rf"(?: (?:an?|the|any|one|this|that|it|your|single|clear|definite|definitive|question|"
        rf"query|answer|information|to|in|from|these|provided|given|available|{_TEXTS}))*"
        rf"(?: (?:when|who|what|where|which|why|how|whether|if)\b{_MORE})?",
        # There is no single answer to this question. There is no information on it in the results.
        rf"there is no (?:\w+ )?answer(?: to {_THIS})?{_IN_THEM}?",
        rf"(?:there (?:is|was) )?no {_ANSWER}{_MORE}{_IN_THEM}{_ABOUT}",
        # The answer is unclear.
        rf"the answer(?: to {_THIS})? (?:is|remains) (?:{_UNCLEAR}|unknown|open|not known|"
        rf"not (?:given|stated|found|available)){_IN_THEM}?",
        # The query cannot be answered from these results.
        rf"{_THIS} (?:cannot|can not|can['’]t|could not) be (?:answered|determined|said|found)"
        rf"{_IN_THEM}?",
        r"(?:it|that|this|the answer) depends",
        # The exact origin of the dish is unclear. It is not clear from the sources when it opened.
        rf"(?:the (?:exact|precise|true|real|full) {_PLAIN}|{_THIS}) (?:is|remains) "
        rf"(?:{_UNCLEAR}|unknown|"
        r"not (?:\w+ )?(?:clear|certain|known)(?: for (?:sure|certain))?)"
        rf"(?:{_IN_THEM})?{_ABOUT}",
        # I think it is worth a visit. In my view it is overrated.
        rf"(?:i|we) (?:think|believe|feel|hope|recommend|suggest|advise)\b{_NO_NUMBER}",
        rf"in (?:my|our) (?:opinion|view)\b{_NO_NUMBER}",
        # Please ask an engineer. It is best to consult a doctor.
        r"(?:please\b|it is (?:best|advisable|wise|important) to "
        r"(?:ask|consult|check|verify|seek|see)\b|"
        rf"always (?:ask|consult|check)\b|consult\b){_NO_NUMBER}",
    )
)
_LEAD = re.compile(
    rf"\A(?:(?:in (?:summary|short|conclusion|sum)|overall|however|so|thus|unfortunately|"
    rf"to sum up|(?:i['’]m |i am )?sorry(?:,? but)?|(?:based on|from) {_SOURCES})[, ]+)*",
    re.IGNORECASE,
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
    rest = _LEAD.sub("", " ".join(bare.rstrip(".!… ").split()), count=1)
    if len(rest) > REMARK_CHARACTERS:
        return True
    return not any(remark.fullmatch(rest) for remark in _REMARKS)
