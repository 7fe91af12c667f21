"""Our client against the plain `openai` client and inspect_ai, with endpoints that answer at once.

This measures the cost of the client itself: requests per second from one process, and CPU time per
request. All clients send the same requests: several claims per document, for a JSON reply. Our
client also does what the others do not: it checks that prompts fit the context, and stores every
reply.
"""

import asyncio
import gc
import random
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import common
import inspect_process
import psutil
import stub_process
import typer
import uvloop
from pydantic_core import to_json

from pipelines.errors import InputError
from pipelines.judge.model import REPLY_TOKENS, RelationReply
from pipelines.madam_rag.data import SAMPLES, read
from serving import models
from serving.cache import CompletionCache
from serving.calls import Sampling, ServedIdentity
from serving.client import Backend, Client
from serving.endpoint import Endpoint
from serving.home import default_models_dir
from serving.tokens import TEMPLATE_ARGUMENTS, ChatTokenizer

RAW, PLAIN, INSPECT = "bare sockets", "openai", "inspect_ai"
OURS, OURS_AGAIN, INSPECT_AGAIN = "ours", "ours, from its cache", "inspect_ai, from its cache"
ARMS = (RAW, PLAIN, INSPECT, OURS, INSPECT_AGAIN, OURS_AGAIN)
COMPARED = ((RAW, OURS), (OURS, PLAIN), (OURS, INSPECT), (OURS_AGAIN, INSPECT_AGAIN))

CLAIMS = 20
"""Claims per document."""

CLAIM_TOKENS = 30
"""Maximum tokens of a claim."""

CONTEXT = 16_384
"""Context length of the model, in tokens: too short to send 13,000 without counting them."""

SAMPLING = Sampling(max_tokens=REPLY_TOKENS)


@dataclass(frozen=True)
class Work:
    """The requests that every arm sends: each claim about each document."""

    tokens: int
    in_flight: int
    documents: tuple[str, ...]
    claims: tuple[str, ...]

    @property
    def requests(self) -> int:
        """Number of requests."""
        return len(self.documents) * len(self.claims)

    def prompts(self) -> list[list[dict[str, str]]]:
        """The messages of every request, document by document."""
        return [
            [{"role": "user", "content": f"{document}\n\n{claim}"}]
            for document in self.documents
            for claim in self.claims
        ]


@dataclass(frozen=True)
class Took:
    """The cost of an arm's requests: wall-clock seconds, and CPU seconds of its process."""

    requests: int
    seconds: float
    cpu_s: float

    @property
    def per_s(self) -> float:
        """Requests per second."""
        return self.requests / self.seconds

    @property
    def cpu_ms(self) -> float:
        """CPU milliseconds per request."""
        return 1000 * self.cpu_s / self.requests


Round = Mapping[str, Took]
"""Cost of each arm."""

Cell = tuple[int, int]
"""Tokens of a prompt, and requests in flight."""


