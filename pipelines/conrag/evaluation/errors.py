"""Why stances are wrong: the paper's categories (Table IX), guessed by rules.

The authors sorted errors by reading them. The rules here only point at what is worth reading;
the table `conrag_errors_to_sort` has them all, with an empty column for a person's category.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from pipelines.conrag.evaluation import paper
from pipelines.conrag.evaluation.result import ClaimResult, Passage
from pipelines.conrag.graph import key_phrases
from pipelines.conrag.policies import SIDE
from pipelines.conrag.stance import Stance
from pipelines.metrics.estimate import Estimate
from pipelines.metrics.proportion import proportion
from pipelines.report.table import Column, Row, Table

ENTITY, TEMPORAL, NEGATION, SPARSITY, MULTI_HOP, LEAKAGE = (row[0] for row in paper.TABLE_IX)
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

    Args:
        result: The claim.
        method: Whose stance.
    """
    outcome = result.outcomes[method]
    if result.stance is None or outcome.stance is result.stance:
        return None
    gold = {name for units in result.evidence for name in units}
    retrieved = {each.id for each in result.passages}
    turned = [each for each in result.passages if each.truth in _SIDES and each.tag != each.truth]
    idle = [each for each in result.passages if each.tag in _SIDES and each.truth not in _SIDES]
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


def error_table(results: Mapping[str, Sequence[ClaimResult]], method: str = "ConRAG") -> Table:
    """Table IX: the share of each category among the errors of a method, per data set.

    Args:
        results: Data set -> its results.
        method: Whose errors.
    """
    rows: list[Row] = []
    for dataset, own in results.items():
        counts = Counter(category(each, method) for each in own if each.response is None)
        del counts[None]
        rows += [
            (dataset, name, "this run, by rules", proportion(counts[name], counts.total()),
             counts[name])
            for name in CATEGORIES
            if counts.total()
        ]  # fmt: skip
    quoted: list[Row] = [
        (dataset, name, "paper, Table IX", Estimate(shares[place] / 100, None, None, 1), None)
        for place, dataset in enumerate(("FEVER", "SciFact", "ALCE", "RAGTruth"))
        for name, *shares in paper.TABLE_IX
    ]
    return Table(
        name="conrag_errors",
        title="Wrong stances by category",
        caption=f"Errors of {method}, each in the first category whose rule holds.",
        columns=(
            Column("dataset", "Data"),
            Column("category", "Category"),
            Column("figures", "Figures"),
            Column("share", "Share of errors", interval=True),
            Column("errors", "Errors"),
        ),
        rows=tuple(rows),
        quoted=tuple(quoted),
        notes=(
            "Rules look at words and numbers and do not understand; the paper's shares were found "
            "by reading. conrag_errors_to_sort.csv has every error, with a column to fill in.",
            "The rules go by the labels of passages, which sentences of responses (ragtruth) do "
            "not have; those are only there to be sorted.",
        ),
    )


def errors_to_sort(results: Mapping[str, Sequence[ClaimResult]], method: str = "ConRAG") -> Table:
    """Every error of a method with what a person needs to sort it.

    Args:
        results: Data set -> its results.
        method: Whose errors.
    """
    rows: list[Row] = []
    for dataset, own in results.items():
        for each in own:
            if (name := category(each, method)) is not None:
                stance = each.outcomes[method].stance.value
                gold = each.stance.value if each.stance else ""
                passages = "\n".join(_said(passage) for passage in each.passages)
                by_rules = name if each.response is None else ""
                rows.append((dataset, each.id, each.claim, gold, stance, each.kappa, passages,
                             by_rules, ""))  # fmt: skip
    return Table(
        name="conrag_errors_to_sort",
        title="Wrong stances to sort",
        columns=(
            Column("dataset", "Data"),
            Column("id", "Id"),
            Column("claim", "Claim"),
            Column("gold", "Gold stance"),
            Column("stance", "Stance"),
            Column("kappa", "κ"),
            Column("passages", "Passages"),
            Column("by_rules", "Category by rules"),
            Column("category", "Category"),
        ),
        rows=tuple(rows),
    )


_SIDES = tuple(SIDE.values())


def _differ(pattern: re.Pattern[str], one: str, other: str) -> bool:
    """Whether two texts have different words of a kind."""
    return {word.lower() for word in pattern.findall(one)} != {
        word.lower() for word in pattern.findall(other)
    }


def _lacks_a_name(claim: str, passage: Passage) -> bool:
    text = f"{passage.title or ''} {passage.text}".lower()
    return any(name not in text for name in key_phrases(claim))


def _said(passage: Passage) -> str:
    truth = passage.truth.lower() if passage.truth else "unknown"
    return f"[{passage.tag.lower()} {passage.confidence:.2f}, gold {truth}] {passage.text}"
