"""Mistakes by the paper's categories (ConRAG, Table IX), guessed by rules."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from nli.sentences import sentences
from pipelines.conrag import paper
from pipelines.conrag.evidence import AGAINST, Stance, TaggedPassage, key_phrases
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
    """The category of a method's mistake: the first whose rule holds; None without a mistake.

    For a wrong stance, the claim is compared with the sentences that decided tags against the gold
    stance; for a faulty answer, its sentences are compared with the passages that they cite.

    - evidence sparsity: the gold stance takes no side, or no gold evidence was retrieved;
    - negation or quantifier, temporal mismatch: claim and evidence differ in words of this kind (an
      answer has one that its passages lack);
    - multi-hop evidence: every gold set has several units, or no passage alone supports a supported
      claim; an answer gives only a part of the gold answer;
    - entity disambiguation: the passages lack a name of the claim or sentence;
    - citation leakage: a cited passage is tagged as irrelevant.
    """
    if not faulty(result, method):
        return None
    outcome = result.outcomes[method]
    passages = {passage.id: passage for passage in result.passages}
    if result.question is None:
        against = AGAINST.get(result.stance) if result.stance else None
        misread = [passage for passage in result.passages if passage.relation is against]
        compared = [(result.claim, [passage]) for passage in misread]
        pairs = [(result.claim, telling_sentence(result.claim, passage)) for passage in misread]
        pairs += [(read, claim) for claim, read in pairs]
        gold = {name for units in result.evidence for name in units}
        sparse = result.stance is Stance.NOT_ENOUGH_INFO or bool(gold and gold.isdisjoint(passages))
        alone = any(passage.relation is Relation.SUPPORTS for passage in result.passages)
        hops = result.stance is Stance.SUPPORT and len(passages) > 1 and not alone
        if result.evidence:
            hops = all(len(units) > 1 for units in result.evidence)
    else:
        said = [statement for statement in outcome.statements if statement.about != "none"]
        compared = [
            (statement.text, [passages[name] for name in statement.cites])
            for statement in said
            if statement.cites
        ]
        pairs = [
            (text, " ".join(passage.passage.text for passage in shown)) for text, shown in compared
        ]
        sparse = bool(said) and Relation.SUPPORTS not in result.truth.values()
        hops = 0 < (result.question.worth[method].recall or 0) < 1
    holds = {
        SPARSITY: sparse,
        NEGATION: any(_has_more(_NEGATION, *pair) for pair in pairs),
        TEMPORAL: any(_has_more(_TIME, *pair) for pair in pairs),
        MULTI_HOP: hops,
        ENTITY: any(_lacks_a_name(*pair) for pair in compared),
        LEAKAGE: any(result.tags[name] is Relation.IRRELEVANT for name in outcome.cited),
    }
    return next((name for name, applies in holds.items() if applies), OTHER)


def faulty(result: ClaimResult, method: str) -> bool:
    """Whether the outcome is wrong; False if it is right, unknown, or unreadable.

    An answer to a question is faulty if its citations do not back a sentence, if a sentence
    contradicts the packet undisclosed, or if a part of the gold answer is missing. Otherwise a
    stance other than the gold one is wrong.
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


def telling_sentence(claim: str, tagged: TaggedPassage) -> str:
    """The deciding sentence of a passage, or else the one that shares most words with the claim."""
    text, wanted = tagged.passage.text, content_words(claim)
    parts = [text[slice(*span)] for span in sentences(text)]
    best = max(parts, key=lambda part: len(wanted & content_words(part)), default=text)
    return tagged.rationale or best


def _has_more(pattern: re.Pattern[str], text: str, shown: str) -> bool:
    """Whether a text has words of a kind that `shown` lacks."""
    return not {*pattern.findall(shown.lower())}.issuperset(pattern.findall(text.lower()))


def _lacks_a_name(text: str, passages: Sequence[TaggedPassage]) -> bool:
    """Whether passages and their titles lack a name of a text."""
    texts = (f"{passage.passage.title or ''} {passage.passage.text}" for passage in passages)
    read = " ".join(texts).lower()
    return any(name not in read for name in key_phrases(text))


class Share(NamedTuple):
    """The share of a category among all errors on a data set; `unit` names what is in error."""

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
            Measure("share", "Share of errors", lambda row: proportion(row.errors, row.every)),
            Column("errors", "Errors"),
        ],
        quoted=paper.TABLE_IX,
        notes=(
            "Rules look at words and labels; the paper does not say how it assigned categories.",
            "An error is a wrong stance on a claim or on a sentence of a response (ragtruth). In "
            "an answer (alce), it is a sentence that its citations do not support, one that "
            "contradicts the packet, or a missing answer.",
        ),
    )
