"""What ALCE's metrics read of a model's output (Gao et al. 2023, their code)."""

import re


def as_scored(output: str) -> str:
    """The first line of an output that has text, without citation marks and chat markers.

    Of a mark "[12]" the bracket and its number go with one space before them; then every "]" and
    every " |" goes, whatever they are of.
    """
    line = output.strip().split("\n")[0].replace("<|im_end|>", "")
    return re.sub(r" ?\[\d+", "", line).replace(" |", "").replace("]", "")
