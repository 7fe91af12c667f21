"""Samples that anybody can draw again."""

import random
from collections.abc import Sequence
from typing import TypeVar

ItemT = TypeVar("ItemT")


def sample(items: Sequence[ItemT], size: int | None, seed: int) -> list[ItemT]:
    """Some of the items, drawn without replacement, in their order.

    Args:
        items: In the order of their data.
        size: How many; all where it is None, or there are no more.
        seed: The same one chooses the same of the same items.
    """
    if size is None or size >= len(items):
        return list(items)
    draw = random.Random(seed)  # noqa: S311  draws a sample, keeps no secret
    return [items[place] for place in sorted(draw.sample(range(len(items)), size))]
