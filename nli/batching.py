"""Each distinct item once, and batches that are full of tokens, not of padding."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T", bound=Any)
R = TypeVar("R")


def distinct(items: Sequence[T]) -> tuple[list[T], list[int]]:
    """The distinct items, (m,), and the place of each item among them, (n,).

    They are sorted, so what is computed from them does not depend on the order of the input:
    batches come out the same, to the last bit.
    """
    unique = sorted(set(items))
    places = {item: place for place, item in enumerate(unique)}
    return unique, [places[item] for item in items]


def token_budget_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Group items of similar length so that a padded batch holds no more tokens than the budget.

    Longest first: memory runs out early if at all, and later batches are faster, so an estimate of
    the remaining time errs on the safe side.

    Returns:
        Places in `lengths`, (n,), each in exactly one batch. An item above the budget is alone.
    """
    batches: list[list[int]] = []
    width = 0
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if batches and (len(batches[-1]) + 1) * width <= budget:
            batches[-1].append(place)
        else:
            batches.append([place])
            width = lengths[place]
    return batches


def in_threads(
    work: Callable[[Sequence[T]], R], items: Sequence[T], size: int
) -> Generator[R, None, None]:
    """Results of `work` on chunks of this many items, in order; later ones are computed meanwhile.

    For work that releases the GIL, as a tokenizer's does. A tokenizer's own threads may be
    switched off, since they do not survive a fork; these threads end with the iterator.
    """
    import torch

    pool = ThreadPoolExecutor(torch.get_num_threads())
    try:
        yield from pool.map(work, [items[at : at + size] for at in range(0, len(items), size)])
    finally:
        pool.shutdown(cancel_futures=True)
