"""Errors by the paper's categories (Table IX), guessed by rules."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from nli.sentences import sentences
from pipelines.conrag import paper
from pipelines.conrag.answer import Outcome
from pipelines.conrag.evidence import AGAINST, SIDES, Stance, TaggedPassage, key_phrases
from pipelines.conrag.metrics import OURS, Results, of_questions, of_responses
from pipelines.conrag.result import ClaimResult
from pipelines.judge.judgement import Relation
from pipelines.metrics.estimate import proportion
from pipelines.report.table import Column, Measure, Table
from pipelines.text.words import content_words

ENTITY, TEMPORAL, NEGATION, SPARSITY, MULTI_HOP, LEAKAGE = paper.PERCENT
OTHER = "none of these"
CATEGORIES = (ENTITY, TEMPORAL, NEGATION, SPARSITY, MULTI_HOP, LEAKAGE, OTHER)

_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|cannot|without|\w+n['’]t|only|all|every|each|any|most|"
    r"many|few|several|some|more|less|fewer|least|at least|at most|always|half|both)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?:1[0-9]{3}|20[0-9]{2}|\d{1,2}(?:st|nd|rd|th) century|before|after|until|since|former|"
    r"formerly|current|currently|now|today|originally|later|earlier|recent|recently)\b",
    re.IGNORECASE,
)


def category(result: ClaimResult, method: str) -> str | None:
    """The category of a method's error: the first whose rule holds; None without an error."""
    if not faulty(result, method):
        return None
    outcome = result.outcomes[method]
    if result.question is None:
        holds = _of_stance(result, outcome)
    else:
        holds = _of_answer(result, outcome, result.question.worth[method].recall)
    return next((name for name, applies in holds.items() if applies), OTHER)


def faulty(result: ClaimResult, method: str) -> bool:
    """Whether something is wrong; False where all is right, unknown, or unreadable.

    Of an answer to a question: a sentence that its citations do not bear out, one that contradicts
    the packet undisclosed, or something that is to be said and is not. Else a stance that is not
    the gold one.
    """
    outcome = result.outcomes[method]
    if result.question is None:
        known = result.stance is not None and not outcome.undecided
        return known and outcome.stance is not result.stance
    if outcome.problem is not None:
        return False
    worth = result.question.worth[method]
    bare = worth.citations.sentences > worth.citations.supported
    missing = worth.recall is not None and worth.recall < 1
    return bare or worth.contradicting > 0 or missing


Holds = Mapping[str, bool]
"""Category -> whether its rule holds, in the order in which they are tried."""


def _of_stance(result: ClaimResult, outcome: Outcome) -> Holds:
    """The rules for a wrong stance on a claim, or on a sentence of a response.

    Of a claim it is known what its passages say, of a sentence only how they are tagged.

    - evidence sparsity: a side was taken where there is none to take, or no gold evidence was
      retrieved;
    - negation or quantifier, temporal mismatch: a passage is tagged as the side that it does not
      take (of a sentence, the other side than its mark's: the passage's sentence that decided), and
      it and the claim differ in such words;
    - multi-hop evidence: every gold set has several units (of a sentence: the source bears it out,
      and of its several passages none by itself);
    - entity disambiguation: a passage that takes no side, as far as is known, is tagged with one,
      and it and its title lack a name of the claim;
    - citation leakage: the answer cites such a passage (of a sentence: one tagged as irrelevant).
    """
    passages, truth = result.passages, result.truth
    idle = [one for one in passages if one.relation in SIDES and truth.get(one.id) not in SIDES]
    gold = {name for units in result.evidence for name in units}
    if result.response is None:
        turned = [
            one.passage.text
            for one in passages
            if truth.get(one.id) in SIDES and one.relation is not truth[one.id]
        ]
        hops = bool(gold) and all(len(units) > 1 for units in result.evidence)
        leaks = not {one.id for one in idle}.isdisjoint(outcome.cited)
    else:
        against = None if result.stance is None else AGAINST.get(result.stance)
        turned = [
            telling_sentence(result.claim, one.passage.text, one.rationale)
            for one in passages
            if one.relation is against
        ]
        alone = any(one.relation is Relation.SUPPORTS for one in passages)
        hops = result.stance is Stance.SUPPORT and len(passages) > 1 and not alone
        leaks = _leaks(result, outcome)
    lost = bool(gold) and gold.isdisjoint(one.id for one in passages)
    return {
        SPARSITY: result.stance is Stance.NOT_ENOUGH_INFO or lost,
        NEGATION: _differ(_NEGATION, result.claim, turned),
        TEMPORAL: _differ(_TIME, result.claim, turned),
        MULTI_HOP: hops,
        ENTITY: any(_lacks_a_name(result.claim, [one]) for one in idle),
        LEAKAGE: leaks,
    }


