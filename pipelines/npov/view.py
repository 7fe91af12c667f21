"""What detectors of errors, and a checked response, put on the page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any, Final

import numpy as np
from markupsafe import Markup

from pipelines.metrics.estimate import Estimate
from pipelines.npov import soft_prompt as run_prompts
from pipelines.npov.areas import OF_RUNS, Results
from pipelines.npov.check import AblationErrors, ResponseErrors, TextErrors, sentence_spans
from pipelines.npov.example import NpovExample, argument_spans, npov_prompt
from pipelines.npov.result import (
    BASELINES,
    BERT_SCORE,
    COUNT,
    KINDS,
    ROUGE,
    ErrorKind,
    NpovResult,
    WordScore,
)
from pipelines.npov.sets import SLICES
from pipelines.npov.settings import SalienceSettings
from pipelines.report import explorer, glance
from pipelines.report.blocks import Facts, Grid, fact
from pipelines.report.explorer import Example, ExperimentView, Facet
from pipelines.report.heatmap import heatmap, picture, sides
from pipelines.report.plots import dots
from pipelines.report.table import (
    MISSING,
    Cell,
    Table,
    estimate_of,
    grouped,
    own_rows,
    with_names_joined,
)
from pipelines.report.texts import Block, Chip, Heading, Inline, Note, Trouble, Word, Words
from pipelines.report.views import links, listed, named
from salience.heatmap import png as drawn
from salience.maps import WordMap, tokens_of, word_map

NAME = "npov"
TITLE = "Faithfulness of neutral responses"
CHECKED = "Is the response faithful?"
"""Title of the page of one response."""

THRESHOLD = 0.99
"""Error from which arguments and sentences are marked: in the geometric mean their words have less
than a hundredth of a response word's salience."""

LOSES_NOTHING = 1.0
"""Error by ablation from which they are marked: no sentence loses anything without the argument, or
the sentence nothing without any."""

NATS = (
    "Nats are the log-probability that words of a sentence lose on average without an argument. A "
    "sentence has those of the argument that it rests on most, an argument those of the sentence "
    "that rests on it most; an error is 1 less the least."
)
"""What scores by ablation are, for whoever sees them."""

_PARTS: Final = {
    "detection": "By detector",
    "comparisons": "Differences",
    "words": "Words",
    "aggregations": "Aggregations",
    "classifiers": "Classifiers",
    "agreement": "Annotators",
    "failures": "Not scored",
}
"""Tables, and what they are called in the contents; those without rows are left out."""

_INTRO = (
    "Does a response add arguments that were not given (hallucination), or leave out some that "
    "were (coverage)? A detector gives each response two scores; the area under its ROC curve is "
    "the probability that a response with the error scores higher than one without. 0.5 is chance."
)
_USED: Final = {
    "salience": "gradients of",
    "ablation": "arguments left out by",
    "tagger": "support by",
    "classifier": "the classifier",
    "baselines": "baselines with",
}
"""What is said before the model of a detector."""

_SHOWN_FIRST = 2
"""Areas of each kind of error that the first screen draws."""

_ERRORS = ("none", "full", "ambiguous")
_SAID: Mapping[ErrorKind, str] = {"hallucination": "content added", "coverage": "left out"}


def view(
    results: Results, made: Sequence[Table], configs: Mapping[str, Mapping[str, Any]]
) -> ExperimentView:
    """The tables of a folder's runs, the areas of the first one drawn, and every example.

    Results and configurations of `run.json` are by what a run is called; `made` is of
    `tables.all_tables`.
    """
    known = {run: {each.id: each for each in own} for run, own in results.items()}
    every = [each for own in results.values() for each in own]
    first = next(iter(configs.values()))
    data = f"{first['data']['name']}, {first['sets']['split']} topics"

    def example(run: str, result: NpovResult) -> Example:
        return _example(run, result, known[run].get(result.source))

    return ExperimentView(
        name=NAME,
        title=TITLE,
        finding=finding(results, made, [*configs.values()]),
        parts=_parts(results, made),
        facets=(
            Facet("Test set", tuple(dict.fromkeys(each.test_set for each in every))),
            *(Facet(_SAID[kind].capitalize(), _ERRORS) for kind in KINDS),
        ),
        runs={run: run for run in results},
        noun=("response", "responses"),
        models=glance.models_used(
            ({config["detector"]: config["model"]} for config in configs.values()),
            {
                "salience": "gradients",
                "ablation": "log-probabilities",
                "tagger": "tagger",
                "classifier": "classifier",
                "baselines": "encoder",
            },
        ),
        facts=(("data", f"{data}: {len({each.id for each in every}):,} examples"),),
        **listed(results, example),
    )


