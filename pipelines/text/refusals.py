"""Recognises refusals: one rule for short answers and sentences."""

import re
from functools import cache
from typing import Final

_LONGEST: Final = 200
"""Longest clause that can be a refusal, in characters."""

_TEXT = (
    "sources?|results?|documents?|pages?|texts?|references?|passages?|contexts?|articles?|excerpts?|"
    "snippets?|information"
)
SOURCES = (
    r"(?:(?:the|this|these|those|any|all|both|most|some|several|many|my|your|provided|available|"
    rf"given|retrieved|cited|above|different|various|of) )*(?:search )?(?:{_TEXT})"
    r"(?: (?:provided|given|available|above|at hand|(?:that )?(?:i|you) (?:have|gave|provided)))?"
)
"""A pattern for the sources of an answer, in clauses as from `clauses`."""
# "Documents" may belong to an archive; results and given documents are the sources at hand.
_AT_HAND = rf"(?!(?:the |these |all )?(?:documents|texts|pages|articles)\b){SOURCES}"
THIS = (
    r"(?:this|that|it|so|(?:(?:the|this|your|that) )*(?:question|query|answer|point|matter|topic))"
)
_INFORMATION = "answers?|info|information|details?|data|mention|indication|context|idea|clue"
_SOUGHT = (
    rf"(?:{_INFORMATION}|evidence|statement|documents?|dates?|years?|day|time|place|location|names?|"
    r"numbers?|figures?|reasons?)"
)
_ANY = r"(?:(?!(?:is|was|are|were|has|had|gave|by)\b)\S+ ){0,3}?"
_THE_SOUGHT = rf"{_ANY}{_SOUGHT}(?: needed| required| necessary)?"
_IN = rf"(?:(?: (?:in|from|by|with|within|on|based on|using|according to|given) {SOURCES}){{1,2}})"
# The rest of a clause, up to a word that starts another clause or an answer.
_MORE = (
    r"(?:(?! (?:but|although|though|however|while|yet|because|only|except|instead|"
    r"and (?:it|he|she|they|that|this|there))\b).)*"
)
_WHEN = rf"(?: (?:when|who|whom|whose|what|where|which|why|how(?! to)|whether|if|by whom)\b{_MORE})"
_ABOUT = rf"(?:{_WHEN}| (?:about|regarding|concerning|as to|related to|on|of|for|to|by)\b{_MORE})"
_FIND = (
    "(?:find|give|provide|offer|determine|answer|say|know|tell|identify|locate|confirm|verify|"
    "conclude|infer|establish|ascertain|respond|reach|help|assist)"
)
_OF_IT = (  # one word at a time, else the ways to read "this answer this answer" multiply
    rf"(?: (?:an?|the|any|this|that|it|so|these|your|single|clear|definite|definitive|specific|"
    rf"correct|relevant|provided|given|available|question|query|search|to|in|from|with|about|on|of|"
    rf"for|based|sure|certain|{_SOUGHT}|{_TEXT}))*"
)
_FOUND = (
    "(?:found|given|provided|determined|answered|said|known|told|identified|located|confirmed|"
    "verified|inferred|established|stated|mentioned|specified|indicated|available|included)"
)
_MISSING = (
    r"(?:un(?:known|clear|certain|specified|determined|answerable|available)|"
    r"not (?:clear|certain|sufficient|enough|applicable|known|given|provided|stated|mentioned|"
    r"specified|indicated|available))(?: for (?:sure|certain))?"
)
_NAME = r"(?:say|state|mention|tell|specify|indicate|explain|reveal|discuss|clarify)"
_TELL = (
    rf"(?:{_NAME}|answer|address|settle|give|provide|contain|include|cover|report|offer|have|make)"
)
_TELLS = rf"(?:{_TELL}s?|addresses|discusses|clarifies|specifies|has)"
_IS = r"(?:is|was|are|were|remains?|has been|have been)"
_NOT = r"(?:(?:do|does|did|ca|can|could) not|fail(?:s|ed)? to)"
_UNABLE = rf"(?:{_NOT}|(?:(?:am|is|are|was|were) )?(?:un|not )able to)"
_NO = r"(?:no|not (?:enough|sufficient|any)|insufficient|too little)"

