"""What ConflictScore puts on the page: scores, plots, and every response against its documents."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from pipelines.conflictscore import tables
from pipelines.conflictscore.result import MEASURES, Result
from pipelines.conflictscore.scores import contradicting, supporting
from pipelines.conflictscore.settings import SPLIT
from pipelines.conflictscore.tables import tradeoff
from pipelines.data.jsonl import Skipped
from pipelines.data.records import Document
from pipelines.judge.judgement import Judgement, Relation, Truncation, in_conflict
from pipelines.judge.risk import ChosenThreshold
from pipelines.metrics.calibration import is_low, low_label_mass
from pipelines.metrics.estimate import Estimate
from pipelines.report import glance
from pipelines.report.blocks import Cell, Matrix, Row, Source, Sources
from pipelines.report.explorer import Example, ExperimentView, Facet, Part, Tile, address
from pipelines.report.plots import dots, shares
from pipelines.report.table import MISSING, Table, shown
from pipelines.report.texts import (
    CHARACTERS_SHOWN,
    Aside,
    Block,
    Chip,
    Heading,
    Inline,
    Note,
    Span,
    Text,
    Trouble,
)
from pipelines.report.views import failures_part, listed
from pipelines.text.words import locate

NAMES: Final = {
    Relation.SUPPORTS.value: "supports",
    Relation.CONTRADICTS.value: "contradicts",
    Relation.IRRELEVANT.value: "irrelevant",
    Relation.INVALID.value: "unreadable",
}


def sources(documents: Sequence[Document], truncations: Sequence[Truncation]) -> tuple[Source, ...]:
    """The documents, with how much of each was seen where that is not all."""
    cuts = {each.text: each for each in truncations}

    def source(number: int, document: Document) -> Source:
        about: tuple[Inline, ...] = (
            *([Aside(document.id)] if document.title else []),
            *([Aside(document.date)] if document.date else []),
        )
        seen = cuts.get(f"document {document.id}")
        note = f"Cut: {seen.kept:,} of {seen.tokens:,} tokens were seen." if seen else ""
        title, text = document.title or document.id, document.text
        return Source(number, title, text, about, document.url, note=note)

    return tuple(source(*each) for each in enumerate(documents, 1))


def cell(
    judgement: Judgement | None, document: Document, truncations: Sequence[Truncation] = ()
) -> Cell | None:
    """What a document says of a claim; None where nobody judged it."""
    if judgement is None:
        return None
    span = locate(judgement.snippet or "", document.text)
    shown = span is not None and span[1] <= CHARACTERS_SHOWN
    found = judgement.snippet_found if judgement.snippet_found is not None else span is not None
    seen = next((each for each in truncations if each.text == f"document {document.id}"), None)
    read = judgement.read_tokens
    of = f" of {seen.tokens:,}" if seen else ""
    return Cell(
        relation=judgement.relation.value,
        judge=judgement.source,
        shares=tuple((name.value, p) for name, p in (judgement.probabilities or {}).items()),
        mass=judgement.label_mass if is_low(judgement.label_mass) else None,
        span=Span(*span, "what decided") if span and shown else None,
        quote="" if shown else judgement.snippet or "",
        found=found,
        reasoning=judgement.reasoning or "",
        raw=judgement.raw or "",
        read="" if read is None else f"The judge saw the first {read:,} tokens{of}.",
    )


def first(rows: Sequence[Row], row: int) -> tuple[int, int]:
    """The cell of a row that opens by itself: its first contradiction, else what says anything."""
    for relation in (Relation.CONTRADICTS, Relation.SUPPORTS):
        for place, each in enumerate(rows[row].cells):
            if each is not None and each.relation == relation.value:
                return row, place
    return row, next((place for place, each in enumerate(rows[row].cells) if each is not None), 0)


NAME = "conflictscore"
TITLE = "ConflictScore"

ENOUGH_JUDGEMENTS = 20
"""From this many on, the same label everywhere is remarked upon."""

SQUARES = 24
"""Claims of which the list shows a square each."""

_FOUND: Final = ("conflicting claims", "unreadable judgements", "truncated texts")
WITH: Final = Facet("With", _FOUND)
"""Narrows responses down to those with something that a reader may look for."""

_STATES: Final[Mapping[str, Chip]] = {
    "conflict": Chip("", "both", "±"),
    "support": Chip("", "support", "+"),
    "contradict": Chip("", "contradict", "−"),
    "none": Chip("", "plain", "○"),
    "undetermined": Chip("", "invalid", "?"),
}
_CHIPS: Final[Mapping[str, Chip]] = {
    "conflict": Chip("conflict", "both"),
    "undetermined": Chip("undetermined", "invalid"),
    "none": Chip("no evidence"),
}


def view(
    results: Sequence[Result],
    made: Sequence[Table],
    entry: Mapping[str, Any],
    skipped: Sequence[Skipped] = (),
    chosen: ChosenThreshold | None = None,
) -> ExperimentView:
    """Overview, failures and responses of a run, whose entry is that of `run.json`.

    Results are one per response, in the order to list them; `made` is of `tables.all_tables`. Lines
    of the data that were no records are `skipped`; a cascade has a `chosen` threshold.
    """
    config = entry["config"]
    data = config["data"]["name"]
    return ExperimentView(
        name=NAME,
        title=TITLE,
        finding=finding(results, config, skipped),
        parts=_parts(results, made, chosen),
        facets=(
            Facet("Variant", tuple(sorted(tables.variants(results)))),
            WITH,
        ),
        runs={"": data},
        noun=("response", "responses"),
        models=glance.judge_models(config),
        facts=(
            ("data", f"{data} ({len(results):,} responses)"),
            ("bad records skipped", f"{len(skipped):,}"),
            ("engine", config["model"]["engine"]),
            *facts(entry),
        ),
        **listed({"": results}, example),
    )


def finding(
    results: Sequence[Result], config: Mapping[str, Any], skipped: Sequence[Skipped] = ()
) -> glance.Finding:
    """What the page's first screen says: mean scores by variant; the configuration is the run's."""
    groups = _by_variant(results)

    def means(measure: str) -> list[tuple[str, Estimate | None]]:
        return [(name, tables.mean_score(own, measure)) for name, own in groups]

    def figures(measure: str) -> str:
        shown = [(f"'{name}'" * (len(groups) > 1), mean) for name, mean in means(measure)]
        return glance.with_figures(shown) or MISSING

    unscored = sum(result.status != "scored" for result in results)
    of = glance.count(len(results), "response")
    return glance.Finding(
        question="Do the responses admit that their documents disagree?",
        data=f"{of} to {glance.count(len({result.group for result in results}), 'question')}, "
        f"{config['data']['name']}",
        models=_made_by(config),
        found="Claims of a response that some documents support and others contradict, on average: "
        f"{figures('cs_c')}. Lower is better. Claims on which some document takes a side: "
        f"{figures('evidence')}. How well the side that is shown least is backed: "
        f"{figures('both_sides')}. Higher is better.",
        failed=glance.failed(
            (len(skipped), "bad records skipped: {}"),
            (unscored, f"{{}} of {of} could not be scored"),
            (tables.unevidenced(results), "responses without evidence: {}"),
            (
                tables.label_counts(results)[Relation.INVALID],
                "judgements that could not be read: {}",
            ),
            (
                sum(len(each.copied_claims) for each in results),
                "claims that the model copied from its prompt, left out: {}",
            ),
            (sum(len(each.truncations) for each in results), "texts read only in part: {}"),
        ),
        examples=glance.fewest(mean for _, mean in means("cs_c")),
        figures=tuple((f"CS-C, {name}", mean) for name, mean in means("cs_c")),
    )


def _by_variant(results: Sequence[Result]) -> list[tuple[str, list[Result]]]:
    return [
        (name, [each for each in results if tables.variant(each) == name])
        for name in tables.variants(results)
    ]


def _made_by(config: Mapping[str, Any]) -> str:
    """Which model wrote, split and judged, from a run's configuration."""
    settings = config["settings"]
    asked = settings["judge"] != "tagger" and settings["claims"] in SPLIT
    splitter = config.get("splitter") or (config["model"] if asked else None)
    steps = [f"responses written by {config['writer']['name']}"] if "writer" in config else []
    if splitter:
        steps.append(f"claims, where the data bring none, split by {splitter['name']}")
    return "; ".join([*steps, f"claims judged by {glance.judges(config)}"])


