"""What a query of the page shows when it is opened: time line, types, answers, sources."""

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Final, Literal

from pipelines.conflicts.dates import PartialDate, written
from pipelines.conflicts.judges.verdicts import Adherence, Inclusion, SentenceGrounding, Verdicts
from pipelines.conflicts.pipeline import STRATEGIES
from pipelines.conflicts.prediction import Prediction
from pipelines.conflicts.question import Query
from pipelines.conflicts.question import Source as Asked
from pipelines.conflicts.result import Outcome, QueryResult, Strategy
from pipelines.conflicts.result import Sentence as Said
from pipelines.conflicts.tables.type_scores import predictions
from pipelines.conflicts.taxonomy import CATEGORY, TAXONOMY, ConflictType
from pipelines.evidence.judgement import Judgement
from pipelines.report.blocks import Block, Card, Cards, Fact, Facts, Source, Sources, noted, unread
from pipelines.report.text import visible
from pipelines.report.texts import (
    Aside,
    Bar,
    Bars,
    Chip,
    Cite,
    Heading,
    Inline,
    Items,
    Line,
    Note,
    Quote,
    Sentence,
    Sentences,
    Strong,
    Timeline,
    Tone,
    Trouble,
    cut,
)
from pipelines.report.timeline import NARROW, WIDE, axis

Verdict = Literal["adheres", "not", "unreadable", "undecided", "unjudged", "failed", "none"]
"""What became of a query under a strategy: whether the answer behaves as expected. "unreadable"
where the answer could not be read, "undecided" where the judge's reply could not; "unjudged" where
no type is known; "none" where the strategy was not asked. Without a gold type, an answer is
judged by the type that it was written under."""

Guess = Literal["right", "wrong", "abstained", "unreadable", "unjudged"]
"""What a prediction is worth; "unjudged" where no type is known."""

GUESSES: Final[Mapping[str, tuple[Tone, str, str]]] = {
    "right": ("support", "✓", "right"),
    "wrong": ("contradict", "✗", "wrong"),
    "abstained": ("plain", "○", "abstained"),
    "unreadable": ("invalid", "?", "unreadable"),
    "unjudged": ("plain", "·", "not judged"),
}
VERDICTS: Final[Mapping[str, tuple[Tone, str, str]]] = {
    "adheres": ("support", "✓", "as expected"),
    "not": ("contradict", "✗", "not as expected"),
    "unreadable": ("invalid", "?", "unreadable"),
    "undecided": ("invalid", "?", "verdict unreadable"),
    "unjudged": ("plain", "·", "not judged"),
}
"""Tone, sign and words of what a type or an answer is worth."""

_INCLUDED: Final = {
    True: Chip("included", "support", "✓"),
    False: Chip("not included", "contradict", "✗"),
    None: Chip("verdict unreadable", "invalid", "?"),
}
_GROUNDS: Final = {
    "supported": Chip("supported", "support", "✓"),
    "unsupported": Chip("unsupported", "outline", "○"),
    "contradictory": Chip("contradictory", "contradict", "✗"),
    "no_fact": Chip("no factual information", "plain", "–"),
    "unreadable": Chip("verdict unreadable", "invalid", "?"),
}
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


def verdict(result: QueryResult, strategy: Strategy) -> Verdict:
    """Whether the answer of a strategy behaves as expected (CONFLICTS, section 4)."""
    if result.status == "failed":
        return "failed"
    outcome = result.outcomes.get(strategy)
    if outcome is None:
        return "none"
    if outcome.answer.problem is not None:
        return "unreadable"
    return _adheres(outcome.judged.adherence)


def guess(prediction: Prediction, gold: ConflictType | None) -> Guess:
    """What a predicted type is worth (CONFLICTS, section 4, Task 1)."""
    if prediction.problem is not None:
        return "unreadable"
    if prediction.type is None:
        return "abstained"
    if gold is None:
        return "unjudged"
    return "right" if prediction.type == gold else "wrong"


