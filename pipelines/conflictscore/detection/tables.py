"""The tables of a Conflict Detection run: Table 2 of the paper, documents, and mistakes."""

from collections import Counter
from collections.abc import Mapping, Sequence

from pipelines.conflictscore.detection import metrics
from pipelines.conflictscore.detection.baselines import ALWAYS, CHOSEN, LEXICAL
from pipelines.conflictscore.detection.bench import HARD
from pipelines.conflictscore.detection.confidences import confidence_table
from pipelines.conflictscore.detection.decisions import (
    Decision,
    Detectors,
    Mistake,
    decided,
    detectors,
    labelled_documents,
    mistakes,
)
from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.evidence.judgement import RELATIONS, Relation
from pipelines.metrics.accuracy import accuracy
from pipelines.metrics.f1 import macro_f1
from pipelines.report.table import Column, Row, Table, shown
from pipelines.report.text import one_line

OVERALL = "overall"

_PAPER = (  # Table 2: source, precision, recall, F1, accuracy, of conflict, of no conflict
    ("ContraQA", 0.9971, 0.8208, 0.9004, 0.9035, 0.8208, 0.9973, 798),
    ("MacNoise-NQ", 0.8763, 0.9043, 0.8901, 0.8945, 0.9043, 0.8857, 199),
    ("MacNoise-TQA", 0.9655, 0.9655, 0.9655, 0.9621, 0.9655, 0.9579, 211),
    ("AmbigDocs", 0.9962, 0.8935, 0.9420, 0.9508, 0.8935, 0.9972, 651),
    ("ConflictingQA", 0.9720, 0.9775, 0.9747, 0.9585, 0.9775, 0.8734, 434),
    ("Overall", 0.9763, 0.9000, 0.9366, 0.932, 0.9000, 0.9724, 2293),
)
_CONFLICTS = (424, 94, 116, 291, 355, 1280)  # Table 1

MISTAKES = 1_000
"""Most mistakes in the table; the JSON Lines beside it have all."""

SIDE_BY_SIDE = 40
"""Most examples in the table of judges."""

_EXCERPT = 400
_CLAIM = 160


def all_tables(results: Mapping[str, Sequence[DetectionResult]], data: str) -> list[Table]:
    """Every table of a run folder.

    Args:
        results: Labeller -> its results.
        data: Name of the data.
    """
    every = detectors(results)
    wrong = mistakes(results)
    compared = judges(every)
    return [
        detection(every, data),
        *([compared] if compared.rows else []),
        documents(every),
        confusions(every),
        confidence_table(results),
        errors(wrong),
        failures(results),
    ]


def detection(every: Detectors, data: str) -> Table:
    """Table 2 of the paper for this run: a row per source and detector, the paper's rows below."""
    rows = [
        _row(source, name, own) for source in sources(every) for name, own in _of(every, source)
    ]
    quoted: list[Row] = [
        (source, "GPT-4.1", "paper, Table 2", *figures, total, conflicts, None, None, None)
        for (source, *figures, total), conflicts in zip(_PAPER, _CONFLICTS, strict=True)
    ]
    return Table(
        name="conflict_detection",
        title="Conflict Detection",
        caption=f"Conflict Detection on {data}. Conflict is the positive class.",
        columns=(
            Column("source", "Source"),
            Column("detector", "Detector"),
            Column("figures", "Figures"),
            Column("precision", "Precision", interval=True),
            Column("recall", "Recall", interval=True),
            Column("f1", "F1", interval=True),
            Column("accuracy", "Accuracy", interval=True),
            Column("accuracy_conflict", "Accuracy, conflict", interval=True),
            Column("accuracy_no_conflict", "Accuracy, no conflict", interval=True),
            Column("examples", "Examples"),
            Column("conflicts", "Conflicts"),
            Column("undetermined", "Undetermined"),
            Column("failed", "Failed"),
            Column("truncated", "Truncated texts"),
        ),
        rows=tuple(rows),
        quoted=tuple(quoted),
        notes=(
            "In brackets the 95 % interval: of F1 by bootstrap over questions (2,000 resamples, "
            "seed 0), of the others by Wilson, which takes examples as independent although the "
            "two of one question are not.",
            "Undetermined: a label could not be read, so it is not known whether there is a "
            "conflict. Such examples and failed ones are in no figure, only in these counts.",
            f"'{ALWAYS}' finds a conflict everywhere. '{LEXICAL}' takes a document that has "
            f"{100 * CHOSEN.high:.0f} % of the claim's content words for support, one that has "
            f"{100 * CHOSEN.low:.0f} % for contradiction; the two numbers were chosen on training "
            "halves.",
            f"'{OVERALL}' pools all sources, {HARD} aside: its conflicts are those of ramdocs.",
            "The rows of the paper were measured with GPT-4.1 on ConflictBench as its authors "
            "drew it. They stand here for orientation; rows of this run are no reproduction.",
            *_unequal(every),
        ),
    )


