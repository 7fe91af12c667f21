"""An evaluation over a data set: files, resuming, tables, page."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from known_labels import KnownLabels, TooLong
from pages import Reading, published
from playwright.sync_api import expect

from pipelines.conrag import data as datasets
from pipelines.conrag.data import Query
from pipelines.conrag.evidence import Stance
from pipelines.conrag.experiment import EXPERIMENT, in_claims
from pipelines.conrag.hallucination import ResponseSentence
from pipelines.conrag.metrics import Results
from pipelines.conrag.pipeline import evaluate
from pipelines.conrag.result import ClaimResult
from pipelines.conrag.settings import ConragSettings, Scope
from pipelines.data.records import Document
from pipelines.experiment.execute import resume
from pipelines.experiment.experiment import Work
from pipelines.judge.judgement import Judgements, Relation
from pipelines.report.explorer import render
from pipelines.retrieval.index import Retrieved
from pipelines.runs.folder import RunFolder

S, C, I, X = Relation  # noqa: E741
PASSAGES = {
    "s1": "The bridge at Rowle was opened in 1932.",
    "s2": "In 1932 the mayor opened it to traffic.",
    "c1": "The bridge was not opened before 1936.",
    "i1": "Ferries cross the river at Rowle.",
    "x1": "The bridge is of stone.",
}


def query(name: str, *ids: str, stance: Stance | None, disputed: bool | None = None) -> Query:
    passages = tuple(Document(id=each, text=PASSAGES[each]) for each in ids)
    sides = {each: {"s": S, "c": C}[each[0]] for each in ids if each[0] in "sc"}
    return Query(
        id=name,
        source="own",
        claim="The bridge was opened in 1932.",
        passages=passages,
        stance=stance,
        disputed=disputed,
        evidence=(frozenset(sides),) if sides else (),
        relations=sides,
    )


QUERIES = [
    query("one", "s1", "s2", "i1", stance=Stance.SUPPORT, disputed=False),
    query("two", "s1", "c1", "i1", stance=Stance.NOT_ENOUGH_INFO, disputed=True),
    query("three", "c1", "i1", "x1", stance=None),
]
NEVER = "It is never judged."


class Labels(KnownLabels):
    """Refuses one claim."""

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        if NEVER in claims:
            return await TooLong()(claims, documents)
        return await super().__call__(claims, documents)


async def one(each: Query, labels: KnownLabels | None = None) -> ClaimResult:
    found = [Retrieved(passage, 1 - n / 10, 1.0) for n, passage in enumerate(each.passages)]
    return await evaluate(each, found, labels or Labels(), ConragSettings())


def evaluated(folder: Path, queries: list[Query]) -> list[ClaimResult]:
    config = {"data": {"name": "own", "sha256": "0" * 64}}
    work: Work[Query, ClaimResult] = Work("conrag.claims", config, one)
    return asyncio.run(
        resume(EXPERIMENT, queries, work, RunFolder(folder), made_with={}, on_error="stop")
    )


CONFIG = {
    "model": {"name": "our-nli", "digest": "1" * 64},
    "data": {"name": "claims.jsonl"},
    "half": "all",
    "retrieval": {"method": "bm25", "among": "own"},
}


def rendered(results: Results) -> str:
    return render("ConRAG", [published(EXPERIMENT, results, CONFIG).view], {})


@pytest.fixture(scope="module", autouse=True)  # made before a browser keeps the event loop
def results(tmp_path_factory: pytest.TempPathFactory) -> list[ClaimResult]:
    return evaluated(tmp_path_factory.mktemp("run"), QUERIES)


async def test_a_text_that_is_read_as_one_is_supported_with_the_taggers_probability() -> None:
    # The joined text has no known letter, so it is irrelevant with 0.8, and supporting with 0.1.
    for probability, support in ((0.8, 0.1), (None, 0.0)):
        result = await one(QUERIES[0], KnownLabels(probability=probability))
        assert result.outcomes["RelRAG"].support == pytest.approx(support)


def test_a_claim_that_cannot_be_judged_is_counted_and_stops_nothing(tmp_path: Path) -> None:
    where = ResponseSentence(response="1", source="s1", tokens=5, hallucinated=2)
    bad = replace(QUERIES[0], id="bad", claim=NEVER, response=where)
    results = evaluated(tmp_path, [bad, QUERIES[0]])
    assert [(result.status, result.response) for result in results] == [
        ("failed", where),
        ("answered", None),
    ]
    *_, table = published(EXPERIMENT, {"own": results}, CONFIG).tables
    assert table.rows == (("own", "bad", "failed", f"'{NEVER}' is too long", None),)


def test_evidence_is_written_in_one_order() -> None:
    names = [f"s{number}" for number in range(40)]
    known = {"id": "a", "claim": "So.", "status": "answered", "stance": None, "disputed": None}
    result = ClaimResult.model_validate({**known, "evidence": [names[::-1]]})
    assert json.loads(result.model_dump_json())["evidence"] == [sorted(names)]


def claims_file(folder: Path) -> Path:
    example = {
        "id": "bridge", "source": "mine", "claim": "The bridge was opened in 1932.",
        "documents": [{"id": "a", "text": "Opened 1932."}, {"id": "b", "text": "Opened 1936."}],
        "relations": ["SUPPORTS", "CONTRADICTS"], "conflict": True,
    }  # fmt: skip
    quiet = example | {"id": "toll", "relations": ["IRRELEVANT", "CONTRADICTS"], "conflict": False}
    path = folder / "claims.jsonl"
    path.write_text(f"{json.dumps(example)}\n{json.dumps(quiet)}\n")
    return path


def test_claims_in_the_unified_format_have_the_stance_of_their_documents(tmp_path: Path) -> None:
    data = datasets.read("claims", claims_file(tmp_path))
    assert [query.stance for query in data.queries] == [Stance.NOT_ENOUGH_INFO, Stance.REFUTE]
    assert [query.disputed for query in data.queries] == [True, False]
    assert len({passage.id for passage in data.corpus}) == 4, "each has its own two"
    counts: dict[Scope, int] = {"own": 1, "all": 2}
    for among, count in counts.items():
        search = in_claims(data, tmp_path / among, method="bm25", among=among, embedder=None)
        found = search.find(data.queries[0], 20)
        assert sum("1932" in one.passage.text for one in found) == count


# In a browser; last, for it keeps the event loop.


def test_a_claim_is_opened_and_its_citations_lead_to_passages(
    reading: Reading, tmp_path: Path, results: list[ClaimResult]
) -> None:
    (tmp_path / "report.html").write_text(rendered({"own": results}))
    page = reading(tmp_path / "report.html", "#examples?experiment=conrag", width=400)
    page.get_by_role("combobox", name="Evidence").select_option("disputed")
    page.locator(".row a").click()
    card = page.locator(".card", has=page.get_by_role("heading", name="ConRAG", exact=True))
    expect(card).to_contain_text("✓ right")
    card.locator(".side-contradict .cite").click()
    passage = page.locator(".source", has_text="really contradicts")
    expect(passage.get_by_role("region")).to_have_text(PASSAGES["c1"])
    page.locator("summary", has_text="one part removed").click()
    expect(page.get_by_role("heading", name="w/o citation binding")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
