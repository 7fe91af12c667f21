"""Gradient attribution of every output token to every earlier token (NPOV, section 3.2).

For an output token y at position p, whose logit the model computes at position p - 1, and an
earlier token i with input embedding x_i, the attribution is x_i . d logit(y) / d x_i. The
vectors of a soft prompt come before the tokens, and have attributions as tokens do.

One forward pass serves a chunk of output tokens, whose gradients are all pulled back through it at
once.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from salience.limits import (
    Attention,
    Limits,
    chunk_size,
    memory_errors,
    out_of_memory,
    quick_attention,
    release,
    token_cost,
)
from salience.variants import Measure, Target

if TYPE_CHECKING:
    import torch

Progress = Callable[[int, int], None]
"""Called with the amount done, and the total."""

HEAD_ROWS = 16
"""Least number of rows given to the head. Products of fewer rows with a whole vocabulary are summed
less exactly on a CPU, to 1e-5 instead of 3e-7; with log-probabilities that changes the map by
2e-4."""


def token_salience(
    model: Any,
    ids: "torch.Tensor",
    prompt_tokens: int,
    *,
    target: Target = "logit",
    measure: Measure = "input_x_gradient",
    columns: Sequence[int] | None = None,
    prefix: NDArray[np.floating] | None = None,
    limits: Limits | None = None,
    on_progress: Progress = lambda *_: None,
) -> NDArray[np.floating]:
    """The token-to-token salience map, before squaring and normalising.

    Args:
        model: A causal language model of transformers, with its weights frozen.
        ids: (n,) token ids of prompt and response, on the model's (first) device.
        prompt_tokens: m, the number of prompt tokens; at least 1.
        target: The differentiated value.
        measure: The combination of embedding and gradient.
        columns: The wanted response tokens, counted from 0, ascending; None for all. The time taken
            is proportional to their number.
        prefix: (t, d) vectors of a soft prompt, which the model reads before the first token as if
            they were embeddings; None or no rows for no prefix.
        limits: Limits learned from earlier texts with this model; updated here.
        on_progress: Called with the number of output tokens done.

    Returns:
        (t + n, n - m): row i is vector i of the prefix, row t + i token i, column j response token
        m + j; float32, or float64 if the model computes in it. Entries at and after a column's own
        token are 0, and so are columns that are not wanted.

    Raises:
        ValueError: The prompt or the response is empty, an option is unknown, a column does not
            exist, or the prefix has another width than the model.
        SalienceError: Not even one output token fits into memory.
    """
    tokens = len(ids)
    if not 1 <= prompt_tokens < tokens:
        raise ValueError(f"{prompt_tokens} of {tokens} tokens cannot be the prompt")
    if target not in get_args(Target) or measure not in get_args(Measure):
        raise ValueError(f"unknown target '{target}' or measure '{measure}'")
    wanted = list(range(tokens - prompt_tokens) if columns is None else columns)
    if wanted != sorted(set(wanted) & set(range(tokens - prompt_tokens))):
        raise ValueError("columns must ascend, and be tokens of the response")
    places = [prompt_tokens + column for column in wanted]
    double = next(model.parameters()).element_size() == 8
    read = _read(model, ids, prefix)
    length = read.shape[1]
    salience = np.zeros((length, tokens - prompt_tokens), np.float64 if double else np.float32)
    attributions = _attributions(
        model,
        read,
        ids,
        places,
        target=target,
        measure=measure,
        limits=limits or Limits(),
    )
    done = 0
    with memory_errors(length):
        for chunk in attributions:
            earlier, count = chunk.shape
            salience[:earlier, wanted[done : done + count]] = chunk.cpu().numpy()
            done += count
            on_progress(done, len(wanted))
    return salience


def _read(model: Any, ids: "torch.Tensor", prefix: NDArray[np.floating] | None) -> "torch.Tensor":
    """The input of the layers, (1, t + n, d): a prefix, then the embeddings of tokens."""
    import torch

    with torch.no_grad():
        embeddings = model.get_input_embeddings()(ids[None])
    if prefix is None:
        return embeddings
    width = embeddings.shape[-1]
    if prefix.ndim != 2 or prefix.shape[1] != width:
        raise ValueError(f"a prefix of shape {prefix.shape} does not fit a model of width {width}")
    vectors = torch.tensor(prefix, dtype=embeddings.dtype, device=embeddings.device)
    return torch.cat([vectors[None], embeddings], dim=1)


def _attributions(
    model: Any,
    read: "torch.Tensor",
    ids: "torch.Tensor",
    places: Sequence[int],
    *,
    target: Target,
    measure: Measure,
    limits: Limits,
) -> Iterator["torch.Tensor"]:
    """Many vector-Jacobian products of one forward pass.

    The forward pass of a chunk ends just before its last output token: later positions cannot
    matter. Each item is (i, j): attributions of the tokens at the next j places to the i vectors
    that are read before the last of them.
    """
    length, memory = read.shape[1], limits.working_memory(model)
    attention = quick_attention(model, length, memory)
    size = chunk_size(model, length, memory, attention)
    done, before = 0, length - len(ids)
    while done < len(places):
        chunk = places[done : done + size]
        embeddings = read[:, : before + chunk[-1]]
        positions = [before + place for place in chunk]
        measured = None
        try:
            with with_attention(model, attention):
                measured = _measured(
                    _chunk(model, embeddings, positions, ids[chunk], target, limits=limits),
                    embeddings,
                    measure,
                )
        except RuntimeError as error:
            if not out_of_memory(error) or (len(chunk) == 1 and attention == "sdpa"):
                raise
        if measured is not None:
            yield measured
            done += len(chunk)
            continue
        release()
        limits.memory = len(chunk) * token_cost(model, length, attention) // 2
        size, attention = (len(chunk) // 2, attention) if len(chunk) > 1 else (1, "sdpa")


def _measured(
    gradients: "torch.Tensor", embeddings: "torch.Tensor", measure: Measure
) -> "torch.Tensor":
    """Attributions, (i, j), of gradients, (j, i, d), by embeddings, (1, i, d)."""
    import torch

    if measure == "input_x_gradient":
        return torch.einsum("jid,id->ij", wide(gradients), wide(embeddings[0]))
    return wide(gradients).norm(dim=-1).T


def _chunk(
    model: Any,
    embeddings: "torch.Tensor",
    places: Sequence[int],
    tokens: "torch.Tensor",
    target: Target,
    *,
    limits: Limits,
) -> "torch.Tensor":
    """The `_gradients` of tokens at some places, together if the model's parts can be batched."""
    before = [place - 1 for place in places]
    if len(places) == 1 or not limits.together:
        return _gradients(model, embeddings, before, tokens, target, together=False)
    try:
        return _gradients(model, embeddings, before, tokens, target, together=True)
    except Exception as error:  # a part that cannot be batched may raise anything
        if out_of_memory(error):
            raise
        reason = " ".join(str(error).split())[:200]
    gradients = _gradients(model, embeddings, before, tokens, target, together=False)
    limits.together = False
    warnings.warn(
        f"gradients of {type(model).__name__} cannot be computed together ({reason}); they are "
        "computed one by one, which is slower",
        stacklevel=2,
    )
    return gradients


