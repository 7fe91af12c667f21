"""The third of labelled queries that nothing about conflict types is chosen or trained on."""

import hashlib
from typing import Final

THIRDS: Final = 3


def set_aside(query: str) -> bool:
    """Whether a query is kept for the last measurement: SHA-256 of its text, modulo 3, is 0.

    Space around the text aside. The rule knows the text alone, so a query is aside in every file
    that has it.
    """
    return int(hashlib.sha256(query.strip().encode()).hexdigest(), 16) % THIRDS == 0
