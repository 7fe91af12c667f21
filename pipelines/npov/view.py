"""What detectors of errors, and a checked response, put on the page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from markupsafe import Markup

from pipelines.metrics.estimate import Estimate
from pipelines.npov.areas import SALIENCE, Results
from pipelines.npov.check import ResponseErrors, TextErrors, sentence_spans
from pipelines.npov.example import NpovExample
from pipelines.npov.prompt import argument_spans, npov_prompt
from pipelines.npov.result import (
    CLASSIFIER,
    KINDS,
    ROUGE,
    ErrorKind,
    NpovResult,
    WordScore,
)
from pipelines.npov.settings import SalienceSettings
from pipelines.report import explorer
from pipelines.report.blocks import Block, Fact, Facts, Grid
from pipelines.report.explorer import Example, ExperimentView, Facet, address, in_turn
from pipelines.report.glance import (
    Finding,
    ModelUsed,
    count,
    failed,
    fewest,
    figure,
    joined,
    with_figures,
)
from pipelines.report.heatmap import heatmap, picture, sides
from pipelines.report.plots import dots
from pipelines.report.table import (
    MISSING,
    Cell,
    Table,
    called,
    estimate_of,
    grouped,
    own_rows,
    with_names_joined,
)
from pipelines.report.texts import Chip, Heading, Inline, Trouble, Words
from salience.maps import WordMap, tokens_of, word_map

NAME = "npov"
TITLE = "Faithfulness of neutral responses"
CHECKED = "Is the response faithful?"
"""Title of the page of one response."""

THRESHOLD = 0.99
"""Error from which arguments and sentences are marked: in the geometric mean their words have less
than a hundredth of a response word's salience."""

_PARTS = (
    ("npov_detection", "By detector"),
    ("npov_comparisons", "Differences"),
    ("npov_pairs", "Pairs"),
    ("npov_words", "Words"),
    ("npov_aggregations", "Aggregations"),
    ("npov_classifiers", "Classifiers"),
    ("npov_overlap", "Shared words"),
    ("npov_failures", "Not scored"),
)
"""Tables, and what they are called in the contents; those without rows are left out."""

_INTRO = (
    "Does a response add arguments that were not given (hallucination), or leave out some that "
    "were (coverage)? A detector gives each response two scores; the area under its ROC curve is "
    "the probability that a response with the error scores higher than one without. 0.5 is chance."
)
_SHOWN_FIRST = 2
"""Areas of each kind of error that the first screen draws."""

_ERRORS = ("none", "full", "ambiguous")
_SAID: Mapping[ErrorKind, str] = {"hallucination": "content added", "coverage": "left out"}


def view(
    results: Results, made: Sequence[Table], configs: Mapping[str, Mapping[str, Any]]
) -> ExperimentView:
    """The tables of a folder's runs, the areas of the first one drawn, and every example.

    Args:
        results: What a run is called -> its results.
        made: The tables of these results, from `tables.all_tables`.
        configs: What a run is called -> its configuration, from `run.json`.
    """
    shown = in_turn(results)
    known = {run: {each.id: each for each in own} for run, own in results.items()}
    first = next(iter(configs.values()))
    examples = len({each.id for own in results.values() for each in own})
    return ExperimentView(
        name=NAME,
        title=TITLE,
        finding=finding(results, made, [*configs.values()]),
        parts=_parts(results, made),
        examples=tuple(
            _example(run, result, known[run].get(result.source)) for run, result in shown
        ),
        facets=(
            Facet("Test set", tuple(dict.fromkeys(each.test_set for _, each in shown))),
            *(Facet(_SAID[kind].capitalize(), _ERRORS) for kind in KINDS),
        ),
        runs={run: run for run in results},
        noun=("response", "responses"),
        models=tuple(dict.fromkeys(map(_model, configs.values()))),
        facts=(
            (
                "data",
                f"{first['data']['name']}, {first['sets']['split']} topics: {examples:,} examples",
            ),
        ),
        left_out=sum(map(len, results.values())) - len(shown),
    )


