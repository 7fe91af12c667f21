"""Tables 4 and 5: how good answers and choices are, and what needs no model."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pipelines.conflictscore.truthfulqa.result import (
    CONDITIONS,
    Outcome,
    Setting,
    TruthResult,
    Verdict,
)
from pipelines.metrics.estimate import Estimate, proportion
from pipelines.report.table import HERE, Column, Measure, Table, quote


class Part(NamedTuple):
    """The questions of a run in a setting.

    Attributes:
        run: Its name.
        config: Everything that decided them, from `run.json`.
        setting: Free-form, or binary choice.
        results: One per question that was answered.
    """

    run: str
    config: Mapping[str, Any]
    setting: Setting
    results: Sequence[TruthResult]


class Slice(NamedTuple):
    """A part under a condition, or under what stands in for one."""

    part: Part
    condition: str
    outcomes: Sequence[tuple[TruthResult, Outcome]]


RUN: Final = Column[Slice]("run", "Run", lambda own: own.part.run)
WRITER: Final = Column[Slice]("writer", "Writer", lambda own: own.part.config["writer"]["name"])
CONDITION: Final = Column[Slice]("condition", "Condition")
ANSWERS: Final = Column[Slice]("answers", "Answers", lambda own: len(own.outcomes))


def parts(
    results: Mapping[str, Sequence[TruthResult]], configs: Mapping[str, Mapping[str, Any]]
) -> list[Part]:
    """The answered questions of each run and setting."""
    settings: tuple[Setting, ...] = ("free-form", "binary")
    return [
        Part(run, configs[run], setting, found)
        for run, own in results.items()
        for setting in settings
        if (found := [r for r in own if r.setting == setting and r.status == "answered"])
    ]


def slices(part: Part) -> list[Slice]:
    """A part by conditions."""
    return [
        Slice(part, title, [(result, result.outcomes[condition]) for result in part.results])
        for condition, title in CONDITIONS.items()
    ]


def truth_judge_named(config: Mapping[str, Any]) -> str | None:
    """Who judged free-form answers, from a run's configuration; None where nobody did."""
    if config["asked"]["truth"] is None:
        return None
    name: str = config["tagger" if config["asked"]["truth"] == "tagger" else "judge"]["name"]
    return name


def counted(key: str, title: str, holds: Callable[[Outcome], bool]) -> Column[Slice]:
    """A column that counts answers of which something holds."""
    return Column(key, title, lambda own: sum(holds(outcome) for _, outcome in own.outcomes))


TABLE_4: Final = quote(
    "condition truthful informative",
    ("RAG", 0.787, 0.915),
    ("Control-RAG", 0.816, 0.932),
    ("Regenerated-RAG", 0.824, 0.932),
    figures="paper, Table 4",
    writer="gpt-4.1-mini",
    judge="gpt-4.1-mini",
    answers=779,
)
TABLE_5: Final = quote(
    "condition accuracy",
    ("RAG", 0.8421),
    ("Control-RAG", 0.8447),
    ("Regenerated-RAG", 0.8524),
    figures="paper, Table 5",
    writer="gpt-4.1-mini",
    answers=779,
)


def free_form(every: Sequence[Part]) -> Table:
    """Table 4: truthful and informative answers by condition, with the answers of nobody."""
    return Table.of(
        [own for part in every if part.setting == "free-form" for own in slices(part)],
        name="truthfulqa_free_form",
        title="Free-form answers",
        caption="Answers judged truthful, and informative, by condition.",
        columns=[
            *(RUN, WRITER),
            Column("judge", "Judge", lambda own: truth_judge_named(own.part.config)),
            *(HERE, CONDITION),
            Measure("truthful", "Truthful", lambda own: _share(own, lambda o: o.truthful)),
            Measure("informative", "Informative", lambda own: _share(own, lambda o: o.informative)),
            Measure("both", "Both", lambda own: _both([o for _, o in own.outcomes])),
            ANSWERS,
            Column("unjudged", "Not judged", _unjudged),
            Column(
                "unfinished",
                "Cut for length",
                lambda own: sum(not o.finished for _, o in own.outcomes),
            ),
        ],
        quoted=TABLE_4,
        notes=(
            "Shares of judged answers; in brackets 95 % Wilson intervals. Answers without a "
            "readable verdict are not among them. Both: truthful and informative.",
            "A judge is worth what it says of answers that are known to be true and false: "
            "truthfulqa_references. There, too, is what a writer has that never commits itself.",
            "Where documents agree about RAG's answer it stands in the last two conditions.",
            "The paper's rows are of another writer on its own documents, judged by the model that "
            "wrote; they stand here for orientation.",
        ),
    )


