"""Conflict types by a scripted language model: with an explanation, and with probabilities."""

import json
from pathlib import Path

import pytest
from conflicts_endpoint import asking, category, query

from pipelines.conflicts.settings import ConflictsSettings
from pipelines.conflicts.strategies import by_json, writer
from pipelines.conflicts.taxonomy import TAXONOMY, Prediction

SETTINGS = ConflictsSettings()
TYPES = [each.type for each in TAXONOMY]


async def explained(folder: Path, reply: str) -> Prediction:
    async with asking(folder, lambda _: reply) as (client, _):
        return await by_json(query(), writer(client, SETTINGS))


@pytest.mark.parametrize("number", range(1, 6))
async def test_every_number_is_its_type(number: int, tmp_path: Path) -> None:
    assert (await explained(tmp_path, category(number))).type is TYPES[number - 1]


@pytest.mark.parametrize(
    "reply",
    [
        category(0), category(6), category("outdated"), category("4"), category(True),
        category(4.5), category(None), json.dumps({"category": 4}), '{"explanation": "The dates',
        "Category 4", "",
    ],
)  # fmt: skip
async def test_a_reply_that_cannot_be_read_is_no_type(reply: str, tmp_path: Path) -> None:
    found = await explained(tmp_path, reply)
    assert found.type is None
    assert found.problem is not None
    assert "\n" not in found.problem
    assert found.raw == reply