def response_view(
    checked: ResponseErrors,
    example: NpovExample,
    shown: WordMap,
    settings: SalienceSettings,
    png: bytes | None,
) -> ExperimentView:
    """Arguments and response side by side, their words shaded, what is left out or added marked.

    Args:
        checked: Scores.
        example: What was checked.
        shown: The map they come from, or its `by_token`.
        settings: How; the limit of the marks is one of the paper's choices alone.
        png: The map as a picture.
    """
    marks = marked(settings)
    given, response = sides(
        shown,
        argument_spans(npov_prompt(example)),
        sentence_spans(shown.encoded),
        settings.aggregation,
    )
    blocks: tuple[Block, ...] = (
        Heading(checked.question),
        Facts(
            (
                Fact("Coverage error", ((f"{checked.coverage_error:.3f}",),)),
                Fact("Hallucination error", ((f"{checked.hallucination_error:.3f}",),)),
            )
        ),
        heatmap(
            _scored(given, checked.arguments),
            _scored(response, checked.sentences),
            shown.values,
            left_out="left out?" if marks else "",
            added="added?" if marks else "",
            limit=1 - THRESHOLD,
        ),
        *picture(png),
    )
    return explorer.single(NAME, CHECKED, blocks)


def by_token(example: NpovExample, found: WordMap) -> WordMap:
    """The map that words' is made from, between tokens of the arguments and of the response.

    Args:
        example: What was checked.
        found: Its `argument_map`, with the gradients of every token.
    """
    encoded = found.encoded
    given = tokens_of(encoded, argument_spans(npov_prompt(example)))
    response = tokens_of(encoded, sentence_spans(encoded))
    return word_map(encoded, found.salience, given, response)


def marked(settings: SalienceSettings) -> bool:
    """Whether scores are shares of salience, of which the threshold speaks."""
    return settings.aggregation == "max" and settings.average == "geometric"


def finding(
    results: Results, made: Sequence[Table], configs: Sequence[Mapping[str, Any]]
) -> Finding:
    """What the page's first screen says: areas under the ROC curve beside those of ROUGE.

    Args:
        results: What a run is called -> its results.
        made: The tables of these results, from `tables.all_tables`.
        configs: The runs' configurations, from `run.json`.
    """
    rows = [row for table in made if table.name == "npov_detection" for row in own_rows(table)]
    ours = [row for row in rows if row["detector"] != ROUGE]
    shared = [row for row in rows if row["detector"] == ROUGE]
    several = len({row["detector"] for row in ours}) > 1
    every = [each for own in results.values() for each in own]
    lost = sum(each.status == "failed" for each in every)
    shown = [area for kind in KINDS for _, area in _areas(ours, kind, several)]
    of = count(len(every), "result")
    by = joined(
        f"{'gradients of' if config['detector'] == 'salience' else 'the classifier'} "
        f"{config['model']['name']}"
        for config in configs
    )
    return Finding(
        experiment=TITLE,
        question="Can errors in a neutral response be found: content added, arguments left out?",
        ran=f"{count(len({each.id for each in every}), 'response')}, "
        f"{joined(str(config['data']['name']) for config in configs)}",
        by=by,
        found=f"AUC (1 finds every error first, 0.5 is chance). {_both(ours, several)}",
        beside=f"Words shared with the arguments (ROUGE). {_both(shared, False)}" if shared else "",
        failed=failed((lost, f"{{}} of {of} could not be scored")),
        anchor=NAME,
        examples=fewest(shown),
        figures=_drawn(ours, several),
        baselines=_drawn(shared, False),
    )


def _drawn(
    rows: Sequence[Mapping[str, Cell]], several: bool
) -> tuple[tuple[str, Estimate | None], ...]:
    """The first areas of both kinds of error."""
    return tuple(
        (f"{_SAID[kind]}: {name}", area)
        for kind in KINDS
        for name, area in _areas(rows, kind, several)[:_SHOWN_FIRST]
    )


def _both(rows: Sequence[Mapping[str, Cell]], several: bool) -> str:
    """The areas of both kinds of error, one sentence each; a dash where there are none."""
    said = [
        f"{name}: {with_figures(areas, figure)}."
        for kind, name in (("hallucination", "Content added"), ("coverage", "Arguments left out"))
        if (areas := _areas(rows, kind, several))
    ]
    return " ".join(said) or MISSING


def _areas(
    rows: Sequence[Mapping[str, Cell]], kind: str, several: bool
) -> list[tuple[str, Estimate | None]]:
    """Test set, with the detector where there are several, and area; rows without are left out."""
    return [
        (f"{row['test_set']}, {row['detector']}" if several else str(row["test_set"]), area)
        for row in rows
        if (area := estimate_of(row[kind])) is not None
    ]


def _parts(results: Results, made: Sequence[Table]) -> tuple[explorer.Part, ...]:
    named = {table.name: table for table in made if table.rows}
    if "npov_failures" in named:
        named["npov_failures"] = with_names_joined(named["npov_failures"], "run", "example")
    links = {
        called(run, each.id): address(NAME, run, each.id)
        for run, own in results.items()
        for each in own
    }
    return tuple(
        explorer.Part(
            title,
            (named[name],),
            tuple(_plots(named[name])) if name == "npov_detection" else (),
            _INTRO if name == "npov_detection" else "",
            links if name == "npov_failures" else {},
        )
        for name, title in _PARTS
        if name in named
    )