def _of_answer(result: ClaimResult, outcome: Outcome, recall: float | None) -> Holds:
    """The rules for a faulty answer to a question; sentences are held beside what they cite.

    - evidence sparsity: it answers, and no retrieved passage is known to have the gold answer;
    - negation or quantifier, temporal mismatch: a sentence has such a word, and no passage that it
      cites has it;
    - multi-hop evidence: it says a part of what is to be said and not the rest;
    - entity disambiguation: a sentence has a name that no passage that it cites has;
    - citation leakage: it cites a passage that the tagger calls irrelevant.
    """
    passages = {passage.id: passage for passage in result.passages}
    cited = [
        (said.text, [passages[name] for name in said.cites if name in passages])
        for said in outcome.statements
        if said.about != "none" and said.cites
    ]
    answers = any(said.about != "none" for said in outcome.statements)
    return {
        SPARSITY: answers and Relation.SUPPORTS not in result.truth.values(),
        NEGATION: any(_has_more(_NEGATION, text, shown) for text, shown in cited),
        TEMPORAL: any(_has_more(_TIME, text, shown) for text, shown in cited),
        MULTI_HOP: recall is not None and 0 < recall < 1,
        ENTITY: any(_lacks_a_name(text, shown) for text, shown in cited),
        LEAKAGE: _leaks(result, outcome),
    }


def telling_sentence(claim: str, text: str, rationale: str | None) -> str:
    """The sentence of a passage that decided, or else the one with most words of the claim."""
    parts = [text[slice(*span)] for span in sentences(text)]
    wanted = content_words(claim)
    return rationale or max(parts, key=lambda part: len(wanted & content_words(part)), default=text)


def _leaks(result: ClaimResult, outcome: Outcome) -> bool:
    return any(result.tags.get(name) is Relation.IRRELEVANT for name in outcome.cited)


def _differ(pattern: re.Pattern[str], claim: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts has not just the claim's words of a kind."""
    return any({*pattern.findall(claim.lower())} != {*pattern.findall(t.lower())} for t in texts)


def _has_more(pattern: re.Pattern[str], text: str, cited: Sequence[TaggedPassage]) -> bool:
    """Whether a text has words of a kind that none of the passages has."""
    there = {word for one in cited for word in pattern.findall(one.passage.text.lower())}
    return not there.issuperset(pattern.findall(text.lower()))


def _lacks_a_name(text: str, passages: Sequence[TaggedPassage]) -> bool:
    """Whether passages and their titles lack a name of a text."""
    texts = (f"{one.passage.title or ''} {one.passage.text}" for one in passages)
    read = " ".join(texts).lower()
    return any(name not in read for name in key_phrases(text))


class Share(NamedTuple):
    """The errors of a category among all of a data set; `unit` says what is in error."""

    dataset: str
    unit: str
    category: str
    errors: int
    every: int


def _shares(results: Results) -> list[Share]:
    made = []
    for dataset, done in results.items():
        unit = "answers" if of_questions(done) else "sentences" if of_responses(done) else "stances"
        counts = Counter(name for result in done if (name := category(result, OURS)))
        named = CATEGORIES if counts else ()
        made += [Share(dataset, unit, name, counts[name], counts.total()) for name in named]
    return made


def error_table(results: Results) -> Table:
    """Table IX: the share of each category among the errors of ConRAG, per data set."""
    return Table.of(
        _shares(results),
        name="conrag_errors",
        title="Errors by category",
        caption=f"Errors of {OURS}, each in the first category whose rule holds.",
        columns=[
            Column("dataset", "Data"),
            Column("unit", "Errors of"),
            Column("category", "Category"),
            Column("figures", "Figures", lambda _: "this run, by rules"),
            Measure("share", "Share of errors", lambda one: proportion(one.errors, one.every)),
            Column("errors", "Errors"),
        ],
        quoted=paper.TABLE_IX,
        notes=(
            "Rules look at words and labels; the paper does not say how it sorted.",
            "An error is a wrong stance on a claim, or on a sentence of a response (ragtruth); of "
            "an answer (alce), that a sentence is not borne out by what it cites, that one "
            "contradicts the packet, or that something is not said.",
        ),
    )
