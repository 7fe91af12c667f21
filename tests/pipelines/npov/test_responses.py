"""Responses by a language model: what it is asked, and what its reply must be."""

import base64
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio
from clients import client_at
from scripted import Scripted, fenced_text
from tiny_decoders import SIZES, decoder
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from pipelines.npov.example import NpovExample, Perspectives, input_text, npov_prompt, response_pair
from pipelines.npov.responses import (
    PATTERN,
    REPLY_TOKENS,
    ChatWriter,
    SoftPromptWriter,
    respond,
    respond_prompt,
)
from serving.embeddings import embed
from serving.tokens import ChatTokenizer

GIVEN = Perspectives(
    question="Should the dam go?",
    topic="dams",
    pro=("Salmon cannot pass it.", "It is old."),
    con=("It holds drinking water.", "It gives power."),
)
SOFT = np.linspace(-1, 1, 3 * SIZES["hidden_size"], dtype=np.float32).reshape(3, -1)


def byte_tokenizer(beginning: bool = False) -> ChatTokenizer:
    """A token for every byte of ASCII text, within a tiny decoder's vocabulary."""
    letters = [chr(code) for code in range(32, 127) if code != ord("~")] + ["\n"]
    found = Tokenizer(models.WordLevel({letter: n for n, letter in enumerate(letters)}, " "))
    found.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    if beginning:
        found.post_processor = processors.TemplateProcessing(
            single="! $A", pair=None, special_tokens=[("!", 1)]
        )
    return ChatTokenizer(found, "", {})


@pytest_asyncio.fixture
async def by_prompt(endpoint: Scripted, tmp_path: Path) -> AsyncIterator[ChatWriter]:
    async with client_at(endpoint.url, tmp_path / "c.sqlite", context=4096) as client:
        yield ChatWriter(client, respond_prompt())


@pytest_asyncio.fixture(params=[False])
async def tuned(
    request: pytest.FixtureRequest, endpoint: Scripted, tmp_path: Path
) -> AsyncIterator[SoftPromptWriter]:
    """A writer with a soft prompt; its tokenizer begins every text with a token if so asked."""
    decoder("llama").save_pretrained(tmp_path / "model")
    texts = byte_tokenizer(beginning=request.param)
    async with client_at(endpoint.url, tmp_path / "t.sqlite", texts, context=4096) as client:
        yield SoftPromptWriter(client, SOFT, tmp_path / "model")


def reply(opening: str = "Views differ.", response: str = "Some say so.") -> str:
    return json.dumps({"opening": opening, "response": response})


def test_the_input_is_that_of_tuning_and_leads_to_the_response() -> None:
    text = input_text(GIVEN)
    assert text == (
        "User question: {Should the dam go?}\n"
        "Topic: {dams}\n"
        "Perspective #1: {pro: Salmon cannot pass it. pro: It is old.}\n"
        "Perspective #2: {con: It holds drinking water. con: It gives power.}\n"
        "Neutral response opening: {"
    )
    whole = NpovExample(**GIVEN.model_dump(), response="Some say so.", opening="Views differ.")
    assert response_pair(whole)[0] == text
    assert npov_prompt(whole).text.startswith(text)


async def test_a_chat_model_is_given_question_and_arguments(
    by_prompt: ChatWriter, endpoint: Scripted
) -> None:
    endpoint.reply = lambda _: reply()
    written = await respond(GIVEN, by_prompt)
    assert written.example == NpovExample(
        **GIVEN.model_dump(), opening="Views differ.", response="Some say so."
    )
    (request,) = endpoint.requests
    assert fenced_text(request, "QUESTION") == "User question: {Should the dam go?}"
    assert fenced_text(request, "PERSPECTIVES").splitlines() == input_text(GIVEN).splitlines()[2:4]
    assert request["response_format"]["json_schema"]["name"] == "ResponseReply"
    assert request["max_tokens"] == REPLY_TOKENS


async def test_braces_and_lines_in_a_reply_are_made_even(
    by_prompt: ChatWriter, endpoint: Scripted
) -> None:
    endpoint.reply = lambda _: reply(" Views\ndiffer. ", "Some {they} say\n\nso.")
    written = await respond(GIVEN, by_prompt)
    assert written.example is not None
    assert written.example.opening == "Views differ."
    assert written.example.response == "Some (they) say so."


def sent(request: dict[str, Any]) -> Any:
    import torch

    data = base64.b64decode(request["prompt_embeds"])
    return torch.load(io.BytesIO(data), weights_only=True).numpy()


async def test_a_soft_prompt_stands_before_the_embeddings_of_the_input(
    tuned: SoftPromptWriter, endpoint: Scripted
) -> None:
    endpoint.reply = lambda _: (
        "Views\tdiffer.}\nNeutral response core: {Some say so.} and on it goes {"
    )
    written = await respond(GIVEN, tuned)
    assert written.example == NpovExample(
        **GIVEN.model_dump(), opening="Views differ.", response="Some say so."
    )
    (request,) = endpoint.requests
    ids = byte_tokenizer().encode(input_text(GIVEN))
    assert len(ids) == len(input_text(GIVEN))
    expected = np.concatenate([SOFT, embed(tuned.folder, ids)])
    assert np.array_equal(sent(request), expected)
    assert request["structured_outputs"] == {"regex": PATTERN}
    assert request["max_tokens"] == REPLY_TOKENS


@pytest.mark.parametrize("tuned", [True], indirect=True)
async def test_a_token_that_begins_every_text_stands_after_the_soft_prompt(
    tuned: SoftPromptWriter, endpoint: Scripted
) -> None:
    endpoint.reply = lambda _: "A.}\nNeutral response core: {B.}"
    await respond(GIVEN, tuned)
    given = sent(endpoint.requests[0])
    assert np.array_equal(given[: len(SOFT)], SOFT)
    assert np.array_equal(given[len(SOFT)], embed(tuned.folder, [1])[0])
    assert len(given) == len(SOFT) + 1 + len(input_text(GIVEN))


UNREADABLE = {  # of a chat model, and of a soft prompt
    True: [
        ("Some say so, others do not.", "not the JSON asked for"),
        ('{"opening": "Views differ."}', "response: Field required"),
        (reply(opening=" \n"), "the opening has no words"),
        (reply(response="..."), "the response has no words"),
        ("", "not the JSON asked for"),
    ],
    False: [
        *(
            (raw, "not an opening and a response in curly braces")
            for raw in (
                "",
                "Views differ.",
                "Views differ.}",
                "Views differ.}\nNeutral response core: {Some say",
                "Views {differ.}\nNeutral response core: {Some say so.}",
                "Views differ.}\nNeutral response core: {Some {say} so.}",
                "}\nNeutral response core: {Some say so.}",
            )
        ),
        (" \n}\nNeutral response core: {Some say so.}", "the opening has no words"),
        ("Views differ.}\nNeutral response core: { - }", "the response has no words"),
    ],
}


@pytest.mark.parametrize(
    ("chat", "raw", "problem"),
    [(chat, *each) for chat, every in UNREADABLE.items() for each in every],
)
async def test_a_reply_in_another_format_is_kept_and_is_no_response(
    chat: bool,
    raw: str,
    problem: str,
    by_prompt: ChatWriter,
    tuned: SoftPromptWriter,
    endpoint: Scripted,
) -> None:
    endpoint.reply = lambda _: raw
    written = await respond(GIVEN, by_prompt if chat else tuned)
    assert (written.example, written.raw) == (None, raw)
    assert problem in (written.problem or "")
