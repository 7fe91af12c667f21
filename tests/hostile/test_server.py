"""A hostile model server: every attack ends in one line or a failed request, within limits.

The server counts the bytes that the client reads, which bounds the client's memory.
"""

import asyncio
import json
import re
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from clients import client_at
from commands import Contested, results, table, write
from scripted import Page, Scripted

from pipelines.report.texts import visible
from serving import endpoint
from serving.calls import Sampling
from serving.client import Client
from serving.endpoint import Endpoint, ask_endpoint
from serving.errors import RequestError, ServingError

MODEL = "hostile"
GZIP = (("Content-Encoding", "gzip"),)
CHAT, MODELS, TOKENIZE = "/v1/chat/completions", "/v1/models", "/tokenize"
ASK = [{"role": "user", "content": "Is it old?"}]
LABELS = ["SUPPORTS", "CONTRADICTS", "IRRELEVANT"]
MIB = 1 << 20


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "PATIENCE_S", 0.3)
    monkeypatch.setattr(endpoint, "WHOLE_S", 4.0)
    monkeypatch.setattr(endpoint, "PAGE_S", 2.0)


def misbehaving(path: str, page: Page | Callable[[dict[str, Any]], Page]) -> Scripted:
    """A server that is normal except for one page."""
    halves = [0.5, 0.25, 0.25]
    return Scripted(key="", model=MODEL, weigh=lambda _: halves, pages={path: page})


def of(value: Any, **more: Any) -> Page:
    """A JSON page."""
    return Page(json.dumps(value).encode(), **more)


def reply(request: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """A normal completion with some parts changed.

    `logprob` is the first label's, `content` the text, `finish_reason` a reason; other keys are set
    on the reply itself.
    """
    ids = request.get("logprob_token_ids", ())
    logprobs = [changed.pop("logprob", -0.5), *[-0.6] * len(ids)]
    likely = [{"token": f"token_id:{token}", "logprob": one} for token, one in zip(ids, logprobs)]  # noqa: B905
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": changed.pop("content", "S")},
        "finish_reason": changed.pop("finish_reason", "stop"),
        "logprobs": {"content": [{"top_logprobs": likely}]} if ids else None,
    }
    usage = {"prompt_tokens": 5, "completion_tokens": 1}
    return {"model": MODEL, "choices": [choice], "usage": usage} | changed


def drip(data: bytes, pause_s: float = 0.1) -> Callable[[], Iterator[bytes]]:
    """One byte at a time."""

    def pieces() -> Iterator[bytes]:
        for place in range(len(data)):
            yield data[place : place + 1]
            time.sleep(pause_s)

    return pieces


