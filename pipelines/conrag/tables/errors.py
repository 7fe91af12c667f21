"""Why stances are wrong: the paper's categories (Table IX), guessed by rules.

The authors sorted errors by reading them. The rules here only point at what is worth reading;
the table `conrag_errors_to_sort` has them all, with an empty column for a person's category.
"""

import re
from collections import Counter
from typing import NamedTuple

from pipelines.conrag import paper
from pipelines.conrag.graph import key_phrases
from pipelines.conrag.result import ClaimResult, Passage
from pipelines.conrag.stance import Stance
from pipelines.conrag.tables.figures import OURS, Results
from pipelines.conrag.tagged import SIDES
from pipelines.metrics.proportion import proportion
from pipelines.report.table import Column, Measure, Table

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
    """The category of a method's error on a claim; None where its stance is right or unknown.

    The first of these that holds:

    - evidence sparsity: a side was taken where there is none to take, or no gold evidence was
      retrieved;
    - negation or quantifier, temporal mismatch: a passage is tagged as the side that it does not
      take, and it and the claim differ in such words;
    - multi-hop evidence: every gold set has several units;
    - entity disambiguation: a passage that takes no side is tagged with one, and it and its title
      lack a name of the claim;
    - citation leakage: the answer cites such a passage.
    """
    outcome = result.outcomes[method]
    if result.stance is None or outcome.stance is result.stance:
        return None
    gold = {name for units in result.evidence for name in units}
    retrieved = {each.id for each in result.passages}
    turned = [each for each in result.passages if each.truth in SIDES and each.tag != each.truth]
    idle = [each for each in result.passages if each.tag in SIDES and each.truth not in SIDES]
    nothing_to_say = result.stance is Stance.NOT_ENOUGH_INFO
    holds = {
        SPARSITY: nothing_to_say or (bool(gold) and not gold & retrieved),
        NEGATION: any(_differ(_NEGATION, result.claim, each.text) for each in turned),
        TEMPORAL: any(_differ(_TIME, result.claim, each.text) for each in turned),
        MULTI_HOP: bool(gold) and all(len(units) > 1 for units in result.evidence),
        ENTITY: any(_lacks_a_name(result.claim, each) for each in idle),
        LEAKAGE: not {each.id for each in idle}.isdisjoint(outcome.cited),
    }
    return next((name for name, applies in holds.items() if applies), OTHER)


class Share(NamedTuple):
    """The errors of a category among all of a data set."""

    dataset: str
    category: str
    errors: int
    every: int


def error_table(results: Results) -> Table:
    """Table IX: the share of each category among the errors of ConRAG, per data set."""
    shares = []
    for dataset, own in results.items():
        counts = Counter(category(each, OURS) for each in own if each.response is None)
        del counts[None]
        if every := counts.total():
            shares += [Share(dataset, name, counts[name], every) for name in CATEGORIES]
    return Table.of(
        shares,
        name="conrag_errors",
        title="Wrong stances by category",
        caption=f"Errors of {OURS}, each in the first category whose rule holds.",
        columns=[
            Column("dataset", "Data"),
            Column("category", "Category"),
            Column("figures", "Figures", lambda _: "this run, by rules"),
            Measure("share", "Share of errors", lambda own: proportion(own.errors, own.every)),
            Column("errors", "Errors"),
        ],
        quoted=paper.TABLE_IX,
        notes=(
            "Rules look at words and numbers and do not understand; the paper's shares were found "
            "by reading. conrag_errors_to_sort.csv has every error, with a column to fill in.",
            "The rules go by the labels of passages, which sentences of responses (ragtruth) do "
            "not have; those are only there to be sorted.",
        ),
    )


class Error(NamedTuple):
    """A claim on which a stance is wrong."""

    dataset: str
    result: ClaimResult
    category: str


def errors_to_sort(results: Results) -> Table:
    """Every error of ConRAG with what a person needs to sort it."""
    return Table.of(
        [
            Error(dataset, each, name)
            for dataset, own in results.items()
            for each in own
            if (name := category(each, OURS)) is not None
        ],
        name="conrag_errors_to_sort",
        title="Wrong stances to sort",
        columns=[
            Column("dataset", "Data"),
            Column("id", "Id", lambda one: one.result.id),
            Column("claim", "Claim", lambda one: one.result.claim),
            Column("gold", "Gold stance", lambda one: str(one.result.stance or "")),
            Column("stance", "Stance", lambda one: one.result.outcomes[OURS].stance.value),
            Column("kappa", "κ", lambda one: one.result.kappa),
            Column("passages", "Passages", lambda one: "\n".join(map(_said, one.result.passages))),
            Column(
                "by_rules",
                "Category by rules",
                lambda one: "" if one.result.response else one.category,
            ),
            Column("category", "Category", lambda _: ""),
        ],
    )


def _differ(pattern: re.Pattern[str], one: str, other: str) -> bool:
    """Whether two texts have different words of a kind."""
    return {*pattern.findall(one.lower())} != {*pattern.findall(other.lower())}


def _lacks_a_name(claim: str, passage: Passage) -> bool:
    text = f"{passage.title or ''} {passage.text}".lower()
    return any(name not in text for name in key_phrases(claim))


def _said(passage: Passage) -> str:
    truth = passage.truth.lower() if passage.truth else "unknown"
    return f"[{passage.tag.lower()} {passage.confidence:.2f}, gold {truth}] {passage.text}"
