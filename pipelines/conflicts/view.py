"""CONFLICTS on the page: figures, tables, and every query."""

import re
from collections import Counter
from functools import partial
from itertools import zip_longest
from typing import Final

from pipelines.conflicts.data import Query, Statistic
from pipelines.conflicts.data import Source as Asked
from pipelines.conflicts.metrics import BASELINES, JOINT, part_of, predictions
from pipelines.conflicts.pipeline import CLASSIFIERS, STRATEGIES
from pipelines.conflicts.result import (
    Adherence,
    Inclusion,
    Outcome,
    QueryResult,
    SentenceGrounding,
    Strategy,
    Verdicts,
)
from pipelines.conflicts.result import Sentence as Said
from pipelines.conflicts.tables import all_tables, problems
from pipelines.conflicts.taxonomy import CATEGORY, TAXONOMY, ConflictType, Prediction
from pipelines.experiment.publish import Runs
from pipelines.experiment.summary import Figure, Page, Section
from pipelines.judge.judgement import Judgement
from pipelines.report import glance
from pipelines.report.blocks import Card, Cards, Fact, Facts, Source, Sources, fact
from pipelines.report.explorer import Example, Facet
from pipelines.report.table import Table
from pipelines.report.texts import (
    RIGHT,
    UNJUDGED,
    UNREADABLE,
    WRONG,
    Aside,
    Bar,
    Bars,
    Block,
    Chip,
    Cite,
    Heading,
    Inline,
    Items,
    Mark,
    Note,
    Quote,
    Sentence,
    Sentences,
    Strong,
    Trouble,
    line,
    noted,
    unread,
    values,
    visible,
    words,
)

GUESSES: Final = (RIGHT, WRONG, UNREADABLE, UNJUDGED)
"""Verdicts on a predicted type; not judged if no type is known."""

ADHERES = Mark("support", "✓", "as expected")
DIFFERS = Mark("contradict", "✗", "not as expected")
UNDECIDED = Mark("invalid", "?", "verdict unreadable")
VERDICTS: Final = (ADHERES, DIFFERS, UNREADABLE, UNDECIDED, UNJUDGED)
"""Verdicts on an answer's behaviour: unreadable if the answer could not be read, undecided if the
judge's reply could not be read. Without a gold type, the answer is judged by the type that it was
written under; without either, it is not judged."""

_GROUNDS: Final = {
    "supported": Chip("supported", "support", "✓"),
    "unsupported": Chip("unsupported", "outline", "○"),
    "contradictory": Chip("contradictory", "contradict", "✗"),
    "no_fact": Chip("no factual information", "plain", "–"),
    "unreadable": UNDECIDED.chip,
}
_INCLUDED: Final = {
    True: Chip("included", "support", "✓"),
    False: Chip("not included", "contradict", "✗"),
    None: UNDECIDED.chip,
}


def verdict(result: QueryResult, strategy: Strategy) -> Mark | None:
    """Whether a strategy's answer behaves as expected (CONFLICTS, section 4).

    None if the strategy was not asked, as in a query that failed.
    """
    outcome = result.outcomes.get(strategy)
    if outcome is None:
        return None
    if outcome.answer.problem is not None:
        return UNREADABLE
    return _adheres(outcome.judged.adherence)


def guess(prediction: Prediction, gold: ConflictType | None) -> Mark:
    """Whether a predicted type is right (CONFLICTS, section 4, Task 1)."""
    if prediction.type is None:
        return UNREADABLE
    if gold is None:
        return UNJUDGED
    return RIGHT if prediction.type == gold else WRONG


def content(result: QueryResult) -> list[Block]:
    """The content of an opened query."""
    asked = result.asked
    made: list[Block] = []
    if result.error:
        title = "Failed" if result.status == "failed" else "Incomplete"
        made.append(Trouble(title, result.error))
    if asked.conflict_type or asked.gold_answer:
        made.append(_known(asked))
    if types := predictions(result):
        cards = (_prediction(name, prediction, asked) for name, prediction in types.items())
        made += [Heading("Predicted types"), Cards(tuple(cards))]
    answers = tuple(
        _answer(name, worth, result.outcomes[strategy], asked)
        for strategy, name in STRATEGIES.items()
        if (worth := verdict(result, strategy))
    )
    if answers:
        made += [Heading("Answers"), Cards(answers)]
    made.append(Heading("Sources"))
    made += [
        Note(
            f"{truncation.text}: the writer saw {truncation.kept:,} of {truncation.tokens:,} tokens"
        )
        for truncation in result.truncations
    ]
    sources = (_source(*numbered) for numbered in enumerate(asked.sources, 1))
    return [*made, Sources(tuple(sources))]


