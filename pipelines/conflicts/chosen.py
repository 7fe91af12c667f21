"""Segments that were chosen, kept in the run folder: nothing is chosen twice.

To choose the segments of a release takes an embedding model an hour without a GPU. So each is kept
as it comes, and a run that is killed goes on with those that are missing.
"""

import hashlib
import json
from collections.abc import Callable
from typing import Final

from pydantic import BaseModel

from pipelines.conflicts.segments import Reader, best_segment
from pipelines.runs.folder import RunFolder

LOG: Final = "segments"
"""What they are kept under: `segments.jsonl`, for all runs of a folder."""


class Chosen(BaseModel, frozen=True):
    """A segment.

    Attributes:
        id: SHA-256 over what decides it: model, question and page.
        text: The segment.
    """

    id: str
    text: str


def keeping(folder: RunFolder, embedder: Reader, digest: str) -> Callable[[str, str], str]:
    """`best_segment` of a question and a page, asked only for what the folder does not have.

    Args:
        folder: Locked by the caller.
        embedder: Made by `segments.reader`; loaded when something is missing.
        digest: Of the embedding model.

    Raises:
        InputError: What the folder has is damaged, or its file cannot be written.
    """
    log = folder.log(LOG, Chosen)
    log.mend()
    known = log.read()

    def choose(query: str, page: str) -> str:
        decides = json.dumps([digest, query, page])
        key = hashlib.sha256(decides.encode()).hexdigest()
        if key not in known:
            known[key] = Chosen(id=key, text=best_segment(query, page, embedder))
            log.append(known[key])
        return known[key].text

    return choose
