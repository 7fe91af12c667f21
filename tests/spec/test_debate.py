"""The debate of MADAM-RAG, section 4: stopping rule, history, and whole debates worked by hand."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from clients import asking
from debates import agent, answers_heard, conclusion, documents, readers
from pydantic import BaseModel
from scripted import fenced_text, prompt_of, schema_of

from pipelines.madam_rag.baselines import FinalJson, baseline_prompts
from pipelines.madam_rag.debate import Statement, all_kept, debate, heard, kept, panel
from pipelines.madam_rag.replies import (
    AgentJson,
    AgentReply,
    Conclusion,
    ConclusionJson,
    Debate,
    Round,
    explained,
)
from pipelines.madam_rag.settings import DebateSettings
from serving.client import Client

QUESTION = "When was the mill built?"
SECTION_4 = DebateSettings()
NORTH, SOUTH, NOISE = (
    "The mill in the north was built in 1856.",
    "The mill in the south, people say, was built in 1902.",
    "Flour is ground from wheat.",
)


def replies(*answers: str | None) -> tuple[AgentReply, ...]:
    return tuple(AgentReply(answer=answer) for answer in answers)


# The stopping rule: for all i, r_i(t) = r_i(t-1).


@pytest.mark.parametrize(
    ("before", "after", "same", "contained"),
    [
        ("1856", "1856", True, True),
        ("The Mill.", "mill", True, True),  # article, case and full stop are ignored
        ("3,559", "3559", True, True),  # and so are separators
        ("1856", "in 1856", False, True),
        ("1856", "1902", False, False),
        ("unknown", "Unknown.", True, True),
        ("unknown", "not stated", True, False),  # two refusals are equal
        ("1856", "unknown", False, False),
        ("", "1856", False, True),  # "" is in every text but says nothing
        ("191", "1911", False, True),
        (None, None, False, False),  # an unreadable answer equals nothing, not even itself
        ("1856", None, False, False),
    ],
)
def test_whether_an_agent_kept_its_answer(
    before: str | None, after: str | None, same: bool, contained: bool
) -> None:
    assert kept(before, after, "same") is same
    assert kept(before, after, "contained") is contained
    assert kept(after, before, "contained") is contained


def test_the_debate_ends_only_when_every_agent_kept_its_answer() -> None:
    assert all_kept(replies("1856", "unknown"), replies("1856", "unknown"), "same")
    assert not all_kept(replies("1856", "1902"), replies("1856", "1856"), "same")
    assert not all_kept(replies("1856", None), replies("1856", None), "same")


# History: what an agent learns about the previous round.

FIRST = Round(
    agents=(
        AgentReply(answer="1856", explanation="North."),
        AgentReply(answer=None, problem="no JSON", raw="{"),
        AgentReply(answer="unknown", explanation="Flour."),
    ),
    aggregate=Conclusion(answers=("1856", "1902"), explanation="Two mills."),
)


def test_agents_are_told_what_the_aggregator_made_of_it() -> None:
    told = (Statement("AGGREGATOR", "1856; 1902", "Two mills."),)
    assert [heard(FIRST, number, DebateSettings()) for number in range(3)] == [told] * 3
    assert heard(None, 0, DebateSettings()) == ()
    nothing = FIRST.model_copy(update={"aggregate": Conclusion(explanation="None is right.")})
    assert heard(nothing, 0, DebateSettings()) == (
        Statement("AGGREGATOR", "unknown", "None is right."),
    )


def test_or_what_the_others_said_also_where_the_aggregator_could_not_be_read() -> None:
    unreadable = FIRST.model_copy(update={"aggregate": Conclusion(problem="cut", raw="{")})
    one, three = Statement("AGENT 1", "1856", "North."), Statement("AGENT 3", "unknown", "Flour.")
    for before, how in ((FIRST, DebateSettings(history="agents")), (unreadable, SECTION_4)):
        told = [heard(before, number, how) for number in range(3)]
        assert told == [(three,), (one, three), (one,)]  # agent 2 was unreadable


# What prompts ask for, in every form.


@pytest.mark.parametrize("form", ["json", "text"])
def test_agents_may_adopt_a_corrected_answer(form: str) -> None:
    """Section 4: agents defend, challenge or revise; two namesakes keep two answers."""
    prompt = panel(cast(Client, None)).prompt("agent", "json")
    told = [Statement("AGGREGATOR", "1856", "E.")]
    later, first = (
        prompt.messages(question="q", document="d", heard=heard, form=form)[0]["content"]
        for heard in (told, [])
    )
    assert "you may take over the corrected answer" in later
    assert "both answers can be right. Keep yours." in later
    assert "defend, revise or withdraw" in later
    assert "take over" not in first


def form_of(schema: type[BaseModel]) -> dict[str, Any]:
    """What a server is told of the explanation."""
    told: dict[str, Any] = schema.model_json_schema()["properties"]["explanation"]
    return told


def test_reasons_come_before_answers() -> None:
    """In JSON; free text has appendix C's order. No explanation is rejected for its length."""
    for schema in (AgentJson, ConclusionJson, FinalJson):
        assert [name for name in schema.model_fields if name != "groups"] == [
            "explanation",
            "answer" if schema is AgentJson else "answers",
        ]
        short = explained(schema, 96)
        assert [*short.model_fields] == [*schema.model_fields]
        assert form_of(short)["maxLength"] == 268, "67 of 96 tokens"
        assert form_of(explained(schema, 256))["maxLength"] == 700
    long = "Because it says so. " * 100
    assert AgentJson(explanation=long, answer="1856").explanation == long
    prompts = {**panel(cast(Client, None)).prompts, **baseline_prompts()}
    for name in ("agent", "aggregator", "no_rag", "concatenated", "finalise"):
        asked = prompts[name].source.rpartition("JSON object:")[2]
        answer = '"answer"' if name == "agent" else '"answers"'
        assert 0 < asked.index('"explanation"') < asked.index(answer), name
        form = "All Correct Answers: []. Explanation: {}." if name != "agent" else "Answer: {}."
        assert form.partition(".")[0] in prompts[name].source, name


