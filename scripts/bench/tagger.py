"""Our tagger against sentence-transformers' `CrossEncoder.predict` with its defaults.

Both score the same pairs with the same weights on the same machine, in turn. The tagger differs in
three ways: it scores equal pairs once, it sorts by token length and fills batches by tokens, and it
computes in bf16 if the processor supports it.
"""

import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import common
import numpy as np
import psutil
import typer
from numpy.typing import NDArray

from nli.errors import TaggerError
from nli.labels import LABELS
from nli.pairs import Pair, read_pairs
from nli.tagger import Tagger, shipped
from pipelines.errors import InputError

THEIRS, OURS = "CrossEncoder.predict", "tagger"

Arm = Callable[[Sequence[Pair]], NDArray[Any]]
Round = dict[str, tuple[float, NDArray[Any]]]


def main(
    *,
    rounds: common.Rounds = 3,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs that are scored.")] = 5000,
    data: common.Pairs = None,
    model: Annotated[Path | None, typer.Option(help="Folder; the shipped tagger if none.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, ...")] = None,
) -> None:
    """Time the same pairs through both, and compare their labels.

    Prints Markdown: the machine, every round, the ratios, the agreement of labels.

    Example:
        .venv/bin/python scripts/bench/tagger.py --rounds 3 --data pairs.jsonl
    """
    file = data or common.released_pairs()
    folder = model or shipped()
    load = psutil.getloadavg()[0]
    try:
        taken = sample(file, pairs)
        arms, digest, computed = prepared(folder, device)
        measured = interleaved(arms, taken, rounds)
    except TaggerError as error:
        raise InputError(str(error)) from error
    lengths = [len(f"{pair.premise} {pair.hypothesis}".split()) for pair in taken]
    print(
        f"{len(taken):,} pairs from {file.name} ({len(set(taken)):,} distinct; "
        f"{np.mean(lengths):.0f} words on average, {max(lengths)} at most).\n\n"
        f"{common.machine_line(load)}\n"
        f"- model: {folder.name}, digest {digest}, {computed}\n"
        f"{common.date_line()}\n"
    )
    print(rounds_table(measured, len(taken)), end="\n\n")
    print(comparison_table(measured))


def sample(data: Path, count: int) -> list[Pair]:
    """A fixed random sample; one pair in ten is from the longest tenth of the premises."""
    rows = sorted({row.pair for row in read_pairs(data)})
    if count > len(rows):
        raise InputError(f"--pairs {count}: {data} has {len(rows):,}; ask for less")
    by_length = sorted(rows, key=lambda pair: (len(pair.premise), pair))
    longest = by_length[-max(len(rows) // 10, count // 10) :]
    draw = random.Random(0)
    taken = draw.sample(longest, count // 10)
    rest = sorted(set(rows).difference(taken))
    taken += draw.sample(rest, count - len(taken))
    draw.shuffle(taken)
    return taken


def prepared(folder: Path, device: str | None) -> tuple[dict[str, Arm], str, str]:
    """The loaded arms, the tagger's digest, and its device and number format."""
    from sentence_transformers import CrossEncoder

    tagger = Tagger.load(folder, device=device)
    order = [tagger.encoder.labels.index(label) for label in LABELS]
    reference = CrossEncoder(str(folder), device=device or tagger.encoder.device)

    def theirs(pairs: Sequence[Pair]) -> NDArray[Any]:
        logits: NDArray[Any] = reference.predict([tuple(pair) for pair in pairs])[:, order]
        return logits

    arms: dict[str, Arm] = {THEIRS: theirs, OURS: tagger.encoder.logits}
    return arms, tagger.digest, f"{tagger.encoder.precision} on {tagger.encoder.device}"


def interleaved(arms: dict[str, Arm], pairs: Sequence[Pair], rounds: int) -> list[Round]:
    """Measure the arms in turn, after a short untimed warm-up."""
    for arm in arms.values():
        arm(pairs[:32])
    measured: list[Round] = [{} for _ in range(rounds)]
    for number, name in common.turns(arms, rounds):
        start = time.perf_counter()
        logits = arms[name](pairs)
        seconds = time.perf_counter() - start
        measured[number - 1][name] = seconds, logits
        common.tell(number, name, seconds)
    return [{name: round_[name] for name in arms} for round_ in measured]


def rounds_table(rounds: Sequence[Round], pairs: int) -> str:
    """One row per round and arm: seconds and pairs per second."""
    return common.markdown(
        ("round", "arm", "seconds", "pairs/s"),
        [
            (str(number), name, f"{seconds:.1f}", f"{pairs / seconds:,.0f}")
            for number, round_ in enumerate(rounds, start=1)
            for name, (seconds, _) in round_.items()
        ],
    )


def comparison_table(rounds: Sequence[Round]) -> str:
    """Speed relative to `CrossEncoder.predict`, and label agreement."""
    rows = []
    for name in [name for name in rounds[0] if name != THEIRS]:
        ratios = [round_[THEIRS][0] / round_[name][0] for round_ in rounds]
        same = [
            float((round_[THEIRS][1].argmax(1) == round_[name][1].argmax(1)).mean())
            for round_ in rounds
        ]
        rows.append((name, *common.spread(ratios), f"{min(same):.2%}"))
    return common.markdown(("speed-up of", "min", "median", "max", "same label"), rows)


if __name__ == "__main__":
    common.run(main)
