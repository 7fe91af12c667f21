"""The views that a claim reports: "the guide says A, while the study says B" has A and B.

By ConflictScore (section 3; Table 7) a document supports a hedged or multi-part claim if it
supports any part of it. A judge that reads one statement at a time can apply this rule to the
parts.
"""

import re
from itertools import pairwise

from nli.sentences import sentences
from pipelines.text.days import MONTH
from pipelines.text.declarative import (
    PREPOSITIONS,
    is_participle,
    is_past,
    is_verb,
    past,
    third_person,
)

MOST_SENTENCES, MOST_CHARACTERS = 3, 1_000
"""Most sentences and characters of a claim with several views."""

LEAST_WORDS = 3
"""Fewest words of a view."""

_SAYS_SO = (
    r"says?|said|argues?|argued|suggests?|suggested|indicates?|indicated|asserts?|asserted|"
    r"concludes?|concluded|believes?|believed|thinks?|thought|insists?|insisted|contends?|contended"
)
_SAYS = (
    rf"(?:{_SAYS_SO}|states?|stated|reports?|reported|claims?|claimed|notes?|noted|writes?|wrote|"
    r"mentions?|mentioned|estimates?|estimated|puts? it|has it)"
)
SAYS = rf"(?:{_SAYS}|finds?|found|holds?|held|maintains?|maintained|shows?|showed)"
"""Verbs that report; the last ones surely only before "that": "Finland holds the record"."""
_LINKS = (
    r"but(?! to\b)|yet(?! to\b)|while|whereas|although|though|however|by contrast|in contrast|"
    r"instead(?! of\b)"
)
_AUXILIARY = (
    r"(?:(?:is|are|was|were|has|have|had|could|would|might|must|should|did|does|do)(?:n['’]t)?|"
    r"can(?:['’]t|not)?|will|won['’]t|may)"
)
_PRONOUN = "(?:I|you|he|she|it|we|they|that|there)"
_SEPARATOR = re.compile(
    rf"\s*;\s+|\s+[-–—]\s+|(?P<weak>:\s+|,?\s+(?:and|or),?\s+|\s*\((?=[a-z])|\)\s*)"
    rf"|,?\s+(?:{_LINKS}),?\s+|,\s+(?=(?:others?|another|some|the other|possibly|perhaps)\b)"
    r"|\s*\n\W*",
    re.IGNORECASE,
)
# "The fever is indicated by a rash" reports nothing.
_ACTIVE = r"(?<!is )(?<!are )(?<!was )(?<!were )(?<!been )"
# "One report claims it opened" reports, "the state claims the island" does not.
_REPORTS = re.compile(rf"(?:\S+\s+){{1,6}}?{_ACTIVE}(?:(?-i:{_SAYS})\s+)+(?!to\b)", re.IGNORECASE)
_LEADS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # "Although", "on the other hand,", "[1]", "1."
        rf"(?:and|or|else|then again|{_LINKS}|on the (?:one|other)(?: hand)?|either|both|"
        r"possibly|perhaps|\W+|\d+[.)]),?\s+",
        # "according to the study,"
        r"(?:according to|depending on|in the (?:view|opinion|words) of|for|as per) [^,;]{1,60}?,"
        r"\s+",
        # "it is disputed whether", "there are reports that"
        r"(?:it|there)(?:'s| is| are| was| were| remains| has been| have been| may be)"
        r" [^,;]{0,40}?\b(?:whether|if|that)\s+",
        # "the guide says", "others hold that", "some sources that"; not "a film that is about"
        rf"(?:\S+\s+){{0,6}}?(?:{_ACTIVE}(?:(?-i:{_SAYS_SO})\s+)+(?:that\s+)?|"
        rf"(?:{SAYS}|others?|some|one|another|sources?|accounts?|evidence|knowledge)\s+that\s+)",
        r"(?:whether|if|that)\s+",
    )
)
# "The United States" and "a writer" report nothing.
_REPORT = rf"(?:the|some|other|an?) \S+ (?-i:{SAYS})"
_TAIL = re.compile(
    rf",\s+{SAYS}\s+[^,;]{{1,40}}$|"
    rf",?\s+(?:according to|depending on|as {_REPORT})\b[^,;]*$|,\s+{_REPORT}\b[^,;]*$|"
    r"\s*[\[(][^\])]*[\])]\s*$",
    re.IGNORECASE,
)
# Words that reject a view, or say that nobody holds it: a claim with one is not split.
_REJECTED = re.compile(
    r"\b(?:false|wrong\w*|myths?|debunk\w*|mistak\w*|contrary to|misconception|not true|untrue|"
    r"in (?:fact|reality)|disprov\w*|refut\w*|den(?:y|ies|ied)|reject\w*|nobody|no one|hoax|"
    r"rumou?r|no longer|not the case|incorrect\w*)\b",
    re.IGNORECASE,
)
# A verb after one of these is not that of the main clause.
_SUBORDINATE = re.compile(
    r"if|that|which|who|whom|whose|because|when|where|while|since|as|how|what|why|whether|"
    r"until|unless|and|or",
    re.IGNORECASE,
)
# "Opinion on the kettle is divided": what follows is reported.
_UNSETTLED = re.compile(
    r"\b(?:unclear|uncertain|unknown|disputed|debated|divided|contested|differ(?:s|ed)?|"
    r"disagree[sd]?|var(?:y|ies|ied)|diverge[sd]?|clash(?:es|ed)?)\b",
    re.IGNORECASE,
)
_PREFACE = re.compile(rf"\A[^.:;]*{_UNSETTLED.pattern}[^.:;]*:\s+", re.IGNORECASE)
_FRAGMENT = re.compile(rf"(?:\S*\d\S*\s+)?(?:{PREPOSITIONS})\s(?!.*,)|it to ", re.IGNORECASE)
NUMBER = r"[$€£]?\d(?:[\d.,]*\d)?%?"
_IN_WORDS = (
    r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|"
    r"nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?)\b"
)
_MONTH = rf"(?:(?:{MONTH})\s+)?"
_ABOUT = (
    r"(?:(?:only|just|about|around|nearly|almost|some|roughly|at (?:least|most)|"
    r"(?:more|fewer|less) than)\s+)?"
)
# ", the study says 1936", ". Another puts it at 1936"
_ELLIPSIS = re.compile(
    rf"(?P<said>.*?)(?:[.,;]|\s+[-–—]|(?=\s+(?:\(|(?:{_LINKS})\b)))\s+\(?"
    rf"(?:(?:and|or|{_LINKS}),?\s+)?(?:[\w'’-]+\s+){{1,4}}?"
    rf"{_ACTIVE}(?:{_SAYS}|finds?|found|shows?|showed|gives?|gave|names?|named|lists?|listed|counts?|"
    r"counted|speaks? of|spoke of)"
    r"(?:\s+that)?(?:\s+(?:it|this)\s+(?:is|was))?(?:\s+(?:in|on|at))?"
    rf"\s+(?P<value>{_ABOUT}(?:{_MONTH}{NUMBER}|{_IN_WORDS}))"
    r"(?:\s+(?:do|does|did|is|are|was|were|instead))?\W*",
    re.IGNORECASE | re.DOTALL,
)
_OR = r"(?:\s*\([^()]*\))?,?\s+or\s+(?:(?:in|on|at|about|around|perhaps|possibly)\s+)*"
_ALTERNATIVES = re.compile(
    rf"(?<![\d:/-])(?<!to )({_MONTH}{NUMBER}){_OR}({_MONTH}{NUMBER})(?![\d:/-]|\s+to\b)"
    r"(?:\s*\([^()]*\))?"
)


