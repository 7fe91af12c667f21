"""One request at a time, or all in flight: what the server's batching is worth.

Measured for both kinds of request: labels by choice, which are nearly all reading, and JSON
replies, which are mostly writing.
"""

import asyncio
from typing import Annotated

import common
import typer

from pipelines import prompts
from pipelines.cli.flat import flat
from pipelines.evidence.llm import Mode
from pipelines.experiment.options import EndpointOptions, source_of
from serving.connect import Source

ONE_AT_A_TIME = "one at a time"
ALL_IN_FLIGHT = "all in flight"


@flat
def main(
    *,
    models: EndpointOptions,
    rounds: common.Rounds = 3,
    claims: Annotated[
        int, typer.Option(min=1, help="Claims, each with the 4 or 5 documents of its sample.")
    ] = 8,
) -> None:
    """Time the same requests one at a time and all in flight.

    Prints Markdown: the machine, and for each kind of request every round and the ratio.

    Example:
        .venv/bin/python scripts/bench/concurrency.py --profile cpu-small --rounds 3
    """
    source = source_of(models, "judge")
    asyncio.run(measure(source, rounds, claims))


async def measure(source: Source, rounds: int, claims: int) -> None:
    """Measure both ways for both kinds of request and print the tables."""
    cases = common.sample_cases(claims)
    pairs = sum(len(case.claims) * len(case.documents) for case in cases)
    async with common.served(source) as server:
        choice = await both(server, "choice", "evidence/relation", cases, rounds)
        json = await both(server, "json", "evidence/relation_json", cases, rounds)

    print(
        f"{claims} claims with the documents of their samples, {pairs} pairs; up to "
        f"{server.concurrency} requests in flight.\n"
    )
    print(common.machine(server))
    for kind, measured in (("Labels by choice", choice), ("JSON replies", json)):
        print(f"\n{kind}:\n")
        print(common.rounds_table(measured), end="\n\n")
        print(common.ratio_table(measured, ONE_AT_A_TIME, ALL_IN_FLIGHT))


async def both(
    server: common.Server, mode: Mode, name: str, cases: list[common.Case], rounds: int
) -> list[common.Round]:
    """The same requests one at a time and all in flight."""
    prompt = prompts.load(name, {"document", "claim"})
    return await common.interleaved(
        {
            ONE_AT_A_TIME: lambda some: server.judge(some, mode, prompt, concurrency=1),
            ALL_IN_FLIGHT: lambda some: server.judge(some, mode, prompt),
        },
        cases,
        rounds,
    )


if __name__ == "__main__":
    common.run(main)