def endless(piece: bytes = b" " * (1 << 16), most: int = 1 << 30) -> Callable[[], Iterator[bytes]]:
    """A gigabyte: a client that reads it all is noticed."""
    return lambda: iter([piece] * (most // len(piece)))


def bomb() -> Iterator[bytes]:
    """A gzip body a thousandth of its unpacked size, a quarter of a gigabyte."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = b" " * (1 << 22)
    yield from (packer.compress(zeros) for _ in range(64))
    yield packer.flush()


def client_of(hostile: Scripted, cache: Path) -> AbstractAsyncContextManager[Client]:
    return client_at(hostile.url, cache, key="", model=MODEL)


def changed(**parts: Any) -> Callable[[dict[str, Any]], Page]:
    return lambda request: of(reply(request, **parts))


def usage(prompt: Any, completion: Any = 1, **more: Any) -> Callable[[dict[str, Any]], Page]:
    return changed(usage={"prompt_tokens": prompt, "completion_tokens": completion, **more})


def prompt_digits(digits: int) -> Callable[[dict[str, Any]], Page]:
    def page(request: dict[str, Any]) -> Page:
        body = json.dumps(reply(request))
        return Page(body.replace('"prompt_tokens": 5', f'"prompt_tokens": {"9" * digits}').encode())

    return page


LOGPROBS, COUNTS = "gives log-probabilities that are not", "gives counts of tokens that are not"
FOREIGN = "answers, but not as an OpenAI-compatible server does"
AWAY = r"did not answer in time .* run the same command again"

COMPLETIONS: dict[str, tuple[Page | Callable[[dict[str, Any]], Page], str]] = {
    "a log-probability that is NaN": (changed(logprob=float("nan")), LOGPROBS),
    "minus infinity": (changed(logprob=float("-inf")), LOGPROBS),
    "positive": (changed(logprob=1e6), LOGPROBS),
    "a text of a number": (changed(logprob="-0.5"), LOGPROBS),
    "true": (changed(logprob=True), LOGPROBS),
    "tokens as text": (usage("lots", [1]), COUNTS),
    "negative tokens": (usage(-5), COUNTS),
    "tokens of 4,000 digits": (prompt_digits(4000), COUNTS),
    "tokens of 5,000 digits": (prompt_digits(5000), FOREIGN),
    "tokens that are NaN": (usage(float("nan"), float("inf")), COUNTS),
    "cached tokens as text": (usage(5, prompt_tokens_details={"cached_tokens": "5"}), COUNTS),
    "no usage but a list": (changed(usage=[1]), FOREIGN),
    "a reason that is an object": (changed(finish_reason={"a": 1}), FOREIGN),
    "a content that is a list": (changed(content=[{"type": "text", "text": "x"}]), FOREIGN),
    "half of its JSON": (Page(b'{"choices": [{"message": {"content": "S'), FOREIGN),
    "no UTF-8": (Page(b"\xff\xfe\x00"), FOREIGN),
    "deep and closed": (Page(b'{"choices":' + b"[" * 60_000 + b"]" * 60_000 + b"}"), FOREIGN),
    "two lists of choices": (Page(b'{"choices":[{}],"choices":[]}'), FOREIGN),
    "a body without end": (Page(pieces=endless()), "sends more than"),
    "a text of 50 MB": (changed(content="A" * (50 * MIB)), "sends more than"),
    "a body that unpacks": (Page(pieces=bomb, headers=GZIP), FOREIGN),
    "a byte now and then": (Page(pieces=drip(b" " * 999), length=999), AWAY),
    "a body cut short": (Page(b'{"cho', length=999), AWAY),
    "an error of HTML": (Page(b"<html>\x1b[31merror" * 100, status=500), AWAY),
    "wait for a day": (Page(b"{}", status=429, headers=(("Retry-After", "100000"),)), AWAY),
    "a refusal that paints": (
        of({"error": {"message": "\x1b]0;x\x07[bold]" + "A" * 9999}}, status=400),
        r"refuses the request \(status 400\)",
    ),
    "a refusal that is deep": (Page(b"[" * 150_000, status=400), r"\(status 400\): \[\[\["),
    "go elsewhere": (
        Page(status=307, headers=(("Location", "http://127.0.0.1:9/steal"),)),
        r"refuses the request \(status 307\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mode", COMPLETIONS)
async def test_a_completion_ends_in_one_line_and_spoils_no_cache(mode: str, tmp_path: Path) -> None:
    page, says = COMPLETIONS[mode]
    began = time.monotonic()
    with misbehaving(CHAT, page) as hostile:
        async with client_of(hostile, tmp_path / "c.sqlite") as client:
            with pytest.raises(ServingError, match=says) as refused:
                await client.choose(ASK, LABELS)
            assert len(str(refused.value)) < 600
            client.cache.flush()
            stored = sqlite3.connect(client.cache.path).execute("SELECT * FROM completions")
            assert stored.fetchall() == []
            assert hostile.sent < 8 * MIB, "the socket's buffers hold some of it"
            hostile.pages.clear()
            assert (await client.choose(ASK, LABELS)).mass == pytest.approx(1.0)
    assert time.monotonic() - began < 10


async def test_a_server_that_says_nothing_is_left_at_last(tmp_path: Path) -> None:
    def silent(_: dict[str, Any]) -> Page:
        time.sleep(4)
        return Page()

    with misbehaving(CHAT, silent) as hostile:
        async with client_of(hostile, tmp_path / "c.sqlite") as client:
            with pytest.raises(ServingError, match=r"in time \(no reply in .* hours\)"):
                await client.chat(ASK, Sampling(4))


async def test_what_rounding_puts_above_0_is_taken(tmp_path: Path) -> None:
    with misbehaving(CHAT, changed(logprob=1e-6)) as hostile:
        async with client_of(hostile, tmp_path / "c.sqlite") as client:
            assert (await client.choose(ASK, LABELS)).mass == 1.0


BAD_STORED = [
    {"logprobs": {"83": float("nan")}},
    {"logprobs": {"83": "abc"}},
    {"prompt_tokens": "lots"},
    {"prompt_logprobs": [float("-inf")]},
    {"unknown": 1},
]


@pytest.mark.parametrize("stored", BAD_STORED, ids=str)
async def test_what_an_old_cache_holds_is_checked_and_asked_anew(
    stored: dict[str, Any], tmp_path: Path
) -> None:
    cache = tmp_path / "c.sqlite"
    with misbehaving(CHAT, lambda request: of(reply(request, content="new"))) as hostile:
        async with client_of(hostile, cache) as client:
            await client.chat(ASK, Sampling(4))
            client.cache.flush()
            spoilt = json.dumps({"text": "old", "finish_reason": "stop", **stored})
            with client.cache._database as database:
                database.execute("UPDATE completions SET value = ?", (spoilt,))
        for _ in range(2):
            async with client_of(hostile, cache) as client:
                assert (await client.chat(ASK, Sampling(4))).text == "new"
        assert len(hostile.requests) == 2


DEEP = b"[" * 200_000
NOT_ONE = "answers \\(status 200\\), but not as an OpenAI-compatible server does"

CONTEXT = "context length"
UNFIT = "a model whose name is too long or cannot be printed"


def card(**parts: Any) -> Page:
    return of({"data": [{"id": MODEL, **parts}]})


LISTS: dict[str, tuple[Page, str]] = {
    "HTML": (Page(b"<html><h1>hi</h1>"), NOT_ONE),
    "deep": (Page(b'{"data":' + DEEP), NOT_ONE),
    "a name that paints": (card(id="\x1b]0;x\x07\x1b[31mevil"), UNFIT),
    "a name from right to left": (card(id="evil\u202elive"), UNFIT),
    "a name of a tenth of a MB": (card(id="A" * 100_000), UNFIT),
    "a name of two MB": (card(id="A" * (2 << 20)), "sends more than 1,048,576 bytes"),
    "a name that is a number": (card(id=5), UNFIT),
    "no name": (card(id=""), UNFIT),
    "no card": (of({"data": [{}]}), NOT_ONE),
    "a context as text": (card(max_model_len="lots"), CONTEXT),
    "half a context": (card(max_model_len=0.5), CONTEXT),
    "a list": (of([1]), NOT_ONE),
    "many bad cards": (of({"data": [1] * 300_000}), NOT_ONE),
    "a gigabyte": (Page(pieces=endless()), "sends more than"),
    "what unpacks": (Page(pieces=bomb, headers=GZIP), NOT_ONE),
    "a byte now and then": (Page(pieces=drip(b" " * 999), length=999), "no server answers"),
    "elsewhere": (
        Page(status=302, headers=(("Location", "http://127.0.0.1:9/steal"),)),
        r"answers \(status 302\)",
    ),
}


@pytest.mark.parametrize("mode", LISTS)
async def test_a_list_of_models_ends_in_one_line(mode: str) -> None:
    page, says = LISTS[mode]
    began = time.monotonic()
    with misbehaving(MODELS, page) as hostile:
        with pytest.raises(ServingError, match=says) as refused:
            await ask_endpoint(hostile.url, "")
        assert hostile.sent < 8 * MIB
        answers = await endpoint.answers(Endpoint(hostile.url, "", MODEL), 0.5)
        assert answers == (says == CONTEXT), "of what it lists, the name alone counts there"
    said = str(refused.value)
    assert visible(said) == said
    assert "\n" not in said
    assert len(said) < 600
    assert time.monotonic() - began < 8


@pytest.mark.parametrize(
    "page",
    [Page(DEEP), of([1]), of({"version": [1]}), of({"version": "\x1b[31m" * 9})],
    ids=["deep", "a list", "other types", "paints"],
)
async def test_a_page_that_need_not_be_there_tells_nothing(page: Page) -> None:
    with misbehaving("/version", page) as hostile:
        assert (await ask_endpoint(hostile.url, "")).engine == "unknown engine"


TOKENS: dict[str, Page | Callable[[dict[str, Any]], Page]] = {
    "objects": of({"tokens": [{"a": 1}]}),
    "two million": of({"tokens": list(range(2_000_000))}),
    "none": of({"tokens": []}),
    "negative": of({"tokens": [-1]}),
    "the same for all": of({"tokens": [7]}),
    "one the beginning of another": lambda request: of({"tokens": [7] * len(request["prompt"])}),
    "HTML": Page(b"<html>"),
    "deep": Page(DEEP),
    "an error": Page(b"{}", status=500),
    "a gigabyte": Page(pieces=endless()),
    "what unpacks": Page(pieces=bomb, headers=GZIP),
}


@pytest.mark.parametrize("mode", TOKENS)
async def test_bad_tokens_of_labels_end_in_one_line(mode: str, tmp_path: Path) -> None:
    with misbehaving(TOKENIZE, TOKENS[mode]) as hostile:
        async with client_of(hostile, tmp_path / "c.sqlite") as client:
            with pytest.raises(ServingError, match=r"does not tokenize|the beginning of another"):
                await client.choose(ASK, LABELS)
        assert hostile.sent < 20 * MIB


def test_a_bad_reply_fails_its_record_and_the_run_goes_on(
    contested: Contested, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {"good": "The bridge is old.", "bad": "The tower is new."}
    documents = [{"id": "survey", "text": "The bridge was opened in 1936."}]
    write(
        "data.jsonl",
        *({"id": name, "response": text, "documents": documents} for name, text in texts.items()),
    )

    def page(request: dict[str, Any]) -> Page:
        bad = "tower" in json.dumps(request)
        return of(reply(request, logprob=float("nan") if bad else -0.5, model="another-model"))

    with misbehaving(CHAT, page) as hostile:
        command = [
            *("run", "conflictscore", "--claims", "sentences", "--judge", "model"),
            *("--data", "data.jsonl", "--endpoint", hostile.url, "--out", "out"),
            *("--on-error", "skip"),
        ]
        outcome = contested.done(*command)
        found = results(Path("out"))
        assert (found["good"]["status"], found["bad"]["status"]) == ("scored", "failed")
        assert "NaN" in found["bad"]["error"]
        assert found["bad"]["cs_c"] is None
        scores = table(Path("out"), "scores")[0]
        assert (scores["responses"], scores["failed_responses"]) == (2, 1)
        (failure,) = table(Path("out"), "failures")
        assert (failure["response"], failure["what"]) == ("bad", "failed")
        assert "answered as another-model" in outcome.err
        assert '"another-model"' in Path("out/run.json").read_text()

        # Only what failed is asked again.
        hostile.pages.clear()
        asked = len(hostile.requests)
        contested.done(*command)
        assert {"tower" in prompt for prompt in hostile.prompts()[asked:]} == {True}
        again = results(Path("out"))
        assert (again["good"], again["bad"]["status"]) == (found["good"], "scored")
        assert table(Path("out"), "failures") == []


COMMANDS = {
    "a page of HTML": (MODELS, LISTS["HTML"]),
    "a name that paints": (MODELS, LISTS["a name that paints"]),
    "a gigabyte": (CHAT, COMPLETIONS["a body without end"]),
    "a refusal that paints": (CHAT, COMPLETIONS["a refusal that paints"]),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_ends_in_one_line(
    name: str, contested: Contested, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.txt").write_text("The bridge was opened in 1936.")
    path, (page, says) = COMMANDS[name]
    with misbehaving(path, page) as hostile:
        message = contested.refused(
            *("score", "--response", "d.txt", "--documents", "d.txt", "--claims", "sentences"),
            *("--judge", "model", "--endpoint", hostile.url),
        )
    assert re.search(says, message)
    assert visible(message) == message


async def test_many_replies_at_once_stay_within_their_bounds(tmp_path: Path) -> None:
    with misbehaving(CHAT, Page(pieces=endless())) as hostile:
        async with client_of(hostile, tmp_path / "c.sqlite") as client:
            asked = (
                client.chat([{"role": "user", "content": f"{number}"}], Sampling(4))
                for number in range(16)
            )
            replies = await asyncio.gather(*asked, return_exceptions=True)
        assert all(isinstance(one, RequestError) for one in replies)
        assert hostile.sent < 16 * 8 * MIB