def shared(every: Detectors) -> dict[str, list[Decision]]:
    """Each labeller's decisions on the examples that all of them judged, in one order.

    Without baselines; empty where there are no two labellers, or no such examples.
    """
    labellers = {
        name: {each.example.id: each for each in own}
        for name, own in every.items()
        if name not in (ALWAYS, LEXICAL)
    }
    if len(labellers) < 2:
        return {}
    first, *others = labellers.values()
    common = [name for name in first if all(name in own for own in others)]
    return {name: [own[each] for each in common] for name, own in labellers.items() if common}


def judges(every: Detectors) -> Table:
    """What each labeller decided of the examples that all of them judged."""
    together = shared(every)
    rows: list[Row] = [
        (
            one_line(decisions[0].example.claim, _CLAIM),
            "yes" if decisions[0].example.conflict else "no",
            *(_said(each) for each in decisions),
        )
        for decisions in zip(*together.values(), strict=True)
    ]
    return Table(
        name="conflict_detection_judges",
        title="Judges side by side",
        caption="Do the documents disagree over the claim? The examples that every labeller "
        f"judged, the first {SIDE_BY_SIDE} of {len(rows):,}."
        if len(rows) > SIDE_BY_SIDE
        else "Do the documents disagree over the claim? The examples that every labeller judged.",
        columns=(
            Column("claim", "Claim"),
            Column("truth", "Documents disagree"),
            *(Column(f"by {name}", name) for name in together),
        ),
        rows=tuple(rows[:SIDE_BY_SIDE]),
        notes=(
            *(_right(name, own) for name, own in together.items()),
            "In brackets the 95 % Wilson interval, which takes examples as independent.",
        ),
    )


def right_of(own: Sequence[Decision]) -> tuple[int, int]:
    """How many decisions are right, and how many there are; undetermined ones are neither."""
    counts = metrics.outcomes(decided(own))
    return counts.tp + counts.tn, counts.tp + counts.tn + counts.fp + counts.fn


def documents(every: Detectors) -> Table:
    """Accuracy and macro-F1 of single documents' labels, where the true relations are known."""
    rows: list[Row] = []
    for source in sources(every):
        for name, own in _of(every, source):
            pairs = labelled_documents(own)
            readable = [pair for pair in pairs if pair[1] is not Relation.INVALID]
            if not pairs:
                continue
            gold, given = [pair[0] for pair in readable], [pair[1] for pair in readable]
            rows.append(
                (
                    source,
                    name,
                    accuracy(gold, given),
                    macro_f1(gold, given, RELATIONS),
                    len(pairs),
                    len(pairs) - len(readable),
                )
            )
    return Table(
        name="conflict_detection_documents",
        title="Labels of documents",
        caption="Single documents, where it is known what they say of the claim.",
        columns=(
            Column("source", "Source"),
            Column("detector", "Detector"),
            Column("accuracy", "Accuracy", interval=True),
            Column("macro_f1", "Macro-F1", interval=True),
            Column("documents", "Documents"),
            Column("invalid", "Unreadable"),
        ),
        rows=tuple(rows),
        notes=(
            "Unreadable labels are in neither figure. Documents are taken as independent; those of "
            "one question are not, so the intervals are too narrow.",
        ),
    )


def confusions(every: Detectors) -> Table:
    """What documents of each relation were taken for."""
    rows: list[Row] = []
    for source in sources(every):
        for name, own in _of(every, source):
            counts = Counter(labelled_documents(own))
            for truth in RELATIONS:
                row = [counts[truth, given] for given in Relation]
                if sum(row):
                    rows.append((source, name, truth.value, *row, sum(row)))
    return Table(
        name="conflict_detection_confusion",
        title="What documents were taken for",
        caption="A row per true relation; a column per label given.",
        columns=(
            Column("source", "Source"),
            Column("detector", "Detector"),
            Column("truth", "Truth"),
            *(Column(relation.lower(), relation.capitalize()) for relation in Relation),
            Column("documents", "Documents"),
        ),
        rows=tuple(rows),
    )