def content(result: QueryResult) -> list[Block]:
    """What a query shows when it is opened."""
    asked = result.asked
    made: list[Block] = []
    if result.error:
        title = "Failed" if result.status == "failed" else "Incomplete"
        made.append(Trouble(title, result.error))
    if asked.conflict_type or asked.gold_answer:
        made.append(_known(asked))
    dates = [written(source) for source in asked.sources]
    made += [Heading("When the sources were written"), _timeline(asked.sources, dates)]
    if types := predictions(result):
        cards = (_prediction(name, each, asked) for name, each in types.items())
        made += [Heading("Predicted types"), Cards(tuple(cards))]
    answers = tuple(
        _answer(STRATEGIES[strategy], verdict(result, strategy), result.outcomes[strategy], asked)
        for strategy in STRATEGIES
        if strategy in result.outcomes
    )
    if answers:
        made += [Heading("Answers"), Cards(answers)]
    made.append(Heading("Sources"))
    made += [
        Note(f"{each.text}: the writer saw {each.kept:,} of {each.tokens:,} tokens")
        for each in result.truncations
    ]
    sources = (
        _source(number, *each)
        for number, each in enumerate(zip(asked.sources, dates, strict=True), 1)
    )
    return [*made, Sources(tuple(sources))]


def live(url: str | None) -> bool:
    """Whether a source's URL may be a link: http or https, and nothing in it that hides."""
    return (
        url is not None
        and visible(url) == url
        and re.fullmatch(r"https?://[^\s/?#\\]\S*", url, re.IGNORECASE) is not None
    )


def said(date: PartialDate) -> str:
    """A date in words, as exactly as it is known: "3 April 2025", "April 2025", "2025"."""
    parts = [str(date.day)] if date.day else []
    parts += [_MONTHS[date.month - 1]] if date.month else []
    return " ".join([*parts, str(date.year)])


def _adheres(judged: Adherence | None) -> Literal["adheres", "not", "undecided", "unjudged"]:
    if judged is None:
        return "unjudged"
    if judged.adheres is None:
        return "undecided"
    return "adheres" if judged.adheres else "not"


def _known(asked: Query) -> Facts:
    gold = asked.gold_answer or "none"
    if asked.conflict_type is None:
        return Facts((Fact("Gold answer", ((gold,),)),))
    of = CATEGORY[asked.conflict_type]
    return Facts(
        (
            Fact("Gold type", ((Chip(of.label, "outline"),),)),
            Fact("Expected behaviour", ((of.expected,),)),
            Fact("Gold answer", ((gold,),)),
        )
    )


def _title(source: Asked) -> str:
    return source.title or source.url or "no title"


def _timeline(sources: Sequence[Asked], dates: Sequence[PartialDate | None]) -> Timeline:
    years = [None if date is None else date.decimal_year for date in dates]
    return Timeline(
        (axis(years, WIDE), axis(years, NARROW)),
        tuple(
            f"[{number}] {_title(source)}, {said(date) if date else 'no date'}"
            for number, (source, date) in enumerate(zip(sources, dates, strict=True), 1)
        ),
    )


def _source(number: int, source: Asked, date: PartialDate | None) -> Source:
    unread_date = f"no date that can be read: {source.date}" if source.date else "no date"
    return Source(
        number,
        _title(source),
        cut(source.text),
        (Aside(said(date) if date else unread_date),),
        url=source.url,
        linked=live(source.url),
        note=f"Snippet: {cut(source.snippet)}" if source.snippet else "",
    )


def _prediction(name: str, prediction: Prediction, asked: Query) -> Card:
    tone, sign, word = GUESSES[guess(prediction, asked.conflict_type)]
    line: list[Inline] = [Chip(word, tone, sign)]
    if prediction.type and prediction.problem is None:
        line.append(Strong(CATEGORY[prediction.type].short))
    made: list[Block] = [Line(tuple(line)), *unread(prediction.problem, prediction.raw)]
    if chances := prediction.probabilities:
        bars = (
            Bar(
                each.short,
                chances.get(each.type, 0.0),
                chosen=each.type == prediction.type,
                gold=each.type == asked.conflict_type,
            )
            for each in TAXONOMY
        )
        made.append(Bars("Probability of each type", tuple(bars)))
    if prediction.mass is not None:
        share = f"{100 * prediction.mass:.0f} % of the model's probability is on these types"
        made.append(Line((Aside(share),)))
    return Card(name, (*made, *noted(prediction.explanation)))


