"""Made-up replies are what prompts ask for: the shortest and the longest of their kind."""

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from serving.made_up import MadeUp


class Part(BaseModel):
    text: Annotated[str, Field(max_length=40)]
    cites: Annotated[list[int], Field(max_length=8)]


class Reply(BaseModel):
    verdict: bool
    label: Literal["yes", "no", "unknown"]
    category: Annotated[int, Field(ge=1, le=5)]
    share: Annotated[float, Field(ge=0, le=1)]
    parts: Annotated[list[Part], Field(min_length=1, max_length=6)]
    note: str | None


def request(max_tokens: int, schema: type[BaseModel] | None = None) -> dict[str, Any]:
    if schema is None:
        return {"max_tokens": max_tokens}
    form = {"json_schema": {"schema": schema.model_json_schema()}}
    return {"max_tokens": max_tokens, "response_format": form}


def test_brief_replies_are_alike_and_readable() -> None:
    brief = MadeUp(full=False)
    first, second = (brief.text(request(512, Reply)) for _ in range(2))
    assert first == second
    reply = Reply.model_validate_json(first)
    assert (reply.verdict, reply.label, reply.category) == (True, "yes", 1)
    assert reply.parts == [Part(text="yes", cites=[1])]
    assert brief.text(request(512)).startswith("(A) Answer: yes.")


def test_full_replies_differ_and_fill_their_room() -> None:
    full = MadeUp(full=True)
    replies = [Reply.model_validate_json(full.text(request(1024, Reply))) for _ in range(3)]
    assert {reply.label for reply in replies} == {"yes", "no", "unknown"}
    assert {reply.verdict for reply in replies} == {True, False}
    # A sixth of 4,096 characters is for parts: six items of about a hundred.
    assert len(replies[0].parts) == 6
    texts = {part.text for reply in replies for part in reply.parts}
    assert len(texts) == 18
    assert max(map(len, texts)) <= 40
    text = full.text(request(256))
    assert 900 <= len(text) <= 1100
    assert text.count("[1]") == 10


def test_a_list_holds_what_fits() -> None:
    class Claims(BaseModel):
        claims: Annotated[list[str], Field(min_length=1, max_length=500)]

    claims = Claims.model_validate_json(MadeUp(full=True).text(request(100, Claims))).claims
    assert len(claims) == 4
    assert len(set(claims)) == 4


def test_labels_take_turns_only_in_full() -> None:
    def liked(made: MadeUp) -> str:
        shares = made.logprobs([7, 8, 9])
        assert math.isclose(sum(map(math.exp, shares.values())), 1)
        return max(shares, key=lambda token: shares[token])

    brief, full = MadeUp(full=False), MadeUp(full=True)
    assert [liked(brief) for _ in range(3)] == ["7", "7", "7"]
    assert {liked(full) for _ in range(3)} == {"7", "8", "9"}