def live(url: str | None) -> bool:
    """Whether a source's URL may become a link: http or https, without hidden parts."""
    return (
        url is not None
        and visible(url) == url
        and re.fullmatch(r"https?://[^\s/?#\\]\S*", url, re.IGNORECASE) is not None
    )


def _adheres(judged: Adherence | None) -> Mark:
    if judged is None:
        return UNJUDGED
    return {True: ADHERES, False: DIFFERS, None: UNDECIDED}[judged.adheres]


def _known(asked: Query) -> Facts:
    facts = [fact("Gold answer", asked.gold_answer or "none")]
    if asked.conflict_type is not None:
        kind = CATEGORY[asked.conflict_type]
        facts.insert(0, fact("Gold type", Chip(kind.label, "outline")))
        facts.insert(1, fact("Expected behaviour", kind.expected))
    return Facts(tuple(facts))


def _title(source: Asked) -> str:
    return source.title or source.url or "no title"


def _source(number: int, source: Asked) -> Source:
    return Source(
        number,
        _title(source),
        source.text,
        (Aside(source.date or "no date"),),
        url=source.url,
        linked=live(source.url),
        note=f"Snippet: {source.snippet}" if source.snippet else "",
    )


def _prediction(name: str, prediction: Prediction, asked: Query) -> Card:
    worth = guess(prediction, asked.conflict_type)
    chips: list[Inline] = [] if worth is UNJUDGED else [worth.chip]
    if prediction.type and prediction.problem is None:
        chips.append(Strong(CATEGORY[prediction.type].short))
    made: list[Block] = [line(*chips), *unread(prediction.problem, prediction.raw)]
    if chances := prediction.probabilities:
        chosen, gold = prediction.type, asked.conflict_type
        bars = (
            Bar(
                category.short,
                chances.get(category.type, 0.0),
                category.type == chosen,
                category.type == gold,
            )
            for category in TAXONOMY
        )
        made.append(Bars("Probability of each type", tuple(bars)))
    if prediction.mass is not None:
        share = f"{100 * prediction.mass:.0f} % of the model's probability is on these types"
        made.append(line(Aside(share)))
    return Card(name, (*made, *noted(prediction.explanation)))


def _answer(name: str, worth: Mark, outcome: Outcome, asked: Query) -> Card:
    answer, judged = outcome.answer, outcome.judged
    chips: list[Inline] = [] if worth is UNJUDGED else [worth.chip]
    if answer.told:
        chips.append(Aside(f"type given: {CATEGORY[answer.told].short}"))
    if answer.prediction and answer.prediction.type:
        chips.append(Aside(f"type predicted: {CATEGORY[answer.prediction.type].short}"))
    if not answer.finished:
        chips.append(Chip("cut by the token limit", "invalid", "…"))
    made: list[Block] = [line(*chips), *unread(answer.problem, answer.raw)]
    count = len(asked.sources)
    grounds = judged.grounding.sentences if judged.grounding else ()
    if answer.sentences:
        # A sentence that was not judged has no verdict.
        pairs = zip_longest(answer.sentences, grounds[: len(answer.sentences)])
        made.append(Sentences(tuple(_sentence(*pair, count) for pair in pairs)))
    elif answer.text:
        made.append(Sentences((Sentence(answer.text),)))
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
        return Sentence(sentence.text, after)
    verdict_on = _GROUNDS[judged.grounds.name.lower() if judged.grounds else "unreadable"]
    why: list[Block] = [Quote(judged.quote)] if judged.quote else []
    why += [*noted(judged.reason), *unread(judged.problem, judged.raw)]
    if judged.judgements:
        why.append(Items(tuple(_relation(judgement, count) for judgement in judged.judgements)))
    if judged.sources:
        cites = (_cite(number, count) for number in judged.sources)
        why.append(line(Aside("Judged by"), *cites))
    return Sentence(sentence.text, after, verdict_on.tone, verdict_on, tuple(why))


def _relation(judged: Judgement, count: int) -> tuple[Inline, ...]:
    number = int(judged.document) if judged.document.isdecimal() else 0
    named = _cite(number, count) if number else f"[{judged.document}]"
    quote = f": “{judged.snippet}”" if judged.snippet else ""
    return named, f"{judged.relation.lower()}{quote}"


