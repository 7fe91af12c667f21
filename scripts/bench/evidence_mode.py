"""Labels by `choice` or by `json`: what snippet and reasoning cost, and whether labels agree.

A choice is one token with the probability of every label; a JSON reply has the model copy the
passage that decides, give its reason, and then the label.
"""

import asyncio

import common

from pipelines import prompts
from pipelines.cli.flat import flat
from pipelines.evidence.judgement import Relation
from pipelines.experiment.options import EndpointOptions, source_of
from pipelines.metrics.proportion import proportion
from pipelines.report.table import shown
from serving.connect import Source


@flat
def main(*, models: EndpointOptions, rounds: common.Rounds = 3, claims: common.Claims = 16) -> None:
    """Time the same (claim, document) pairs by choice and by JSON reply, and compare the labels.

    Prints Markdown: the machine, every round, the ratio, and the agreement.

    Example:
        .venv/bin/python scripts/bench/evidence_mode.py --profile cpu-small --rounds 3
    """
    asyncio.run(measure(source_of(models, "judge"), rounds, claims))


async def measure(source: Source, rounds: int, claims: int) -> None:
    """Measure both modes and print the tables."""
    cases = common.sample_cases(claims)
    choice = prompts.load("evidence/relation", {"document", "claim"})
    json = prompts.load("evidence/relation_json", {"document", "claim"})
    arms = {"choice": common.Arm("choice", choice), "json": common.Arm("json", json)}
    async with common.served(source) as server:
        measured = await server.compare(arms, cases, rounds)

    pairs = len(measured[0]["choice"].judgements)
    print(f"{claims} claims with the documents of their samples, {pairs} pairs.\n")
    print(common.machine(server), end="\n\n")
    print(common.rounds_table(measured), end="\n\n")
    print(common.ratio_table(measured, "json", "choice"), end="\n\n")
    print(agreement_table(measured))


def agreement_table(rounds: list[common.Round]) -> str:
    """How many pairs got the same label both ways; unreadable replies agree with nothing."""
    rows = []
    for number, round_ in enumerate(rounds, start=1):
        by_choice = [judgement.relation for judgement in round_["choice"].judgements]
        by_json = [judgement.relation for judgement in round_["json"].judgements]
        same = sum(a is b for a, b in zip(by_choice, by_json, strict=True))
        unreadable = by_json.count(Relation.INVALID)
        share = shown(proportion(same, len(by_choice)))
        rows.append((str(number), str(len(by_choice)), str(same), share, str(unreadable)))
    heading = ("round", "pairs", "same label", "share [95 % interval]", "unreadable JSON")
    return common.markdown(heading, rows)


if __name__ == "__main__":
    common.run(main)
