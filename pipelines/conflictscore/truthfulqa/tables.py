"""Tables of TruthfulQA: answers and choices (Tables 4, 5), and the effect of rewriting."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

from pipelines.conflictscore.truthfulqa.pipeline import RIGHT
from pipelines.conflictscore.truthfulqa.result import (
    CONDITIONS,
    Condition,
    Outcome,
    Setting,
    TruthResult,
    Verdict,
)
from pipelines.metrics.calibration import low_label_mass
from pipelines.metrics.estimate import Estimate, proportion, share
from pipelines.report.compare import Pair, columns, correction
from pipelines.report.table import HERE, Column, Measure, Table, quote


class Part(NamedTuple):
    """The questions of a run in a setting.

    Attributes:
        run: Its name.
        config: Everything that decided the results, from `run.json`.
        setting: Free-form, or binary choice.
        results: One per question that was answered.
    """

    run: str
    config: Mapping[str, Any]
    setting: Setting
    results: Sequence[TruthResult]


@dataclass(frozen=True)
class Slice:
    """A part under a condition (`method`)."""

    part: Part
    method: Condition

    @property
    def condition(self) -> str:
        """The condition's title in tables."""
        return CONDITIONS[self.method]

    @property
    def results(self) -> Sequence[TruthResult]:
        """The part's results."""
        return self.part.results

    @property
    def outcomes(self) -> list[Outcome]:
        """The answers."""
        return [result.outcomes[self.method] for result in self.results]

    def count(self, holds: Callable[[Outcome], bool | None]) -> int:
        """Number of answers for which `holds` is true."""
        return sum(map(bool, map(holds, self.outcomes)))

    @cached_property
    def became(self) -> Counter[str]:
        """One of `BECAME` -> number of RAG's answers with this outcome."""
        return Counter(flip(result, self.method) for result in self.results)

    @property
    def asked(self) -> int:
        """Number of answers to rewrite."""
        return self.became.total() - self.became[UNTOUCHED]

    def of_revised(self, name: str) -> Estimate | None:
        """The share of revised answers with an outcome."""
        return proportion(self.became[name], sum(self.became[change] for change in FLIPS.values()))


class Choices(NamedTuple):
    """Choices in a part under a condition, or by a rule; None if unreadable."""

    part: Part
    condition: str
    letters: Sequence[str | None]


RUN: Final = Column[Any]("run", "Run", lambda row: row.part.run)
WRITER: Final = Column[Any]("writer", "Writer", lambda row: row.part.config["writer"]["name"])
CONDITION: Final = Column[Any]("condition", "Condition")
ANSWERS: Final = Column[Any]("answers", "Answers", lambda row: len(row.part.results))


def parts(
    results: Mapping[str, Sequence[TruthResult]], configs: Mapping[str, Mapping[str, Any]]
) -> list[Part]:
    """The answered questions of each run and setting."""
    settings: tuple[Setting, ...] = ("free-form", "binary")
    return [
        Part(run, configs[run], setting, answered)
        for run, questions in results.items()
        for setting in settings
        if (answered := [r for r in questions if r.setting == setting and r.status == "answered"])
    ]


def truth_judge_named(config: Mapping[str, Any]) -> str:
    """The judge of free-form answers, from a run's configuration."""
    name: str = config["tagger" if config["asked"]["truth"] == "tagger" else "judge"]["name"]
    return name


