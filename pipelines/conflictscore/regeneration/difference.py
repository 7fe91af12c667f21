"""What changed from one text to the next, word by word."""

import difflib
import re
from typing import Literal, NamedTuple

Kind = Literal["kept", "removed", "added"]


class Piece(NamedTuple):
    """Words that share one fate, with the white space that follows them."""

    kind: Kind
    text: str


def difference(before: str, after: str) -> list[Piece]:
    """The words of two texts in one sequence: kept, removed, added.

    Pieces that are kept or removed make up `before`, those kept or added make up `after`; of kept
    words the white space is that of `after`.
    """
    old, new = _words(before), _words(after)
    matcher = difflib.SequenceMatcher(
        None, [word.strip() for word in old], [word.strip() for word in new], autojunk=False
    )
    pieces: list[Piece] = []
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag == "equal":
            pieces.append(Piece("kept", "".join(new[j:j_end])))
            continue
        if i < i_end:
            pieces.append(Piece("removed", "".join(old[i:i_end])))
        if j < j_end:
            pieces.append(Piece("added", "".join(new[j:j_end])))
    return pieces


def _words(text: str) -> list[str]:
    return re.findall(r"\S+\s*", text.strip())