def binary(every: Sequence[Part]) -> Table:
    """Table 5: accuracy of choices by condition, with what no model is needed for."""
    rows = [
        own
        for part in every
        if part.setting == "binary"
        for own in (*slices(part), *baselines(part))
    ]
    return Table.of(
        rows,
        name="truthfulqa_binary",
        title="Choices between two answers",
        caption="Share of choices that are right, by condition.",
        columns=[
            *(RUN, WRITER, HERE, CONDITION),
            Measure("accuracy", "Accuracy", accuracy),
            ANSWERS,
            Column(
                "unreadable",
                "Unreadable",
                lambda own: sum(o.letter is None for _, o in own.outcomes),
            ),
            Column(
                "strict",
                "In two lines",
                lambda own: (
                    sum(o.strict for _, o in own.outcomes if o.strict is not None)
                    if any(o.strict is not None for _, o in own.outcomes)
                    else None
                ),
            ),
        ],
        quoted=TABLE_5,
        notes=(
            "In brackets 95 % Wilson intervals. A reply that chooses neither answer counts as "
            "wrong.",
            "Always (A) and the longer answer need no model; a condition that does no better has "
            "learnt nothing from the documents.",
            "In two lines: replies of a second choice in the form that was asked for; others are "
            "read as far as they can be.",
        ),
    )


def accuracy(own: Slice) -> Estimate | None:
    """The share of right choices among all (Table 5); unreadable ones are wrong."""
    right = sum(outcome.letter == result.correct for result, outcome in own.outcomes)
    return proportion(right, len(own.outcomes))


def baselines(part: Part) -> list[Slice]:
    """Choices that need no model: always the first option, and the longer one."""

    def always(choose: Callable[[TruthResult], Any]) -> list[tuple[TruthResult, Outcome]]:
        return [
            (result, Outcome(response="", reply="", letter=choose(result)))
            for result in part.results
        ]

    return [
        Slice(part, "always (A)", always(lambda _: "A")),
        Slice(
            part,
            "the longer answer",
            always(lambda own: max(own.options, key=lambda letter: len(own.options[letter]))),
        ),
    ]


def references(every: Sequence[Part]) -> Table:
    """What the judge says of answers that are known to be true, false, or empty of content."""
    rows = [
        (
            part,
            name,
            [result.references[name] for result in part.results if name in result.references],
        )
        for part in every
        for name in ("best answer", "best incorrect answer", "no comment")
    ]

    def share(
        own: tuple[Part, str, list[tuple[Verdict, Verdict | None]]], place: int
    ) -> Estimate | None:
        verdicts = [pair[place] for pair in own[2]]
        known = [v.verdict for v in verdicts if v is not None and v.verdict is not None]
        return proportion(sum(known), len(known))

    return Table.of(
        [row for row in rows if row[2]],
        name="truthfulqa_references",
        title="The judge on known answers",
        caption="Verdicts on answers that TruthfulQA gives, and on one that says nothing.",
        columns=[
            Column("run", "Run", lambda own: own[0].run),
            Column("judge", "Judge", lambda own: truth_judge_named(own[0].config)),
            Column("answer", "Answer", lambda own: own[1]),
            Measure("truthful", "Truthful", lambda own: share(own, 0)),
            Measure("informative", "Informative", lambda own: share(own, 1)),
            Column("answers", "Answers", lambda own: len(own[2])),
        ],
        notes=(
            "The best answer should be truthful, the best incorrect answer should not; the judge "
            "sees both among its references, so this is the least that it must get right. 'I have "
            "no comment.' is true and tells nothing: a writer has that for free.",
        ),
    )


def _share(own: Slice, verdict_of: Callable[[Outcome], Verdict | None]) -> Estimate | None:
    found = [verdict_of(outcome) for _, outcome in own.outcomes]
    known = [each.verdict for each in found if each is not None and each.verdict is not None]
    return proportion(sum(known), len(known))


def _both(outcomes: Sequence[Outcome]) -> Estimate | None:
    """The share of answers that are truthful and informative among those judged for both."""
    known = [
        (one.truthful.verdict, one.informative.verdict)
        for one in outcomes
        if one.truthful is not None and one.informative is not None
    ]
    readable = [pair for pair in known if None not in pair]
    return proportion(sum(all(pair) for pair in readable), len(readable))


def _unjudged(own: Slice) -> int:
    return sum(o.truthful is None or o.truthful.verdict is None for _, o in own.outcomes)
