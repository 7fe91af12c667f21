"""Facts of a document changed by rules, one rule for each kind.

A rule changes what stands once in the document, so that the rest of it says nothing else. It rather
passes a sentence over than changes it badly; what took is for a tagger to see (`checking`).
"""

import calendar
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from pipelines.conflictscore.planted.change import Change, Edit, Kind, Sentence, checkable
from pipelines.data.records import Document
from pipelines.text.substitution import Mention, has_words, mentions, substitute_of
from pipelines.text.verbs import is_participle
from pipelines.text.words import FUNCTION_WORDS

DRAWS: Final = 12
"""How often a substitute is drawn before a mention is given up."""

EARLIER: Final = (4, 15)
"""Fewest and most years by which an outdated edition is older than what its document mentions."""

_NEGATIVE: Final = re.compile(
    r"\b(?:not|never|no|none|nor|neither|nobody|nothing|without|cannot|hardly|scarcely)\b|n['’]t\b",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(
    r"\b(is|are|was|were|has|have|had|can|could|will|would|should|does|do|did) not ([a-z]+)\b"
)
_AFFIRMED: Final = re.compile(
    r"\b(is|are|was|were|has|have|had|can|could|will|would|should) ([a-z]+)\b"
)
_SUBORDINATE: Final = re.compile(
    r"\b(?:that|which|who|whom|whose|when|where|while|if|because|although|though|as|than|whether|"
    r"since|after|before|until|what|how|why)\b|[;:(\"“]",
    re.IGNORECASE,
)
"""From here on a verb need not be that of the sentence."""
_ADVERBS: Final = frozenset(
    """also still already even just only once now then both either about always often usually
    mostly most mainly perhaps almost nearly all some to""".split()  # noqa: SIM905
)

_PRESENT: Final = re.compile(
    r"\b(?:is|are|has|have|contains?|costs?|counts?|covers?|employs?|holds?|includes?|lives?|"
    r"measures?|produces?|runs|seats|serves?|weighs?)\b"
)
_PAST: Final = re.compile(
    r"\b(?:was|were|had|did|been|will|would|could|today|now|currently)\b", re.IGNORECASE
)
"""Of another time, or of this moment: no such sentence can be as of an earlier year."""
_LOWERED: Final = re.compile(
    r"(?:About|According|An?|Around|At|By|Each|Every|For|In|More|Most|Nearly|Of|On|Some|The|With)\b"
)
"""First words that are no names, and lose their capital where something is put before them."""

_OPINION: Final = re.compile(
    r"\b(?:should|ought|best|worst|better|worse|too|overrated|underrated|important|essential|"
    r"harmful|beneficial|worth|fair|unfair|wise|foolish|argues?|believes?|recommends?|warns?)\b"
)
_ENTITY: Final = re.compile(
    r"(?:The )?([A-Z][a-z]+(?:(?: (?:of the|of|de|van|von))? [A-Z][a-z]+)+)(?= [a-z])"
)
_NAME_ENDS: Final = re.compile(r"['’]s\b|[.,;:)]|\s+([a-z]+)\b")
"""What follows a whole name: no dash, no second name, and no noun, as after "Asian"."""
_SAYS_LITTLE: Final = frozenset("the a an and or that than as".split())  # noqa: SIM905
_MONTHS: Final = tuple(calendar.month_name)[1:]


@dataclass(frozen=True)
class Material:
    """What all documents together have, for changes.

    Attributes:
        names: (word before, words of the name) -> names that stand after it: ("in", 1).
        latest: The latest year that is mentioned; None without any.
    """

    names: Mapping[tuple[str, int], Sequence[str]]
    latest: int | None


def material(documents: Iterable[Document]) -> Material:
    """Names and years of documents."""
    names: dict[tuple[str, int], dict[str, None]] = defaultdict(dict)
    years: set[int] = set()
    for text in (document.text for document in documents):
        for mention in mentions(text):
            if mention.kind == "year":
                years.add(int(mention.text))
            elif mention.kind == "name" and (place := _slot(text, mention)):
                names[place][mention.text] = None
    return Material({place: sorted(own) for place, own in names.items()}, max(years, default=None))


def changes(
    kind: Kind, document: Document, known: Material, rng: Random, *, without: Sentence | None = None
) -> Iterator[Change]:
    """Changes of a kind, sentence by sentence in an order that the generator draws.

    The sentence `without` is left as it is.
    """
    able = [each for each in checkable(document) if each != without]
    for sentence in rng.sample(able, len(able)):
        if change := RULES[kind](sentence, known, rng):
            yield change


def numbers(sentence: Sentence, known: Material, rng: Random) -> Change | None:
    """A number made another of about its size: 29,615 adults, and 14,808 adults."""
    return _exchanged("numbers", sentence, known, rng, _numbers(sentence.text))


def dates(sentence: Sentence, known: Material, rng: Random) -> Change | None:
    """A year moved by up to thirty, or a month exchanged for another."""
    able = [each for each in mentions(sentence.text) if each.kind in ("year", "month")]
    able = [each for each in able if _stands_alone(sentence.text, each)]
    return _exchanged("dates", sentence, known, rng, able)


def names(sentence: Sentence, known: Material, rng: Random) -> Change | None:
    """A name exchanged for one of as many words that stands after the same word elsewhere.

    "in Shanghai" becomes "in Chennai", where some document has that: so a place takes the place of
    a place, mostly. No word of the old name stands elsewhere in the document.
    """
    able = [
        each
        for each in mentions(sentence.text)
        if each.kind == "name"
        and not any(_elsewhere(sentence, each, word) for word in each.text.split())
    ]
    return _exchanged("names", sentence, known, rng, able)


def negation(sentence: Sentence, known: Material, rng: Random) -> Change | None:
    """A "not" put after the first verb of a sentence that denies nothing, or taken away."""
    text = sentence.text
    negatives = _NEGATIVE.findall(text)
    if len(negatives) > 1:
        return None
    found = (_DENIED if negatives else _AFFIRMED).search(text)
    if found is None or _SUBORDINATE.search(text, 0, found.start()):
        return None
    verb, word = found.groups()
    owns = verb in ("has", "have", "had") and not is_participle(word)  # "has long halls"
    if word in _ADVERBS or (owns and not negatives):
        return None
    new = f"{verb} {word}" if negatives else f"{verb} not {word}"
    return _single("negation", sentence, found.start(), found[0], new)


def outdated(sentence: Sentence, known: Material, rng: Random) -> Change | None:
    """An older edition: what is said of the present with another number, as of an earlier year."""
    text = sentence.text
    years = [int(each.text) for each in mentions(sentence.document.text) if each.kind == "year"]
    years += map(int, re.findall(r"\b(?:1[5-9]|20)\d\d\b", sentence.document.date or ""))
    if (
        not years
        or not _PRESENT.search(text)
        or _PAST.search(text)
        or any(each.kind in ("year", "month") for each in mentions(text))
    ):
        return None
    change = numbers(sentence, known, rng)
    if change is None:
        return None
    edit = change.edits[0]
    year = str(max(years) - rng.randint(*EARLIER))
    first = text[0].lower() if _LOWERED.match(text) else text[0]
    start = sentence.start
    edits: tuple[Edit, ...] = (Edit(start, start + 1, f"As of {year}, {first}"), edit)
    if edit.start == start:  # the number stands first
        edits = (Edit(start, edit.end, f"As of {year}, {edit.new}"),)
    return Change("outdated", sentence, edits, change.old, change.new, (year,), year)


def namesakes(sentence: Sentence, known: Material, rng: Random) -> Change | None:
    """A number or date of something that the sentence names at its beginning; see `namesake_of`."""
    if namesake_of(sentence) is None:
        return None
    found = numbers(sentence, known, rng) or dates(sentence, known, rng)
    if found is None:
        return None
    return Change("namesakes", sentence, found.edits, found.old, found.new)


def namesake_of(sentence: Sentence) -> str | None:
    """The name of several words that a sentence begins with: "The Vinland Map was ..."."""
    found = _ENTITY.match(sentence.text)
    return found and found[1]


def opinions(sentence: Sentence, known: Material, rng: Random) -> Change | None:
    """An opinion, which stays as it is until a language model has written the opposite one."""
    text = sentence.text
    if _OPINION.search(text) is None:
        return None
    edit = Edit(sentence.start, sentence.end, text)
    return Change("opinions", sentence, (edit,), text, text)


Rule = Callable[[Sentence, Material, Random], Change | None]

RULES: Final[Mapping[Kind, Rule]] = {
    "numbers": numbers,
    "dates": dates,
    "names": names,
    "negation": negation,
    "outdated": outdated,
    "namesakes": namesakes,
    "opinions": opinions,
}
"""The rule of each kind, in the order in which kinds are shown."""


def denies(text: str) -> bool:
    """Whether a sentence has a negative word."""
    return _NEGATIVE.search(text) is not None


def _exchanged(
    kind: Kind, sentence: Sentence, known: Material, rng: Random, able: Sequence[Mention]
) -> Change | None:
    """A mention exchanged for another of its kind that the document does not have."""
    for mention in rng.sample(able, len(able)):
        others: Sequence[str] = _MONTHS
        if mention.kind == "name":
            others = known.names.get(_slot(sentence.text, mention) or ("", 0), ())
        for _ in range(DRAWS):
            new = substitute_of(mention, rng, {mention.kind: others})
            if new and _fits(new, mention, sentence, known):
                return _single(kind, sentence, mention.start, mention.text, new)
    return None


def _fits(new: str, mention: Mention, sentence: Sentence, known: Material) -> bool:
    """Whether a substitute is not said in the document, and can stand in a mention's place."""
    document = sentence.document
    if any(has_words(document.as_read(), word) for word in new.split()):
        return False
    if _elsewhere(sentence, mention, mention.text):
        return False
    article = re.search(r"\ban? \Z", sentence.text[: mention.start])
    if article and _vowel(new) != _vowel(mention.text):
        return False
    if mention.kind == "year":
        return int(new) <= (known.latest or int(mention.text))
    if mention.kind == "number":
        after = sentence.text[mention.start + len(mention.text) :]
        share = re.match(r" ?(?:%|per ?cent\b)", after) is not None
        return _value(new) > 0 and (not share or _value(new) <= 100 or _value(mention.text) > 100)
    return True


def _elsewhere(sentence: Sentence, mention: Mention, part: str) -> bool:
    start = sentence.start + mention.start
    return sentence.says_elsewhere(part, start, start + len(mention.text))


def _single(kind: Kind, sentence: Sentence, place: int, old: str, new: str) -> Change | None:
    """The change at a place of the sentence; None if the document says the old elsewhere, too."""
    start = sentence.start + place
    end = start + len(old)
    if sentence.says_elsewhere(old, start, end):
        return None
    return Change(kind, sentence, (Edit(start, end, new),), old, new)


def _numbers(text: str) -> list[Mention]:
    """Numbers of a sentence that are neither days of a month nor parts of something with a dash."""
    found = mentions(text)
    months = [each for each in found if each.kind == "month"]
    return [
        each
        for each in found
        if each.kind == "number"
        and _stands_alone(text, each)
        and not any(_of_month(text, each, month) for month in months)
    ]


def _of_month(text: str, day: Mention, month: Mention) -> bool:
    first, second = sorted((day, month), key=lambda each: each.start)
    between = text[first.start + len(first.text) : second.start]
    return between in (" ", " of ", " the ")


def _stands_alone(text: str, mention: Mention) -> bool:
    """Whether a number is no part of a range, a score, a time, a fraction or a name: "COVID-19"."""
    before, after = text[: mention.start], text[mention.start + len(mention.text) :]
    return not (re.search(r"[-–/:.]\Z", before) or re.match(r"[-–/:]\d|[–/]| ?°", after))


def _slot(text: str, name: Mention) -> tuple[str, int] | None:
    """The word before a name, and how many words the name has; None where that tells nothing.

    Nor does it where the name may be a part of another ("Bureau of Economics"), or an adjective.
    """
    before = re.search(r"(\S*) ?(?<![^ ])([a-z]+) \Z", text[: name.start])
    after = _NAME_ENDS.match(text, name.start + len(name.text))
    if before is None or after is None or before[2] in _SAYS_LITTLE:
        return None
    if before[1][:1].isupper() or (after[1] is not None and after[1] not in FUNCTION_WORDS):
        return None
    return before[2], len(name.text.split())


def _vowel(number: str) -> bool:
    """Whether one says "an" before it: "an 8 per cent", "an 11", "an 18"."""
    return re.match(r"8|1[18](?!\d)", number) is not None


def _value(number: str) -> float:
    return float(number.replace(",", ""))