def _plots(detection: Table) -> list[Markup]:
    """Per test set and error a plot of the detectors' areas."""
    plots = []
    for kind in KINDS:
        for (test_set,), own in grouped(own_rows(detection), "test_set"):
            rows = [(str(row["detector"]), estimate_of(row[kind])) for row in own]
            if any(area for _, area in rows):
                plots.append(dots(rows, f"{test_set}, {kind} errors"))
    return plots


def _model(config: Mapping[str, Any]) -> ModelUsed:
    role = "gradients" if config["detector"] == "salience" else "classifier"
    return ModelUsed(role, config["model"]["name"], config["model"]["digest"])


def _example(run: str, result: NpovResult, source: NpovResult | None) -> Example:
    """An example, beside the one without error that it was made from, where there is one."""
    wrong = [
        Chip(f"{_SAID[kind]}{' in part' if error == 'ambiguous' else ''}", "contradict", "✗")
        for kind in KINDS
        if (error := result.known(kind)) != "none"
    ]
    detector = next((each for each in (SALIENCE, CLASSIFIER) if each in result.detectors), ROUGE)
    return Example(
        id=result.id,
        run=run,
        title=result.id.removeprefix(f"{result.test_set}/"),
        status=result.status,
        blocks=partial(_content, result, None if source is result else source),
        chips=tuple(wrong) or (Chip("no error", "support", "✓"),),
        facets={
            "Test set": [result.test_set],
            **{_SAID[kind].capitalize(): [result.known(kind)] for kind in KINDS},
        },
        figures={_SAID[kind]: result.score(detector, kind) for kind in KINDS}
        if result.detectors
        else {},
    )


def _content(result: NpovResult, source: NpovResult | None) -> list[Block]:
    made: list[Block] = []
    if result.reason:
        made.append(Trouble("Not scored", result.reason))
    facts = [
        Fact("Content added", ((_known(result, "hallucination"),),)),
        Fact("Arguments left out", ((_known(result, "coverage"),),)),
    ]
    if result.overlap is not None:
        said = f"{result.overlap:.2f} of the arguments' stems, in the response without error"
        facts.append(Fact("Shared words", ((said,),)))
    for words, label, wrong in (
        (result.given, "Words of the arguments", "left out"),
        (result.response, "Words of the response", "added"),
    ):
        if words is not None:
            facts.append(Fact(label, _words(words, wrong)))
    made.append(Facts(tuple(facts)))
    if result.detectors:
        made += [Heading("How likely each error is, by detector"), _scores(result, source)]
    return made


def _known(result: NpovResult, kind: ErrorKind) -> Inline:
    error = result.known(kind)
    return Chip("none", "support", "✓") if error == "none" else Chip(error, "contradict", "✗")


def _words(words: Sequence[WordScore], wrong: str) -> tuple[tuple[Inline, ...], ...]:
    """How many words there are, and the mean salience error of those that are wrong and others."""
    lines: list[tuple[Inline, ...]] = [
        (f"{len(words):,}, of which {sum(each.wrong for each in words):,} {wrong}",)
    ]
    for called_so, state in ((wrong, True), ("others", False)):
        scores = [each.salience for each in words if each.wrong is state]
        if scores:
            lines.append((f"mean error by salience, {called_so}: {sum(scores) / len(scores):.3f}",))
    return tuple(lines)


def _scores(result: NpovResult, source: NpovResult | None) -> Grid:
    """A row per detector; beside each score that of the response without error."""

    def score(of: NpovResult, detector: str, kind: ErrorKind) -> tuple[Inline, ...]:
        found = of.score(detector, kind)
        return (MISSING if found is None else f"{found:.4f}",)

    columns: tuple[str, ...] = ("Content added", "Arguments left out")
    if source is not None:
        columns = tuple(name for each in columns for name in (each, "without error"))
    of = [result] if source is None else [result, source]
    return Grid(
        "Scores of the detectors",
        ("Detector", *columns),
        tuple(
            ((name,), *(score(each, name, kind) for kind in KINDS for each in of))
            for name in result.detectors
        ),
    )


def _scored(texts: Sequence[Words], checked: Iterable[TextErrors]) -> tuple[Words, ...]:
    """Arguments and sentences with their side and their own score, which is of words always."""
    return tuple(
        replace(text, label=each.side or "", share=None if each.error is None else 1 - each.error)
        for text, each in zip(texts, checked, strict=True)
    )
