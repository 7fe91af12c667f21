"""The debate as in the paper's released code: prompts, and endings of recorded debates.

tests/spec/data/debates.md describes the recordings.
"""

import gzip
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from debates import documents

from pipelines.data.records import Document
from pipelines.madam_rag.debate import NAMELESS, debate, panel
from pipelines.madam_rag.replies import Debate, cut_as_released
from pipelines.madam_rag.settings import DebateOptions, DebateSettings
from pipelines.metrics.alce import normalised
from serving.calls import Completion, Sampling
from serving.client import Client

RECORDED = Path(__file__).parent / "data" / "debates.jsonl.gz"
RELEASED = DebateOptions(as_released=True).debate
SECTION_4 = DebateSettings(replies="text")
PANEL = panel(cast(Client, None))


class Reciting:
    """A client that recites the recorded replies by round, so that no cache merges equal requests.

    Agents are identified by their documents, "Text 1." and so on.
    """

    def __init__(self, replies: Sequence[Sequence[str]]) -> None:
        self._replies = replies
        self._held: dict[str, int] = {}
        self.prompts: list[tuple[int, str, str]] = []
        """Round, agent (from 1, or "aggregator"), and its prompt, in order."""
        self.sampling: set[Sampling] = set()

    async def chat(
        self, messages: Sequence[Mapping[str, str]], sampling: Sampling, *, affinity: str = ""
    ) -> Completion:
        (turn,) = messages
        assert turn["role"] == "user"
        self.sampling.add(sampling)
        document = re.search(r"^(?:Document: )?Text (\d+)\.$", turn["content"], re.MULTILINE)
        who = document[1] if document else "aggregator"
        now = self._held[who] = self._held.get(who, 0) + 1
        self.prompts.append((now, who, turn["content"]))
        said = f'All Correct Answers: ["of round {now}"]. Explanation: This ends round {now}.'
        return Completion(self._replies[now - 1][int(who) - 1] if document else said, "stop")


async def recited(
    replies: Sequence[Sequence[str]], settings: DebateSettings
) -> tuple[Debate, Reciting]:
    said = Reciting(replies)
    given = documents(*(f"Text {number}." for number, _ in enumerate(replies[0], start=1)))
    reciting = replace(PANEL, client=cast(Client, said))
    return await debate("Which year?", given, reciting, settings), said


def recorded() -> list[dict[str, Any]]:
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def final_round(held: Debate) -> int | None:
    """The round whose aggregate is the final answer."""
    return int(held.concluded.answers[0].rsplit(" ", 1)[1]) if held.concluded.answers else None


# Both stopping rules, on every third recorded debate.


async def test_debates_end_as_those_of_the_released_code() -> None:
    rows = recorded()[::3]
    assert len(rows) > 300
    for row in rows:
        settings = RELEASED.model_copy(update={"rounds": row["rounds"]})
        held, said = await recited(row["replies"], settings)
        found = {
            "answers": [[normalised(a.answer or "") for a in r.agents] for r in held.rounds],
            "explanations": [[a.explanation for a in r.agents] for r in held.rounds],
            "ended": len(held.rounds),
            "agreed": held.agreed,
            "final": final_round(held),
        }
        assert found == row["released"], row["replies"]
        # Everyone hears all others' replies of the previous round verbatim, readable or not.
        told = {(now, who): prompt for now, who, prompt in said.prompts}
        for (now, who), prompt in told.items():
            if who == "aggregator":
                assert prompt.endswith(as_lines(row["replies"][now - 1]).rstrip()), row["replies"]
            elif now > 1 and len(row["replies"][0]) > 1:
                assert f"\n{as_lines(row['replies'][now - 2], but=who)}\n" in prompt


def as_lines(replies: Sequence[str], but: str = "") -> str:
    """Replies as they appear in a prompt, without the agent's own."""
    spoken = {str(number): reply.strip() for number, reply in enumerate(replies, start=1)}
    lines = (f"Agent {number}: {reply}" for number, reply in spoken.items() if number != but)
    return "\n".join(lines)


def bare_unknown(row: Mapping[str, Any]) -> bool:
    """Whether a reply is just "unknown": readable now, unreadable when endings were recorded."""
    replies = (reply for spoken in row["replies"] for reply in spoken)
    return any(re.fullmatch(r"\W*unknown\W*", reply, re.IGNORECASE) for reply in replies)


async def test_debates_end_by_section_4() -> None:
    rows = [row for row in recorded() if row["section 4"] is not None and not bare_unknown(row)][
        ::3
    ]
    assert len(rows) > 300
    for row in rows:
        settings = SECTION_4.model_copy(update={"rounds": row["rounds"]})
        held, said = await recited(row["replies"], settings)
        found = {
            "answers": [[a.answer for a in r.agents] for r in held.rounds],
            "ended": len(held.rounds),
            "agreed": held.agreed,
            "final": final_round(held),
        }
        assert found == row["section 4"], row["replies"]
        for now, who, prompt in said.prompts:
            if who != "aggregator" and now > 1:
                assert f"This ends round {now - 1}." in prompt


