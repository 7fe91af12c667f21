"""The first screen of a report: what each experiment found, against figures made by hand."""

from pathlib import Path
from typing import Any

import pytest
from browser import Read
from pages import Reading, safe

from pipelines.conflicts.prediction import Prediction
from pipelines.conflicts.question import Query, Source
from pipelines.conflicts.result import QueryResult
from pipelines.conflicts.tables.every import all_tables as conflicts_tables
from pipelines.conflicts.tables.scores import Part
from pipelines.conflicts.taxonomy import ConflictType
from pipelines.conflicts.view import finding as typed
from pipelines.conflictscore.detection.decisions import detectors
from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.conflictscore.detection.tables import SIDE_BY_SIDE, judges
from pipelines.conflictscore.detection.tables import all_tables as detection_tables
from pipelines.conflictscore.detection.view import finding as detected
from pipelines.conflictscore.detection.view import view as detection_view
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.tables import failures
from pipelines.conflictscore.view import finding as scored
from pipelines.conrag.methods import METHODS
from pipelines.conrag.outcome import Outcome as Judged
from pipelines.conrag.result import ClaimResult, Passage
from pipelines.conrag.stance import Stance
from pipelines.conrag.view import finding as compared
from pipelines.data.jsonl import Skipped
from pipelines.data.records import Document
from pipelines.evidence.examples import ContestedClaim
from pipelines.evidence.judgement import Judgement, Relation
from pipelines.madam_rag.methods import CONCATENATED, MADAM
from pipelines.madam_rag.question import GivenDocument, Question
from pipelines.madam_rag.result import Outcome, QuestionResult
from pipelines.madam_rag.transcript import Conclusion
from pipelines.madam_rag.view import finding as debated
from pipelines.metrics.estimate import Estimate
from pipelines.npov.areas import SALIENCE
from pipelines.npov.result import ROUGE, ErrorScores, NpovResult
from pipelines.npov.tables import all_tables as npov_tables
from pipelines.npov.view import finding as faithful
from pipelines.report import glance
from pipelines.report.explorer import ExperimentView, render
from pipelines.report.table import records

HOSTILE = "</li></section><script>alert(1)</script><img src=x onerror=alert(2)>"
LLM = {"name": "small-llm", "digest": "1" * 64, "engine": "vllm"}
TAGGER = {"name": "our-nli", "digest": "2" * 64, "engine": "cross-encoder bf16"}


def found(examples: int = 100, **changed: Any) -> glance.Finding:
    given: dict[str, Any] = {
        "question": "Is it so?",
        "data": "100 claims, claims.jsonl",
        "models": "judged by our-nli",
        "found": "Half of them are.",
    }
    return glance.Finding(examples=examples, **(given | changed))


def page_of(**findings: glance.Finding) -> str:
    """A page of experiments by these titles."""
    views = [ExperimentView(title.lower(), title, each) for title, each in findings.items()]
    return render("T", views, {})


def plain(text: str) -> str:
    """With common spaces, as people type them."""
    return text.replace("\u00a0", " ")


# Figures in words.


def test_shares_are_said_in_per_cent_with_their_interval() -> None:
    assert plain(glance.percent(Estimate(0.214, 0.119, 0.331, 28))) == "21 % [12 %, 33 %]"
    assert plain(glance.percent(Estimate(1.0, None, None, 1))) == "100 % (no interval)"
    assert plain(glance.percent(Estimate(0.0, 0.0, 0.0, 9))) == "0 % (all alike)"
    assert glance.percent(None) == "–"


def test_other_values_keep_two_decimals() -> None:
    assert plain(glance.figure(Estimate(0.6421, 0.42, 0.831, 28))) == "0.64 [0.42, 0.83]"
    # No line breaks within a figure.
    assert glance.percent(Estimate(0.5, 0.2, 0.8, 9)) == "50\u00a0% [20\u00a0%,\u00a080\u00a0%]"


def test_many_figures_are_cut_and_counted() -> None:
    half = Estimate(0.5, None, None, 1)
    said = plain(glance.with_figures([("a", half), ("b", None), ("c", half)], limit=2))
    assert said == "a 50 % (no interval); b –; and 1 more below"
    assert plain(glance.with_figures([("", half)], glance.figure)) == "0.50 (no interval)"
    assert glance.with_figures([]) == ""