def _answer(name: str, worth: Verdict, outcome: Outcome, asked: Query) -> Card:
    answer, judged = outcome.answer, outcome.judged
    tone, sign, word = VERDICTS[worth]
    line: list[Inline] = [Chip(word, tone, sign)]
    if answer.told:
        line.append(Aside(f"told: {CATEGORY[answer.told].short}"))
    if answer.prediction and answer.prediction.type:
        line.append(Aside(f"gave the type: {CATEGORY[answer.prediction.type].short}"))
    if not answer.finished:
        line.append(Chip("cut by the limit of tokens", "invalid", "…"))
    made: list[Block] = [Line(tuple(line)), *unread(answer.problem, answer.raw)]
    count = len(asked.sources)
    grounds = judged.grounding.sentences if judged.grounding else ()
    if answer.sentences:
        # A sentence that nobody judged has no verdict.
        pairs = zip_longest(answer.sentences, grounds[: len(answer.sentences)])
        made.append(Sentences(tuple(_sentence(*pair, count) for pair in pairs)))
    elif answer.text:
        made.append(Sentences((Sentence(cut(answer.text)),)))
    facts = _worths(judged, asked)
    return Card(name, (*made, *([Facts(facts)] if facts else [])))


def _cite(number: int, count: int) -> Inline:
    return Cite(number) if 1 <= number <= count else f"[{number}]"


def _sentence(sentence: Said, judged: SentenceGrounding | None, count: int) -> Sentence:
    after = (
        *(_cite(number, count) for number in sentence.cites),
        *(Chip(f"[{number}]", "invalid", said="no such source") for number in sentence.unknown),
    )
    if judged is None:
        return Sentence(cut(sentence.text), after)
    verdict_on = _GROUNDS[judged.grounds.name.lower() if judged.grounds else "unreadable"]
    why: list[Block] = [Quote(cut(judged.quote))] if judged.quote else []
    why += [*noted(judged.reason), *unread(judged.problem, judged.raw)]
    if judged.judgements:
        why.append(Items(tuple(_relation(each, count) for each in judged.judgements)))
    if judged.sources:
        by = (_cite(number, count) for number in judged.sources)
        why.append(Line((Aside("Judged by"), *by)))
    return Sentence(cut(sentence.text), after, verdict_on.tone, verdict_on, tuple(why))


def _relation(judged: Judgement, count: int) -> tuple[Inline, ...]:
    number = int(judged.document) if judged.document.isdecimal() else 0
    named = _cite(number, count) if number else f"[{judged.document}]"
    quote = f": “{cut(judged.snippet)}”" if judged.snippet else ""
    return named, f"{judged.relation.lower()}{quote}"


def _worths(judged: Verdicts, asked: Query) -> tuple[Fact, ...]:
    """What the judges say of an answer, apart from its sentences."""
    found = []
    if judged.adherence:
        found.append(_behaviour(judged.adherence, asked))
    if judged.inclusion:
        found.append(_inclusion(judged.inclusion))
    if judged.grounding:
        named = [each.grounds.name.lower() for each in judged.grounding.sentences if each.grounds]
        held = named.count("supported")
        of = sum(named.count(each) for each in ("supported", "unsupported", "contradictory"))
        words = f"{held} of {of} sentences with facts supported" if of else "no sentence with facts"
        found.append(Fact("Grounding", ((words,),)))
    return tuple(found)


def _behaviour(judged: Adherence, asked: Query) -> Fact:
    tone, sign, word = VERDICTS[_adheres(judged)]
    under = "" if asked.conflict_type else ", the type it was written under"
    line: list[Inline] = [Chip(word, tone, sign)]
    if judged.probability is not None:
        line.append(Aside(f"probability {judged.probability:.2f}"))
    return Fact(
        f"Expected behaviour ({CATEGORY[judged.type].short}{under})",
        (tuple(line),),
        (*noted(judged.reason), *unread(judged.problem, judged.raw)),
    )


def _inclusion(judged: Inclusion) -> Fact:
    more = [*noted(judged.reason)]
    if judged.judgement and judged.judgement.snippet:
        more.append(Quote(cut(judged.judgement.snippet)))
    return Fact(
        "Gold answer",
        ((_INCLUDED[judged.included], Aside(judged.gold)),),
        (*more, *unread(judged.problem, judged.raw)),
    )