def facts(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What else to know of a run at the head of the page, from its entry in `run.json`."""
    settings = entry["config"]["settings"]
    known = [
        ("claims", settings["claims"]),
        ("judge", settings["judge"]),
    ]
    if settings["judge"] != "tagger":
        known.append(("evidence", settings["evidence"]))
    if "cascade" in entry["config"]:
        chosen = ChosenThreshold.from_json(entry["config"]["cascade"])
        sure = "none" if chosen.reason else f"{chosen.threshold:.3f}"
        known.append(("threshold", f"{sure}, for a risk of {chosen.risk:g}"))
    store = entry.get("store")
    if store:
        known.append(("pairs from the store", f"{store['found']:,} of {store['pairs']:,}"))
    return known


def _parts(
    results: Sequence[Result], made: Sequence[Table], chosen: ChosenThreshold | None
) -> tuple[Part, ...]:
    links = {result.id: address(NAME, "", result.id) for result in results}
    groups = _by_variant(results)
    counts = [
        (name, {label.value: n for label, n in tables.label_counts(group).items()})
        for name, group in groups
    ]
    every = (
        "every response was scored, every judgement could be read, and every text was seen whole"
    )
    return (
        Part(
            "Overview",
            tuple(each for each in made if each.name != "failures"),
            (
                *(
                    dots([(n, tables.mean_score(g, m)) for n, g in groups], f"{title} by variant")
                    for m, title in MEASURES.items()
                ),
                shares(counts, NAMES, "Judgements by label"),
                *([tradeoff(chosen, results)] if chosen else []),
            ),
            links=links,
            remarks=_remarks(results, chosen),
            tiles=_tiles(results),
        ),
        failures_part(next((each for each in made if each.name == "failures"), None), every, links),
    )


def _tiles(results: Sequence[Result]) -> tuple[Tile, ...]:
    tiles = []
    for measure, label, better in (
        ("cs_c", "CS-C, share of claims in conflict", "; lower is better"),
        ("cs_r", "CS-R, share of contradiction", "; lower is better"),
        ("evidence", "Evidence, share of claims with a side", ""),
        ("both_sides", "Both sides, support of the least", "; higher is better"),
    ):
        estimate = tables.mean_score(results, measure)
        figure, _, interval = shown(estimate).partition(" ")
        if estimate is None or estimate.low is None:
            aside = "no interval"
        elif estimate.low == estimate.high:
            aside = "the same for every response"
        else:
            aside = f"95 % interval {interval}"
        tiles.append(Tile(label, figure, f"{aside}{better}"))
    share = tables.conflicting_share(results)
    claims = sum(len(result.claims) for result in results)
    conflicts = round(share.value * share.n) if share else 0
    undetermined = sum(result.undetermined_claims for result in results)
    tiles.append(
        Tile(
            "Conflicting claims",
            f"{conflicts:,}",
            f"of {claims:,} claims" + (f", {undetermined:,} undetermined" if undetermined else ""),
        )
    )
    counts = {s: sum(r.status == s for r in results) for s in ("scored", "invalid", "failed")}
    aside = ", ".join(f"{counts[status]:,} {status}" for status in ("invalid", "failed"))
    tiles.append(Tile("Responses scored", f"{counts['scored']:,}", f"of {len(results):,}; {aside}"))
    return tuple(tiles)


def _remarks(results: Sequence[Result], chosen: ChosenThreshold | None) -> tuple[str, ...]:
    """What a reader must know before believing the figures, as the data show it."""
    remarks = []
    if chosen is not None and chosen.reason:
        remarks.append(
            f"The cascade kept no label of the tagger and asked for every pair: {chosen.reason}."
        )
    counts = tables.label_counts(results)
    total = sum(counts.values())
    if len(counts) == 1 and total >= ENOUGH_JUDGEMENTS:
        only = NAMES[next(iter(counts)).value]
        remarks.append(
            f"All {total:,} judgements carry the same label ({only}). A judge that does not tell "
            "documents apart says nothing of the responses, whatever the scores."
        )
    return (*remarks, *low_label_mass(tables.label_masses(results)))


def example(run: str, result: Result) -> Example:
    """A response in the list."""
    relations = tables.claim_relations(result)
    states = [_state(claim) for claim in relations]
    conflicts = states.count("conflict")
    unreadable = sum(claim.count(Relation.INVALID) for claim in relations)
    chips: list[Inline] = [Chip(result.status, "invalid", "!")]
    if result.status == "scored":
        more = len(states) - SQUARES
        said = f"{conflicts:,} of {glance.count(len(states), 'claim')} in conflict"
        chips = [_STATES[state] for state in states[:SQUARES]]
        chips.append(Aside(f"+{more:,}; {said}" if more > 0 else said))
    if unreadable:
        chips.append(Chip(f"{unreadable:,} unreadable", "invalid", "?"))
    if result.truncations:
        chips.append(Chip(f"{len(result.truncations):,} truncated"))
    kinds = zip(_FOUND, (conflicts, unreadable, result.truncations), strict=True)
    return Example(
        id=result.id,
        run=run,
        title=result.question or result.response[:160],
        status=result.status,
        blocks=partial(content, result),
        about=(tables.variant(result),),
        chips=tuple(chips),
        facets={
            "Variant": [tables.variant(result)],
            "With": [name for name, some in kinds if some],
        },
        figures={title: getattr(result, each) for each, title in MEASURES.items()},
        words=f"{result.response}\n{result.error or ''}",
    )


def content(result: Result) -> list[Block]:
    """What a response shows when it is opened: its text, claims against documents, documents."""
    made: list[Block] = []
    if result.error:
        made.append(Trouble(result.status.capitalize(), result.error, result.raw))
    made += [Heading("Response"), Text(result.response, "Response")]
    made += [
        Note(
            f"Truncated: of {each.text}, the model saw the first {each.kept:,} of "
            f"{each.tokens:,} tokens."
        )
        for each in result.truncations
    ]
    if result.evidence == 0:
        made.append(Note("No document supports or contradicts any claim."))
    if copied := result.copied_claims:
        made.append(
            Note(
                f"{glance.count(len(copied), 'claim')} left out, for the model copied them from "
                "its prompt; a larger one, or --claims sentences, splits better."
            )
        )
    papers = sources(result.documents, result.truncations)
    if result.claims and papers:
        made += [Heading("Claims against documents"), matrix(result)]
    return [*made, Heading(f"Documents ({len(papers)})"), Sources(papers)]


def matrix(result: Result) -> Matrix:
    """The claims of a response against its documents."""
    judged = {(judgement.claim, judgement.document): judgement for judgement in result.judgements}
    relations = tables.claim_relations(result)
    states = [_state(claim) for claim in relations]
    rows = tuple(
        Row(
            claim,
            tuple(
                cell(judged.get((claim, each.id)), each, result.truncations)
                for each in result.documents
            ),
            _CHIPS.get(state),
        )
        for claim, state in zip(result.claims, states, strict=True)
    )
    # A conflicting claim is what a reader comes for.
    row = states.index("conflict") if "conflict" in states else 0
    return Matrix("Claim", rows, sources(result.documents, result.truncations), first(rows, row))


def _state(relations: Sequence[Relation]) -> str:
    conflict = in_conflict(relations)
    if conflict is None:
        return "undetermined"
    if conflict:
        return "conflict"
    if supporting(relations):
        return "support"
    return "contradict" if contradicting(relations) else "none"