def views(claim: str) -> list[str]:
    """The statements that a claim reports or joins, in order; the claim itself if there is one.

    A claim is split at "and", "or" and brackets only if both sides have a subject and a verb. It
    stays whole if it rejects a view, or if a part is not a whole statement, unless a number
    completes it: "it opened in 1932, another says 1936" and "it opened in 1932 or 1936" are two
    views.
    """
    whole, claim = claim, _PREFACE.sub("", claim, count=1)
    spans = sentences(claim) if len(claim) <= MOST_CHARACTERS else []
    if not 0 < len(spans) <= MOST_SENTENCES or _REJECTED.search(claim):
        return [whole]
    if completed := _completed(claim):
        return completed
    parts = [part for span in spans for part in _divided(claim[slice(*span)])]
    reported = [view for part in parts if (view := _bare(part))]
    reported = [view for view in reported if not _UNSETTLED.search(view)]
    return reported if len(reported) > 1 and not any(map(_is_fragment, reported)) else [whole]


def _completed(claim: str) -> list[str] | None:
    """The views of a claim with a bare number as one view; None for other claims."""
    if choice := _ALTERNATIVES.search(claim):
        start, end = choice.span()
        return [_bare(claim[:start] + value + claim[end:]) for value in choice.groups()]
    ellipsis = _ELLIPSIS.fullmatch(claim)
    if not ellipsis:
        return None
    reported = views(ellipsis["said"])
    kind = _MONTH + NUMBER if re.search(r"\d", ellipsis["value"]) else rf"\b{_IN_WORDS}"
    numbers = list(re.finditer(_ABOUT + kind, reported[-1], re.IGNORECASE))
    if len(numbers) != 1 or _UNSETTLED.search(_bare(reported[-1])):
        return None
    start, end = numbers[0].span()
    last = reported[-1][:start] + ellipsis["value"] + reported[-1][end:]
    completed = [_bare(view) for view in (*reported, last)]
    return completed if all(map(_is_long, completed)) else None


