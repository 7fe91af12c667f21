"""ConflictScore end to end on a scripted endpoint: every number worked out by hand."""

import json
from typing import Any

import pytest
from scripted import Scripted, fenced_text, prompt_of

from pipelines.conflictscore.claims import NOTHING_GIVEN
from pipelines.conflictscore.pipeline import conflict_score, prepare
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.settings import Settings
from pipelines.conflictscore.tables import scores
from pipelines.data.records import Document, Example
from pipelines.errors import InputError
from pipelines.judge.judgement import Relation
from pipelines.report.table import records
from serving.client import Client

RESPONSE = "The bridge was opened in 1932. Crossing it costs two pounds."
DOCUMENTS = (
    Document(id="plaque", text="Opened 1932."),
    Document(id="archive", text="Traffic first crossed in May 1936.", title="Records"),
    Document(id="toll", text="The toll is two pounds."),
)
EXAMPLE = Example(id="e", group="e", response=RESPONSE, documents=DOCUMENTS)

CLAIMS = ("The bridge was opened in 1932.", "Crossing it costs two pounds.")
LABELS = {
    (CLAIMS[0], "Opened 1932."): "SUPPORTS",
    (CLAIMS[0], "Records\n\nTraffic first crossed in May 1936."): "CONTRADICTS",
    (CLAIMS[1], "The toll is two pounds."): "SUPPORTS",
}
ORDER = ["SUPPORTS", "CONTRADICTS", "IRRELEVANT"]


def known_label(request: dict[str, Any]) -> str:
    pair = fenced_text(request, "CLAIM"), fenced_text(request, "DOCUMENT")
    return LABELS.get(pair, "IRRELEVANT")


def by_the_book(request: dict[str, Any]) -> list[float]:
    return [0.8 if label == known_label(request) else 0.05 for label in ORDER]


@pytest.fixture
def scripted(endpoint: Scripted) -> Scripted:
    endpoint.weigh = by_the_book
    return endpoint


def given(*claims: str) -> Example:
    """The example with claims of its own."""
    return EXAMPLE.model_copy(update={"claims": claims})


async def score(client: Client, example: Example = EXAMPLE, **settings: Any) -> Result:
    return await conflict_score(example, prepare(Settings(**settings), client))


async def test_one_conflict_in_two_claims(client: Client, scripted: Scripted) -> None:
    """Claim 1: one document for, one against. Claim 2: one for. CS-C 1/2, CS-R (1/2 + 0) / 2."""
    result = await score(client)
    assert result.status == "scored"
    assert result.claims == CLAIMS
    assert [judgement.relation.value for judgement in result.judgements] == [
        *("SUPPORTS", "CONTRADICTS", "IRRELEVANT"),
        *("IRRELEVANT", "IRRELEVANT", "SUPPORTS"),
    ]
    assert (result.cs_c, result.cs_r, result.evidence) == (0.5, 0.25, 1.0)
    assert result.both_sides == pytest.approx(0.05 / 0.85)  # of the archive, which denies
    first = result.judgements[0]
    assert first.confidence == pytest.approx(0.8 / 0.9)
    assert first.label_mass == pytest.approx(0.9)
    assert len(scripted.requests) == 1 + 2 * 3


async def test_together_mode_asks_once_per_claim(client: Client, scripted: Scripted) -> None:
    scripted.reply = lambda _: json.dumps(
        {"document_1": "SUPPORTS", "document_2": "CONTRADICTS", "document_3": "CONTRADICTS"}
    )
    result = await score(client, given("A.", "B."), evidence="together")
    assert len(scripted.requests) == 2
    assert result.cs_c == 1.0
    assert result.cs_r == pytest.approx(2 / 3)


