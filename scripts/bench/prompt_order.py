"""Document before claim, or claim before document: what the order costs.

Many claims are judged against one document. With the document first, the server reads it once and
takes it from its prefix cache for every further claim; with the claim first, the prompts part
before the document, and each claim has it read again.
"""

import asyncio
from typing import Annotated

import common
import typer

from pipelines import prompts
from pipelines.cli.flat import flat
from pipelines.data.jsonl import SAMPLES, read
from pipelines.data.records import Document
from pipelines.experiment.options import EndpointOptions, source_of
from pipelines.prompts import Prompt
from serving.connect import Source
from serving.tokens import ChatTokenizer

DOCUMENT_FIRST = "document first"
CLAIM_FIRST = "claim first"


@flat
def main(
    *,
    models: EndpointOptions,
    rounds: common.Rounds = 3,
    claims: Annotated[int, typer.Option(min=1, help="Claims on the one document.")] = 32,
    tokens: Annotated[int, typer.Option(min=1, help="Length of the document.")] = 1000,
) -> None:
    """Time the same claims on one document, document first and claim first.

    Prints Markdown: the machine, every round, and the ratio.

    Example:
        .venv/bin/python scripts/bench/prompt_order.py --profile cpu-small --rounds 3
    """
    asyncio.run(measure(source_of(models, "judge"), rounds, claims, tokens))


async def measure(source: Source, rounds: int, claims: int, tokens: int) -> None:
    """Measure both orders and print the tables."""
    document_first = prompts.load("evidence/relation", {"document", "claim"})
    arms = {
        DOCUMENT_FIRST: common.Arm("choice", document_first),
        CLAIM_FIRST: common.Arm("choice", swapped(document_first)),
    }
    asked = tuple(claim for case in common.sample_cases(claims) for claim in case.claims)
    async with common.served(source) as server:
        document, length = one_document(tokens, server.resolved.tokenizer)
        measured = await server.compare(arms, [common.Case(asked, (document,))], rounds)

    print(f"{claims} claims on one document of {length} tokens, one label each.\n")
    print(common.machine(server), end="\n\n")
    print(common.rounds_table(measured), end="\n\n")
    print(common.ratio_table(measured, CLAIM_FIRST, DOCUMENT_FIRST))


def swapped(prompt: Prompt) -> Prompt:
    """The same prompt with document and claim in each other's place, and nothing else changed."""
    document, claim = '{{ document | fenced("DOCUMENT") }}', '{{ claim | fenced("CLAIM") }}'
    head, rest = prompt.source.split(document)
    between, tail = rest.split(claim)
    return Prompt("bench/claim_first", head + claim + between + document + tail)


def one_document(tokens: int, tokenizer: ChatTokenizer | None) -> tuple[Document, str]:
    """The samples' documents joined and cut to a length, and what that length is."""
    samples = {example.group: example.documents for example in read(SAMPLES).examples}
    whole = "\n\n".join(each.as_read() for documents in samples.values() for each in documents)
    if tokenizer is None:
        return Document(id="samples", text=whole[: 4 * tokens]), f"about {tokens:,}"
    document = Document(id="samples", text=tokenizer.cut(whole, tokens))
    return document, f"{len(tokenizer.encode(document.text)):,}"


if __name__ == "__main__":
    common.run(main)
