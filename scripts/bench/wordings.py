"""How well a language model tells relations apart under different wordings of the same question.

Each folder of `wordings/` has the prompt `evidence/relation.j2` in another wording: another order
of labels, examples balanced over them or not, relevance asked first. "shipped" is the prompt that
comes with the program. Labels are asked for by choice, so each costs one token. Give pairs of
training halves (`contested nli pairs --half dev --most 10`): figures on pairs that a wording was
chosen by say nothing of it.

Prints Markdown. Replies are cached, so a call that was killed goes on when repeated.
"""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import common
import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.metrics import f1_score, roc_auc_score

from nli.pairs import LabelledPair, read_pairs
from pipelines.cli.flat import flat
from pipelines.cli.progress import STDERR
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.evidence.correction import FLOOR
from pipelines.evidence.judgement import RELATIONS
from pipelines.evidence.llm import llm_labeller
from pipelines.evidence.nli import RELATION_OF
from pipelines.experiment.options import EndpointOptions, source_of
from pipelines.files import check_writable
from serving.cache import CompletionCache
from serving.client import Client
from serving.connect import default_cache

WORDINGS = Path(__file__).parent / "wordings"
SHIPPED = "shipped"

Shares = NDArray[np.float64]
"""(n, 3), in the order of `RELATIONS`."""


@flat
def main(
    *,
    pairs: Annotated[Path, typer.Option(help="Labelled pairs of training halves.")],
    models: EndpointOptions,
    out: Annotated[Path, typer.Option(help="JSON lines of pairs with all probabilities.")],
    wording: Annotated[list[str] | None, typer.Option(help="One of them. Repeatable.")] = None,
) -> None:
    """Ask a model for relations under each wording, and compare.

    Example:
        wordings.py --profile cpu-1.5b --pairs held-out.jsonl.gz --out shares.jsonl
    """
    given = read_pairs(pairs)
    check_writable(out)
    known = [SHIPPED, *sorted(each.name for each in WORDINGS.iterdir())]
    for name in wording or ():
        if name not in known:
            raise InputError(f"--wording {name}: there are {', '.join(known)}")
    asyncio.run(measure(given, models, wording or known, out))


async def measure(
    pairs: Sequence[LabelledPair], models: EndpointOptions, wordings: Sequence[str], out: Path
) -> None:
    """Ask under each wording in turn, and print a row for each as it is done."""
    gold = np.array([RELATIONS.index(RELATION_OF[pair.label]) for pair in pairs])
    found: dict[str, Shares] = {}
    heading = ("wording", "accuracy", "macro-F1", "corrected", "macro-F1", "polarity", "relevance")
    rows = []
    async with common.served(source_of(models, "judge")) as server:
        print(f"{len(pairs)} pairs.\n\n{common.machine(server)}\n")
        with CompletionCache(default_cache()) as cache:
            client = server.client(cache)
            for name in wordings:
                STDERR.print(f"[dim]asking in the wording '{name}'[/dim]")
                found[name] = await ask(client, pairs, None if name == SHIPPED else WORDINGS / name)
                rows.append((name, *figures(found[name], gold)))
                STDERR.print(" ".join(rows[-1]))
                with out.open("w", encoding="utf-8") as stream:
                    for number, pair in enumerate(pairs):
                        shares = {each: found[each][number].tolist() for each in found}
                        stream.write(json.dumps(pair.model_dump(mode="json") | {"shares": shares}))
                        stream.write("\n")
            await client.close()
    print(common.markdown(heading, rows))


async def ask(client: Client, pairs: Sequence[LabelledPair], wording: Path | None) -> Shares:
    """(n, 3): what the model gives to each label of each pair."""
    labeller = llm_labeller(client, "choice", overrides=wording)

    async def one(pair: LabelledPair) -> list[float]:
        document = Document(id="1", text=pair.premise)
        (judged,) = (await labeller([pair.hypothesis], [document])).judgements
        assert judged.probabilities is not None
        return [judged.probabilities[label] for label in RELATIONS]

    return np.array(await asyncio.gather(*(one(pair) for pair in pairs)))


def figures(shares: Shares, gold: NDArray[np.int_]) -> tuple[str, ...]:
    """Accuracy and macro-F1 as asked and with the mean log-probability of each label taken off.

    Then how well support is told from contradiction where one holds, and relevant documents from
    others: areas under the curve.
    """
    logs = np.log(np.maximum(shares, FLOOR))
    cells = []
    for scores in (logs, logs - logs.mean(axis=0)):
        labels = scores.argmax(axis=1)
        cells += [np.mean(labels == gold), f1_score(gold, labels, average="macro")]
    support, contradict, irrelevant = range(len(RELATIONS))
    relevant = gold != irrelevant
    polarity = (logs[:, support] - logs[:, contradict])[relevant]
    cells += [
        roc_auc_score(gold[relevant] == support, polarity),
        roc_auc_score(relevant, -shares[:, irrelevant]),
    ]
    return tuple(f"{cell:.3f}" for cell in cells)


if __name__ == "__main__":
    common.run(main)