def test_counts_and_lists_read_as_english() -> None:
    assert (glance.count(1, "query", "queries"), glance.count(2_000, "query", "queries")) == (
        "1 query",
        "2,000 queries",
    )
    assert (glance.joined([]), glance.joined("a"), glance.joined("aab"), glance.joined("abc")) == (
        "",
        "a",
        "a and b",
        "a, b and c",
    )
    assert glance.failed((0, "lost: {}"), (2, "{} of 9 failed"), (1_000, "cut: {}")) == (
        "2 of 9 failed; cut: 1,000"
    )
    assert glance.failed((0, "lost: {}")) == "none"


def test_models_are_named_with_their_part() -> None:
    assert (glance.model_name(LLM), glance.model_name(TAGGER)) == (
        "small-llm",
        "our-nli (a tagger)",
    )
    assert glance.judges({"model": LLM}) == "small-llm"
    cascade = {"model": LLM, "tagger": TAGGER, "cascade": {}}
    assert glance.judges(cascade) == "our-nli (a tagger) where it is sure, else small-llm"


def test_few_examples_are_those_behind_the_weakest_figure() -> None:
    assert glance.fewest([Estimate(0.5, None, None, 40), None, Estimate(0.5, None, None, 7)]) == 7
    assert glance.fewest([None]) == 0
    assert glance.rests_on_few([found(), found(examples=glance.FEW - 1)])
    assert not glance.rests_on_few([found(), found(examples=glance.FEW), found(examples=0)])


# The page.


def test_the_first_screen_says_what_each_experiment_found() -> None:
    page = page_of(One=found(beside="Always: F1 0.67."), Two=found(failed="2 of 9"))
    read = Read(page)
    assert read.text.count("For comparison") == 1
    for part in ("Is it so?", "100 claims, claims.jsonl", "Always: F1 0.67.", "2 of 9", "none"):
        assert part in read.text
    assert '<h3><a href="#two">Two</a></h3>' in page
    assert glance.FEW_EXAMPLES not in page


def test_few_examples_are_said_once_below_the_summary() -> None:
    few = page_of(One=found(examples=8), Two=found(examples=9))
    assert few.count(glance.FEW_EXAMPLES) == 1
    assert few.index(glance.FEW_EXAMPLES) > few.rindex('class="finding"')


def test_hostile_text_stays_text() -> None:
    names = ("question", "data", "models", "found", "beside", "failed")
    texts: dict[str, Any] = dict.fromkeys(names, f"\x1b{HOSTILE}")
    page = page_of(**{HOSTILE: found(**texts)})
    assert safe(page).text.count("alert(1)") == 8
    assert "\x1b" not in page


# What each experiment says.


def test_conflictscore_says_how_many_claims_are_in_conflict(results: list[Result]) -> None:
    settings = {"claims": "atomic", "labeller": "nli"}
    config = {
        "data": {"name": "d.jsonl"},
        "settings": settings,
        "model": TAGGER,
        "tagger": TAGGER,
        "splitter": LLM,
    }
    made = scored(results, config, [Skipped(3, "no JSON")])
    assert made.data == "6 responses to 3 questions, d.jsonl"
    assert made.models == (
        "claims, where the data bring none, split by small-llm; claims judged by our-nli (a tagger)"
    )
    # Overconfident: 1 of 3 and 1 of 2 claims. Hedged: none of 4 and none of 1.
    assert "'overconfident' 42 % [" in plain(made.found)
    assert "'hedged' 0 % (all alike). Lower is better." in plain(made.found)
    assert made.failed == (
        "bad records skipped: 1; 2 of 6 responses could not be scored; "
        "judgements that could not be read: 1; texts read only in part: 1"
    )
    assert made.examples == 2


def test_conflictscore_without_a_splitter_or_variants(results: list[Result]) -> None:
    one = [results[0].model_copy(update={"variant": None})]
    config = {"data": {"name": "d"}, "settings": {"claims": "whole", "labeller": "llm"}}
    made = scored(one, config | {"model": LLM, "writer": LLM})
    assert made.models == "responses written by small-llm; claims judged by small-llm"
    assert "on average: 33 % (no interval)." in plain(made.found)
    assert made.failed == "none"


