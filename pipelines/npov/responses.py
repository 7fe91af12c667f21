"""Step 3 of the study: arguments are drawn, and the generator answers (NPOV, section 4.1)."""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from math import comb
from random import Random
from typing import Any, Final

from pydantic import BaseModel

from pipelines.data.procon import Topic
from pipelines.errors import InputError
from pipelines.experiment.options import source_of
from pipelines.npov.example import NpovExample, Perspectives
from pipelines.npov.generation import (
    TOKENS_PER_ARGUMENT,
    ChatWriter,
    SoftPromptWriter,
    Writer,
    respond,
    respond_prompt,
)
from pipelines.npov.soft_prompt import SoftPrompt
from pipelines.npov.study import Study, asked, digest, digest_of
from pipelines.npov.synthesis import MOST_PER_SIDE
from pipelines.report.progress import say
from serving.client import Client
from serving.connect import connect, resolve


class Drawn(BaseModel, frozen=True):
    """Arguments that were drawn, and what was written from them; or why that cannot be read."""

    id: str
    given: Perspectives
    temperature: float
    example: NpovExample | None = None
    problem: str | None = None
    raw: str | None = None


BOTH_TEMPERATURES: Final = 3
"""Of a topic's first draws there are two responses."""


def draws(topics: Sequence[Topic], most: int, seed: int) -> list[Drawn]:
    """Up to so many draws of arguments for each topic, each another one (NPOV, section 4.1).

    They have one, two, three arguments a side, in turn, as far as the topic has them. The first
    three are answered at the temperatures 0.0 and 0.7, others at 0.7.
    """
    found = []
    for topic in topics:
        draw = Random(f"{seed} {topic.topic}")  # noqa: S311  (a sample, not a secret)
        seen: dict[int, set[Any]] = defaultdict(set)
        for number in range(most):
            in_turn = [(number + more) % MOST_PER_SIDE + 1 for more in range(MOST_PER_SIDE)]
            left = [
                size
                for size in in_turn
                if len(seen[size]) < comb(len(topic.pro), size) * comb(len(topic.con), size)
            ]
            if not left:
                break
            size = left[0]
            while True:
                pro, con = (draw.sample(own, size) for own in (topic.pro, topic.con))
                if (chosen := (frozenset(pro), frozenset(con))) not in seen[size]:
                    break
            seen[size].add(chosen)
            given = Perspectives(
                topic=topic.topic, question=topic.question, pro=tuple(pro), con=tuple(con)
            )
            for temperature in (0.0, 0.7) if number < BOTH_TEMPERATURES else (0.7,):
                name = f"{topic.topic}/{number}-{temperature}"
                found.append(Drawn(id=name, given=given, temperature=temperature))
    return found


async def responses(study: Study, writer: Writer) -> list[Drawn]:
    """What the generator writes to all draws of all topics; kept as it comes."""
    wanted = draws(study.all_topics, study.sizes.draws, study.options.seed)
    study.begin(
        "responses",
        draws=digest_of([each.model_dump() for each in wanted]),
        writer=_writer_config(study, writer),
    )
    client = writer.client

    async def written(each: Drawn) -> Drawn:
        seed = int(digest_of([study.options.seed, each.id])[:7], 16)
        arguments = len(each.given.pro) + len(each.given.con)
        found = await respond(
            each.given,
            writer,
            temperature=each.temperature,
            seed=seed,
            most=TOKENS_PER_ARGUMENT * (arguments + 2),
        )
        return each.model_copy(
            update={"example": found.example, "problem": found.problem, "raw": found.raw}
        )

    by_id = {each.id: each for each in wanted}
    found = await asked(
        study, "responses", Drawn, by_id, written, client=client, counted="responses"
    )
    unread = sum(each.example is None for each in found)
    study.tell(
        "responses",
        f"Responses: {len(found):,}, to up to {study.sizes.draws} draws for each topic; the paper "
        f"has up to 18. {unread:,} could not be read and are left out.",
    )
    return found


def _writer_config(study: Study, writer: Writer) -> dict[str, Any]:
    identity = writer.client.model
    told = (
        {"prompt": writer.prompt.digest}
        if isinstance(writer, ChatWriter)
        else {"soft_prompt": digest(study.prompt("response"))}
    )
    return {"name": identity.name, "digest": identity.digest, "engine": identity.engine, **told}


@asynccontextmanager
async def opened_writer(
    study: Study, soft: SoftPrompt | None
) -> AsyncIterator[tuple[Writer, Client]]:
    """Whoever writes responses and paraphrases; a server starts with the first question."""
    options = study.options
    if options.endpoint:  # what it is called there is not known here
        options = options.model_copy(update={"model": None})
    source = replace(source_of(options, "generator"), embeddings=soft is not None)
    folder = (await resolve(source)).folder
    if soft is not None and (folder is None or folder.digest != soft.model):
        raise InputError(
            "the server at --endpoint does not serve the model whose soft prompt is tuned; name "
            "its folder with --model, or take --generator prompt"
        )
    async with connect(
        source,
        cache=options.cache,
        logs=study.folder.logs,
        concurrency=options.concurrency,
        on_status=say,
    ) as client:
        if soft is None or folder is None:
            yield ChatWriter(client, respond_prompt()), client
        else:
            dtype = source.options(folder.name).dtype
            yield SoftPromptWriter(client, soft.vectors, folder.path, dtype), client
