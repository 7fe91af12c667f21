"""What writing again changed: right answers, and conflict in them (section 6.4)."""

from collections.abc import Mapping, Sequence
from typing import Final

from pipelines.conflictscore.tables import ABOUT_SCORES, score_columns
from pipelines.conflictscore.truthfulqa.result import CONDITIONS, Condition, TruthResult
from pipelines.conflictscore.truthfulqa.tables.answers import (
    ANSWERS,
    CONDITION,
    RUN,
    WRITER,
    Part,
    Slice,
    counted,
    slices,
)
from pipelines.judge.run_judge import judge_named
from pipelines.metrics.estimate import Estimate, mean, paired_difference, proportion
from pipelines.report.compare import Pair, columns, compare, correction
from pipelines.report.table import HERE, Column, Measure, Table, quote

FLIPS: Final[Mapping[tuple[bool, bool], str]] = {
    (False, True): "corrected",
    (True, False): "broken",
    (True, True): "still right",
    (False, False): "still wrong",
}
"""What became of a changed answer (section 6.4): right before, right after -> its name."""

BECAME: Final = ("retained", *FLIPS.values())
"""What may become of an answer in conflict; retained is one that was not changed."""

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
    """What became of RAG's answers when they were written again (section 6.4)."""

    def count(name: str) -> Column[tuple[Part, Condition]]:
        return Column(name.replace(" ", "_"), name.capitalize(), lambda own: became(own, name))

    def of_revised(name: str) -> Measure[tuple[Part, Condition]]:
        return Measure(
            f"{name}_share",
            f"{name.capitalize()} of revised",
            lambda own: proportion(became(own, name), became(own, *FLIPS.values())),
        )

    again: tuple[Condition, ...] = ("rewritten", "regenerated")
    return Table.of(
        [(part, condition) for part in every for condition in again],
        name="truthfulqa_flips",
        quoted=SECTION_6_4,
        title="What became of answers in conflict",
        caption="RAG's answers that the documents disagree about, before and after.",
        columns=[
            Column("run", "Run", lambda own: own[0].run),
            Column("setting", "Setting", lambda own: own[0].setting),
            Column("condition", "Condition", lambda own: CONDITIONS[own[1]]),
            HERE,
            Column("asked", "Asked again", asked_again),
            *map(count, BECAME),
            Column("unknown", "Unknown", lambda own: asked_again(own) - became(own, *BECAME)),
            Measure(
                "retained_share",
                "Retained of asked",
                lambda own: proportion(became(own, "retained"), asked_again(own)),
            ),
            of_revised("corrected"),
            of_revised("broken"),
            Column(
                "untouched",
                "Not asked again",
                lambda own: sum(not r.outcomes[own[1]].asked for r in own[0].results),
            ),
        ],
        notes=(
            "Retained: the disputed claim still stands in the answer, or the same option was "
            "chosen; the others were revised. In brackets 95 % Wilson intervals.",
            "Right: judged truthful, or the true option. Unknown: without a readable verdict or "
            "choice before or after. Not asked again: the documents agree about RAG's answer.",
        ),
    )


def asked_again(own: tuple[Part, Condition]) -> int:
    """Answers that were to be written again under a condition."""
    part, condition = own
    return sum(result.outcomes[condition].asked for result in part.results)


def became(own: tuple[Part, Condition], *names: str) -> int:
    """How many answers of a part became one of these."""
    part, condition = own
    return sum(flip(result, condition) in names for result in part.results)


def flip(result: TruthResult, condition: Condition) -> str | None:
    """One of `BECAME`; None where RAG's answer was not asked for again, or is not known."""
    outcome = result.outcomes[condition]
    if not outcome.asked:
        return None
    if outcome.ignored:
        return "retained"
    before, after = result.right("rag"), result.right(condition)
    return None if before is None or after is None else FLIPS[before, after]


def differences(every: Sequence[Part]) -> Table:
    """Each condition less RAG, and Regenerated-RAG less its controls, question by question."""
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
            {"right": compare(_right(part, first), _right(part, second), "McNemar")},
        )
        for part in every
        for first, second in compared
    ]
    return Table.of(
        pairs,
        name="truthfulqa_differences",
        title="Differences between conditions",
        caption="Difference of the share of right answers, question by question.",
        columns=[
            Column("run", "Run", lambda pair: pair.at.run),
            Column("setting", "Setting", lambda pair: pair.at.setting),
            Column("first", "Condition"),
            Column("second", "less"),
            *columns("right", "Right answers", "McNemar", n="right_questions"),
        ],
        notes=(
            *correction(pairs),
            "In brackets the paired 95 % t interval; McNemar's test is exact. Regenerated-RAG less "
            "the answers written again untold is what the feedback alone is worth.",
        ),
    )


def conflicts(every: Sequence[Part]) -> Table:
    """ConflictScore of answers by condition: what feedback does to the score itself."""

    def scores(own: Slice, measure: str) -> Estimate | None:
        values = [
            value
            for _, outcome in own.outcomes
            if outcome.score is not None and (value := getattr(outcome.score, measure)) is not None
        ]
        return mean(values, bounds=(0, 1))

    return Table.of(
        [own for part in every for own in slices(part)],
        name="truthfulqa_conflict",
        title="Conflict in answers",
        caption="ConflictScore of answers by condition.",
        columns=[
            *(RUN, WRITER),
            Column("scorer", "Scored by", lambda own: judge_named(own.part.config)),
            Column("setting", "Setting", lambda own: own.part.setting),
            CONDITION,
            *score_columns(scores),
            Measure("less_rag", "CS-C less RAG's", less_rag),
            ANSWERS,
            counted(
                "unevidenced",
                "Without evidence",
                lambda one: one.score is not None and one.score.evidence == 0,
            ),
            counted("asked", "Asked again", lambda one: one.asked),
        ],
        notes=(
            "Means over answers with a score; in brackets 95 % t intervals. Less RAG's: the paired "
            "difference over the questions of which both have a score.",
            *ABOUT_SCORES,
        ),
    )


def _right(part: Part, condition: Condition) -> dict[str, float]:
    """Question -> whether the answer is right; choices that cannot be read are wrong."""
    right = ((result.group, result.right_or_unread(condition)) for result in part.results)
    return {name: float(found) for name, found in right if found is not None}


def less_rag(own: Slice) -> Estimate | None:
    """The paired difference of CS-C from RAG's."""
    if own.condition == CONDITIONS["rag"]:
        return None
    first: dict[str, float] = {}
    second: dict[str, float] = {}
    for result, outcome in own.outcomes:
        before, after = result.outcomes["rag"].score, outcome.score
        if before and after and before.cs_c is not None and after.cs_c is not None:
            first[result.group], second[result.group] = after.cs_c, before.cs_c
    return paired_difference(first, second, bounds=(-1, 1))