async def test_one_round_has_no_final_answer_as_released() -> None:
    one = [["Answer: 1856. Explanation: It says so."]]
    held, _ = await recited(one, RELEASED.model_copy(update={"rounds": 1}))
    assert (held.concluded.answers, held.concluded.problem) == ((), NAMELESS)
    assert held.after(1).answers == ("of round 1",)
    ours, _ = await recited(one, DebateSettings(replies="text", rounds=1))
    assert ours.concluded.answers == ("of round 1",)
    joint = RELEASED.model_copy(update={"rounds": 1, "aggregator": False})
    assert (await recited(one, joint))[0].concluded.answers == ("1856.",)


# How replies are cut, by hand: "Answer: " and "Explanation: " have 8 and 13 characters.


@pytest.mark.parametrize(
    ("reply", "answer", "explanation"),
    [
        (" Answer: 1856. Explanation: It says so.\n", "1856.", "It says so."),
        ("Answer: 1856\nExplanation: It says so.", "1856", "It says so."),
        ("Answer: 1856", "185", ""),  # no "Explanation": up to index -1, and from index 12
        ("It was built in 1856.", "built in 1856", " in 1856."),  # neither: from indices 7 and 12
        ("Explanation: Old. Answer: 1856.", "", "Old. Answer: 1856."),  # it ends before it begins
        ("Answer:1856. Explanation: Old.", "1856.", "Old."),  # index 7 again, by chance
        ("**Answer:** 1856. **Explanation:** Old.", "r:** 1856. **", "1856. **Explanation:** Old."),
        ("Answer: 1. Explanation: Answer: 2. Explanation: 3", "1.", "Answer: 2. Explanation: 3"),
        ("", "", ""),
    ],
)
def test_whatever_is_said_has_an_answer(reply: str, answer: str, explanation: str) -> None:
    cut = cut_as_released(reply)
    assert (cut.answer, cut.explanation, cut.problem) == (answer, explanation, None)
    assert cut.raw == reply.strip()


# Prompts: the structure of the released code's, in our own words.

TITLED = (
    Document(id="north", text="Text 1.", title="The mill in the north"),
    Document(id="south", text="Text 2."),
    Document(id="noise", text="Text 3."),
)
REPLIES = [
    ["Answer: 1856. Explanation: It says so.", "I think\nthat it is 1902", "No answer."],
    ["Answer: 1856. Explanation: Still.", "Answer: 1902. Explanation: So.", "Answer: None."],
]


async def test_prompts_are_built_as_those_of_the_released_code() -> None:
    said = Reciting(REPLIES)
    settings = RELEASED.model_copy(update={"rounds": 2})
    await debate("When was the mill built?", TITLED, panel(cast(Client, said)), settings)
    prompts = {(now, who): prompt.split("\n") for now, who, prompt in said.prompts}
    assert len(prompts) == 8

    role = "As an agent, you answer a question from a document that you read."
    form = "Use this format: 'Answer: {}. Explanation: {}.'"
    # The document's text without a fence; an agent without an answer is given no word for it.
    beginning = [role, "", "Question: When was the mill built?", "Document: Text 1.", ""]
    assert prompts[1, "1"] == [
        *beginning,
        "Answer from this document alone. Give the answer, and explain step by step how you come "
        "to it.",
        form,
    ]
    assert prompts[2, "1"] == [
        *beginning,
        "Other agents have replied as follows, which is further information.",
        "Agent 2: I think",
        "that it is 1902",
        "Agent 3: No answer.",
        "Answer from the document and from what other agents replied. Give the answer, and "
        "explain step by step how you come to it.",
        form,
    ]
    own = prompts[2, "2"]
    assert [line for line in own if line.startswith("Agent ")] == [
        "Agent 1: Answer: 1856. Explanation: It says so.",
        "Agent 3: No answer.",
    ]

    head, _, rest = "\n".join(prompts[1, "aggregator"]).partition("\n\nAn example:\n")
    example, _, asked = rest.partition("\n\n")
    assert head.split("\n") == [
        "As an aggregator, you read what several agents answer.",
        "",
        "Should several answers be correct, give all of them, and explain step by step how you "
        "come to them. Should none be, reply 'unknown'.",
        "Use this format: 'All Correct Answers: []. Explanation: {}.'",
    ]
    begun = [re.match(r"[\w ]+:(?: Answer: \w+\.)?", line) for line in example.split("\n")]
    assert [found and found[0] for found in begun] == [
        "Question:",
        "Agent responses:",
        "Agent 1: Answer: Libya.",
        "Agent 2: Answer: Lebanon.",
        "Agent 3: Answer: Tunisia.",
        "Agent 4: Answer: Unknown.",
        "All Correct Answers:",
    ]
    assert asked.split("\n") == [
        "Question: When was the mill built?",
        "Agent responses:",
        "Agent 1: Answer: 1856. Explanation: It says so.",
        "Agent 2: I think",
        "that it is 1902",
        "Agent 3: No answer.",
    ]
    assert said.sampling == {Sampling(max_tokens=128)}
    assert Sampling(max_tokens=128).temperature == 0