def main(
    *,
    rounds: common.Rounds = 3,
    requests: Annotated[int, typer.Option(min=CLAIMS, help="Of each arm and round.")] = 1000,
    tokens: Annotated[list[int], typer.Option(min=100, help="Of a prompt.")] = [200, 2000, 13000],  # noqa: B006
    in_flight: Annotated[list[int], typer.Option(min=1, help="Requests.")] = [64, 256, 1024],  # noqa: B006
    endpoints: Annotated[
        int, typer.Option(min=1, help="That answer; openai and inspect_ai ask the first.")
    ] = 1,
    model: Annotated[
        str, typer.Option(help="Whose tokenizer ours counts with: a registered model, or a folder.")
    ] = "smollm2-135m-instruct",
    models_dir: Annotated[
        Path | None, typer.Option(help="Folder of the registered models.")
    ] = None,
    inspect_python: Annotated[
        Path | None,
        typer.Option(
            metavar="PYTHON",
            help="A Python interpreter that has inspect_ai, as in a virtual environment of its "
            "own; without it inspect_ai is left out.",
        ),
    ] = None,
) -> None:
    """Ask the same of endpoints that answer at once, by each client in turn.

    Prints Markdown: the machine, requests a second, processor time of a request, and ratios.

    Example:
        .venv/bin/python scripts/bench/client.py --requests 200 --tokens 200 --in-flight 64
    """
    load = psutil.getloadavg()[0]
    found = models.find(model, models_dir or default_models_dir())
    tokenizer = ChatTokenizer.from_folder(found.path)
    cells = [(size, places) for size in tokens for places in in_flight]
    measured: dict[Cell, list[Round]] = {cell: [] for cell in cells}
    peers = f"openai {version('openai')}"
    with ExitStack() as open_:
        try:
            urls = open_.enter_context(stub_process.started(endpoints))
            peer = None
            if inspect_python is not None:
                peer = open_.enter_context(inspect_process.started(inspect_python))
                peers += f", inspect_ai {peer({})['version']}"
            measure(work_of(tokenizer, 100, 8, CLAIMS, seed=0), tokenizer, urls, peer, 0)  # warm-up
            for size, places in cells:
                for number in range(1, rounds + 1):
                    work = work_of(tokenizer, size, places, requests, seed=number)
                    measured[size, places].append(measure(work, tokenizer, urls, peer, number))
        except common.PeerError as error:
            raise InputError(str(error)) from error
    print(
        f"{requests:,} requests, {CLAIMS} to a document, from one process to {endpoints} "
        f"endpoints; median of {rounds} rounds.\n\n{common.machine_line(load)}\n"
        f"- tokenizer: {found.name}; {peers}\n{common.date_line()}\n"
    )
    print(speed_table(measured), ratio_table(measured), sep="\n\n")


def measure(
    work: Work,
    tokenizer: ChatTokenizer,
    urls: Sequence[str],
    peer: inspect_process.Ask | None,
    number: int,
) -> Round:
    """Run each arm once; every other round in reverse order."""
    took: dict[str, Took] = {}
    with TemporaryDirectory() as folder:
        ours = partial(by_ours, work, tokenizer, urls, Path(folder) / "completions.sqlite")
        arms: dict[str, Callable[[], Took]] = {
            RAW: lambda: timed(work, by_sockets(work, urls)),
            PLAIN: lambda: timed(work, by_openai(work, urls[0])),
            OURS: lambda: timed(work, ours(), uvloop.run),
        }
        if peer:
            arms[INSPECT] = lambda: by_inspect(peer, work, urls[0], cached=False)
        for name in list(arms) if number % 2 else list(arms)[::-1]:
            took[name] = arms[name]()
        took[OURS_AGAIN] = timed(work, ours(), uvloop.run)
        if peer:
            by_inspect(peer, work, urls[0], cached=True)  # fill its cache
            took[INSPECT_AGAIN] = by_inspect(peer, work, urls[0], cached=True)
    for name, result in took.items():
        common.tell(
            number, f"{work.tokens} tokens, {work.in_flight} in flight, {name}", result.seconds
        )
    return {name: took[name] for name in ARMS if name in took}


def timed(
    work: Work, asking: Coroutine[Any, Any, None], run: Callable[..., None] = asyncio.run
) -> Took:
    """Cost of the requests in this process."""
    gc.collect()
    start, used = time.perf_counter(), time.process_time()
    run(asking)
    return Took(work.requests, time.perf_counter() - start, time.process_time() - used)


async def by_sockets(work: Work, urls: Sequence[str]) -> None:
    """Bare sockets and prepared bodies: the limit set by the endpoints and this machine."""
    bodies = [to_json({"model": "stub", "messages": prompt}) for prompt in work.prompts()]
    await stub_process.ask(urls, bodies, work.in_flight)


