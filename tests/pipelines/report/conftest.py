"""Made-up results of a ConflictScore run: every kind of thing that a report has to show."""

import pytest

from pipelines.conflictscore.result import Result
from pipelines.conflictscore.scores import (
    both_sides,
    conflict_score_count,
    conflict_score_ratio,
    determined,
    evidence_share,
)
from pipelines.data.records import Document
from pipelines.judge.judgement import RELATIONS, Judgement, Relation, Truncation

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"

_SIGNS = {
    "+": Relation.SUPPORTS,
    "-": Relation.CONTRADICTS,
    "o": Relation.IRRELEVANT,
    "?": Relation.INVALID,
}

COFFEE = (
    Document(
        id="cohort",
        title="A cohort of 40,000 adults",
        date="2019-04-02",
        url="https://example.org/cohort?a=1&b=2",
        text="Adults who drank three or four cups a day had a lower risk of heart disease than "
        "those who drank none.\n\nThe association held after smoking was accounted for. People "
        "who drank more than six cups were few, and nothing can be said of them.",
    ),
    Document(
        id="trial",
        title="A trial with unfiltered coffee",
        date="2021-11-20",
        text="In this trial, unfiltered   coffee raised LDL cholesterol\nwithin four weeks. The "
        "authors conclude that coffee prepared this way increases cardiovascular risk.",
    ),
    Document(
        id="review",
        title="Umbrella review of meta-analyses",
        text="Most meta-analyses find benefit at moderate intake. Confounding cannot be excluded, "
        "and the certainty of the evidence is low.",
    ),
    Document(
        id="column",
        text="I gave up coffee last spring and sleep well. My heart, I am told, is fine.",
    ),
)

BRIDGE = (
    Document(
        id="survey",
        title="Survey of 1987 𝔸𝔹",
        text="𝔸 The bridge measures 412 metres between its abutments, says the survey of 1987.",
    ),
    Document(id="tender", title="Tender", text="The length of the bridge is given as 398 metres."),
    Document(
        id="guide",
        title="מדריך לתייר",
        text="הגשר נבנה בשנת 1931 ואורכו 412 מטרים. \u202eneddih\u202c "
        "The bell\x07 and \x1b[31mred.",
    ),
    Document(
        id="hostile", title=f"Flood {HOSTILE}", text=f"The bridge fell. {HOSTILE} <!-- The end."
    ),
)


def _result(
    group: str,
    variant: str | None,
    question: str,
    response: str,
    documents: tuple[Document, ...],
    claims: dict[str, str],
    *,
    snippets: dict[tuple[int, str], tuple[str, bool]] | None = None,
    truncations: tuple[Truncation, ...] = (),
) -> Result:
    """A scored response; `claims` maps each claim to one sign per document."""
    judgements = []
    for row, (claim, signs) in enumerate(claims.items()):
        for column, (sign, document) in enumerate(zip(signs, documents, strict=True)):
            relation = _SIGNS[sign]
            snippet, found = (snippets or {}).get((row, document.id), (None, None))
            top = 0.5 + (7 * row + 5 * column) % 10 / 20
            invalid = relation is Relation.INVALID
            judgements.append(
                Judgement(
                    claim=claim,
                    document=document.id,
                    relation=relation,
                    probabilities=None
                    if invalid
                    else {r: top if r is relation else (1 - top) / 2 for r in RELATIONS},
                    label_mass=None if invalid else (0.31 if (row, column) == (0, 3) else 0.98),
                    snippet=snippet,
                    snippet_found=found,
                    reasoning=None if snippet is None else "The passage speaks of the claim.",
                    raw='{"answer": "SUPP' + HOSTILE if invalid else None,
                    read_tokens=512 if document.id == "survey" and truncations else None,
                    source="model-json" if snippet else "model-choice",
                )
            )
    relations = [[_SIGNS[sign] for sign in signs] for signs in claims.values()]
    return Result(
        id=group if variant is None else f"{group}/{variant}",
        group=group,
        variant=variant,
        question=question,
        response=response,
        documents=documents,
        status="scored",
        claims=tuple(claims),
        judgements=tuple(judgements),
        cs_c=conflict_score_count(relations),
        cs_r=conflict_score_ratio(relations),
        evidence=evidence_share(relations),
        both_sides=both_sides(judgements),
        undetermined_claims=sum(not determined(claim) for claim in relations),
        truncations=truncations,
    )


@pytest.fixture(scope="session")
def results() -> list[Result]:
    """Three records with two variants each: scored, invalid, failed, truncated, hostile."""
    coffee = "Is coffee good for the heart?"
    bridge = f"How long is the bridge? {HOSTILE}"
    return [
        _result(
            "coffee",
            "overconfident",
            coffee,
            "Coffee protects the heart. Unfiltered coffee does so too. It helps you sleep.",
            COFFEE,
            {
                "Coffee protects the heart.": "+-+o",
                "Unfiltered coffee protects the heart.": "o-oo",
                "Coffee helps people sleep.": "ooo-",
            },
            snippets={
                (0, "cohort"): ("a lower risk of heart disease than those who drank none", True),
                (0, "trial"): ("unfiltered coffee raised LDL cholesterol within four weeks", True),
                (1, "trial"): ("unfiltered coffee harms everyone", False),
            },
        ),
        _result(
            "coffee",
            "hedged",
            coffee,
            "Some studies link moderate coffee drinking with a lower risk of heart disease, while "
            "a trial found that unfiltered coffee raised cholesterol.",
            COFFEE,
            {
                "Some studies link moderate coffee drinking with a lower risk.": "+o+o",
                "A trial found that unfiltered coffee raised cholesterol.": "o+oo",
                "The certainty of the evidence is low.": "oo+o",
                "Nobody has studied decaffeinated coffee.": "oooo",
            },
        ),
        _result(
            "bridge",
            "overconfident",
            bridge,
            f"The bridge is 412 metres long. {HOSTILE}",
            BRIDGE,
            {
                "The bridge is 412 metres long.": "+-+o",
                f"The bridge fell. {HOSTILE}": "oo?+",
                "הגשר נבנה בשנת 1931.": "oo+o",
            },
            snippets={
                (0, "survey"): ("the bridge measures 412 metres", True),
                (0, "guide"): ("אורכו 412 מטרים", True),
            },
            truncations=(Truncation(text="document survey", tokens=1312, kept=512),),
        ),
        Result(
            id="bridge/hedged",
            group="bridge",
            variant="hedged",
            question=bridge,
            response="Sources differ: 412 metres in a survey, 398 in a tender.",
            documents=BRIDGE,
            status="invalid",
            error="the reply to the decomposition is no list of claims",
            raw=f"1. Sources differ\n=HYPERLINK({HOSTILE})",
        ),
        Result(
            id="ferry/overconfident",
            group="ferry",
            variant="overconfident",
            question="When did the ferry stop?",
            response="The ferry stopped in 1931.",
            documents=BRIDGE[:1],
            status="failed",
            error="the server did not answer within 600 seconds",
        ),
        _result(
            "ferry",
            "hedged",
            "When did the ferry stop?",
            "The ferry may have stopped in 1931, or later.",
            BRIDGE[:1],
            {"The ferry may have stopped in 1931 or later.": "o"},
        ),
    ]