def _gradients(
    model: Any,
    embeddings: "torch.Tensor",
    places: Sequence[int],
    tokens: "torch.Tensor",
    target: Target,
    *,
    together: bool,
) -> "torch.Tensor":
    """Gradients of output tokens (j,), (j, i, d), by the embeddings before the last, (1, i, d).

    They are predicted at `places`, j of them, the last of which is i - 1. The head is
    differentiated separately, since each logit depends on only one position.
    """
    import torch

    read, count = embeddings.detach().requires_grad_(True), len(tokens)
    # A list, not a tensor: with layers on several devices, it works on all of them.
    kept = [*places, *[places[-1]] * (HEAD_ROWS - count)]
    states: list[torch.Tensor] = []
    hook = model.get_output_embeddings().register_forward_pre_hook(
        lambda _, given: states.append(given[0])
    )
    try:
        logits = model(inputs_embeds=read, use_cache=False, logits_to_keep=kept).logits[0]
    finally:
        hook.remove()
    (state,) = states
    values = outputs(logits[:count], tokens, target)
    # (1, rows, d): each output depends only on its own row, so the sum gives every row's gradient.
    (state_gradient,) = torch.autograd.grad(values.sum(), state, retain_graph=True)
    cotangents = state.new_zeros((count, *state.shape))
    rows = torch.arange(count, device=state.device)
    cotangents[rows, 0, rows] = state_gradient[0, :count]
    if together:
        return torch.autograd.grad(state, read, cotangents, is_grads_batched=True)[0][:, 0]
    return torch.cat(
        [
            torch.autograd.grad(state, read, cotangent, retain_graph=row < count - 1)[0]
            for row, cotangent in enumerate(cotangents)
        ]
    )


def outputs(logits: "torch.Tensor", tokens: "torch.Tensor", target: Target) -> "torch.Tensor":
    """The differentiated values of tokens, (count,), from logits, (count, vocabulary)."""
    values = logits.log_softmax(-1) if target == "log_probability" else logits
    return values.gather(-1, tokens[:, None])[:, 0]


def wide(values: "torch.Tensor") -> "torch.Tensor":
    """Values of a half-precision model in fp32, so that sums over them are exact enough."""
    return values.float() if values.element_size() < 4 else values


@contextmanager
def with_attention(model: Any, kind: Attention) -> Iterator[None]:
    """Have a model compute its attention in the given way within the block, if it can."""
    before = model.config._attn_implementation  # transformers has no getter
    with suppress(ValueError):  # some architectures support only one way
        model.set_attn_implementation(kind)
    try:
        yield
    finally:
        model.set_attn_implementation(before)
