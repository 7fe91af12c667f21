"""What a ConflictScore run contributes to the report."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.conflictscore import tables
from pipelines.conflictscore.labelling import cascade, labellers, tradeoff
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.scores import (
    contradicting,
    contradiction_ratio,
    determined,
    supporting,
)
from pipelines.data.jsonl import Skipped
from pipelines.data.records import Document
from pipelines.evidence.judgement import Judgement, Relation, conflicting
from pipelines.evidence.risk import ChosenThreshold
from pipelines.report.curves import STYLE as CURVE_STYLE
from pipelines.report.glance import Finding, count, failed, fewest, judges, with_figures
from pipelines.report.page import ModelUsed, Section, fragment
from pipelines.report.plots import dots, shares
from pipelines.report.table import MISSING, html, shown

RESPONSES_SHOWN = 2_000
"""Responses that the page lists. 1,000 of them with five pages of documents each open in about a
second, since a response is drawn when a reader opens it."""

CHARACTERS_SHOWN = 40_000
"""Characters of one document that the page holds; the page says where a document goes on."""

ENOUGH_JUDGEMENTS = 20
"""From this many on, the same label everywhere is remarked upon."""

_HERE = Path(__file__).parent
_ANCHOR = "conflictscore"
_TITLE = "ConflictScore"
_NAMES = {
    Relation.SUPPORTS.value: "supports",
    Relation.CONTRADICTS.value: "contradicts",
    Relation.IRRELEVANT.value: "irrelevant",
    Relation.INVALID.value: "unreadable",
}


@dataclass(frozen=True)
class Entry:
    """One response in the page's list.

    Attributes:
        number: Position in the data, from 1.
        result: The response.
        variant: Name of its variant.
        documents: Element id of its documents.
        states: For each claim, one of "conflict", "support", "contradict", "none",
            "undetermined".
        invalid: Judgements that could not be read.
    """

    number: int
    result: Result
    variant: str
    documents: str
    states: tuple[str, ...]
    invalid: int

    @property
    def conflicts(self) -> int:
        """Claims with conflicting evidence."""
        return self.states.count("conflict")


def section(
    results: Sequence[Result],
    model: str,
    data: str,
    skipped: Sequence[Skipped] = (),
    chosen: ChosenThreshold | None = None,
) -> Section:
    """Overview, responses and failures of a run.

    Responses of one record share one copy of their documents. What a response shows when it is
    opened (matrix, documents, judgements) lies in the page as JSON and is drawn then.

    Args:
        results: One per response, in the order to list them.
        model: Name of the judge.
        data: Name of the data set.
        skipped: Lines of the data that were no records.
        chosen: Of a cascade, the threshold with the curve that it was chosen from.
    """
    listed = results[:RESPONSES_SHOWN]
    sources: dict[tuple[Document, ...], str] = {}
    entries = [_entry(number, result, sources) for number, result in enumerate(listed, 1)]
    names = tables.variants(results)
    groups = [(name, [r for r in results if tables.variant(r) == name]) for name in names]
    differences, failures = tables.differences(results), tables.failures(results, skipped)
    counts = [
        (name, {label.value: n for label, n in tables.label_counts(group).items()})
        for name, group in groups
    ]
    links = {entry.result.id: f"response-{entry.number}" for entry in entries}
    body = fragment(
        _HERE,
        "page.html.j2",
        anchor=_ANCHOR,
        tiles=_tiles(results),
        remarks=_remarks(results, chosen),
        plots=[
            dots([(n, tables.mean_score(g, "cs_c")) for n, g in groups], "CS-C by variant"),
            dots([(n, tables.mean_score(g, "cs_r")) for n, g in groups], "CS-R by variant"),
            shares(counts, _NAMES, "Judgements by label"),
            *([tradeoff(chosen, results)] if chosen else []),
        ],
        scores=html(tables.scores(results, model, data)),
        differences=html(differences) if differences.rows else None,
        labels=html(tables.labels(results)),
        labellers=html(labellers(results)),
        cascade=html(cascade(chosen, results)) if chosen else None,
        failures=html(failures, links=links) if failures.rows else None,
        entries=entries,
        variants=names,
        left_out=len(results) - len(listed),
        several=len(names) > 1,
    )
    return Section(
        anchor=_ANCHOR,
        title=_TITLE,
        body=body,
        contents=(
            (f"{_ANCHOR}-overview", "Overview"),
            (f"{_ANCHOR}-responses", "Responses"),
            (f"{_ANCHOR}-failures", "Failures and truncations"),
        ),
        data=(
            *((name, [_document(d) for d in documents]) for documents, name in sources.items()),
            *((f"response-{entry.number}-data", _content(entry)) for entry in entries),
        ),
        style=(_HERE / "page.css").read_text(encoding="utf-8") + (CURVE_STYLE if chosen else ""),
        script=(_HERE / "page.js").read_text(encoding="utf-8"),
    )


def finding(
    results: Sequence[Result], config: Mapping[str, Any], skipped: Sequence[Skipped] = ()
) -> Finding:
    """What the page's first screen says: mean CS-C by variant.

    Args:
        results: One per response.
        config: Of the run, from `run.json`.
        skipped: Lines of the data that were no records.
    """
    means = [
        (name, tables.mean_score([r for r in results if tables.variant(r) == name], "cs_c"))
        for name in tables.variants(results)
    ]
    several = len(means) > 1
    figures = with_figures([(f"'{name}'" if several else "", mean) for name, mean in means])
    unscored = sum(result.status != "scored" for result in results)
    unread = tables.label_counts(results)[Relation.INVALID]
    cut = sum(len(result.truncations) for result in results)
    of = count(len(results), "response")
    return Finding(
        experiment=_TITLE,
        question="Do the responses admit that their documents disagree?",
        ran=f"{of} to {count(len({result.group for result in results}), 'question')}, "
        f"{config['data']['name']}",
        by=_made_by(config),
        found="Claims of a response that some documents support and others contradict, on average: "
        f"{figures or MISSING}. Lower is better.",
        failed=failed(
            (len(skipped), "bad records skipped: {}"),
            (unscored, f"{{}} of {of} could not be scored"),
            (unread, "judgements that could not be read: {}"),
            (cut, "texts read only in part: {}"),
        ),
        anchor=_ANCHOR,
        examples=fewest(mean for _, mean in means),
    )


def _made_by(config: Mapping[str, Any]) -> str:
    """Which model wrote, split and judged, from a run's configuration."""
    settings = config["settings"]
    asked = settings["labeller"] != "nli" and settings["claims"] in {"atomic", "salient"}
    splitter = config.get("splitter") or (config["model"] if asked else None)
    steps = [f"responses written by {config['writer']['name']}"] if "writer" in config else []
    if splitter:
        steps.append(f"claims, where the data bring none, split by {splitter['name']}")
    return "; ".join([*steps, f"claims judged by {judges(config)}"])


