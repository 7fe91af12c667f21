"""One request at a time, or all in flight: what the server's batching is worth.

Measured for both kinds of request: labels by choice, which are nearly all reading, and JSON
replies, which are mostly writing.
"""

import asyncio
from dataclasses import replace

import common

from pipelines import prompts
from pipelines.cli.flat import flat
from pipelines.experiment.options import EndpointOptions, source_of
from serving.connect import Source

ONE_AT_A_TIME = "one at a time"
ALL_IN_FLIGHT = "all in flight"


@flat
def main(*, models: EndpointOptions, rounds: common.Rounds = 3, claims: common.Claims = 8) -> None:
    """Time the same requests one at a time and all in flight.

    Prints Markdown: the machine, and for each kind of request every round and the ratio.

    Example:
        .venv/bin/python scripts/bench/concurrency.py --profile cpu-small --rounds 3
    """
    asyncio.run(measure(source_of(models, "judge"), rounds, claims))


async def measure(source: Source, rounds: int, claims: int) -> None:
    """Measure both ways for both kinds of request and print the tables."""
    cases = common.sample_cases(claims)
    pairs = sum(len(case.claims) * len(case.documents) for case in cases)
    choice = prompts.load("evidence/relation", {"document", "claim"})
    json = prompts.load("evidence/relation_json", {"document", "claim"})
    both = {ONE_AT_A_TIME: 1, ALL_IN_FLIGHT: None}
    measured = {}
    async with common.served(source) as server:
        for kind, arm in (
            ("Labels by choice", common.Arm("choice", choice)),
            ("JSON replies", common.Arm("json", json)),
        ):
            arms = {name: replace(arm, concurrency=most) for name, most in both.items()}
            measured[kind] = await server.compare(arms, cases, rounds)

    print(
        f"{claims} claims with the documents of their samples, {pairs} pairs; up to "
        f"{server.concurrency} requests in flight.\n"
    )
    print(common.machine(server))
    for kind, found in measured.items():
        print(f"\n{kind}:\n")
        print(common.rounds_table(found), end="\n\n")
        print(common.ratio_table(found, ONE_AT_A_TIME, ALL_IN_FLIGHT))


if __name__ == "__main__":
    common.run(main)