def _divided(sentence: str) -> list[str]:
    """A sentence split at separators between possible statements."""
    parts: list[str] = []
    start = 0
    marks = [*_SEPARATOR.finditer(sentence)]
    for place, mark in enumerate(marks):
        stronger = (
            later.start() for later in marks[place + 1 :] if _strength(later) > _strength(mark)
        )
        end = next(stronger, len(sentence))
        sides = _bare(sentence[start : mark.start()]), _bare(sentence[mark.end() : end])
        weak = mark["weak"] and not (_strength(mark) and _one_subject(*sides))
        if all(_is_statement(side) if weak else _is_long(side) for side in sides):
            parts.append(sentence[start : mark.start()])
            start = mark.end()
    return [*parts, sentence[start:]]


def _one_subject(first: str, second: str) -> bool:
    """Whether two texts begin with the same two words, as two statements of one subject do."""
    return first.casefold().split()[:2] == second.casefold().split()[:2]


def _strength(mark: re.Match[str]) -> int:
    """How surely a separator divides statements, not the parts of one: "and", "or", "but"."""
    weak = mark["weak"]
    return 2 if weak is None else int("," in weak or weak.split() == ["or"])


def _is_long(text: str) -> bool:
    return len(text.split()) >= LEAST_WORDS


def _is_fragment(text: str) -> bool:
    """Whether a text is too short for a statement, or lacks a subject: "5.5% on the label"."""
    if not _is_long(text):
        return True
    first, second, *_ = words = text.split()
    verbs = [word for before, word in pairwise(words) if finite(word, before) or is_past(word)]
    plural = first.endswith("s") and (is_verb(second) or second in verbs[:1])
    starts = finite(first, "") or is_past(first)
    return (starts and not plural) or bool(_FRAGMENT.match(text) and not verbs)


def _bare(part: str) -> str:
    """A part without attribution and hedging."""
    bare = _TAIL.sub("", part.strip(" \t\n.,;:\"'“”"))
    for lead in _LEADS:
        if found := lead.match(bare):
            bare = bare[found.end() :]
    reports = _REPORTS.match(bare)
    if reports and any(
        finite(word, before) for before, word in pairwise(bare[reports.end() :].split())
    ):
        bare = bare[reports.end() :]
    return bare


def _is_statement(text: str) -> bool:
    """Whether a text has a subject and a verb, as far as the rules know."""
    words = text.split()
    if not _is_long(text) or finite(words[0], "") or re.match(r"(?:to|not|[a-z]+ly)\b", text):
        return False
    if re.match(rf"{_PRONOUN}['’]", text):  # "it's"
        return True
    for before, word in pairwise(words[:-1]):
        if _SUBORDINATE.fullmatch(before):
            return False
        if finite(word, before):
            return True
    return False


def finite(word: str, before: str) -> bool:
    """Whether a word is an auxiliary, or looks like a verb of the third person or the past."""
    if before.lower() in {"the", "a", "an", "of", "to"} or not re.fullmatch("[a-z’']+", word):
        return False
    if re.fullmatch(_AUXILIARY, word):
        return True
    named = re.match(rf"[A-Z]|.*\)$|{_PRONOUN}$", before)
    # "The war began", "Kim won"; but not "a race won by Kim"
    if (named and word.endswith("ed")) or (is_past(word) and (named or not is_participle(word))):
        return True
    stems = (word[:-1], word[:-2], f"{word[:-3]}y", word[:-2] + "e", word[:-3], word)
    return any(is_verb(stem) and word in (past(stem), third_person(stem)) for stem in stems)