def models_used(config: Mapping[str, Any]) -> list[ModelUsed]:
    """The models that a run was made with, from its configuration in `run.json`."""
    model, tagger, splitter = (config.get(name) for name in ("model", "tagger", "splitter"))
    used = []
    if "cascade" in config:
        used = [("judge where it is sure", tagger), ("judge of the rest", model)]
    else:
        used = [("judge", model), ("splits responses", splitter)]
    used.append(("writes answers", config.get("writer")))
    return [ModelUsed(role, one["name"], one["digest"]) for role, one in used if one]


def facts(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What else to know of a run at the head of the page, from its entry in `run.json`."""
    settings = entry["config"]["settings"]
    known = [
        ("claims", settings["claims"]),
        ("labeller", settings["labeller"]),
    ]
    if settings["labeller"] != "nli":
        known.append(("evidence", settings["evidence"]))
    if "cascade" in entry["config"]:
        chosen = ChosenThreshold.from_json(entry["config"]["cascade"])
        sure = "none" if chosen.reason else f"{chosen.threshold:.3f}"
        known.append(("threshold", f"{sure}, for a risk of {chosen.risk:g}"))
    store = entry.get("store")
    if store:
        known.append(("pairs from the store", f"{store['found']:,} of {store['pairs']:,}"))
    return known


@dataclass(frozen=True)
class Tile:
    """A figure at the head of the overview.

    Attributes:
        label: What it is.
        figure: The value as shown.
        aside: What belongs to it: the interval, counts.
    """

    label: str
    figure: str
    aside: str


def locate(snippet: str, text: str) -> tuple[int, int] | None:
    """Where `text` contains `snippet`, white space and case aside; None if it does not.

    Returns:
        Start and end in characters of `text`.
    """
    words = snippet.split()
    if not words:
        return None
    found = re.search(r"\s+".join(map(re.escape, words)), text, re.IGNORECASE)
    return found.span() if found else None


def _tiles(results: Sequence[Result]) -> list[Tile]:
    tiles = []
    for label, estimate in (
        ("CS-C, share of claims in conflict", tables.mean_score(results, "cs_c")),
        ("CS-R, share of contradiction", tables.mean_score(results, "cs_r")),
    ):
        figure, _, interval = shown(estimate).partition(" ")
        if estimate is None or estimate.low is None:
            aside = "no interval"
        elif estimate.low == estimate.high:
            aside = "the same for every response"
        else:
            aside = f"95 % interval {interval}"
        tiles.append(Tile(label, figure, f"{aside}; lower is better"))
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
    return tiles


def _remarks(results: Sequence[Result], chosen: ChosenThreshold | None) -> list[str]:
    """What a reader must know before believing the figures, as the data show it."""
    remarks = []
    if chosen is not None and chosen.reason:
        remarks.append(
            f"The cascade kept no label of the tagger and asked for every pair: {chosen.reason}."
        )
    counts = tables.label_counts(results)
    total = sum(counts.values())
    if len(counts) == 1 and total >= ENOUGH_JUDGEMENTS:
        only = _NAMES[next(iter(counts)).value]
        remarks.append(
            f"All {total:,} judgements carry the same label ({only}). A judge that does not tell "
            "documents apart says nothing of the responses, whatever the scores."
        )
    mass = tables.mean_label_mass(results)
    if mass is not None and mass < 0.5:
        remarks.append(
            f"On average {100 * mass:.0f} % of the judge's probability fell on the labels. "
            "Left to itself, it would mostly have written something else."
        )
    return remarks


def _entry(number: int, result: Result, sources: dict[tuple[Document, ...], str]) -> Entry:
    """The list entry of a response; names its documents in `sources` if they are new."""
    name = sources.setdefault(result.documents, f"{_ANCHOR}-documents-{len(sources) + 1}")
    relations = tables.claim_relations(result)
    return Entry(
        number=number,
        result=result,
        variant=tables.variant(result),
        documents=name,
        states=tuple(_state(claim) for claim in relations),
        invalid=sum(claim.count(Relation.INVALID) for claim in relations),
    )


def _state(relations: Sequence[Relation]) -> str:
    if not determined(relations):
        return "undetermined"
    if conflicting(relations):
        return "conflict"
    if supporting(relations):
        return "support"
    return "contradict" if contradicting(relations) else "none"


def _document(document: Document) -> dict[str, Any]:
    content: dict[str, Any] = {"id": document.id, "text": document.text[:CHARACTERS_SHOWN]}
    if len(document.text) > CHARACTERS_SHOWN:
        content["length"] = len(document.text)
    for key in ("title", "url", "date"):
        if value := getattr(document, key):
            content[key] = value
    return content


def _content(entry: Entry) -> dict[str, Any]:
    """What a response shows when it is opened; the script reads these keys."""
    result = entry.result
    judged = {(judgement.claim, judgement.document): judgement for judgement in result.judgements}
    return {
        "documents": entry.documents,
        "claims": [
            {
                "text": claim,
                "state": state,
                "ratio": contradiction_ratio(relations) if determined(relations) else None,
                "cells": [
                    _cell(judged.get((claim, document.id)), document)
                    for document in result.documents
                ],
            }
            for claim, state, relations in zip(
                result.claims, entry.states, tables.claim_relations(result), strict=True
            )
        ],
        "cuts": {cut.text: [cut.kept, cut.tokens] for cut in result.truncations},
    }


def _cell(judgement: Judgement | None, document: Document) -> dict[str, Any] | None:
    if judgement is None:
        return None
    content = judgement.model_dump(
        mode="json", exclude_none=True, exclude={"claim", "document", "snippet_found"}
    )
    if judgement.probabilities:
        content["probabilities"] = {
            relation.value: round(p, 4) for relation, p in judgement.probabilities.items()
        }
    span = locate(judgement.snippet or "", document.text)
    if span and span[1] <= CHARACTERS_SHOWN:
        content["span"] = [_utf16(document.text, position) for position in span]
    content["found"] = (
        judgement.snippet_found if judgement.snippet_found is not None else bool(span)
    )
    return content


def _utf16(text: str, position: int) -> int:
    """A position in characters as JavaScript counts it, in UTF-16 units."""
    before = text[:position]
    return position + sum(character > "\uffff" for character in before)
