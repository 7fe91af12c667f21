"""The NLI judge: judgements, common batches, faults and cancellation."""

import asyncio
import threading
import time
from dataclasses import replace

import pytest
from tagging import REFUTE, SUPPORT, UNSURE, ScriptedTagger, by_table, folder_of

from nli.errors import TaggerError
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.judge import tagger as tagging
from pipelines.judge.judgement import RELATIONS, Judgements, Relation
from pipelines.judge.tagger import PAIRS_AT_ONCE, TaggerJudge, tagger_judge

PLAQUE = Document(id="plaque", text="Opened 1932. By the mayor.")
ARCHIVE = Document(id="archive", text="Crossed in 1936.", title="Records")
TABLE = {
    ("Opened 1932. By the mayor.", "A."): SUPPORT,
    ("Records\n\nCrossed in 1936.", "A."): REFUTE,
}


async def asked(judge: TaggerJudge, *claims: list[str]) -> list[Judgements | BaseException]:
    """Answers of calls at the same time, or what they raised."""
    calls = (judge(each, [PLAQUE]) for each in claims)
    return await asyncio.gather(*calls, return_exceptions=True)


async def test_judgements_by_claim_then_document_with_probability_and_rationale() -> None:
    tagger = ScriptedTagger(by_table(TABLE))
    labelled = await tagger_judge(folder_of(tagger))(["A.", "B."], [PLAQUE, ARCHIVE])
    assert [(j.claim, j.document, j.relation.value) for j in labelled.judgements] == [
        ("A.", "plaque", "SUPPORTS"),
        ("A.", "archive", "CONTRADICTS"),
        ("B.", "plaque", "IRRELEVANT"),
        ("B.", "archive", "IRRELEVANT"),
    ]
    first, second = labelled.judgements[:2]
    assert first.probabilities == dict(zip(RELATIONS, SUPPORT, strict=True))
    assert (first.snippet, first.snippet_found, first.source) == ("Opened 1932.", True, "tagger")
    assert second.snippet == "Records\n\nCrossed in 1936."  # the title is read with the text
    assert first.label_mass is None
    assert labelled.truncations == ()


async def test_a_claim_of_several_views_is_judged_view_by_view() -> None:
    """ConflictScore, section 3: who supports one of the views supports the claim."""
    table = {
        ("Opened 1932. By the mayor.", "it opened in 1932"): SUPPORT,
        ("Opened 1932. By the mayor.", "it opened in 1936"): REFUTE,
        ("Opened 1932. By the mayor.", "it opened in 1940"): REFUTE,
    }
    tagger = ScriptedTagger(by_table(table))
    judge = tagger_judge(folder_of(tagger))
    said = "The guide says that it opened in {}, but the study says that it opened in {}."
    claims = [said.format(1936, 1932), said.format(1936, 1940), said.format(1950, 1960)]
    labelled = await judge(claims, [PLAQUE])
    relations = [judgement.relation.value for judgement in labelled.judgements]
    assert relations == ["SUPPORTS", "CONTRADICTS", "IRRELEVANT"]
    assert [judgement.claim for judgement in labelled.judgements] == claims
    assert judge.pairs_tagged == len(claims)


async def test_calls_at_the_same_time_share_a_batch_in_another_thread() -> None:
    tagger = ScriptedTagger(by_table(TABLE), delay_s=0.05)
    judge = tagger_judge(folder_of(tagger))
    answers = await asyncio.gather(*(judge([f"{n}.", "A."], [PLAQUE]) for n in range(30)))
    assert tagger.loads == 1
    assert len(tagger.batches) == 1
    assert [answer.judgements[0].claim for answer in answers] == [f"{n}." for n in range(30)]
    assert all(answer.judgements[1].relation is Relation.SUPPORTS for answer in answers)
    assert threading.main_thread().name not in tagger.threads
    assert judge.pairs_tagged == 60


