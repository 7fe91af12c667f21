"""What ConRAG puts on the page: the paper's tables and figures for this run, and every claim."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import Any

from markupsafe import Markup

from pipelines.conrag import paper
from pipelines.conrag.answer import Answer
from pipelines.conrag.blocks import STANCES, VERDICTS, answer_blocks, claim_blocks, verdict
from pipelines.conrag.citations import judge_told
from pipelines.conrag.hallucination import passage_auc, token_f1
from pipelines.conrag.methods import METHODS
from pipelines.conrag.result import ClaimResult
from pipelines.conrag.tables import figures
from pipelines.conrag.tables.errors import CATEGORIES, category
from pipelines.judge.judgement import Relation
from pipelines.metrics.estimate import Estimate
from pipelines.report import explorer, glance
from pipelines.report.explorer import Example, ExperimentView, Facet, single
from pipelines.report.plots import Place, curve, dots, plane, shares
from pipelines.report.table import MISSING, Quoted, Table, estimate_of, with_names_joined
from pipelines.report.views import FAILED, failures_part, links, listed, values, words

NAME = "conrag"
TITLE = "ConRAG"

FIFTHS = ((0.0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.0))
"""Bins of the conflict score in the figures."""

SMALLEST_BIN = 5
"""Claims that a point of a figure must have behind it."""

_DATA_COMPARED = 4
"""Most sentences of comparison on the first screen."""

Measure = Callable[[Sequence[ClaimResult], str], Estimate | None]
"""Results and a method -> how well it does."""


def view(
    results: figures.Results, made: Sequence[Table], configs: Mapping[str, Mapping[str, Any]]
) -> ExperimentView:
    """Tables I and IV to IX of this run, Figures 2 to 6, and every claim.

    Results and configurations of `run.json` are by data set; `made` is of `tables.all_tables`.
    """
    kinds = {_kind(own) for own in results.values() if own}
    noun = kinds.pop() if len(kinds) == 1 else "claim"
    return ExperimentView(
        name=NAME,
        title=TITLE,
        finding=finding(results, configs),
        parts=_parts(results, made),
        facets=(
            Facet("Stance", words(VERDICTS), tuple(METHODS)),
            Facet("Gold stance", (*(each.text for each in STANCES.values()), "not known")),
            Facet("Evidence", ("disputed", "not disputed")),
            Facet("Error of ConRAG", CATEGORIES),
        ),
        runs={name: name for name in results},
        noun=(noun, f"{noun}s"),
        models=(*glance.judge_models(*configs.values()), *_citation_judges(configs)),
        facts=tuple((name, _how(config, results[name])) for name, config in configs.items()),
        **listed(results, _example),
    )


def answer_view(answer: Answer, models: Sequence[glance.ModelUsed] = ()) -> ExperimentView:
    """The page of one answer."""
    return single(NAME, answer.query, answer_blocks(answer), models)


def finding(results: figures.Results, configs: Mapping[str, Mapping[str, Any]]) -> glance.Finding:
    """What the page's first screen says: right stances of ConRAG, the simpler methods and Oracle.

    Of data sets with questions, which have no stances, what answers say of what is to be said.
    """
    every = [each for own in results.values() for each in own]
    done = figures.answered(results)
    ours: dict[str, Estimate | None] = {}
    simpler: list[tuple[str, Estimate | None]] = []
    found: dict[str, list[tuple[str, Estimate | None]]] = {}
    beside: list[str] = []
    for name, own in done.items():
        where = f" ({name})" if len(done) > 1 else ""
        what, measure = _measure(own)
        ours[f"{figures.OURS}{where}"] = value = measure(own, figures.OURS)
        found.setdefault(what, []).append((where.strip(), value))
        if best := _best_simpler(own, measure):
            simpler.append((f"{best[0]}{where}", best[1]))
            beside.append(f"Best simpler method{where}: {glance.with_figures([best])}.")
        # Of questions there is no telling what every passage really says.
        if figures.ORACLE in figures.shown_methods(own) and not figures.of_questions(own):
            oracle = measure(own, figures.ORACLE)
            if oracle is not None:
                beside.append(f"Knowing what every passage says{where}: {glance.percent(oracle)}.")
    unread = sum(Relation.INVALID in each.tags.values() for each in every)
    return glance.Finding(
        question="Where passages disagree, is a claim rightly taken for supported or refuted?",
        data="; ".join(
            f"{glance.count(len(own), _kind(own))}, {configs[name]['data']['name']}"
            for name, own in results.items()
        ),
        models="; ".join(dict.fromkeys(map(_made_by, configs.values()))),
        found=" ".join(f"{what}: {glance.with_figures(own)}." for what, own in found.items())
        or MISSING,
        beside=" ".join(beside[:_DATA_COMPARED]),
        failed=glance.failed(
            (sum(each.status == "failed" for each in every), "claims that failed: {}"),
            (unread, "claims with a passage label that could not be read: {}"),
            (
                sum(figures.unreadable(own, figures.OURS) for own in done.values()),
                "answers that could not be read: {}",
            ),
            (sum(len(each.truncations) for each in every), "passages read only in part: {}"),
        ),
        examples=glance.fewest(ours.values()),
        figures=tuple(ours.items()),
        baselines=tuple(simpler),
    )


def _measure(own: Sequence[ClaimResult]) -> tuple[str, Measure]:
    """What a data set is measured by, in words and as a function."""
    if figures.of_questions(own):
        return "Share of what is to be said that ConRAG's answers say", figures.answer_recall
    return (
        "Right verdicts of ConRAG (supported, refuted or not enough information)",
        figures.stance_accuracy,
    )


def _best_simpler(own: Sequence[ClaimResult], measure: Measure) -> tuple[str, Estimate] | None:
    known = [
        (name, found)
        for name in figures.shown_methods(own)
        if name not in (figures.OURS, figures.ORACLE) and (found := measure(own, name)) is not None
    ]
    return max(known, key=lambda each: each[1].value, default=None)


def _made_by(config: Mapping[str, Any]) -> str:
    written = f"; answers written by {config['writer']['name']}" if "writer" in config else ""
    told = judge_told(config)
    judged = f"; {told}" if told else ""
    return f"passages labelled by {glance.judges(config)}{written}{judged}"


def _citation_judges(configs: Mapping[str, Mapping[str, Any]]) -> tuple[glance.ModelUsed, ...]:
    judges = (each["citations"]["model"] for each in configs.values() if "citations" in each)
    models = (glance.ModelUsed("judges citations", each["name"], each["digest"]) for each in judges)
    return tuple(dict.fromkeys(models))


def _kind(own: Sequence[ClaimResult]) -> str:
    return "question" if figures.of_questions(own) else "claim"


def _how(config: Mapping[str, Any], own: Sequence[ClaimResult]) -> str:
    """Data and retrieval of an evaluation."""
    half = "" if config["half"] == "all" else f", {config['half']} half"
    searched = config["retrieval"]
    where = {"own": "its own passages", "all": "all passages", "wiki": "all of Wikipedia"}
    data = f"{config['data']['name']} ({glance.count(len(own), _kind(own))}{half})"
    return f"{data}, {searched['method']} in {where[searched['among']]}"


def _example(run: str, result: ClaimResult) -> Example:
    answered = result.status == "answered"
    judged = {
        name: worth for name in figures.shown_methods([result]) if (worth := verdict(result, name))
    }
    wrong = category(result, figures.OURS) if answered else None
    gold = STANCES[result.stance].text if result.stance else "not known"
    disputed = {True: ["disputed"], False: ["not disputed"], None: []}[result.disputed]
    recalls = result.question.worth if result.question else {}
    said = {"said": recalls[figures.OURS].recall} if figures.OURS in recalls else {}
    return Example(
        id=result.id,
        run=run,
        title=result.claim,
        status=result.status,
        blocks=partial(claim_blocks, result),
        about=(glance.count(len(result.passages), "passage"),),
        chips=tuple(mark.on(name) for name, mark in judged.items()) if answered else (FAILED,),
        facets={
            "Stance": values(judged),
            "Gold stance": [gold],
            "Evidence": disputed,
            "Error of ConRAG": [wrong] if wrong else [],
        },
        figures={"κ": result.kappa, **said} if answered else {},
        words="\n".join((*(each.title or "" for each in result.passages), result.error or "")),
    )


def _parts(results: figures.Results, made: Sequence[Table]) -> tuple[explorer.Part, ...]:
    done = figures.answered(results)
    named = {table.name.removeprefix("conrag_"): table for table in made}
    leading = links(NAME, results)
    errors = _brief(with_names_joined(named["errors_to_sort"], "dataset", "id"))
    shown = (
        explorer.Part(
            "Stance and evidence",
            (named["stance"], named["paired"]),
            tuple(accuracy_plots(done)),
            "Is a claim supported or refuted by what was retrieved for it? ConRAG tags every "
            "passage, shows both sides where they are balanced, and cites what it says; the "
            "others do with less. Oracle knows what every passage says.",
        ),
        explorer.Part(
            "Conflict score",
            (named["conflict_bins"],),
            tuple(conflict_plots(done)),
            "κ is 0 where one side is absent and 1 where both are balanced. Does a method "
            "contradict its evidence more often where the evidence disagrees?",
        ),
        explorer.Part(
            "Citations",
            (named["citations"],),
            tuple(citation_plots(done)),
            "Do citations bear out what is said (precision), and is what is said borne out "
            "(recall)? Hollow points are the paper's, of ALCE.",
        ),
        explorer.Part(
            "Hallucinations",
            (named["hallucination"],),
            tuple(hallucination_plots(done)),
            "Which sentences of a response does its source not bear out? Each is checked as a "
            "claim, and flagged where it is not found to be supported. Oracle flags what people "
            "marked.",
        ),
        explorer.Part("Ablations", (named["ablations"],), intro="ConRAG with one part removed."),
        explorer.Part(
            "Data",
            (named["data"],),
            intro="What was run, beside the data sets of the paper.",
        ),
    )
    every = "every claim was judged, every label could be read, and every text was seen whole"
    return (
        *(part for part in shown if any(table.rows for table in part.tables)),
        explorer.Part(
            "Errors",
            (named["errors"], errors) if errors.rows else (),
            intro=""
            if errors.rows
            else "None: every stance that is known was found, and no answer has a fault.",
            links=leading,
        ),
        failures_part(named["failures"], every, leading, ("dataset", "claim")),
    )


def _brief(errors: Table) -> Table:
    """The table without what stands on the page of each claim, and without the column to fill."""
    kept = [column.key not in ("answer", "passages", "category") for column in errors.columns]
    return replace(
        errors,
        columns=tuple(compress(errors.columns, kept)),
        rows=tuple(tuple(compress(row, kept)) for row in errors.rows),
    )


def accuracy_plots(done: figures.Results) -> Iterator[Markup]:
    """Stance accuracy of every method, one plot per data set with stances (Figure 3)."""
    for name, own in done.items():
        if any(each.stance for each in own):
            methods = figures.shown_methods(own)
            rows = [(method, figures.stance_accuracy(own, method)) for method in methods]
            yield dots(rows, f"Stance accuracy, {name}")


def conflict_plots(done: figures.Results) -> Iterator[Markup]:
    """Conflict scores (Figure 2), and contradiction rates by them (Figure 6)."""
    yield shares(
        [(name, score_counts(own)) for name, own in done.items()],
        {f"score-{n}": f"{low:g} to {high:g}" for n, (low, high) in enumerate(FIFTHS)},
        "Claims by conflict score",
    )
    for name, own in done.items():
        if figures.labelled(own):
            methods = ("RelRAG", "NLI-RAG", figures.OURS)
            rates = [(method, rate_by_score(own, method)) for method in methods]
            title = f"Contradiction rate by conflict score, {name}"
            yield curve(rates, title, "conflict score", "contradiction rate")


IN_ORDER = ("RelRAG", "NLI-RAG", figures.OURS, "CiteRAG", figures.ORACLE)
"""Of the points, so that a method has the colour that it has in Figure 6."""


def citation_plots(done: figures.Results) -> Iterator[Markup]:
    """Citation precision against recall, a drawing per data set (Figure 4)."""
    for name, own in done.items():
        found = {method: figures.citations(own, method) for method in IN_ORDER}
        shown = figures.shown_methods(own)
        points = {
            method: [place]
            for method, worth in found.items()
            if method in shown and (place := point(method, worth.precision, worth.recall))
        }
        beside = {
            method: place
            for row in paper.TABLE_V
            if str(row["dataset"]).lower() == name and (method := str(row["method"])) in points
            if (place := _quoted(row))
        }
        if points:
            axes = ("citation recall", "citation precision")
            yield plane(points, f"Citations, {name}", axes, beside)


def point(told: str, precision: Estimate | None, recall: Estimate | None) -> Place | None:
    """A point of Figure 4."""
    if precision is None or recall is None:
        return None
    return Place(recall.value, precision.value, told)


def _quoted(row: Quoted) -> Place | None:
    told = f"{row['method']}, paper"
    return point(told, estimate_of(row["precision"]), estimate_of(row["recall"]))


def hallucination_plots(done: figures.Results) -> Iterator[Markup]:
    """Token F1 and passage AUC of every method, for data sets of responses (Figure 5)."""
    for name, own in done.items():
        if figures.of_responses(own):
            for title, figure in (("Token F1", token_f1), ("Passage AUC", passage_auc)):
                rows = [(method, figure(figures.checked(own, method))) for method in METHODS]
                yield dots(rows, f"{title}, {name}")


def score_counts(own: Sequence[ClaimResult]) -> dict[str, int]:
    """Claims in each fifth of the conflict score (Figure 2)."""
    return {
        f"score-{n}": len(figures.in_bin(own, low, high)) for n, (low, high) in enumerate(FIFTHS)
    }


def rate_by_score(own: Sequence[ClaimResult], method: str) -> list[tuple[float, float]]:
    """(middle of a fifth, contradiction rate in it) where enough claims are (Figure 6)."""
    points = []
    for low, high in FIFTHS:
        inside = figures.in_bin(own, low, high)
        rate = figures.contradiction_rate(inside, method)
        if rate is not None and len(inside) >= SMALLEST_BIN:
            points.append(((low + high) / 2, rate.value))
    return points
