"""An evaluation over a data set: failures, formats, files."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from known_labels import KnownLabels
from pages import published

from pipelines.conrag import data as datasets
from pipelines.conrag.data import Query, ResponseSentence
from pipelines.conrag.evidence import Stance
from pipelines.conrag.experiment import EXPERIMENT, in_claims
from pipelines.conrag.pipeline import evaluate
from pipelines.conrag.result import ClaimResult
from pipelines.conrag.settings import ConragSettings, Scope
from pipelines.data.records import Document
from pipelines.experiment.execute import resume
from pipelines.experiment.experiment import Work
from pipelines.judge.judgement import Judgements, Relation
from pipelines.retrieval.index import Retrieved, build
from pipelines.runs.folder import RunFolder

PASSAGES = {
    "s1": "The bridge at Rowle was opened in 1932.",
    "s2": "In 1932 the mayor opened it to traffic.",
    "i1": "Ferries cross the river at Rowle.",
}
QUERY = Query(
    id="one",
    source="own",
    claim="The bridge was opened in 1932.",
    passages=tuple(Document(id=name, text=text) for name, text in PASSAGES.items()),
    stance=Stance.SUPPORT,
    disputed=False,
    evidence=(frozenset({"s1", "s2"}),),
    relations={"s1": Relation.SUPPORTS, "s2": Relation.SUPPORTS},
)
NEVER = "It is never judged."


class Labels(KnownLabels):
    """Refuses one claim."""

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        if NEVER in claims:
            return await KnownLabels(lambda _: Relation.INVALID)(claims, documents)
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


async def test_a_text_that_is_read_as_one_is_supported_with_the_taggers_probability() -> None:
    # The joined text has no known letter, so it is irrelevant with 0.8, and supporting with 0.1.
    for probability, support in ((0.8, 0.1), (None, 0.0)):
        result = await one(QUERY, KnownLabels(probability=probability))
        assert result.outcomes["RelRAG"].support == pytest.approx(support)


def test_a_claim_that_cannot_be_judged_is_counted_and_stops_nothing(tmp_path: Path) -> None:
    where = ResponseSentence(response="1", source="s1", tokens=5, hallucinated=2)
    bad = replace(QUERY, id="bad", claim=NEVER, response=where)
    results = evaluated(tmp_path, [bad, QUERY])
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
        search = in_claims(data, build(data.corpus, tmp_path / among), "bm25", among)
        found = search.find(data.queries[0], 20)
        assert sum("1932" in one.passage.text for one in found) == count