_REFUSALS: Final = "|".join(
    (
        # Unknown. None given. It is not known who built it. The answer was not given in the text.
        rf"null|nil|nan|n ?[/.] ?a|none(?: {_FOUND}{_IN}?)?|(?:{_SOUGHT} )?(?:{_IS} )?not found|"
        rf"{_SOUGHT} unknown",
        rf"(?:(?:{THIS}|{_THE_SOUGHT}) (?={_IS} |not ))?(?:{_IS} )?(?:{_MISSING}{_IN}?|"
        rf"not(?: {_FOUND})?{_IN}){_WHEN}?",
        # The exact origin of the dish is unclear. The architect is not mentioned in the text.
        r"(?:(?:the )?(?:exact|precise|specific|true|real|full) \w|"
        rf"{_THE_SOUGHT} (?:of|for|when|about|on) ).{{0,80}}? {_IS} {_MISSING}{_IN}?",
        rf"(?:\S+ ){{1,5}}{_IS} not (?:stated|mentioned|specified|indicated){_IN}?",
        # No idea. There is not enough information about it. No date is given in the text.
        rf"(?:there {_IS} )?{_NO} {_ANY}(?:(?:{_INFORMATION})(?:(?! on (?!{THIS}|"
        rf"{_THE_SOUGHT})){_ABOUT})?|{_SOUGHT}(?:(?: {_IS})? {_FOUND}{_IN}?{_ABOUT}?|"
        rf" to {_FIND}\b{_MORE}|{_MORE}{_IN}{_ABOUT}?))",
        # I could not find an answer. Unable to determine who won. I am not sure. I lack the data.
        rf"(?:i|we) {_UNABLE} {_FIND}{_OF_IT}{_ABOUT}?|do not know",
        rf"(?:(?:ca|can|could) not|(?:un|not )able to) {_FIND}{_OF_IT}{_WHEN}?",
        rf"(?:(?:i|we) (?:am|are) )?(?:not (?:sure|certain|aware)|unsure)(?:{_WHEN}| of {THIS})?",
        rf"(?:i|we) (?:{_NOT} have|lack|have {_NO}) {_THE_SOUGHT}{_ABOUT}?",
        rf"(?:(?:i|we) (?:would )?(?:need|require) (?:more|additional|further) {_SOUGHT}|"
        rf"(?:more|additional|further) {_SOUGHT}(?: {_IS})? (?:needed|required)){_ABOUT}?",
        # It is not possible to say. This cannot be determined from the text.
        rf"(?:(?:it|there) {_IS} )?(?:not possible|impossible|no way) to {_FIND}{_OF_IT}{_ABOUT}?",
        rf"(?:(?:{THIS}|{_THE_SOUGHT}(?: of {_MORE})?) )?(?:ca|can|could) not be {_FOUND}"
        rf"(?: for (?:sure|certain))?{_IN}?{_WHEN}?",
        # The documents do not say. No source mentions this. The text has no information on it.
        rf"{SOURCES} {_NOT}(?: {THIS})?",
        rf"(?:(?:no|none of|neither of) {SOURCES} {_TELLS}|{SOURCES} {_NOT} {_TELL})"
        rf"(?: (?:{THIS}|anything|{_THE_SOUGHT}))?{_ABOUT}?",
        rf"(?:(?:no|none of|neither of) {_AT_HAND} {_NAME}s?|{_AT_HAND} {_NOT} {_NAME}) "
        rf"(?!that\b){_MORE}",
        rf"{SOURCES} (?:{_TELLS} (?:{_NO} {_THE_SOUGHT}|nothing)|lacks? {_THE_SOUGHT}){_ABOUT}?",
        rf"{SOURCES} {_IS} (?:insufficient|inadequate|irrelevant|unrelated|silent|"
        rf"not (?:sufficient|enough|relevant|helpful)){_ABOUT}?",
        # The most common ones in other languages.
        r"unbekannt|keine angaben?|(?:ich )?wei(?:ss|ß)(?: es)? nicht|nicht (?:bekannt|angegeben|"
        r"erwähnt)|inconnue?|je ne sais pas|non (?:précisé|mentionné|spécifié)e?|desconocid[oa]|no "
        r"lo sé|no se (?:menciona|especifica|sabe)|未知|不知道|不详|无法确定|没有提到|未提及",
    )
)
_LEAD = re.compile(
    rf"(?:(?:and|but|so|thus|however|therefore|overall|unfortunately|that|as an ai(?: language)?"
    r"(?: model| assistant)?|in (?:summary|short|conclusion|sum)|to sum up|(?:i|we) apologi[sz]e|"
    r"(?:(?:i|we) (?:am|are) )?(?:very |truly )?(?:sorry|afraid)|"
    rf"(?:the )?(?:final )?answer(?: to {THIS})?|(?:based on|according to|from|given|in) {SOURCES})"
    r"(?: |$))*"
)
_ASIDE = re.compile(
    r"(?:please|let me know|feel free|if you|i (?:would|will) be (?:happy|glad))\b.*"
)
_ADVERB = re.compile(
    r"\b(?:explicitly|directly|specifically|clearly|currently|definitively|actually|really|exactly|"
    r"precisely|anywhere|simply|just|also|still|even) "
)
_CLAUSE_ENDS = re.compile(r"[.;:!?…](?=\s|$)|[,()\[\]\n\r—–|。，；]|\s-\s")
_BARE = re.compile(r"\w(?:.*\w)?", re.DOTALL)


def is_unknown(text: str) -> bool:
    """Whether a text only says that it has no answer: "unknown", "N/A", "".

    Every clause says so ("I'm sorry, but the documents do not say when it opened."), leads up to it
    ("Based on the text,") or offers help, and at least one says so. "None of the above", "The
    Unknown Soldier" and "The text does not give the date, but it was in May" are answers. So is a
    clause of more than 200 characters. "The documents do not mention slavery" may be about an
    archive; "the document" or "the results" make it a refusal.
    """
    relevant = [clause for clause in clauses(text) if clause and not _ASIDE.fullmatch(clause)]
    return all(map(_refuses, relevant)) and bool(relevant or not _BARE.search(text))


def clauses(text: str) -> list[str]:
    """The clauses of a text in lower case, without lead-ins.

    Outer punctuation and adverbs such as "explicitly" are dropped, contractions spelled out.
    """
    plain = re.sub("[‘’ʼ`´]", "'", text).lower()
    plain = re.sub(r"\b(ca|do|does|did|could|is|was|are|were|has|have)n'?t\b", r"\1 not", plain)
    plain = re.sub(r"\b(it|that|there)'s\b", r"\1 is", plain).replace("cannot", "can not")
    parts = map(_BARE.search, _CLAUSE_ENDS.split(re.sub(r"\bi'?m\b", "i am", plain)))
    bare = (_ADVERB.sub("", " ".join(part[0].split())) for part in parts if part)
    return [_LEAD.sub("", part, count=1).strip() for part in bare]


def _refuses(clause: str) -> bool:
    return len(clause) <= _LONGEST and _refusal().fullmatch(clause) is not None


@cache  # compiled on first use, since compiling takes time
def _refusal() -> re.Pattern[str]:
    return re.compile(_REFUSALS)
