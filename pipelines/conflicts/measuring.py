"""What types are worth that are told from the evidence, from a language model, or from both.

Everything is chosen and trained on two thirds of the labelled queries, and measured on them by
nested cross-validation. The third that `set_aside` names is measured once all is decided.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pipelines.conflicts.aside import set_aside
from pipelines.conflicts.combination import FOLDS, Choice, Held, Rows, folds, nested, train
from pipelines.conflicts.question import Query
from pipelines.conflicts.result import QueryResult
from pipelines.conflicts.signals import MEANING, Read
from pipelines.conflicts.taxonomy import ConflictType, commonest
from pipelines.errors import InputError
from pipelines.evidence.priors import (
    FittedPrior,
    Method,
    batch_prior,
    corrected,
    digest_of,
    likeliest,
    logs,
)

Chances = Mapping[ConflictType, float]
"""Type -> the language model's probability."""

FLOOR: Final = 1e-6
"""The least probability whose logarithm is taken."""

FEWEST: Final = 3
"""Queries of a second type, at least."""

MAJORITY: Final = "Most frequent type"
BY_FORM: Final = "Most frequent type, yes/no or not"
QUESTION: Final = "Question alone"
EVIDENCE: Final = "Question and sources"
FURTHER: Final = "Question and sources, with further queries"
MODEL: Final = "LLM, by choice"
CORRECTED: Final = "LLM, by choice, less its mean log-probabilities"

_OF_SOURCES = (
    ("form",),
    ("form", "question"),
    ("signals",),
    ("question", "signals"),
    ("question", "evidence", "signals"),
)

LEARNED: Final[Mapping[str, Sequence[tuple[str, ...]]]] = {
    QUESTION: (("form",), ("form", "question")),
    EVIDENCE: _OF_SOURCES,
    FURTHER: _OF_SOURCES,
}
"""Regression -> the columns among which it chooses."""


@dataclass(frozen=True)
class Labelled:
    """A query with its type, what was read of its evidence, and what a language model says."""

    query: Query
    type: ConflictType
    read: Read
    chances: Chances | None = None


@dataclass(frozen=True)
class Measured:
    """What a method says of queries that it was not trained on; `aside` names the third.

    `chosen` has what the trainings chose, with how often.
    """

    method: str
    aside: bool
    predicted: tuple[ConflictType, ...]
    chosen: Mapping[str, int]


def chances_of(results: Sequence[QueryResult]) -> dict[str, Chances]:
    """Text of a query -> the language model's probabilities, where it gave any by choice.

    They are as it gave them, whether or not the run corrected them.
    """
    return {
        each.asked.query: found.raw_probabilities or found.probabilities
        for each in results
        if (found := each.predictions.get("choice")) and found.probabilities
    }


def floored(chances: Chances) -> dict[ConflictType, float]:
    """The probability of every type, none below `FLOOR`."""
    return {each: max(chances.get(each, 0.0), FLOOR) for each in ConflictType}


def less_mean(rows: Sequence[Chances]) -> list[dict[ConflictType, float]]:
    """Probabilities less each type's mean log-probability over the rows; no label is looked at."""
    found = [floored(each) for each in rows]
    prior = batch_prior(found)
    return [corrected(each, prior) for each in found]


