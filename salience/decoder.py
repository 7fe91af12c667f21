"""A decoder-only language model, ready for gradients: loaded safely, with its weights frozen."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from salience.errors import SalienceError
from salience.gradients import Progress, token_salience
from salience.limits import Limits
from salience.placing import placed
from salience.variants import Measure, Precision, Target
from salience.words import Offset


@dataclass(frozen=True)
class Encoded:
    """A prompt and a response in n tokens, including special ones; the first m are the prompt's.

    Offsets are each token's characters [start, end) in prompt + response, empty for special ones.
    """

    prompt: str
    response: str
    ids: tuple[int, ...]
    prompt_tokens: int
    offsets: tuple[Offset, ...]

    @property
    def text(self) -> str:
        """Prompt and response."""
        return self.prompt + self.response


@dataclass(frozen=True)
class Decoder:
    """A causal language model of transformers, frozen and in evaluation mode.

    It computes in "fp32" or "bf16", with a fast tokenizer. If its layers are on several devices,
    `device` names all of them: "cuda:0, cuda:1".
    """

    folder: Path
    precision: str
    device: str
    model: Any
    tokenizer: Any
    limits: Limits = field(default_factory=Limits, repr=False, compare=False)

    @classmethod
    def load(
        cls,
        folder: Path,
        *,
        precision: Precision = "auto",
        device: str | Sequence[str] | None = None,
    ) -> Self:
        """Load a folder as `save_pretrained` writes it, with safetensors and a tokenizer.

        Precision `auto` is bf16 on a GPU, and on a CPU that computes in it (AVX-512 BF16 or AMX),
        where it is about twice as fast and ranks attributions much the same; else fp32. The device
        is "cpu", "cuda", "cuda:1"; by default the first GPU, or the CPU without one. Several
        devices share the layers, by their free memory. Weights are loaded straight to their final
        device.

        Raises:
            SalienceError: The folder is not a model that transformers can read without running code
                from it, or its tokenizer gives no offsets; a device is missing or too small.
        """
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()  # commands show their own
        chosen, names = settled(precision, device)
        name, dtype = ", ".join(names), torch.float32 if chosen == "fp32" else torch.bfloat16
        if not (folder / "config.json").is_file():
            raise SalienceError(f"{folder} is not a model folder: config.json is missing")
        options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        try:
            devices = [torch.device(place) for place in names]
            tokenizer = AutoTokenizer.from_pretrained(folder, **options)
            model, loaded = AutoModelForCausalLM.from_pretrained(
                folder,
                use_safetensors=True,
                dtype=dtype,
                device_map=placed(folder, dtype, devices),
                output_loading_info=True,
                **options,
            )
            model.eval().requires_grad_(False)
        except SalienceError:
            raise
        except Exception as error:  # a fault in a folder may raise anything
            reason = " ".join(str(error).split())[:300]
            raise SalienceError(f"{folder} cannot be loaded on {name} ({reason})") from error
        if not tokenizer.is_fast:
            raise SalienceError(
                f"{folder}: its tokenizer does not give the positions of tokens in a text; "
                "a tokenizer.json is needed"
            )
        if absent := sorted({*loaded["missing_keys"], *map(str, loaded["mismatched_keys"])}):
            raise SalienceError(
                f"{folder} lacks weights ({absent[0]} and {len(absent) - 1} more), which would be "
                "random; complete it"
            )
        if not _is_causal(model):
            raise SalienceError(
                f"{folder} is not a decoder: its tokens see later ones; name a model for generation"
            )
        return cls(folder, chosen, ", ".join(map(str, devices)), model, tokenizer)

    @property
    def width(self) -> int:
        """d, the size of an embedding that the model reads."""
        return int(self.model.config.get_text_config().hidden_size)

    @property
    def max_tokens(self) -> int | None:
        """Most tokens of prompt and response together; None if the model does not say."""
        most = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        return int(most) if most else None

    def encode(self, prompt: str, response: str, *, reserved: int = 0) -> Encoded:
        """Tokenise both texts, so that no token contains parts of both.

        They are tokenised as one text, or separately if a token would contain parts of both. The
        prompt has special tokens if the tokenizer adds them; the response has none. `reserved`
        vectors of a soft prompt must fit before them.

        Raises:
            SalienceError: One of them has no tokens, or they do not fit the model.
        """
        start = len(prompt)
        ids, offsets = self._tokens(prompt + response, special=True)
        count = sum(end <= start for _, end in offsets)
        # Special tokens have no characters; those at the end would come after the response.
        inside = all(first >= start for first, _ in offsets[count:])
        if not prompt or not response or not inside or not offsets[count:]:
            ids, offsets = self._tokens(prompt, special=True)
            count = len(ids)
            more, places = self._tokens(response, special=False)
            ids += more
            offsets += [(start + first, start + end) for first, end in places]
        if count == 0 or len(ids) == count:
            which = "prompt" if count == 0 else "response"
            raise SalienceError(f"the {which} has no tokens; give it text")
        if self.max_tokens is not None and len(ids) + reserved > self.max_tokens:
            beside = f" and the soft prompt {reserved}" if reserved else ""
            raise SalienceError(
                f"prompt and response have {len(ids):,} tokens{beside}, but {self.folder.name} "
                f"reads at most {self.max_tokens:,}; shorten them"
            )
        return Encoded(prompt, response, tuple(ids), count, tuple(offsets))

    def _tokens(self, text: str, *, special: bool) -> tuple[list[int], list[Offset]]:
        encoding = self.tokenizer(
            text,
            add_special_tokens=special,
            split_special_tokens=True,  # special tokens written in a text are text
            return_offsets_mapping=True,
            verbose=False,
        )
        return list(encoding["input_ids"]), [tuple(offset) for offset in encoding["offset_mapping"]]

    def salience(
        self,
        encoded: Encoded,
        *,
        target: Target = "logit",
        measure: Measure = "input_x_gradient",
        columns: Sequence[int] | None = None,
        prefix: NDArray[np.floating] | None = None,
        on_progress: Progress = lambda *_: None,
    ) -> NDArray[np.floating]:
        """The token-to-token salience map, (n, n - m); see `gradients.token_salience`.

        For a model tuned by a soft prompt, the prompt's vectors, (t, d), are the `prefix`. They
        change every gradient, but have no rows here: the rows of the paper's map are tokens of the
        input and of the response (NPOV, section 3.2), so shares are of the salience on tokens.

        Raises:
            SalienceError: Memory does not suffice, or a gradient is not a finite number.
            ValueError: The prefix has another width than the model.
        """
        values = token_salience(
            self.model,
            self._ids(encoded),
            encoded.prompt_tokens,
            target=target,
            measure=measure,
            columns=columns,
            prefix=prefix,
            limits=self.limits,
            on_progress=on_progress,
        )
        if not np.isfinite(values).all():
            raise SalienceError(
                f"gradients of {self.folder.name} are not finite in {self.precision}; use fp32, "
                "or check its weights"
            )
        return values[len(values) - len(encoded.ids) :]

    def _ids(self, encoded: Encoded) -> Any:
        import torch

        return torch.tensor(encoded.ids, device=self.model.device)


def settled(
    precision: Precision, device: str | Sequence[str] | None
) -> tuple[Literal["fp32", "bf16"], tuple[str, ...]]:
    """The number format, and the devices, that `auto` and None mean on this machine."""
    import torch

    if not device:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    names = (device,) if isinstance(device, str) else tuple(device)
    if precision != "auto":
        return precision, names
    able = torch.cpu.get_capabilities()
    on_gpu = not names[0].startswith("cpu")
    return "bf16" if on_gpu or able.get("avx512_bf16") or able.get("amx_bf16") else "fp32", names


def _is_causal(model: Any) -> bool:
    """Whether a token leaves the predictions before it unchanged, up to rounding."""
    import torch

    ids = torch.tensor([[1, 2, 3, 4], [1, 2, 3, 0]], device=model.device)
    with torch.no_grad():
        one, other = model(ids, use_cache=False).logits.float()
    changed = (one - other).abs().amax(dim=-1)
    return bool(changed[:3].max() <= 1e-3 * changed[3])
