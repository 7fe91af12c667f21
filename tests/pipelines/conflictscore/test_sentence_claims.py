import json
from pathlib import Path
from typing import Any

import pytest
from tagging import ScriptedTagger, folder_of

from pipelines.conflictscore.claims import (
    BARE,
    DECLINED,
    NOTHING_GIVEN,
    NOTHING_SAID,
    distinct,
    sentence_claims,
)
from pipelines.conflictscore.pipeline import conflict_score, prepare
from pipelines.conflictscore.settings import ClaimSource, Settings
from pipelines.data.records import Document, Example

FILE = Path(__file__).parents[2] / "texts" / "claims.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text("utf-8").split("\n") if line]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["kind"])
def test_what_is_a_claim(row: dict[str, Any]) -> None:
    assert list(sentence_claims(row["text"])) == row["claims"]


def test_repeated_and_empty_claims_are_left_out() -> None:
    assert distinct(["A b.", " a  B. ", "", "---", "C."]) == ("A b.", "C.")


@pytest.mark.parametrize(
    ("response", "claims", "source", "why"),
    [
        ("...", None, "sentences", NOTHING_SAID),
        ("🎉 --- [1]", None, "whole", NOTHING_SAID),
        ("I don't know. [1]", None, "whole", DECLINED),
        ("I don't know. Please ask again.", None, "sentences", DECLINED),
        ("Yes.", None, "sentences", BARE),
        ("It rains.", ("---",), "atomic", NOTHING_GIVEN),
    ],
)
async def test_a_response_that_says_nothing_is_invalid_and_says_why(
    response: str, claims: tuple[str, ...] | None, source: ClaimSource, why: str
) -> None:
    tagger = ScriptedTagger()
    documents = (Document(id="d", text="It rains."),)
    example = Example(id="e", group="e", response=response, documents=documents, claims=claims)
    scorer = prepare(Settings(judge="tagger", claims=source), tagger=folder_of(tagger))
    result = await conflict_score(example, scorer)
    assert (result.status, result.error, result.claims) == ("invalid", why, ())
    assert not tagger.batches
