"""The trust suite as an experiment: who can be forged or swayed by hostile texts, and how often."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Final, get_args

from pipelines.conflicts.judges.model import model_judge
from pipelines.conflicts.settings import ConflictsSettings
from pipelines.conflicts.writer import writer
from pipelines.conflictscore.truthfulqa.judging import truth_judge
from pipelines.evidence.judge import Judge, judge_named, model_of
from pipelines.evidence.settings import JudgeSettings
from pipelines.experiment.experiment import Experiment, Plan, RunModels, Work
from pipelines.experiment.needs import Needs, judge_needs
from pipelines.experiment.options import Overflow, RunOptions, ServerOptions, judging
from pipelines.experiment.publish import Publication, Runs
from pipelines.experiment.scores import Score, of_each
from pipelines.madam_rag.debate import panel
from pipelines.option import Option, one_of, refuse_given
from pipelines.runs.folder import named_after
from pipelines.trust.material import VARIANTS, Variant
from pipelines.trust.result import TrustResult
from pipelines.trust.subjects import (
    PartName,
    Subject,
    behaviour_subject,
    debate_subject,
    labeller_subject,
    truth_subject,
    types_subject,
    writer_subject,
)
from pipelines.trust.suite import Case, digest, suite
from pipelines.trust.trial import tried

PARTS: Final[tuple[PartName, ...]] = get_args(PartName)

HELP = """Try labellers, judges, debate and writer with hostile documents and responses.

72 cases in 12 families: planted instructions, forged replies and citations, role markers, fences,
letters that look alike, invisible signs, escapes and markup, formulas and paths, what is huge or
broken, documents that outvote, and denials. None of them changes what is true. Each is judged
clean, with a harmless text of the same length as a control, and with its hostile text.

Forged verdicts, taken from the text and not from the model's reply, should be 0. Swayed ones are a
rate, beside that of the control. By default the tagger is tried, which needs no server. Run it
again with another labeller and the same folder to have both in one table; see docs/trust.md.

Examples:
    contested run trust --out results-trust

    contested run trust --labeller llm --limit 12 --out results-trust

    contested run trust --part judges --part debate --part writers --dry-run
"""


class TrustOptions(RunOptions, ServerOptions):
    """Who is tried."""

    parts: Annotated[
        list[str] | None,
        Option(
            f"What is tried: {', '.join(PARTS[:-1])} or {PARTS[-1]}. All but labellers ask a "
            "language model. Repeatable.",
            name="--part",
            metavar="NAME",
            shown="labellers",
        ),
    ] = None
    on_overflow: Overflow = "error"
    judge: JudgeSettings = JudgeSettings(labeller="nli")


def plan(options: TrustOptions) -> Plan[Case, TrustResult]:
    """Find who is tried; each takes its cases of the suite.

    Raises:
        InputError: An option cannot be used, or has no effect.
        ServingError: There is no such profile, or no such tagger.
    """
    parts = one_of(options.parts or ("labellers",), PARTS, "--part")
    settings = judging(options.judge, options.on_overflow)
    cases = in_turn(suite())[: options.limit]
    needs = _needs(options, parts, settings)

    def work(models: RunModels) -> Sequence[Work[Case, TrustResult]]:
        return list(_works(parts, settings, models, cases))

    told = f"{len(cases):,} hostile cases, each judged in three variants, for {', '.join(parts)}"
    return Plan(cases, needs, work, told)


def in_turn(cases: Sequence[Case]) -> list[Case]:
    """The first case of each family, then the second of each: so the first few are of many."""
    seen: dict[str, int] = {}
    places = []
    for case in cases:
        seen[case.family] = seen.get(case.family, 0) + 1
        places.append(seen[case.family])
    return [case for _, case in sorted(zip(places, cases, strict=True), key=lambda each: each[0])]


def _needs(options: TrustOptions, parts: Sequence[PartName], settings: JudgeSettings) -> Needs:
    """One language model for all that ask one: the profile's judge where only judges are tried."""
    asks = set(parts) != {"labellers"}
    role: Any = "generator" if {"debate", "writers"} & set(parts) else "judge"
    if "labellers" in parts:
        return judge_needs(options, settings, role=role, asks=asks or settings.by_model)
    idle = f"--part {parts[0]}, which tries no labeller"
    refuse_given(options.judge, tuple(JudgeSettings.model_fields), idle)
    return Needs(role=role, untagged=idle)