def response_view(
    checked: ResponseErrors,
    example: NpovExample,
    shown: WordMap,
    settings: SalienceSettings,
    png: bytes | None,
) -> ExperimentView:
    """Arguments and response side by side, their words shaded, what is left out or added marked.

    The scores (`checked`) come from the map that is `shown`, or whose `by_token` is; the limit of
    the marks holds for the paper's settings alone. `png` is the map as a picture.
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
                fact("Coverage error", f"{checked.coverage_error:.3f}"),
                fact("Hallucination error", f"{checked.hallucination_error:.3f}"),
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


def ablation_view(checked: AblationErrors, models: Sequence[glance.ModelUsed]) -> ExperimentView:
    """Arguments and response side by side, each word shaded by what is lost without an argument.

    Those without which nothing is lost, and sentences that lose nothing, are marked.
    """
    given, response = (
        tuple(
            Words(
                each.text,
                tuple(Word(word.start, word.end, 1 - word.error) for word in each.words),
                each.side or "",
                _score(each),
            )
            for each in side
        )
        for side in (checked.arguments, checked.sentences)
    )
    blocks: tuple[Block, ...] = (
        Heading(checked.question),
        Facts(
            (
                fact(
                    "Coverage error",
                    f"{checked.coverage_error:.3f}",
                    f"least used: “{checked.least_used.text}”",
                ),
                fact(
                    "Hallucination error",
                    f"{checked.hallucination_error:.3f}",
                    f"least grounded: “{checked.least_grounded.text}”",
                ),
            )
        ),
        Note(NATS),
        heatmap(
            given,
            response,
            np.array(checked.drops),
            left_out="left out?",
            added="added?",
            limit=1 - LOSES_NOTHING,
            nats=_nats(checked),
        ),
        *picture(ablation_picture(checked), "the more of the word is lost without the argument"),
    )
    return explorer.single(NAME, CHECKED, blocks, models)


def ablation_picture(checked: AblationErrors) -> bytes:
    """What words of the response lose (across) without each argument (down), as a PNG."""
    return drawn(
        np.array(checked.drops),
        [f"{each.side}: {each.text}" for each in checked.arguments],
        [word.text for each in checked.sentences for word in each.words],
        checked.question,
        _nats(checked),
    )


def _nats(checked: AblationErrors) -> float:
    """What is drawn darkest: the largest loss, but not less than a nat, which is little."""
    return max(1.0, *map(max, checked.drops))


def _score(text: TextErrors) -> float | None:
    return None if text.error is None else 1 - text.error


def by_token(example: NpovExample, found: WordMap) -> WordMap:
    """The map that words' is made from, between tokens of the arguments and of the response.

    What was `found` is the example's `argument_map`, with the gradients of every token.
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
) -> glance.Finding:
    """What the page's first screen says: areas under the ROC curve beside those of baselines."""
    whole = {each.title for each in SLICES}  # their parts, such as exchanged arguments, stand below
    rows = [
        row
        for table in made
        if table.name == "npov_detection"
        for row in own_rows(table)
        if row["test_set"] in whole
    ]
    ours = [row for row in rows if row["detector"] not in BASELINES] or [
        row for row in rows if row["detector"] == BERT_SCORE
    ]
    shared = [row for row in rows if row["detector"] == ROUGE]
    counted = [row for row in rows if row["detector"] == COUNT]
    every = [each for own in results.values() for each in own]
    lost = sum(each.status == "failed" for each in every)
    shown = [area for kind in KINDS for _, area in _areas(ours, kind)]
    of = glance.count(len(every), "result")
    return glance.Finding(
        question="Can errors in a neutral response be found: content added, arguments left out?",
        data=f"{glance.count(len({each.id for each in every}), 'response')}, "
        f"{glance.joined(str(config['data']['name']) for config in configs)}",
        models=glance.joined(
            f"{_USED[config['detector']]} {config['model']['name']}{_tuned(config)}"
            for config in configs
        ),
        found=f"AUC (1 finds every error first, 0.5 is chance). {_both(ours)}",
        beside=" ".join(
            f"{called}. {_both(own)}"
            for called, own in (
                ("Words shared with the arguments (ROUGE)", shared),
                ("Arguments counted", counted),
            )
            if own
        ),
        failed=glance.failed((lost, f"{{}} of {of} could not be scored")),
        examples=glance.fewest(shown),
        figures=_drawn(ours),
        baselines=_drawn(shared, " by ROUGE"),
    )


def _tuned(config: Mapping[str, Any]) -> str:
    """Which soft prompts a run was made with."""
    found = run_prompts.named(config)
    return f" with the soft prompt {glance.joined(found)}" if found else ""