def errors(wrong: Sequence[Mistake]) -> Table:
    """Documents labelled wrongly, the most confident first (ConflictScore, Figure 3)."""
    rows: list[Row] = [
        (
            each.example,
            each.document,
            each.labeller,
            one_line(each.claim, _EXCERPT),
            one_line(each.evidence, _EXCERPT),
            each.truth.value,
            each.predicted.value,
            each.confidence,
            _probabilities(each),
            one_line(each.snippet or each.reasoning or "", _EXCERPT),
            each.outcome,
        )
        for each in wrong[:MISTAKES]
    ]
    return Table(
        name="conflict_detection_errors",
        title="Documents labelled wrongly",
        caption=f"The most confident mistakes first: {len(rows):,} of {len(wrong):,}.",
        columns=(
            Column("example", "Example"),
            Column("document", "Document"),
            Column("detector", "Detector"),
            Column("claim", "Claim"),
            Column("evidence", "Evidence"),
            Column("truth", "Ground truth"),
            Column("prediction", "Prediction"),
            Column("confidence", "Confidence"),
            Column("probabilities", "Probabilities"),
            Column("rationale", "Rationale"),
            Column("outcome", "Outcome"),
        ),
        rows=tuple(rows),
        notes=("conflict-detection-errors.jsonl has them all, with whole texts.",),
    )


def failures(results: Mapping[str, Sequence[DetectionResult]]) -> Table:
    """Examples that could not be labelled, labels that could not be read, texts that were cut."""
    rows: list[Row] = []
    for name, own in results.items():
        for result in own:
            if result.status == "failed":
                rows.append((result.id, name, "failed", one_line(result.error or "", _EXCERPT)))
            for judgement in result.judgements:
                if judgement.relation is Relation.INVALID:
                    raw = one_line(judgement.raw or "no reply was recorded", _EXCERPT)
                    rows.append(
                        (result.id, name, "unreadable label", f"{judgement.document}: {raw}")
                    )
            for cut in result.truncations:
                seen = f"{cut.text}: the first {cut.kept:,} of {cut.tokens:,} tokens were seen"
                rows.append((result.id, name, "truncation", seen))
    return Table(
        name="conflict_detection_failures",
        title="Failures and truncations",
        columns=(
            Column("example", "Example"),
            Column("detector", "Detector"),
            Column("what", "What"),
            Column("detail", "Detail"),
        ),
        rows=tuple(rows),
    )


def sources(every: Detectors) -> list[str]:
    """Sources in order of their first example; `OVERALL` last where there are several."""
    names = list(dict.fromkeys(each.example.source for own in every.values() for each in own))
    return [*names, OVERALL] if len(set(names) - {HARD}) > 1 else names


def _of(every: Detectors, source: str) -> list[tuple[str, list[Decision]]]:
    """Each detector's decisions of one source; detectors without any are left out."""
    found = []
    for name, own in every.items():
        if source == OVERALL:
            picked = [each for each in own if each.example.source != HARD]
        else:
            picked = [each for each in own if each.example.source == source]
        if picked:
            found.append((name, picked))
    return found


def _unequal(every: Detectors) -> tuple[str, ...]:
    """A note where labellers judged different examples, as after runs with different limits."""
    judged = {
        frozenset(each.example.id for each in own)
        for name, own in every.items()
        if name not in (ALWAYS, LEXICAL)
    }
    if len(judged) < 2:
        return ()
    return (
        "The labellers did not judge the same examples, so their rows do not compare: run each on "
        f"the same ones. '{ALWAYS}' and '{LEXICAL}' are on all that any of them judged.",
    )


def _row(source: str, name: str, own: Sequence[Decision]) -> Row:
    known = decided(own)
    counts = metrics.outcomes(known)
    return (
        source,
        name,
        "this run",
        metrics.precision(counts),
        metrics.recall(counts),
        metrics.f1_score(known),
        metrics.accuracy(counts),
        metrics.recall(counts),
        metrics.accuracy_without_conflict(counts),
        len(own),
        sum(each.example.conflict for each in own),
        sum(each.conflict is None and not each.failed for each in own),
        sum(each.failed for each in own),
        sum(each.truncations for each in own),
    )


def _said(decision: Decision) -> str:
    if decision.failed:
        return "failed"
    if decision.conflict is None:
        return "unreadable"
    return "yes" if decision.conflict else "no"


def _right(name: str, own: Sequence[Decision]) -> str:
    right, known = right_of(own)
    accuracy_of = shown(metrics.accuracy(metrics.outcomes(decided(own))))
    undecided = len(own) - known
    without = f" {undecided:,} unreadable or failed, in neither number." if undecided else ""
    return f"{name}: {right:,} of {known:,} right, {accuracy_of}.{without}"


def _probabilities(mistake: Mistake) -> str:
    shares = mistake.probabilities or {}
    return ", ".join(f"{relation.lower()} {share:.2f}" for relation, share in shares.items())