async def test_a_batch_has_a_bound_and_a_call_is_never_torn() -> None:
    tagger = ScriptedTagger()
    judge = tagger_judge(folder_of(tagger))
    sizes = [PAIRS_AT_ONCE - 1, 1, 1, PAIRS_AT_ONCE + 5]
    claims = [[f"{call}-{n}." for n in range(size)] for call, size in enumerate(sizes)]
    answers = await asyncio.gather(*(judge(each, [PLAQUE]) for each in claims))
    assert [len(answer.judgements) for answer in answers] == sizes
    assert [len(batch) for batch in tagger.batches] == [PAIRS_AT_ONCE, 1, PAIRS_AT_ONCE + 5]


async def test_a_claim_that_does_not_fit_costs_itself_alone() -> None:
    tagger = ScriptedTagger(by_table(TABLE), too_long=("long",))
    judge = tagger_judge(folder_of(tagger))
    answers = await asyncio.gather(
        *(judge(claims, [PLAQUE, ARCHIVE]) for claims in (["A."], ["long", "A."], ["C."]))
    )
    first, second, third = (answer.judgements for answer in answers)
    assert second[2:] == first
    assert [each.relation for each in third] == [Relation.IRRELEVANT] * 2
    assert [each.relation for each in second[:2]] == [Relation.INVALID] * 2
    assert {each.refusal for each in second} == {"'long' is too long", None}
    assert len(tagger.batches) == 1


async def test_a_tagger_that_cannot_be_loaded_fails_all_and_is_tried_again() -> None:
    fine = ScriptedTagger()
    tries = []

    def load() -> ScriptedTagger:
        tries.append(1)
        if len(tries) == 1:
            raise TaggerError("no weights")
        return fine

    judge = TaggerJudge("tagger x", load)
    answers = await asked(judge, ["A."], ["B."])
    assert [(type(answer), str(answer)) for answer in answers] == [(InputError, "no weights")] * 2
    await judge(["A."], [PLAQUE])
    assert len(tries) == 2


async def test_a_call_that_is_given_up_takes_no_answer_from_another() -> None:
    tagger = ScriptedTagger(delay_s=0.2)
    judge = tagger_judge(folder_of(tagger))
    kept = asyncio.create_task(judge(["A."], [PLAQUE]))
    given_up = asyncio.create_task(judge(["B."], [PLAQUE]))
    await asyncio.sleep(0.05)
    never_tagged = asyncio.create_task(judge(["C."], [PLAQUE]))
    await asyncio.sleep(0)
    given_up.cancel()
    never_tagged.cancel()
    assert len((await kept).judgements) == 1
    await asyncio.gather(given_up, never_tagged, return_exceptions=True)
    assert given_up.cancelled()
    assert never_tagged.cancelled()
    assert [pair.hypothesis for batch in tagger.batches for pair in batch] == ["A.", "B."]


def test_an_interrupted_program_does_not_wait_for_its_batch() -> None:
    tagger = ScriptedTagger(delay_s=20)
    judge = tagger_judge(folder_of(tagger))

    async def interrupted() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(judge(["A."], [PLAQUE]), 0.1)

    begun = time.monotonic()
    asyncio.run(interrupted())
    assert time.monotonic() - begun < 6  # the batch's present step, of two seconds, is finished


def test_the_identity_says_what_decides_and_how_the_tagger_reads_and_computes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = folder_of(ScriptedTagger())
    assert folder_of(ScriptedTagger(lambda _: UNSURE)).identity == folder.identity
    assert tagger_judge(folder).identity == folder.identity
    seen = {folder.identity, replace(folder, precision="bf16").identity}
    seen.add(folder_of(ScriptedTagger(), digest="other").identity)
    with monkeypatch.context() as patch:
        patch.setattr(tagging, "READING_RULES", -1)
        seen.add(folder.identity)
    with monkeypatch.context() as patch:
        patch.setattr("importlib.metadata.version", lambda _: "0.0")
        seen.add(folder.identity)
    assert len(seen) == 5