def test_a_capped_list_of_one_claim_reads_well(results: list[Result]) -> None:
    capped = results[0].model_copy(update={"claims": ("Only.",), "claims_capped": True})
    assert "the list ended at 1 claim, repetitions aside" in str(failures([capped]).rows)
    several = results[0].model_copy(update={"claims_capped": True})
    assert "the list ended at 3 claims, repetitions aside" in str(failures([several]).rows)


def decision(
    name: str, truth: bool, said: bool | None, status: str = "labelled"
) -> DetectionResult:
    relations = {True: "SC", False: "SI", None: "SX"}[said]
    documents = tuple(Document(id=f"d{n}", text="A text.") for n in range(2))
    of = {"S": Relation.SUPPORTS, "C": Relation.CONTRADICTS, "I": Relation.IRRELEVANT}
    judgements = tuple(
        Judgement(
            claim=name,
            document=document.id,
            relation=of.get(letter, Relation.INVALID),
            source="made",
        )
        for document, letter in zip(documents, relations, strict=True)
    )
    return DetectionResult.model_validate(
        {
            "id": name,
            "example": ContestedClaim(
                id=name,
                source="made",
                claim=f"Claim\n {name}.",
                documents=documents,
                conflict=truth,
            ),
            "status": status,
            "judgements": () if status == "failed" else judgements,
            "conflict": said,
        }
    )


TWO = {
    "nli: our-nli": [
        decision("a", True, True),
        decision("b", False, True),
        decision("c", True, True),
        decision("d", False, False),
        decision("alone", True, False),
    ],
    "llm-choice: small-llm": [
        decision("d", False, True),
        decision("c", True, None, "failed"),
        decision("b", False, None, "invalid"),
        decision("a", True, True),
    ],
}


def test_judges_stand_side_by_side() -> None:
    table = judges(detectors(TWO))
    assert [column.title for column in table.columns] == [
        "Claim",
        "Documents disagree",
        "nli: our-nli",
        "llm-choice: small-llm",
    ]
    assert table.rows == (
        ("Claim a.", "yes", "yes", "yes"),
        ("Claim b.", "no", "yes", "unreadable"),
        ("Claim c.", "yes", "yes", "failed"),
        ("Claim d.", "no", "no", "yes"),
    )
    # Wilson of 3 of 4 and of 1 of 2.
    assert table.notes[0] == "nli: our-nli: 3 of 4 right, 0.75 [0.30, 0.95]."
    assert table.notes[1] == (
        "llm-choice: small-llm: 1 of 2 right, 0.50 [0.09, 0.91]. 2 unreadable or failed, in "
        "neither number."
    )


@pytest.mark.parametrize(
    "alone",
    [
        {"nli": TWO["nli: our-nli"]},
        {"nli": TWO["nli: our-nli"][4:], "llm": TWO["llm-choice: small-llm"]},
        {},
    ],
)
def test_without_common_examples_there_is_no_such_table(
    alone: dict[str, list[DetectionResult]],
) -> None:
    assert judges(detectors(alone)).rows == ()
    made = detection_tables(alone, "d")
    assert "conflict_detection_judges" not in [table.name for table in made]
    shown = detection_view(alone, made, "d", [{"model": LLM}])
    assert "Judges side by side" not in [part.title for part in shown.parts]
    assert "judged," not in detected(alone, made, "d", [{"model": LLM}]).found


def test_a_long_table_of_judges_is_cut() -> None:
    many = [decision(str(n), True, True) for n in range(SIDE_BY_SIDE + 5)]
    table = judges(detectors({"one": many, "other": many}))
    assert len(table.rows) == SIDE_BY_SIDE
    assert f"the first {SIDE_BY_SIDE} of {SIDE_BY_SIDE + 5}" in table.caption
    assert table.notes[0].startswith("one: 45 of 45 right")


def test_the_page_shows_judges_side_by_side() -> None:
    made = detection_tables(TWO, "d")
    shown = detection_view(TWO, made, "d", [{"model": LLM}])
    assert "Judges side by side" in [part.title for part in shown.parts]
    table = next(each for each in made if each.name == "conflict_detection_judges")
    assert [row["by nli: our-nli"] for row in records(table)] == ["yes", "yes", "yes", "no"]