async def by_openai(work: Work, url: str) -> None:
    """The plain client, with as many connections as requests in flight."""
    import httpx2
    import openai

    places = asyncio.Semaphore(work.in_flight)
    limits = httpx2.Limits(max_connections=work.in_flight)
    form = {"name": "RelationReply", "schema": RelationReply.model_json_schema(), "strict": True}
    sent: dict[str, Any] = asdict(SAMPLING) | {
        "model": "stub",
        "response_format": {"type": "json_schema", "json_schema": form},
        "extra_body": {"chat_template_kwargs": TEMPLATE_ARGUMENTS},
    }
    async with openai.AsyncOpenAI(
        base_url=url,
        api_key="none",
        max_retries=0,
        timeout=None,
        http_client=openai.DefaultAsyncHttpxClient(limits=limits, trust_env=False),
    ) as client:

        async def ask(messages: Any) -> None:
            async with places:
                reply = await client.chat.completions.create(messages=messages, **sent)
            RelationReply.model_validate_json(reply.choices[0].message.content or "")

        await asyncio.gather(*map(ask, work.prompts()))


async def by_ours(work: Work, tokenizer: ChatTokenizer, urls: Sequence[str], cache: Path) -> None:
    """Our client, which counts tokens, sends, parses and stores."""
    identity = ServedIdentity("stub", "stub", "stub", CONTEXT)
    backend = Backend([Endpoint(url, "", "stub") for url in urls])
    with CompletionCache(cache) as store:
        client = Client(identity, tokenizer, store, backend, concurrency=work.in_flight)
        try:
            await asyncio.gather(
                *(client.structured(prompt, RelationReply, SAMPLING) for prompt in work.prompts())
            )
        finally:
            await client.close()


def by_inspect(peer: inspect_process.Ask, work: Work, url: str, *, cached: bool) -> Took:
    """inspect_ai in its own process."""
    said = peer({"url": url, "cached": cached} | asdict(work))
    return Took(work.requests, said["seconds"], said["cpu_s"])


def work_of(
    tokenizer: ChatTokenizer, tokens: int, in_flight: int, requests: int, seed: int
) -> Work:
    """Documents of sentences from the bundled samples, truncated to length; depends on the seed."""
    draw = random.Random(f"{seed} {tokens} {in_flight}")
    questions = read("ramdocs", SAMPLES).questions
    texts = [given.document.text for question in questions for given in question.documents]
    sentences = [sentence for text in texts for sentence in text.split(". ")]
    claims = tuple(
        tokenizer.cut(f"Claim {number}: {draw.choice(sentences)}", CLAIM_TOKENS)
        for number in range(CLAIMS)
    )
    longest = max(tokenizer.count([{"role": "user", "content": claim}]) for claim in claims)
    documents = []
    for number in range(-(-requests // CLAIMS)):
        text = f"Document {number} of {draw.randrange(10**9)}."
        while len(text) < 8 * tokens:
            text += f" {draw.choice(sentences)}."
        documents.append(tokenizer.cut(text, tokens - longest))
    return Work(tokens, in_flight, tuple(documents), claims)


def speed_table(measured: Mapping[Cell, Sequence[Round]]) -> str:
    """One row per cell and arm: requests per second, and CPU time per request."""
    rows = [
        (
            f"{tokens:,}",
            f"{in_flight:,}",
            arm,
            f"{median(round_[arm].per_s for round_ in took):,.0f}",
            f"{median(round_[arm].cpu_ms for round_ in took):.2f}",
        )
        for (tokens, in_flight), took in measured.items()
        for arm in took[0]
    ]
    return common.markdown(
        ("tokens", "in flight", "arm", "requests/s", "CPU ms of a request"), rows
    )


def ratio_table(measured: Mapping[Cell, Sequence[Round]]) -> str:
    """Speed of our client relative to every other arm, within a round."""
    rows = [
        (f"{tokens:,}", f"{in_flight:,}", f"{one} / {other}", *ratios)
        for (tokens, in_flight), took in measured.items()
        for one, other in COMPARED
        if {one, other} <= took[0].keys()
        for ratios in [common.spread([round_[one].per_s / round_[other].per_s for round_ in took])]
    ]
    return common.markdown(("tokens", "in flight", "speed", "min", "median", "max"), rows)


if __name__ == "__main__":
    common.run(main)
