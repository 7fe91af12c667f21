"""No RAG, the concatenated prompt and Astute RAG at a scripted endpoint."""

from pathlib import Path
from typing import Any

from clients import asking
from debates import documents, readers
from scripted import prompt_of, schema_of

from pipelines.madam_rag.baselines import (
    astute_rag,
    baseline_prompts,
    concatenated,
    no_rag,
)
from pipelines.madam_rag.settings import DebateSettings

QUESTION = "When was the mill built?"
DOCUMENTS = documents("It was built in 1856.", "It was built in 1902.")
JSON, TEXT = DebateSettings(), DebateSettings(replies="text")
PROMPTS = baseline_prompts()


async def test_in_free_text(tmp_path: Path) -> None:
    said = 'All Correct Answers: ["1856"]. Explanation: E.'
    async with asking(tmp_path, lambda _: said) as (client, requests):
        assert (await no_rag(QUESTION, client, PROMPTS, TEXT)).answers == ("1856",)
        assert (await concatenated(QUESTION, DOCUMENTS, client, PROMPTS, TEXT)).answers == ("1856",)
        made = await astute_rag(QUESTION, DOCUMENTS, client, PROMPTS, TEXT)
    assert made.concluded.answers == ("1856",)
    assert prompt_of(requests[-1]).count(said) == 2, "what was recalled, and the context made of it"
    assert not any("response_format" in request for request in requests)
    asked = ["All Correct Answers: []" in prompt_of(request) for request in requests]
    assert asked == [True, True, False, False, True]


async def test_it_can_consolidate_more_than_once_or_never(tmp_path: Path) -> None:
    async with asking(tmp_path, readers) as (client, requests):
        await astute_rag(QUESTION, DOCUMENTS, client, PROMPTS, JSON, consolidations=0)
        assert [schema_of(r) for r in requests] == ["PassagesJson", "FinalJson"]
        requests.clear()
        made = await astute_rag(QUESTION, DOCUMENTS, client, PROMPTS, JSON, consolidations=2)
    assert [schema_of(r) for r in requests] == ["ContextJson", "ContextJson", "FinalJson"]
    assert "CONSOLIDATED" in prompt_of(requests[1])
    assert made.calls == 4


async def test_a_step_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    def said(request: dict[str, Any]) -> str:
        return readers(request) if schema_of(request) == "FinalJson" else "{"

    async with asking(tmp_path, said) as (client, requests):
        made = await astute_rag(QUESTION, DOCUMENTS, client, PROMPTS, JSON)
    assert [step.partition(":")[0] for step in made.left_out] == ["recall", "consolidation"]
    assert "From a search:\n<<DOCUMENT 1 " in prompt_of(requests[-1])
    assert made.concluded.answers == ("1777",)
    assert made.concluded.problem is None