def all_tables(
    results: Mapping[str, Sequence[TruthResult]], configs: Mapping[str, Mapping[str, Any]]
) -> tuple[Table, ...]:
    """All tables of a folder's runs, in reading order."""
    of_runs = parts(results, configs)
    return (
        free_form(of_runs),
        binary(of_runs),
        flips(of_runs),
        differences(of_runs),
    )


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
    """Table 4: truthful and informative answers by condition."""
    return Table.of(
        [Slice(part, name) for part in every if part.setting == "free-form" for name in CONDITIONS],
        name="truthfulqa_free_form",
        title="Free-form answers",
        caption="Answers judged truthful, and informative, by condition.",
        columns=[
            *(RUN, WRITER),
            Column("judge", "Judge", lambda row: truth_judge_named(row.part.config)),
            *(HERE, CONDITION),
            Measure("truthful", "Truthful", lambda row: _holds(row, "truthful")),
            Measure("informative", "Informative", lambda row: _holds(row, "informative")),
            Measure("both", "Both", lambda row: _holds(row, "truthful", "informative")),
            ANSWERS,
            Column("unjudged", "Not judged", lambda row: row.count(_unjudged)),
            Column("unfinished", "Cut for length", lambda row: row.count(lambda o: not o.finished)),
        ],
        quoted=TABLE_4,
        notes=(
            "Shares of judged answers; in brackets: 95 % Wilson intervals. Answers without a "
            "readable verdict are left out. Both: truthful and informative.",
            "'I have no comment.' always counts as truthful.",
            "If the documents agree about RAG's answer, the last two conditions keep it.",
            "The paper's rows show another writer on other documents, judged by the same model "
            "that wrote the answers; they are only for orientation.",
        ),
    )


def _holds(row: Slice, *verdicts: str) -> Estimate | None:
    """The share of answers with all of these verdicts among those judged for all of them."""
    judged = []
    for outcome in row.outcomes:
        given: list[Verdict | None] = [getattr(outcome, name) for name in verdicts]
        known = [
            answer.verdict for answer in given if answer is not None and answer.verdict is not None
        ]
        if len(known) == len(verdicts):
            judged.append(all(known))
    return share(judged)


def _unjudged(outcome: Outcome) -> bool:
    return outcome.truthful is None or outcome.truthful.verdict is None


def binary(every: Sequence[Part]) -> Table:
    """Table 5: accuracy of choices by condition, and baselines without a model."""
    return Table.of(
        [row for part in every if part.setting == "binary" for row in choices(part)],
        name="truthfulqa_binary",
        title="Choices between two answers",
        caption="Share of choices that are right, by condition.",
        columns=[
            *(RUN, WRITER, HERE, CONDITION),
            Measure("accuracy", "Accuracy", accuracy),
            ANSWERS,
            Column("unreadable", "Unreadable", lambda row: row.letters.count(None)),
        ],
        quoted=TABLE_5,
        notes=(
            "In brackets: 95 % Wilson intervals. A reply that chooses neither answer counts as "
            "wrong.",
            "Always (A) and the longer answer need no model; a condition that does no better gains "
            "nothing from the documents.",
        ),
    )


BASELINES: Final = ("always (A)", "the longer answer")
"""Choices that need no model."""


def choices(part: Part) -> list[Choices]:
    """Choices under every condition, and those of the baselines: the first option, the longer."""
    given = [result.options for result in part.results]
    rows = [
        Choices(part, title, [result.outcomes[name].letter for result in part.results])
        for name, title in CONDITIONS.items()
    ]
    longer = [max(options, key=lambda letter: len(options[letter])) for options in given]
    always, longest = BASELINES
    return [*rows, Choices(part, always, ["A"] * len(given)), Choices(part, longest, longer)]


def accuracy(row: Choices) -> Estimate | None:
    """The share of right choices among all (Table 5); unreadable ones are wrong."""
    pairs = zip(row.letters, row.part.results, strict=True)
    return share([letter == result.correct for letter, result in pairs])


FLIPS: Final[Mapping[tuple[bool, bool], str]] = {
    (False, True): "corrected",
    (True, False): "broken",
    (True, True): "still right",
    (False, False): "still wrong",
}
"""(right before, right after) -> outcome of a changed answer (section 6.4)."""