def _drawn(rows: Sequence[Mapping[str, Cell]], found: str = "") -> glance.Figures:
    """The first areas of both kinds of error; `found` says how, where names do not."""
    return tuple(
        (f"{_SAID[kind]}{found}: {name}", area)
        for kind in KINDS
        for name, area in _areas(rows, kind)[:_SHOWN_FIRST]
    )


def _both(rows: Sequence[Mapping[str, Cell]]) -> str:
    """The areas of both kinds of error, one sentence each; a dash where there are none."""
    said = [
        f"{name}: {glance.with_figures(areas, glance.figure)}."
        for kind, name in (("hallucination", "Content added"), ("coverage", "Arguments left out"))
        if (areas := _areas(rows, kind))
    ]
    return " ".join(said) or MISSING


def _areas(rows: Sequence[Mapping[str, Cell]], kind: str) -> list[tuple[str, Estimate | None]]:
    """Areas by detector where there are several, and by test set; rows without are left out."""
    varied = [key for key in ("detector", "test_set") if len({row[key] for row in rows}) > 1]
    return [
        (", ".join(str(row[key]) for key in varied or ("test_set",)), area)
        for row in rows
        if (area := estimate_of(row[kind])) is not None
    ]


def _parts(results: Results, made: Sequence[Table]) -> tuple[explorer.Part, ...]:
    tables = named(made, "npov_")
    if "failures" in tables:
        tables["failures"] = with_names_joined(tables["failures"], "run", "example")
    return tuple(
        explorer.Part(
            title,
            (tables[name],),
            tuple(_plots(tables[name])) if name == "detection" else (),
            _INTRO if name == "detection" else "",
            links(NAME, results) if name == "failures" else {},
        )
        for name, title in _PARTS.items()
        if name in tables
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


def _example(run: str, result: NpovResult, source: NpovResult | None) -> Example:
    """An example, beside the one without error that it was made from, where there is one."""
    wrong = [
        Chip(f"{_SAID[kind]}{' in part' if error == 'ambiguous' else ''}", "contradict", "✗")
        for kind in KINDS
        if (error := result.known(kind)) != "none"
    ]
    detector = next((each for each in OF_RUNS if each in result.detectors), ROUGE)
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
    made: list[Block] = [Trouble("Not scored", result.reason)] if result.reason else []
    facts = [
        fact("Content added", _known(result, "hallucination")),
        fact("Arguments left out", _known(result, "coverage")),
    ]
    if result.overlap is not None:
        said = f"{result.overlap:.2f} of the arguments' stems, in the response without error"
        facts.append(fact("Shared words", said))
    if result.given is not None:
        facts.append(fact("Words of the arguments", *_words(result.given, "left out")))
    if result.response is not None:
        facts.append(fact("Words of the response", *_words(result.response, "added")))
    made.append(Facts(tuple(facts)))
    if result.detectors:
        made += [Heading("How likely each error is, by detector"), _scores(result, source)]
    return made


def _known(result: NpovResult, kind: ErrorKind) -> Inline:
    error = result.known(kind)
    return Chip("none", "support", "✓") if error == "none" else Chip(error, "contradict", "✗")


def _words(words: Sequence[WordScore], wrong: str) -> Iterator[str]:
    """How many words there are, and the mean salience error of those that are wrong and others."""
    yield f"{len(words):,}, of which {sum(each.wrong for each in words):,} {wrong}"
    for called_so, state in ((wrong, True), ("others", False)):
        scores = [
            each.salience for each in words if each.wrong is state and each.salience is not None
        ]
        if scores:
            yield f"mean error by salience, {called_so}: {fmean(scores):.3f}"


def _scores(result: NpovResult, source: NpovResult | None) -> Grid:
    """A row per detector; beside each score that of the response without error."""
    columns: tuple[str, ...] = ("Content added", "Arguments left out")
    compared = [result]
    if source is not None:
        columns = tuple(name for each in columns for name in (each, "without error"))
        compared.append(source)
    rows = []
    for name in result.detectors:
        scores = [each.score(name, kind) for kind in KINDS for each in compared]
        cells = (MISSING if score is None else f"{score:.4f}" for score in scores)
        rows.append(tuple((cell,) for cell in (name, *cells)))
    return Grid("Scores of the detectors", ("Detector", *columns), tuple(rows))


def _scored(texts: Sequence[Words], checked: Iterable[TextErrors]) -> tuple[Words, ...]:
    """Arguments and sentences with their side and their own score, which is of words always."""
    return tuple(
        replace(text, label=each.side or "", share=_score(each))
        for text, each in zip(texts, checked, strict=True)
    )