async def test_an_unreadable_judgement_leaves_its_claim_out(
    client: Client, scripted: Scripted
) -> None:
    broken = '{"snippet": "x", "reasoning": "and so on and so'

    def reply(request: dict[str, Any]) -> str:
        if fenced_text(request, "CLAIM") == "A." and "1936" in fenced_text(request, "DOCUMENT"):
            return broken
        return json.dumps({"snippet": "", "reasoning": "", "answer": "SUPPORTS"})

    scripted.reply = reply
    result = await score(client, given("A.", "B."), evidence="json")
    assert (result.status, result.undetermined_claims, result.unread_claims) == ("scored", 1, 1)
    assert (result.cs_c, result.cs_r) == (0.0, 0.0)
    (invalid,) = [each for each in result.judgements if each.relation is Relation.INVALID]
    assert (invalid.raw, invalid.document) == (broken, "archive")


@pytest.mark.parametrize("raw", ["I see two claims.", '{"claims": []}', '{"claims": [" "]}'])
async def test_an_unreadable_decomposition_is_kept_with_its_raw_text(
    raw: str, client: Client, scripted: Scripted
) -> None:
    scripted.reply = lambda _: raw
    result = await score(client)
    assert (result.status, result.raw) == ("invalid", raw)
    assert result.error is not None
    assert result.error.startswith("decomposition:")
    assert len(scripted.requests) == 1


async def test_repeated_salient_claims_take_no_place_of_k(
    client: Client, scripted: Scripted
) -> None:
    told = [CLAIMS[0], CLAIMS[0].upper(), CLAIMS[1], "It is old."]
    scripted.reply = lambda _: json.dumps({"claims": told})
    result = await score(client, claims="salient", k=2)
    assert (result.claims, result.claims_capped) == (CLAIMS, True)
    assert "2 most important" in prompt_of(scripted.requests[0])


async def test_what_there_is_nothing_to_score_of_says_so(client: Client) -> None:
    scorer = prepare(Settings(), client)
    found = await conflict_score(EXAMPLE.model_copy(update={"claims": ()}), scorer)
    assert (found.status, found.error) == ("invalid", NOTHING_GIVEN)
    with pytest.raises(InputError, match="'e' has no documents to judge it by"):
        await conflict_score(EXAMPLE.model_copy(update={"documents": ()}), scorer)


@pytest.mark.parametrize(
    "response",
    ["Cats purr. Dogs bark. Fish swim. Birds fly.", "猫会打呼噜并且喜欢睡觉。" * 3 + "狗会叫。"],
)
async def test_short_sentences_and_unspaced_scripts_keep_all_their_claims(
    response: str, client: Client, scripted: Scripted
) -> None:
    scripted.reply = lambda _: json.dumps({"claims": [f"claim {n}" for n in range(4)]})
    result = await score(client, EXAMPLE.model_copy(update={"response": response}))
    assert len(result.claims) == 4


async def test_what_the_model_copies_from_the_prompt_is_no_claim(
    client: Client, scripted: Scripted
) -> None:
    copied = ("The Eiffel Tower is in Paris.", "The Eiffel Tower carries antennas.")
    scripted.reply = lambda _: json.dumps({"claims": [copied[0], CLAIMS[0], copied[1]]})
    result = await score(client)
    assert (result.status, result.claims, result.copied_claims) == ("scored", CLAIMS[:1], copied)
    assert records(scores([result], "judge", "data"))[0]["copied_claims"] == 2
    scripted.reply = lambda _: json.dumps({"claims": copied})
    result = await score(client, EXAMPLE.model_copy(update={"response": "It opened late."}))
    assert (result.status, result.claims, result.copied_claims) == ("invalid", (), copied)
    assert result.error is not None
    assert "copied from the prompt's examples" in result.error
    assert "--claims sentences" in result.error


async def test_the_judge_is_told_the_documents_that_claims_name(
    client: Client, scripted: Scripted
) -> None:
    scripted.reply = lambda _: json.dumps({"snippet": "", "reasoning": "", "answer": "SUPPORTS"})
    await score(client, given("Document 2 gives another year."), evidence="json")
    shown = [fenced_text(request, "DOCUMENT") for request in scripted.requests]
    assert [text.split("\n")[0] for text in sorted(shown)] == [
        "Document 1",
        "Document 2: Records",
        "Document 3",
    ]