def test_conflict_detection_says_how_judges_compare() -> None:
    made = detected(TWO, detection_tables(TWO, "d"), "d", [{"model": TAGGER}, {"model": LLM}])
    assert made.data == "5 claims with their documents, d"
    assert made.models == "documents labelled by our-nli (a tagger) and small-llm"
    # The tagger: 2 found, 1 invented, 1 missed. The other: 1 found, 1 invented.
    assert "our-nli (5 claims) 0.67 [" in made.found
    assert "small-llm (4 claims) 0.67 [" in made.found
    assert made.found.endswith(
        "On the 4 claims that both judged, our-nli is right on 3, small-llm on 1 (2 undecided)."
    )
    # 3 of 5 claims have a conflict: 2 * 3 / (2 * 3 + 2).
    assert made.beside == "Always saying 'conflict': F1 0.75."
    assert made.failed == (
        "claims that could not be judged: 1; claims with a label that could not be read: 1"
    )
    assert made.examples == 2


def test_labellers_of_one_model_keep_their_own_names() -> None:
    same = {"llm-choice: m": TWO["nli: our-nli"], "llm-json: m": TWO["nli: our-nli"]}
    made = detected(same, detection_tables(same, "d"), "d", [{"model": LLM}] * 2)
    assert "llm-choice: m 0.67 [" in made.found
    assert made.found.endswith("llm-choice: m is right on 3, llm-json: m on 3.")


def test_conrag_stands_beside_the_best_simpler_method() -> None:
    def claim(name: str, right: set[str]) -> ClaimResult:
        outcomes = {
            method: Judged(
                stance=Stance.SUPPORT if method in right else Stance.REFUTE,
                packet=(),
                statements=(),
            )
            for method in METHODS
        }
        return ClaimResult(
            id=name,
            claim="It is.",
            status="answered",
            stance=Stance.SUPPORT,
            disputed=None,
            passages=(said,),
            outcomes=outcomes,
        )

    said = Passage(
        id="p", title=None, text="It is.", relevance=1, tag=Relation.SUPPORTS, confidence=0.9,
        truth=Relation.SUPPORTS,
    )  # fmt: skip
    own = [
        claim("1", {"ConRAG", "CiteRAG", "Oracle"}),
        claim("2", {"NLI-RAG", "CiteRAG", "Oracle"}),
        ClaimResult(id="3", claim="?", status="failed", stance=None, disputed=None, error="long"),
    ]
    config = {"model": TAGGER, "data": {"name": "c.jsonl"}, "writer": LLM}
    made = compared({"claims": own}, {"claims": config})
    assert made.data == "3 claims, c.jsonl"
    assert made.models == "passages labelled by our-nli (a tagger); answers written by small-llm"
    assert ": 50 % [9 %, 91 %]." in plain(made.found)
    assert plain(made.beside) == (
        "Best simpler method: CiteRAG 100 % [34 %, 100 %]. "
        "Knowing what every passage says: 100 % [34 %, 100 %]."
    )
    assert (made.failed, made.examples) == ("claims that failed: 1", 2)
    assert [(name, each and each.value) for name, each in made.figures] == [("ConRAG", 0.5)]
    assert [(name, each and each.value) for name, each in made.baselines] == [("CiteRAG", 1)]
    assert compared({"claims": []}, {"claims": config}).found == "–"


def test_madam_rag_stands_beside_the_concatenated_prompt() -> None:
    asked = Question(
        id="q",
        question="Which one?",
        documents=(GivenDocument(document=Document(id="d", text="A text."), kind=None),),
        gold=(("Paris",),),
        wrong=("Lyon",),
    )

    def answered(name: str, madam: Conclusion, prompt: Conclusion) -> QuestionResult:
        return QuestionResult(
            id=name,
            asked=asked,
            status="answered",
            outcomes={
                MADAM: Outcome(concluded=madam, calls=6),
                CONCATENATED: Outcome(concluded=prompt, calls=1),
            },
        )

    right, wrong = Conclusion(answers=("Paris",)), Conclusion(answers=("Paris", "Lyon"))
    unread = Conclusion(problem="no list", raw="I think")
    own = [answered("1", right, wrong), answered("2", wrong, wrong), answered("3", right, unread)]
    config: dict[str, Any] = {"model": LLM, "data": {"name": "ramdocs.jsonl"}}
    made = debated({"ramdocs": own}, {"ramdocs": config})
    assert made.data == "3 questions, ramdocs.jsonl"
    assert made.models == "all answers written by small-llm"
    assert ": 67 % [21 %, 94 %]." in plain(made.found)
    assert plain(made.beside) == "Concatenated prompt 0 % [0 %, 66 %]."
    assert made.failed == "replies of all methods that could not be read: 1 of 6"
    assert made.examples == 3
    told = debated({"ramdocs": own}, {"ramdocs": config | {"tagger": TAGGER}})
    assert told.models.endswith("; reliability of documents judged by our-nli (a tagger)")
    assert debated({}, {}).found.endswith("no wrong one: –.")