def _worths(judged: Verdicts, asked: Query) -> tuple[Fact, ...]:
    """The verdicts on an answer, except those on its sentences."""
    facts = []
    if judged.adherence:
        facts.append(_behaviour(judged.adherence, asked))
    if judged.inclusion:
        facts.append(_inclusion(judged.inclusion))
    if judged.grounding:
        counts = Counter(
            sentence.grounds.name for sentence in judged.grounding.sentences if sentence.grounds
        )
        supported = counts["SUPPORTED"]
        factual = supported + counts["UNSUPPORTED"] + counts["CONTRADICTORY"]
        share = f"{supported} of {factual} factual sentences supported"
        facts.append(fact("Grounding", share if factual else "no factual sentence"))
    return tuple(facts)


def _behaviour(judged: Adherence, asked: Query) -> Fact:
    under = "" if asked.conflict_type else ", the type it was written under"
    return Fact(
        f"Expected behaviour ({CATEGORY[judged.type].short}{under})",
        ((_adheres(judged).chip,),),
        (*noted(judged.reason), *unread(judged.problem, judged.raw)),
    )


def _inclusion(judged: Inclusion) -> Fact:
    more = [*noted(judged.reason)]
    if judged.judgement and judged.judgement.snippet:
        more.append(Quote(judged.judgement.snippet))
    return Fact(
        "Gold answer",
        ((_INCLUDED[judged.included], Aside(judged.gold)),),
        (*more, *unread(judged.problem, judged.raw)),
    )


def _example(run: str, result: QueryResult) -> Example:
    asked = result.asked
    gold = asked.conflict_type
    predicted = predictions(result)
    guesses = {name: guess(prediction, gold) for name, prediction in predicted.items()}
    verdicts = {
        name: worth for strategy, name in STRATEGIES.items() if (worth := verdict(result, strategy))
    }
    kind = CATEGORY[gold].short if gold else "not known"
    chips = [Chip(kind, "outline", said="gold type") if gold else Chip("gold type not known")]
    for name, prediction in predicted.items():
        tone, sign, word = guesses[name]
        said = f"{name}: {CATEGORY[prediction.type].short if prediction.type else word}"
        chips.append(Chip(said, tone, sign, word if prediction.type else ""))
    chips += [mark.on(name) for name, mark in verdicts.items()]
    if result.status != "answered":
        chips.append(Chip(result.status, "invalid", "!"))
    origin = [asked.origin] if asked.origin else []
    return Example(
        id=result.id,
        run=run,
        title=asked.query,
        status=result.status,
        blocks=partial(content, result),
        about=(*origin, glance.count(len(asked.sources), "source")),
        chips=tuple(chips),
        facets={
            "Gold type": [kind],
            "Predicted type": values(guesses),
            "Answers": values(verdicts),
        },
        words="\n".join((asked.gold_answer or "", result.error or "")),
    )


def _tables(runs: Runs[QueryResult]) -> list[Table]:
    parts = [part_of(run, of_run, runs.configs[run]) for run, of_run in runs.results.items()]
    return all_tables(parts, runs.noted("statistics", tuple[Statistic, ...]))


PAGE: Final = Page(
    question="Can a model name the type of conflict between sources, and answer accordingly?",
    tables=_tables,
    figures=(
        Figure(
            *("conflicts_types", "accuracy", "classifier"),
            said="Types of conflict named correctly",
            group=("run",),
            trivial=(*BASELINES, CLASSIFIERS["yes-no"]),
        ),
        Figure(
            *("conflicts_answers", "behaviour", "strategy"),
            said="Answers that behave as their type asks",
            group=("run",),
            also=("recall", "grounding"),
        ),
    ),
    example=_example,
    problems=problems,
    failures="conflicts_failures",
    sections=(
        Section(
            "Conflict types",
            ("conflicts_types", "conflicts_type_differences"),
            "The search results of a query relate to each other in one of five ways, and this type "
            "decides how to answer. These figures say how often the type is named correctly.",
        ),
        Section(
            "Answers",
            ("conflicts_answers", "conflicts_behaviour", "conflicts_differences"),
            "Do answers behave as their type calls for, include the gold answer, and stay "
            "grounded in their sources?",
        ),
        Section("Data", ("conflicts_statistics",)),
    ),
    facets=(
        Facet("Gold type", (*(category.short for category in TAXONOMY), "not known")),
        Facet("Predicted type", words(GUESSES), (*CLASSIFIERS.values(), JOINT)),
        Facet("Answers", words(VERDICTS), tuple(STRATEGIES.values())),
    ),
    roles={"model": "types and answers", "judge": "judge", "tagger": "tagger"},
)