def _works(
    parts: Sequence[PartName], settings: JudgeSettings, models: RunModels, cases: Sequence[Case]
) -> Iterator[Work[Case, TrustResult]]:
    if "labellers" in parts:
        # Judgements come from no store: what is tried is how they are read from replies.
        judge = models.judge(settings, stored=False)
        subject = labeller_subject(
            settings.kind, judge.labeller, judge.prompts, together=settings.evidence == "together"
        )
        about = {"settings": settings.judging(), **judge.about()}
        yield _work(subject, about, models, cases, judge)
    if set(parts) != {"labellers"}:
        about = {"model": model_of(models.asked)}
        for subject in _asking(models):
            if subject.part in parts:
                yield _work(subject, about, models, cases)


def _asking(models: RunModels) -> list[Subject]:
    """Everybody who asks a language model and is no labeller."""
    author = writer(models.asked, ConflictsSettings(), models.prompts)
    return [
        truth_subject(truth_judge(models.asked, None, models.prompts)),
        behaviour_subject(model_judge(models.asked, overrides=models.prompts)),
        types_subject(author),
        debate_subject(panel(models.asked, models.prompts)),
        writer_subject(author),
    ]


def _work(
    subject: Subject,
    about: dict[str, Any],
    models: RunModels,
    cases: Sequence[Case],
    judge: Judge | None = None,
) -> Work[Case, TrustResult]:
    config = {
        "data": {"name": "the trust suite", "sha256": digest()},
        "subject": subject.name,
        "prompts": {prompt.name: prompt.digest for prompt in subject.prompts},
        "sampling": {"temperature": 0.0, "seed": 0},
        **about,
    }
    asks = judge is None or judge.llm is not None
    name = f"{subject.name}-{named_after(models.asked.model.name)}" if asks else subject.name
    client = models.client if asks else None
    return Work(
        f"{EXPERIMENT.name}.{name}",
        config,
        partial(tried, subject=subject, client=client),
        judge=judge,
        items=subject.cases(cases),
    )


def _right(variant: Variant) -> Callable[[TrustResult], bool | None]:
    return lambda result: result.right(variant)


def _publication(runs: Runs[TrustResult]) -> Publication:
    from pipelines.report.explorer import Part
    from pipelines.trust.surfaces import surface_table
    from pipelines.trust.tables import case_table, failure_table, family_table, judge_table
    from pipelines.trust.view import view

    results = {
        f"{config['subject']}: {judge_named(config)}": runs.results[run]
        for run, config in runs.configs.items()
    }
    made = [make(results) for make in (judge_table, family_table, case_table, failure_table)]
    shown = view(runs, results, made)
    surfaces = surface_table(shown, made)
    parts = (*shown.parts, Part("Surfaces", (surfaces,)))
    return Publication(replace(shown, parts=parts), [*made, surfaces])


def _failed(case: Case, reason: str) -> TrustResult:
    none = dict.fromkeys(("judge", "gold", "goal", "text", "hostile"), "")
    return TrustResult(id=case.id, case=case, status="failed", error=reason, **none)


EXPERIMENT = Experiment(
    name="trust",
    title="Trust",
    help=HELP,
    counted="cases",
    options=TrustOptions,
    result=TrustResult,
    plan=plan,
    failed=_failed,
    publish=_publication,
    common=("data",),
    scores={
        variant: Score(f"Right, {variant}", of_each(_right(variant)), test="McNemar")
        for variant in VARIANTS
    },
    verdict=lambda result: result.verdict("hostile") or "none",
)
"""The declaration."""
