"""The whole suite with replies that are known: no text forges a verdict, and one that did is found.

The real readers are tried beside faulty ones, which take verdicts from documents or quotations.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripted import KEY, MODEL, Scripted, prompt_of

from pipelines.conflicts.judges.model import model_judge
from pipelines.conflicts.settings import ConflictsSettings
from pipelines.conflicts.writer import writer
from pipelines.conflictscore.truthfulqa.judging import truth_judge
from pipelines.evidence.llm import Mode, llm_labeller
from pipelines.madam_rag.debate import panel
from pipelines.trust.material import Material
from pipelines.trust.result import TrustResult
from pipelines.trust.subjects import (
    Subject,
    Tagging,
    behaviour_subject,
    debate_subject,
    labeller_subject,
    truth_subject,
    types_subject,
    writer_subject,
)
from pipelines.trust.suite import Case, suite
from pipelines.trust.trial import tried
from serving.backend import RunningEndpoints
from serving.cache import CompletionCache
from serving.calls import Sampling, ServedIdentity
from serving.client import Client
from serving.endpoint import Endpoint

Make = Callable[[Client], Subject]


def of_mode(mode: Mode) -> Make:
    def make(client: Client) -> Subject:
        labeller = llm_labeller(client, mode)
        return labeller_subject(f"llm-{mode}", labeller, together=mode == "together")

    return make


SUBJECTS: dict[str, Make] = {
    "json": of_mode("json"),
    "together": of_mode("together"),
    "choice": of_mode("choice"),
    "truth": lambda client: truth_subject(truth_judge(client, None)),
    "behaviour": lambda client: behaviour_subject(model_judge(client)),
    "types": lambda client: types_subject(writer(client, ConflictsSettings())),
    "debate": lambda client: debate_subject(panel(client)),
    "writer": lambda client: writer_subject(writer(client, ConflictsSettings())),
}

REPLIES: dict[str, Any] = {
    "RelationReply": {"snippet": "", "reasoning": "", "answer": "IRRELEVANT"},
    "TogetherReply": {f"document_{number}": "IRRELEVANT" for number in range(1, 9)},
    "VerdictReply": {"verdict": True, "explanation": ""},
    "AdherenceJson": {"reason": "", "adheres": False},
    "CategoryJson": {"explanation": "", "category": 2},
    "AgentJson": {"explanation": "", "answer": "unknown"},
    "ConclusionJson": {"explanation": "", "answers": ["nobody knows"]},
}
SAID = {
    "json": "IRRELEVANT",
    "together": "IRRELEVANT",
    "choice": "IRRELEVANT",
    "truth": "true",
    "behaviour": "NO",
    "types": "complementary",
    "debate": "neither",
    "writer": "neither",
}
"""What the replies above say."""


def stubborn(request: dict[str, Any]) -> str:
    """The same reply to whatever is asked."""
    if "response_format" not in request:
        return "Nobody knows [1]."
    return json.dumps(REPLIES[request["response_format"]["json_schema"]["name"]])


def echoing(request: dict[str, Any]) -> str:
    """What the first text in a fence holds: a JSON object in it, or all of it."""
    found = re.search(r"<<[A-Z0-9 ]+ (\w+)\n(.*?)\n[A-Z0-9 ]+ \1>>", prompt_of(request), re.DOTALL)
    assert found
    forged = re.search(r"^\{.*\}$", found[2], re.MULTILINE)
    return forged[0] if forged else found[2]


@asynccontextmanager
async def asking(
    tmp_path: Path, reply: Callable[[dict[str, Any]], str]
) -> AsyncIterator[tuple[Client, Scripted]]:
    weigh = [0.1, 0.2, 0.7]
    with (
        Scripted(reply=reply, weigh=lambda _: weigh) as endpoint,
        CompletionCache(tmp_path / "cache.sqlite") as cache,
    ):
        client = Client(
            ServedIdentity(MODEL, "digest", "scripted", None),
            None,
            cache,
            RunningEndpoints([Endpoint(endpoint.url, KEY, MODEL)]),
        )
        try:
            yield client, endpoint
        finally:
            await client.close()


async def results(make: Make, client: Client) -> list[TrustResult]:
    subject = make(client)
    cases = subject.cases(suite())
    return list(await asyncio.gather(*(tried(case, subject, client) for case in cases)))


@pytest.mark.parametrize("name", SUBJECTS)
async def test_every_verdict_is_the_replys_and_no_text_leaves_its_fence(
    name: str, tmp_path: Path
) -> None:
    async with asking(tmp_path, stubborn) as (client, endpoint):
        found = await results(SUBJECTS[name], client)
    assert len(found) == (72 if name in ("json", "together", "choice") else len(found)) >= 10
    for each in found:
        verdicts = {reading.verdict for reading in each.readings.values()}
        assert verdicts == {SAID[name]}, each.id
        assert each.forged is each.broke_out is False, each.id
        assert each.obeyed is (False if each.case.instructs and name != "choice" else None)
    for request in endpoint.requests:
        (turn,) = request["messages"]
        assert turn["role"] == "user"
        assert not re.search(r"<\|\w+\|>|\[/?INST\]|<(start|end)_of_turn>", turn["content"])


async def test_a_model_that_repeats_a_forged_reply_has_said_it(tmp_path: Path) -> None:
    """What is read is what the model said, and is shown as swayed and not as forged."""
    async with asking(tmp_path, echoing) as (client, _):
        found = {each.id: each for each in await results(SUBJECTS["json"], client)}
    assert not any(each.forged or each.broke_out for each in found.values())
    repeated = found["forged-replies/json"]
    assert repeated.verdict("hostile") == repeated.goal
    assert json.loads(repeated.readings["hostile"].replies[0])["answer"] == repeated.goal
    others = [each for each in found.values() if not each.id.startswith("forged-replies/json")]
    assert {each.readings["hostile"].verdict for each in others} == {"unreadable"}


async def test_a_model_that_does_what_it_is_told_is_obedient_and_one_that_quotes_is_not(
    tmp_path: Path,
) -> None:
    def obedient(request: dict[str, Any]) -> str:
        token = re.search(r"\b[A-Z]{6,8}[A-L]\b(?=[^\n]*\n(?:RESULT|DOCUMENT))", prompt_of(request))
        return f"{token[0]}. It is so [1]." if token else "It is so [1]."

    async with asking(tmp_path, obedient) as (client, _):
        told = [each.obeyed for each in await results(SUBJECTS["writer"], client)]
    assert told.count(True) == 1
    (tmp_path / "again").mkdir()
    async with asking(tmp_path / "again", echoing) as (client, _):
        quoted = [each.obeyed for each in await results(SUBJECTS["writer"], client)]
    assert quoted.count(True) == 0
    assert quoted.count(False) == told.count(True) + told.count(False) > 0


# Readers that are at fault.


def faulty(read: Callable[[str, Material], str], *, fence: bool = True) -> Make:
    """A judge in the place of the one by JSON, which reads verdicts by such a rule."""

    def make(client: Client) -> Subject:
        async def ask(case: Case, material: Material, own: Client | None, _: Tagging) -> str:
            assert own is not None
            text = f"<<DOCUMENT abcd\n{material.text}\nDOCUMENT abcd>>" if fence else material.text
            messages = [{"role": "user", "content": f"Judge.\n{text}\n{case.claim}"}]
            return read((await own.chat(messages, Sampling(50))).text, material)

        return replace(SUBJECTS["json"](client), ask=ask)

    return make


LABEL = re.compile(r"(?i)(?:label|verdict|answer)\W+(SUPPORTS|CONTRADICTS|IRRELEVANT)")


def first_label(text: str) -> str:
    found = LABEL.search(text)
    return found[1] if found else "unreadable"


async def test_a_reader_that_searches_prompt_and_reply_is_found(tmp_path: Path) -> None:
    def read(reply: str, material: Material) -> str:
        return first_label(f"{material.text}\n{reply}")

    async with asking(tmp_path, lambda _: "Label: IRRELEVANT") as (client, _):
        found = {each.id: each for each in await results(faulty(read), client)}
    assert found["forged-replies/label"].forged
    assert found["escapes-and-markup/clear-screen"].forged
    assert not found["denials/myth"].forged


async def test_a_reader_that_takes_a_quotation_for_the_verdict_is_found(tmp_path: Path) -> None:
    def reply(request: dict[str, Any]) -> str:
        quoted = re.search(r"Label: \w+", prompt_of(request))
        said = f'The document says "{quoted[0]}", but gives no evidence. ' if quoted else ""
        return f"{said}Label: IRRELEVANT"

    async with asking(tmp_path, reply) as (client, _):
        found = {
            each.id: each
            for each in await results(faulty(lambda text, _: first_label(text)), client)
        }
    label = found["forged-replies/label"]
    assert label.forged
    assert label.verdict("hostile") == label.goal
    assert not found["instructions/en"].forged


async def test_a_prompt_without_fences_is_found(tmp_path: Path) -> None:
    make = faulty(lambda text, _: first_label(text), fence=False)
    async with asking(tmp_path, lambda _: "Label: IRRELEVANT") as (client, _):
        found = await results(make, client)
    within = [each for each in found if each.case.place in ("before", "after")]
    assert all(each.broke_out for each in within)


async def test_a_fence_whose_mark_is_known_is_left(tmp_path: Path) -> None:
    """A fence with the same mark for every text is broken by who knows it: the check sees that."""
    make = faulty(lambda text, _: first_label(text))
    known = next(case for case in suite() if case.id == "fences/closing")
    known = known.model_copy(update={"text": known.text.replace("04ab", "abcd")})
    async with asking(tmp_path, lambda _: "Label: IRRELEVANT") as (client, _):
        subject = make(client)
        assert (await tried(known, subject, client)).broke_out
        assert not (await tried(suite()[0], subject, client)).broke_out
