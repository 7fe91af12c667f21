"""Settings of a training run, and its passes over the pairs in batches of similar length."""

import math
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from nli.batching import token_budget_batches
from nli.pairs import LabelledPair

CHUNK = 4_000
"""Pairs sorted by length together: far more than a batch, far fewer than the data."""


class TrainingSettings(BaseModel):
    """How a tagger is trained.

    Attributes:
        base: Folder of the model to start from: an encoder, or an earlier tagger.
        adapter: Rank of the adapters that are trained in place of the base; None trains the base.
        further: An adapter of the same base and rank to start from.
        epochs: A fraction is allowed.
        learning_rate: Reached after `warmup_steps`; it falls linearly to zero at the end.
        max_tokens: Lowered to the encoder's own limit if above it.
        repeats: Source -> how often each pass uses its pairs (default 1). With 0.5 each pass draws
            a new half of them.
        checkpoints: With n of them, a kill costs at most an nth of the training.
        seed: For the order of pairs and the new classifier's weights.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", title="How it learns")

    base: Annotated[Path, Field(description="Folder of the encoder or tagger to start from.")]
    adapter: Annotated[
        int | None,
        Field(
            ge=1,
            description="Train only low-rank adapters of this rank, and merge them with --base.",
        ),
    ] = None
    further: Annotated[
        Path | None,
        Field(description="Folder of an adapter of the same base and rank to train further."),
    ] = None
    epochs: Annotated[float, Field(gt=0, description="Passes over the pairs.")] = 2.0
    learning_rate: Annotated[
        float, Field(gt=0, description="Its peak (default: 1e-4, or 4e-4 for adapters).")
    ] = Field(default_factory=lambda known: 4e-4 if known.get("adapter") else 1e-4)
    warmup_steps: Annotated[int, Field(ge=0)] = 100
    batch_tokens: Annotated[
        int, Field(ge=64, description="Maximum tokens of a batch, with padding.")
    ] = 2048
    max_tokens: Annotated[
        int, Field(ge=16, description="Maximum tokens of a pair; the longer text is cut to fit.")
    ] = 320
    repeats: dict[str, Annotated[float, Field(ge=0)]] = {}
    evaluations: Annotated[
        int, Field(ge=1, description="Number of evaluations on --dev during training.")
    ] = 10
    checkpoints: Annotated[
        int, Field(ge=1, description="Number of checkpoints to resume from.")
    ] = 20
    seed: Annotated[int, Field(description="Seed of all random draws.")] = 42


def batches(
    settings: TrainingSettings, sources: Sequence[str], lengths: Sequence[int]
) -> list[list[int]]:
    """All batches of a training run, as indices of pairs, in the order of training.

    Every pass shuffles anew. Pairs of one batch have similar lengths in tokens, and batches come in
    random order.
    """
    rng = random.Random(settings.seed)  # noqa: S311  an order, not a secret
    order = _order(settings, sources, rng)
    planned = []
    for start in range(0, len(order), CHUNK):
        chunk = order[start : start + CHUNK]
        packed = token_budget_batches(
            [lengths[index] for index in chunk], budget=settings.batch_tokens
        )
        rng.shuffle(packed)
        planned += [[chunk[position] for position in batch] for batch in packed]
    return planned


def told(
    settings: TrainingSettings, pairs: Sequence[LabelledPair], dev: Sequence[LabelledPair]
) -> str:
    """The pairs of a training run, in two sentences."""
    takes = [settings.repeats.get(pair.source, 1) for pair in pairs]
    words = sum(
        len(f"{pair.premise} {pair.hypothesis}".split()) * times
        for pair, times in zip(pairs, takes, strict=True)
    )
    return (
        f"{len(pairs):,} pairs from {len({pair.source for pair in pairs})} sources, "
        f"{sum(takes):,.0f} a pass, {settings.epochs:g} passes: "
        f"{round(sum(takes) * settings.epochs):,} pairs, {round(words * settings.epochs):,} words. "
        f"Validated on {len(dev):,} pairs."
    )


def _order(settings: TrainingSettings, sources: Sequence[str], rng: random.Random) -> list[int]:
    """The pairs of all passes, shuffled anew in each."""
    by_source: dict[str, list[int]] = defaultdict(list)
    for index, source in enumerate(sources):
        by_source[source].append(index)

    def one_pass() -> list[int]:
        drawn = []
        for source, indices in by_source.items():
            whole, part = divmod(settings.repeats.get(source, 1), 1)
            drawn += indices * int(whole) + rng.sample(indices, round(part * len(indices)))
        return rng.sample(drawn, len(drawn))

    passes = [one_pass() for _ in range(math.ceil(settings.epochs))]
    order = [index for drawn in passes for index in drawn]
    return order[: round(len(passes[0]) * settings.epochs)]
