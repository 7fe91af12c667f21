"""The cross-encoder: pairs of texts in, logits out, quickly and the same in every order."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from nli.batching import distinct, in_threads
from nli.errors import TaggerError, is_fault
from nli.folder import check_folder, folder_digest
from nli.labels import LABELS, Label, label_order
from nli.memory import TokenBudget, moved, out_of_memory, release, token_budget
from nli.pairs import Pair

if TYPE_CHECKING:
    import torch

Precision = Literal["auto", "fp32", "bf16", "fp16"]
Encoded = tuple[NDArray[np.int32], NDArray[np.uint8]]
"""Token and segment numbers of a pair, (tokens,) each."""

TOKENISED_AT_ONCE = 64
"""Pairs that a thread tokenises at a time; few, so that scoring begins at once."""

WIDTH_STEP = 16
"""Batches are padded to a multiple of this many tokens."""
# The limit assumed for a model that names none.
_DEFAULT_TOKENS = 512


@dataclass(frozen=True)
class Encoder:
    """A sequence classifier with three labels, on one device.

    Attributes:
        labels: Labels of the model's logits 0, 1, 2.
        digest: `folder_digest` of its folder.
        max_tokens: Most tokens of one input: premise, hypothesis and special tokens together.
        special_tokens: How many of these are special tokens.
        precision: Number format: fp32, bf16 or fp16.
        device: Where, as torch names it.
    """

    folder: Path
    labels: tuple[Label, Label, Label]
    digest: str
    max_tokens: int
    special_tokens: int
    precision: str
    device: str
    _model: Any
    _tokenizer: Any
    _budget: TokenBudget

    @classmethod
    def load(
        cls, folder: Path, *, precision: Precision = "auto", device: str | None = None
    ) -> Self:
        """Load a cross-encoder folder, as `save_pretrained` writes it, with safetensors.

        Args:
            folder: See `folder.check_folder`.
            precision: `auto` is bf16 where the processor computes in it natively, fp16 on a GPU
                without bf16, fp32 elsewhere.
            device: `cpu`, `cuda`, `cuda:1`, ...; by default the first GPU, or else the CPU.

        Raises:
            TaggerError: The folder is refused, or transformers cannot read it; the device is
                missing or does not support the precision.
        """
        config = check_folder(folder)
        import torch

        place = device_of(device)
        chosen = _precision(precision, place)
        # On a CPU the short inputs of a tagger gain nothing from fused attention.
        model, tokenizer = _read(folder, attention="eager" if place.type == "cpu" else None)
        if chosen != "fp32":
            model = model.to(torch.bfloat16 if chosen == "bf16" else torch.float16)
        most = most_tokens(model, tokenizer)
        model = moved(model, place, folder).eval()
        return cls(
            folder=folder,
            labels=label_order(config),
            digest=folder_digest(folder),
            max_tokens=most,
            special_tokens=tokenizer.backend_tokenizer.num_special_tokens_to_add(is_pair=True),
            precision=chosen,
            device=str(place),
            _model=model,
            _tokenizer=tokenizer,
            _budget=TokenBudget(token_budget(model, place, most)),
        )

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without special tokens; TaggerError if one cannot be read."""
        return [len(encoding.ids) for encoding in self._tokenised(texts, add_special_tokens=False)]

    def logits(
        self, pairs: Sequence[Pair], on_batch: Callable[[int], None] | None = None
    ) -> NDArray[np.float32]:
        """Score pairs, (n,); `on_batch` gets the number of pairs done since the last call.

        Equal pairs are scored once. A pair's result is the same, to the last bit, whatever is
        scored with it: batches of one width have one shape. When memory runs out, batches are
        halved, in later calls too; that may change last bits.

        Returns:
            (n, 3), in the order of `LABELS`, not of the model.

        Raises:
            TaggerError: A pair is longer than `max_tokens` (nothing is cut off); a single pair does
                not fit into memory; a logit is not finite (the precision overflows, or the weights
                are damaged).
        """
        if not pairs:
            return np.zeros((0, len(LABELS)), dtype=np.float32)
        unique, index = distinct(pairs)
        times = Counter(index)
        scored = np.empty((len(unique), len(LABELS)), dtype=np.float32)
        # Roughly longest first, so that memory runs out early if at all.
        order = sorted(range(len(unique)), key=lambda place: -sum(map(len, unique[place])))
        ordered = [unique[place] for place in order]
        with closing(in_threads(self._encoded, ordered, TOKENISED_AT_ONCE)) as encoded:
            placed = zip(order, chain.from_iterable(encoded), strict=True)
            for batch, logits in self._scored(placed):
                scored[batch] = logits
                self._refuse_what_is_no_number(logits)
                if on_batch is not None:
                    on_batch(sum(times[place] for place in batch))
        columns = [self.labels.index(label) for label in LABELS]
        reordered: NDArray[np.float32] = scored[index][:, columns]
        return reordered

    def _encoded(self, pairs: Sequence[Pair]) -> list[Encoded]:
        """Token and segment numbers of each pair."""
        encoded = []
        for pair in self._tokenised([tuple(pair) for pair in pairs]):
            if len(pair.ids) > self.max_tokens:
                raise TaggerError(
                    f"a pair has {len(pair.ids):,} tokens where the model reads"
                    f" {self.max_tokens:,}; split its premise"
                )
            ids = np.asarray(pair.ids, dtype=np.int32)
            encoded.append((ids, np.asarray(pair.type_ids, dtype=np.uint8)))
        return encoded

    def _tokenised(self, texts: Sequence[Any], **options: bool) -> list[Any]:
        encode = self._tokenizer.backend_tokenizer.encode_batch_fast
        try:
            return list(encode(list(texts), **options))
        except BaseException as error:
            if not is_fault(error):
                raise
            raise TaggerError(
                f"the tokenizer of {self.folder} cannot read a text ({reason(error)}); leave the"
                " text out, or fetch the model again"
            ) from error

    def _scored(
        self, pairs: Iterable[tuple[int, Encoded]]
    ) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        """The places of each batch's pairs, and its logits, in the order of the model's labels.

        A batch is scored as soon as it is full, incomplete ones at the end.
        """
        waiting: dict[int, list[tuple[int, Encoded]]] = defaultdict(list)
        for place, encoded in pairs:
            width, rows = self._shape(len(encoded[0]))
            waiting[width].append((place, encoded))
            if len(waiting[width]) >= rows:
                yield from self._batches(waiting.pop(width))
        for width in sorted(waiting, reverse=True):
            yield from self._batches(waiting[width])

    def _batches(
        self, pairs: Sequence[tuple[int, Encoded]]
    ) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        """Logits of pairs of one width: one batch, or several when memory runs out."""
        while pairs:
            width, rows = self._shape(len(pairs[0][1][0]))
            batch = pairs[:rows]
            logits = self._attempted([encoded for _, encoded in batch])
            if logits is None:
                self._budget.tokens = rows * width // 2
                continue
            yield [place for place, _ in batch], logits
            pairs = pairs[rows:]

    def _refuse_what_is_no_number(self, logits: NDArray[np.float32]) -> None:
        if np.isfinite(logits).all():
            return
        fix = (
            "its weights are damaged, fetch the model again"
            if self.precision == "fp32"
            else "load it in fp32, and fetch the model again if that does not help"
        )
        raise TaggerError(
            f"{self.folder} gives scores that are not numbers in {self.precision}; {fix}"
        )

    def _attempted(self, batch: Sequence[Encoded]) -> NDArray[np.float32] | None:
        """Logits of one batch, as from `_forward`; None if memory does not suffice."""
        try:
            return self._forward(batch)
        except RuntimeError as error:
            if not out_of_memory(error):
                raise
            if self._shape(len(batch[0][0]))[1] == 1:
                raise TaggerError(
                    f"a pair of {len(batch[0][0]):,} tokens does not fit into the memory of "
                    f"{self.device}; stop other programs that use it, or take a smaller tagger"
                ) from error
        # Outside the `except` block, where the error would still hold what was computed.
        release()
        return None

    def _forward(self, batch: Sequence[Encoded]) -> NDArray[np.float32]:
        """Logits of one batch, (b, 3), in the order of the model's labels."""
        import torch

        width, rows = self._shape(len(batch[0][0]))
        tokens = np.full((rows, width), self._tokenizer.pad_token_id or 0, dtype=np.int64)
        segments, mask = np.zeros_like(tokens), np.zeros_like(tokens)
        # Empty rows repeat the last pair: in another shape, sums would be rounded differently.
        for row, (ids, types) in enumerate([*batch, *[batch[-1]] * (rows - len(batch))]):
            tokens[row, : len(ids)], segments[row, : len(ids)] = ids, types
            mask[row, : len(ids)] = 1
        inputs = {"input_ids": tokens, "attention_mask": mask}
        if "token_type_ids" in self._tokenizer.model_input_names:
            inputs["token_type_ids"] = segments
        with torch.inference_mode():
            on_device = {name: torch.from_numpy(v).to(self.device) for name, v in inputs.items()}
            result: NDArray[np.float32] = self._model(**on_device).logits.float().cpu().numpy()
        return result[: len(batch)]

    def _shape(self, length: int) -> tuple[int, int]:
        """Width and rows of every batch with pairs of this many tokens.

        Rows are a power of two: otherwise threads would share them unevenly and round a few of them
        differently.
        """
        width = min(-(-length // WIDTH_STEP) * WIDTH_STEP, self.max_tokens)
        return width, 1 << max(1, self._budget.tokens // width).bit_length() - 1


def _read(folder: Path, attention: str | None) -> tuple[Any, Any]:
    """Model and tokenizer of a checked folder, the model in fp32 on the CPU."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # the command shows its own bar
    safe = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, **safe)
        model, loading = AutoModelForSequenceClassification.from_pretrained(
            folder,
            **safe,
            use_safetensors=True,
            dtype=torch.float32,
            attn_implementation=attention,
            output_loading_info=True,
        )
    except BaseException as error:  # whatever an architecture's code raises
        if not is_fault(error):
            raise
        raise TaggerError(
            f"{folder} cannot be loaded: {reason(error)}; fetch the model again"
        ) from error
    if missing := sorted(loading["missing_keys"]):
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise TaggerError(
            f"{folder} lacks weights that its config.json asks for ({missing[0]}{more}); fetch it"
            " again"
        )
    if not tokenizer.is_fast:
        raise TaggerError(f"{folder} has no fast tokenizer; add its tokenizer.json")
    # Some tokenizers come with truncation and padding switched on; nothing may be cut silently.
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    plain_text(tokenizer)
    return model, tokenizer


def plain_text(tokenizer: Any) -> None:
    """Make a tokenizer read special tokens in a text ("[SEP]", "</s>") as plain text."""
    from tokenizers.normalizers import Replace, Sequence

    backend = tokenizer.backend_tokenizer
    tokenizer.split_special_tokens = backend.encode_special_tokens = True
    # SentencePiece also has them among its pieces; a space breaks them.
    tokens = [token for token in tokenizer.all_special_tokens if len(token) > 1]
    breaks = [Replace(token, f"{token[0]} {token[1:]}") for token in tokens]
    backend.normalizer = Sequence([*filter(None, [backend.normalizer]), *breaks])


def reason(error: BaseException) -> str:
    """An error of another library, as one line."""
    return str(error).strip().split("\n")[0] or type(error).__name__


def most_tokens(model: Any, tokenizer: Any) -> int:
    """Number of positions of a model, as far as it or its tokenizer says."""
    positions = getattr(model.config, "max_position_embeddings", None)
    embeddings = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    padding: int | None = getattr(embeddings, "padding_idx", None)
    if positions is not None and padding is not None:
        # RoBERTa and similar models count positions from after the padding's.
        positions -= padding + 1
    known = [positions or _DEFAULT_TOKENS, tokenizer.model_max_length]
    return int(min(known))


def device_of(name: str | None) -> "torch.device":
    """The named device, or the first GPU, or the CPU; TaggerError if it is missing."""
    import torch

    if name is None:
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        place = torch.device(name)
    except RuntimeError:
        raise TaggerError(f"'{name}' is not a device; write cpu, cuda or cuda:1") from None
    if place.type == "cuda" and (place.index or 0) >= torch.cuda.device_count():
        raise TaggerError(
            f"GPU '{name}' does not exist here ({torch.cuda.device_count()} found); "
            "use cpu or another"
        )
    return place


def _precision(asked: Precision, place: "torch.device") -> str:
    if asked not in get_args(Precision):
        names = ", ".join(get_args(Precision))
        raise TaggerError(f"'{asked}' is not a precision; choose one of {names}")
    if asked == "fp16" and place.type == "cpu":
        raise TaggerError("fp16 is slow on a CPU; choose bf16 or auto there")
    return native_precision(place) if asked == "auto" else asked


def native_precision(place: "torch.device") -> Literal["bf16", "fp16", "fp32"]:
    """The quickest number format that a device computes in natively."""
    import torch

    if place.type == "cpu":
        can = torch.cpu.get_capabilities()
        return "bf16" if can.get("avx512_bf16") or can.get("amx_bf16") else "fp32"
    # Not torch.cuda.is_bf16_supported(): it is also true for cards that emulate bf16, slowly, and
    # only asks about the current card.
    if place.type != "cuda" or torch.version.hip or torch.cuda.get_device_capability(place)[0] >= 8:
        return "bf16"
    return "fp16"