UNKNOWN: Final = "unknown"
UNTOUCHED: Final = "not asked again"
AGAIN: Final[tuple[Condition, ...]] = ("rewritten", "regenerated")
"""Conditions under which RAG's answer is rewritten."""
BECAME: Final = ("retained", *FLIPS.values(), UNKNOWN, UNTOUCHED)
"""Outcomes of RAG's answers; "retained" means in conflict, but not changed."""

SECTION_6_4: Final = quote(
    "retained corrected broken",
    (224, 16, 8),
    condition="Regenerated-RAG",
    figures="paper, section 6.4",
    asked=248,
    retained_share=224 / 248,
    corrected_share=16 / 24,
    broken_share=8 / 24,
)


def flips(every: Sequence[Part]) -> Table:
    """Outcomes of RAG's answers when they were rewritten (section 6.4)."""

    def count(key: str, name: str) -> Column[Slice]:
        return Column(key, name.capitalize(), lambda row: row.became[name])

    return Table.of(
        [Slice(part, name) for part in every for name in AGAIN],
        name="truthfulqa_flips",
        quoted=SECTION_6_4,
        title="What became of answers in conflict",
        caption="RAG's answers that the documents disagree about, before and after.",
        columns=[
            RUN,
            Column("setting", "Setting", lambda row: row.part.setting),
            *(CONDITION, HERE),
            Column("asked", "Asked again"),
            *(count(name.replace(" ", "_"), name) for name in ("retained", *FLIPS.values())),
            count("unknown", UNKNOWN),
            Measure(
                "retained_share",
                "Retained of asked",
                lambda row: proportion(row.became["retained"], row.asked),
            ),
            Measure("corrected_share", "Corrected of revised", lambda r: r.of_revised("corrected")),
            Measure("broken_share", "Broken of revised", lambda row: row.of_revised("broken")),
            count("untouched", UNTOUCHED),
        ],
        notes=(
            "Retained: the disputed claim is still in the answer, or the same option was chosen; "
            "the others were revised. In brackets: 95 % Wilson intervals.",
            "Right: judged truthful, or the true option. Unknown: no readable verdict or choice "
            "before or after. Not asked again: the documents agree about RAG's answer.",
            *low_label_mass(
                judgement.label_mass
                for part in every
                for result in part.results
                for judgement in result.judgements
            ),
        ),
    )


def flip(result: TruthResult, condition: Condition) -> str:
    """The outcome of RAG's answer under a condition: one of `BECAME`."""
    outcome = result.outcomes[condition]
    if not outcome.asked:
        return UNTOUCHED
    if outcome.ignored:
        return "retained"
    before, after = result.right("rag"), result.right(condition)
    return UNKNOWN if before is None or after is None else FLIPS[before, after]


def differences(every: Sequence[Part]) -> Table:
    """Every condition minus RAG, and Regenerated-RAG minus its controls, question by question."""
    compared: tuple[tuple[Condition, Condition], ...] = (
        ("control", "rag"),
        ("rewritten", "rag"),
        ("regenerated", "rag"),
        ("regenerated", "control"),
        ("regenerated", "rewritten"),
    )
    pairs = [
        Pair(
            part,
            CONDITIONS[first],
            CONDITIONS[second],
            {"right": RIGHT[part.setting].less(Slice(part, first), Slice(part, second))},
        )
        for part in every
        for first, second in compared
    ]
    return Table.of(
        pairs,
        name="truthfulqa_differences",
        title="Differences between conditions",
        caption="Difference in the share of right answers, by question.",
        columns=[
            Column("run", "Run", lambda pair: pair.at.run),
            Column("setting", "Setting", lambda pair: pair.at.setting),
            Column("first", "Condition"),
            Column("second", "minus"),
            *columns("right", "Right answers", "McNemar", n="right_questions"),
        ],
        notes=(
            *correction(pairs),
            "In brackets: the paired 95 % t interval; McNemar's test is exact. Regenerated-RAG "
            "minus the answers rewritten without feedback is the effect of the feedback alone.",
        ),
    )
