"""The segment of a page that matters most to a question (CONFLICTS, section 3).

A page is cut into windows of 512 tokens, each 256 after the one before it; the window whose
embedding has the largest dot product with the question's is the segment. The paper embeds with
TAS-B (msmarco-distilbert-base-tas-b), whose dot product is that of vectors as they come from the
model, not of length 1. So `reader` asks for vectors as they are. A model with a normalising layer
of its own, as all-MiniLM-L6-v2 is, gives vectors of length 1 even so, and the product is the
cosine.

To choose the segments of a release takes an embedding model an hour without a GPU. So `keeping`
keeps each as it comes, and a run that is killed is resumed with those that are missing.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from pydantic import BaseModel

from pipelines.retrieval.dense import Embedder
from pipelines.runs.folder import RunFolder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TOKENS = 512
"""Length of a window, with the tokens that the model puts around a text."""

STRIDE = 256
"""From the beginning of a window to that of the next."""

LOG: Final = "segments"
"""What segments are kept under: `segments.jsonl`, for all runs of a folder."""


class Segment(BaseModel, frozen=True):
    """A segment; its id is SHA-256 over what decides it: model, question and page."""

    id: str
    text: str


class Reader(Protocol):
    """What segments are chosen with: an `Embedder`, or a stand-in for one."""

    @property
    def tokenizer(self) -> Any:
        """A fast tokenizer of transformers."""

    @property
    def reads(self) -> int:
        """How many tokens of a text it reads, those around it included."""

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Embeddings of shape (n, dimension)."""


def reader(path: Path, tokens: int = TOKENS, device: str | None = None) -> Embedder:
    """The embedding model of a sentence-transformers folder with safetensors.

    It reads windows of so many tokens whole, and keeps its vectors' lengths.
    """
    return Embedder(path, length=tokens, normalised=False, device=device)


def keeping(folder: RunFolder, embedder: Reader, digest: str) -> Callable[[str, str], str]:
    """`best_segment` of a question and a page, asked only for what the folder does not have.

    Args:
        folder: Locked by the caller.
        embedder: Made by `reader`; loaded when something is missing.
        digest: Of the embedding model.

    Raises:
        InputError: What the folder has is damaged, or its file cannot be written.
    """
    log = folder.log(LOG, Segment)
    log.mend()
    known = log.read()

    def choose(query: str, page: str) -> str:
        decides = json.dumps([digest, query, page])
        key = hashlib.sha256(decides.encode()).hexdigest()
        if key not in known:
            known[key] = Segment(id=key, text=best_segment(query, page, embedder))
            log.append(known[key])
        return known[key].text

    return choose


def token_windows(text: str, tokenizer: Any, tokens: int, stride: int) -> list[str]:
    """Overlapping windows of a text, in its order: substrings, so white space and case stay.

    The last window is the first that reaches the end of the text, so it may be shorter, but is
    always longer than what it shares with the one before it. A window may begin within a word.

    Args:
        text: Any text; one that fits a window is that window.
        tokenizer: A fast tokenizer of transformers, which knows where its tokens lie in the text.
        tokens: Length of a window in tokens of the text.
        stride: Tokens from the beginning of a window to that of the next.

    Raises:
        ValueError: The stride is not from 1 to `tokens`, so a token might be in no window.
    """
    if not 1 <= stride <= tokens:
        raise ValueError(f"a stride of {stride} does not suit windows of {tokens} tokens")
    # A page is longer than what the model reads, of which `verbose` would warn.
    spans: list[tuple[int, int]] = tokenizer(
        text,
        add_special_tokens=False,
        return_offsets_mapping=True,
        truncation=False,
        verbose=False,
    )["offset_mapping"]
    if len(spans) <= tokens:
        return [text]
    starts = range(0, len(spans) - tokens + stride, stride)
    return [text[spans[at][0] : spans[min(at + tokens, len(spans)) - 1][1]] for at in starts]


def best_segment(
    query: str, text: str, embedder: Reader, tokens: int = TOKENS, stride: int = STRIDE
) -> str:
    """The window of a text whose embedding has the largest dot product with the query's.

    Args:
        query: The question.
        text: The page.
        embedder: Made by `reader`: it reads at least `tokens` tokens.
        tokens: Length of a window, with those that the model puts around it (two, of BERT's kin).
        stride: As of `token_windows`.

    Returns:
        The window, without white space around it; the first of equals. A text that fits one
        window is returned whole, as it is.

    Raises:
        ValueError: The embedder reads less than a window, or the stride does not suit.
        InputError: The model cannot be loaded.
    """
    if embedder.reads < tokens:
        raise ValueError(
            f"the embedder reads {embedder.reads} of {tokens} tokens; make it with segments.reader"
        )
    around = int(embedder.tokenizer.num_special_tokens_to_add())
    windows = token_windows(text, embedder.tokenizer, tokens - around, stride)
    if len(windows) == 1:
        return text
    (asked,) = embedder.embed([query])
    return windows[int((embedder.embed(windows) @ asked).argmax())].strip()
