"""What a query of the report shows when it is opened: time line, types, answers, sources."""

import re
from collections.abc import Sequence
from dataclasses import asdict
from itertools import zip_longest
from typing import Any, Literal

from pipelines.conflicts.answer import Answer, Sentence
from pipelines.conflicts.dates import Written, written
from pipelines.conflicts.evaluation.methods import STRATEGIES
from pipelines.conflicts.evaluation.result import Outcome, QueryResult, Strategy
from pipelines.conflicts.evaluation.timeline import NARROW, WIDE, timeline
from pipelines.conflicts.evaluation.type_scores import predictions
from pipelines.conflicts.judges.verdicts import Adherence, Inclusion, SentenceGrounding
from pipelines.conflicts.prediction import Prediction
from pipelines.conflicts.question import Query, Source
from pipelines.conflicts.taxonomy import CATEGORY, TAXONOMY, ConflictType
from pipelines.evidence.judgement import Judgement
from pipelines.report.text import visible

CHARACTERS_SHOWN = 20_000
"""Characters of a source, an answer or an unreadable reply that the page holds; it says how many
more there are."""

Verdict = Literal["adheres", "not", "unreadable", "undecided", "unjudged", "failed", "none"]
"""What became of a query under a strategy: whether the answer behaves as expected. "unreadable"
where the answer could not be read, "undecided" where the judge's reply could not; "unjudged" where
no type is known; "none" where the strategy was not asked. Without a gold type, an answer is
judged by the type that it was written under."""

Guess = Literal["right", "wrong", "abstained", "unreadable", "unjudged"]
"""What a prediction is worth; "unjudged" where no type is known."""

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


def content(result: QueryResult) -> dict[str, Any]:
    """What a query shows when it is opened; the script reads these keys."""
    asked = result.asked
    dates = [written(source) for source in asked.sources]
    years = [None if date is None else date.decimal_year for date in dates]
    return {
        "timelines": [asdict(timeline(years, width)) for width in (WIDE, NARROW)],
        "sources": [_source(*each) for each in zip(asked.sources, dates, strict=True)],
        "predictions": [
            {"name": name} | _prediction(prediction, asked)
            for name, prediction in predictions(result).items()
        ],
        "answers": [
            {"name": STRATEGIES[strategy], "verdict": verdict(result, strategy)}
            | _outcome(result.outcomes[strategy], asked)
            for strategy in STRATEGIES
            if strategy in result.outcomes
        ],
        "truncations": [
            f"{each.text}: the writer saw {each.kept:,} of {each.tokens:,} tokens"
            for each in result.truncations
        ],
    }


def live(url: str | None) -> bool:
    """Whether a source's URL may be a link: http or https, and nothing in it that hides."""
    return (
        url is not None
        and visible(url) == url
        and re.fullmatch(r"https?://[^\s/?#\\]\S*", url, re.IGNORECASE) is not None
    )


def said(date: Written) -> str:
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


def _source(source: Source, date: Written | None) -> dict[str, Any]:
    return {
        "title": source.title,
        "url": source.url,
        "live": live(source.url),
        "snippet": _cut(source.snippet),
        "date": source.date,
        "written": date and said(date),
        "text": _cut(source.text),
    }


def _prediction(prediction: Prediction, asked: Query) -> dict[str, Any]:
    chances = prediction.probabilities
    return {
        "guess": guess(prediction, asked.conflict_type),
        "type": _short(prediction.type),
        "chances": chances
        and [
            {
                "type": each.short,
                "chance": chances.get(each.type, 0.0),
                "chosen": each.type == prediction.type,
                "gold": each.type == asked.conflict_type,
            }
            for each in TAXONOMY
        ],
        "mass": prediction.mass,
        "explanation": _cut(prediction.explanation),
        "problem": prediction.problem,
        "raw": _cut(prediction.raw),
    }


def _outcome(outcome: Outcome, asked: Query) -> dict[str, Any]:
    answer, judged = outcome.answer, outcome.judged
    return {
        "told": _short(answer.told),
        "gave": _short(answer.prediction.type) if answer.prediction else None,
        "sentences": _sentences(answer, judged.grounding.sentences if judged.grounding else ()),
        "text": _cut(answer.text),
        "finished": answer.finished,
        "problem": answer.problem,
        "raw": _cut(answer.raw),
        "behaviour": judged.adherence and _behaviour(judged.adherence, asked),
        "inclusion": judged.inclusion and _inclusion(judged.inclusion),
        "grounding": judged.grounding and judged.grounding.share,
    }


def _sentences(answer: Answer, judged: Sequence[SentenceGrounding]) -> list[dict[str, Any]]:
    """The sentences with their verdicts; one that nobody judged has none."""
    pairs = zip_longest(answer.sentences, judged[: len(answer.sentences)])
    return [_sentence(sentence, grounds) for sentence, grounds in pairs]


def _sentence(sentence: Sentence, judged: SentenceGrounding | None) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "text": _cut(sentence.text),
        "cites": list(sentence.cites),
        "unknown": list(sentence.unknown),
    }
    if judged is None:
        return shown | {"grounds": None}
    return shown | {
        "grounds": judged.grounds.name.lower() if judged.grounds else "unreadable",
        "by": list(judged.sources),
        "quote": _cut(judged.quote),
        "reason": _cut(judged.reason),
        "relations": [_judgement(each) for each in judged.judgements],
        "problem": judged.problem,
        "raw": _cut(judged.raw),
    }


def _behaviour(judged: Adherence, asked: Query) -> dict[str, Any]:
    return {
        "verdict": _adheres(judged),
        "type": CATEGORY[judged.type].short,
        "gold": asked.conflict_type is not None,
        "probability": judged.probability,
        "reason": _cut(judged.reason),
        "problem": judged.problem,
        "raw": _cut(judged.raw),
    }


def _inclusion(judged: Inclusion) -> dict[str, Any]:
    words = {True: "included", False: "missing", None: "undecided"}
    return {
        "verdict": words[judged.included],
        "gold": judged.gold,
        "reason": _cut(judged.reason),
        "relation": judged.judgement and _judgement(judged.judgement),
        "problem": judged.problem,
        "raw": _cut(judged.raw),
    }


def _judgement(judged: Judgement) -> dict[str, Any]:
    return {
        "document": judged.document,
        "relation": judged.relation.lower(),
        "quote": _cut(judged.snippet),
    }


def _short(of: ConflictType | None) -> str | None:
    return CATEGORY[of].short if of else None


def _cut(text: str | None) -> str | None:
    if text is None or len(text) <= CHARACTERS_SHOWN:
        return text
    more = len(text) - CHARACTERS_SHOWN
    return f"{text[:CHARACTERS_SHOWN]}… ({more:,} more characters are not shown)"