def measure(
    labelled: Sequence[Labelled],
    *,
    sources: bool = True,
    further: Sequence[Labelled] = (),
    aside: bool = False,
    seed: int = 0,
    on_fold: Callable[[], Any] = lambda: None,
) -> list[Measured]:
    """Every method on the queries that are not set aside, or on those that are (`aside`).

    Without `sources`, what is learned is learned from the question alone. From `further` queries,
    of other data, one method learns as well. `on_fold` is told of each training.

    Raises:
        InputError: There are too few queries of either part.
    """
    own = [each for each in labelled if not set_aside(each.query.query)]
    kept = [each for each in labelled if set_aside(each.query.query)]
    counts = [n for _, n in Counter(each.type for each in own).most_common()]
    # Held out of outer and of inner folds, a second type must have some left to train on.
    if len(own) < FOLDS or len(counts) < 2 or counts[1] < FEWEST or (aside and not kept):
        raise InputError(
            f"{len(own):,} queries to train on, of {len(counts)} types, and {len(kept):,} set "
            f"aside are too few; name a file with {FOLDS} or more, {FEWEST} of a second type"
        )
    rows, more = rows_of(own), rows_of(further) if further else None
    seen = kept if aside else own

    def simple(method: str, kinds: Callable[[Labelled], object]) -> Measured:
        """The most frequent type of each kind, told from queries that are not predicted."""
        if aside:
            return Measured(method, aside, tuple(_commonest(own, kept, kinds)), {})
        found: dict[int, ConflictType] = {}
        for train_on, test in folds(rows.types, FOLDS, seed):
            known = [own[place] for place in train_on]
            given = _commonest(known, [own[place] for place in test], kinds)
            found |= dict(zip(map(int, test), given, strict=True))
        return Measured(method, aside, tuple(found[place] for place in range(len(own))), {})

    def learned(method: str, wanted: Sequence[tuple[str, ...]]) -> Measured:
        beside = more if method == FURTHER else None
        if aside:
            made = train(rows, wanted, further=beside, seed=seed)
            said = [Held(each, made.choice) for each in made.probabilities(rows_of(kept))]
            on_fold()
        else:
            said = nested(rows, wanted, further=beside, seed=seed, on_fold=on_fold)
        chosen = Counter(_in_words(choice) for _, choice in said)
        return Measured(
            method, aside, tuple(ConflictType(likeliest(each)) for each, _ in said), chosen
        )

    found = [
        simple(MAJORITY, lambda _: None),
        simple(BY_FORM, lambda each: each.read.signals["yes_no"]),
    ]
    learnt_from = (QUESTION, EVIDENCE) if sources else (QUESTION,)
    found += [
        learned(name, LEARNED[name]) for name in (*learnt_from, *((FURTHER,) if further else ()))
    ]
    chances = [each.chances for each in seen if each.chances is not None]
    if len(chances) == len(seen):
        plain = [likeliest(each) for each in map(floored, chances)]
        less = [likeliest(each) for each in less_mean(chances)]
        found += [
            Measured(MODEL, aside, tuple(plain), {}),
            Measured(CORRECTED, aside, tuple(less), {}),
        ]
        for name in learnt_from:
            wanted = [("chances",), *(("chances", *each) for each in LEARNED[name])]
            found.append(learned(f"LLM and {name.lower()}", wanted))
    return found


def correction_of(labelled: Sequence[Labelled], *, seed: int = 0) -> FittedPrior:
    """How the language model's types are best corrected, learned from queries that are not aside.

    Which way is best is told by cross-validation over them.

    Raises:
        InputError: There are no such queries with probabilities.
    """
    from pipelines.evidence.fitted_priors import Fit, best, fits, held_out

    own = [
        (each, floored(each.chances))
        for each in labelled
        if each.chances is not None and not set_aside(each.query.query)
    ]
    if not own:
        raise InputError("no query has a model's probabilities to correct; name them by --types")
    texts = [each.query.query for each, _ in own]
    shares, gold = [share for _, share in own], [each.type for each, _ in own]
    ways: Mapping[Method, Fit[ConflictType]] = fits()
    found = held_out(shares, gold, texts, ways, seed=seed)
    asked = digest_of((text, str(type_)) for text, type_ in zip(texts, gold, strict=True))
    correction = ways[best(found, len(set(texts)))](shares, gold).learned(len(own), asked, "")
    return FittedPrior(correction=correction, held_out=tuple(found))


def rows_of(labelled: Sequence[Labelled]) -> Rows:
    """The columns of labelled queries."""
    import numpy as np

    signals = np.array(
        [[_number(each.read.signals[name]) for name in MEANING] for each in labelled], dtype=float
    )
    blocks = {
        "form": signals[:, :1],
        "signals": signals,
        "question": np.array([each.read.question for each in labelled], dtype=float),
        "evidence": np.array([each.read.evidence for each in labelled], dtype=float),
    }
    if all(each.chances is not None for each in labelled):
        blocks["chances"] = np.array(
            [
                list(logs(floored(each.chances)).values())
                for each in labelled
                if each.chances is not None
            ]
        )
    return Rows(blocks, np.array([str(each.type) for each in labelled]))


def _in_words(choice: Choice) -> str:
    further = f", further queries × {choice.further:g}" if choice.further else ""
    return f"{' + '.join(choice.blocks)}, C = {choice.strength:g}{further}"


def _commonest(
    known: Sequence[Labelled], asked: Sequence[Labelled], kinds: Callable[[Labelled], object]
) -> list[ConflictType]:
    """The most frequent type among the known of the same kind, or among all where there is none."""
    of_kind: dict[object, list[ConflictType]] = {}
    for each in known:
        of_kind.setdefault(kinds(each), []).append(each.type)
    every = [each.type for each in known]
    return [commonest(of_kind.get(kinds(each), every)) for each in asked]


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