# A whole debate of three rounds.


async def hold(
    folder: Path,
    *texts: str,
    settings: DebateSettings = SECTION_4,
    reply: Callable[[dict[str, Any]], str] = readers,
) -> tuple[Debate, list[dict[str, Any]]]:
    """The debate over documents at the scripted endpoint, and the requests it sent."""
    async with asking(folder, reply) as (client, requests):
        return await debate(QUESTION, documents(*texts), panel(client), settings), requests


def three_rounds(request: dict[str, Any]) -> str:
    """North keeps 1856. South gives way in round 2. Noise is unreadable in round 2.

    The aggregator answers both years in round 1 and then only 1856, and names the round, so that
    agents can be identified by what they hear.
    """
    prompt = prompt_of(request)
    if schema_of(request) == "ConclusionJson":
        if answers_heard(request) == ["1856", "1902", "unknown"]:
            return conclusion("1856", "1902", explanation="End of round 1.")
        return conclusion("1856", "unknown", explanation="End of round 2 or 3.")
    document = fenced_text(request, "DOCUMENT")
    if document == NORTH:
        return agent("1856", "It says so.")
    if document == SOUTH:
        return agent("1856" if "End of round" in prompt else "1902", "People say.")
    return '{"answer": ' if "End of round 1." in prompt else agent("unknown", "Only flour.")


async def test_three_rounds_by_hand(tmp_path: Path) -> None:
    held, requests = await hold(tmp_path, NORTH, SOUTH, NOISE, reply=three_rounds)
    told = [
        (
            [reply.answer for reply in each.agents],
            each.aggregate and (each.aggregate.answers, each.aggregate.explanation),
        )
        for each in held.rounds
    ]
    assert told == [
        (["1856", "1902", "unknown"], (("1856", "1902"), "End of round 1.")),
        # South has changed and noise is unreadable: neither kept its answer.
        (["1856", "1856", None], (("1856",), "End of round 2 or 3.")),
        # All are readable again, but noise had no answer to keep; T = 3 ends the debate.
        (["1856", "1856", "unknown"], (("1856",), "End of round 2 or 3.")),
    ]
    assert held.rounds[1].agents[2].raw == '{"answer": '
    assert not held.agreed
    assert held.concluded.answers == ("1856",)  # "unknown" beside an answer is ignored
    assert [held.after(n).answers for n in (1, 2, 3)] == [("1856", "1902"), ("1856",), ("1856",)]
    assert held.calls == len(requests) == 3 * (3 + 1)

    by_document = {
        text: [
            prompt_of(r)
            for r in requests
            if schema_of(r) == "AgentJson" and fenced_text(r, "DOCUMENT") == text
        ]
        for text in (NORTH, SOUTH, NOISE)
    }
    for text, prompts in by_document.items():
        first, second, third = prompts
        assert "AGGREGATOR" not in first
        assert "Answer: 1856; 1902\nExplanation: End of round 1." in second
        assert "Answer: 1856\nExplanation: End of round 2 or 3." in third
        # Question and document come first, so a server has cached them from round 2 on.
        shared = first[: first.index(text) + len(text)]
        assert QUESTION in shared
        assert second.startswith(shared)
        assert third.startswith(shared)


async def test_it_ends_when_nobody_changes(tmp_path: Path) -> None:
    held, requests = await hold(tmp_path, NORTH, SOUTH)
    assert held.agreed
    assert len(held.rounds) == 2
    assert held.concluded.answers == ("1856", "1902")
    # Two agents, two rounds; equal replies give the aggregator an equal prompt, sent once.
    assert len(requests) == 5
    assert held.calls == 6


async def test_without_an_aggregator_all_answers_are_joined(tmp_path: Path) -> None:
    settings = DebateSettings().without_aggregator()
    held, requests = await hold(tmp_path, SOUTH, NORTH, NOISE, NORTH, settings=settings)
    assert held.concluded.answers == ("1902", "1856")
    assert {schema_of(request) for request in requests} == {"AgentJson"}
    second = next(
        prompt_of(r)
        for r in requests
        if fenced_text(r, "DOCUMENT") == NOISE and "<<AGENT" in prompt_of(r)
    )
    assert [f"<<AGENT {n} " in second for n in (1, 2, 3, 4)] == [True, True, False, True]


@pytest.mark.parametrize("rounds", [1, 2, 3])
async def test_one_document_and_one_round_are_legal(tmp_path: Path, rounds: int) -> None:
    held, _ = await hold(tmp_path, NORTH, settings=DebateSettings(rounds=rounds))
    assert len(held.rounds) == min(rounds, 2)
    assert held.concluded.answers == ("1856",)
    assert held.agreed is (rounds > 1)


async def test_a_debate_in_which_nothing_can_be_read_has_no_answer(tmp_path: Path) -> None:
    held, _ = await hold(tmp_path, NORTH, SOUTH, reply=lambda _: "{")
    joint = DebateSettings().without_aggregator()
    alone, _ = await hold(tmp_path, NORTH, settings=joint, reply=lambda _: "{")
    assert not held.agreed
    assert len(held.rounds) == 3
    assert held.concluded.problem is not None
    assert held.concluded.answers == ()
    assert alone.concluded.problem == "no agent's reply could be read"