def test_conflicts_stands_beside_the_most_frequent_type() -> None:
    old, new = ConflictType.OUTDATED, ConflictType.NO_CONFLICT

    def query(name: str, gold: ConflictType, by: ConflictType) -> QueryResult:
        asked = Query(
            id=name, query="How many?", sources=(Source(text="A text."),), conflict_type=gold
        )
        return QueryResult(
            id=name,
            asked=asked,
            status="answered",
            predictions={"yes-no": Prediction(type=by, by="yes-no")},
        )

    own = [query("1", old, old), query("2", old, old), query("3", new, old), query("4", new, new)]
    own.append(own[0].model_copy(update={"id": "5", "status": "failed", "error": "too long"}))
    config = {"model": TAGGER, "tagger": TAGGER, "data": {"name": "c.jsonl"}, "judge": LLM}
    made = typed({"run": own}, conflicts_tables([Part("run", own)]), {"run": config})
    assert made.data == "5 queries, c.jsonl"
    assert made.models == "sources read by our-nli (a tagger); answers judged by small-llm"
    assert plain(made.found) == (
        "Type of conflict named rightly: opinions if asked for yes or no 75 % [30 %, 95 %]."
    )
    assert "always the most frequent type 60 % [" in plain(made.beside)
    assert (made.failed, made.examples) == ("1 of 5 queries failed", 4)


def test_npov_stands_beside_rouge() -> None:
    def response(name: str, lost: bool, salience: float, rouge: float) -> NpovResult:
        return NpovResult(
            id=f"paraphrased/{name}",
            test_set="paraphrased",
            source=f"paraphrased/{name}",
            hallucination="none",
            coverage="full" if lost else "none",
            overlap=0.2,
            detectors={
                SALIENCE: ErrorScores(coverage=salience),
                ROUGE: ErrorScores(coverage=rouge),
            },
        )

    own = [
        response("a", False, 0.1, 0.5),
        response("b", False, 0.6, 0.2),
        response("c", True, 0.5, 0.9),
        response("d", True, 0.9, 0.5),
    ]
    results = {"small": own}
    config = {"model": LLM, "detector": "salience", "data": {"name": "topics.jsonl"}}
    made = faithful(results, npov_tables(results), [config])
    assert made.data == "4 responses, topics.jsonl"
    assert made.models == "gradients of small-llm"
    # Of four pairs, salience has three in order; ROUGE three and a tie.
    assert "Arguments left out: Paraphrased synthetic 0.75 [" in made.found
    assert "Content added" not in made.found
    assert "Arguments left out: Paraphrased synthetic 0.88 [" in made.beside
    for drawn, how, area in ((made.figures, "", 0.75), (made.baselines, " by ROUGE", 0.875)):
        ((name, each),) = drawn
        assert (name, each and each.value) == (f"left out{how}: Paraphrased synthetic", area)
    assert (made.failed, made.examples) == ("none", 4)


def test_the_first_screen_fits_every_width(reading: Reading, tmp_path: Path) -> None:
    long = "a-model-with-a-name-that-nobody-would-want-to-read-aloud-" * 2
    made = page_of(One=found(models=long, data=long), **{long: found()}, Three=found())
    (tmp_path / "report.html").write_text(made)
    for width in (400, 1280, 1920):
        page = reading(tmp_path / "report.html", width=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.get_by_role("heading", name="Three").get_by_role("link").click()
        assert page.url.endswith("#three")
