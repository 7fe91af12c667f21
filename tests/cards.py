"""Fake GPUs: tensors that report a card as their device, compute on the CPU, and never mix cards.

Devices are `meta:0` and `meta:1`, which autograd accepts without a driver. As on real GPUs, an
operation on tensors of two cards fails; numbers and indices may be on the CPU.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

CARDS = tuple(torch.device("meta", number) for number in range(2))

_ATEN = torch.ops.aten
_MOVES = (_ATEN._to_copy.default, _ATEN.copy_.default)
_INDEXING = (_ATEN.index.Tensor, _ATEN.index_put_.default, _ATEN._index_put_impl_.default)
_CPU = torch.device("cpu")


class OnCard(torch.Tensor):  # type: ignore[misc]
    """A CPU tensor labelled with a card."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls: "type[OnCard]", inner: torch.Tensor, device: torch.device) -> "OnCard":
        """An empty wrapper of the same shape."""
        made: OnCard = torch.Tensor._make_wrapper_subclass(
            cls,
            inner.size(),
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=device,
        )
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(
        cls, operation: Any, _: Any, given: Any = (), named: Mapping[str, Any] | None = None
    ) -> Any:
        """Compute if no mode is active."""
        return computed(operation, given, named or {})


def computed(operation: Any, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """Apply the operation to the wrapped tensors; the result is on their card."""
    with _Computing():  # inference mode does not decompose it
        parts = operation.decompose(*given, **named)
    if parts is not NotImplemented:
        return parts
    tensors = [each for each in tree_leaves((given, named)) if isinstance(each, torch.Tensor)]
    devices = {each.device for each in tensors if each.dim() or each.device != _CPU}
    if operation in _INDEXING:
        devices -= {_CPU}
    if operation not in _MOVES and len(devices) > 1:
        raise RuntimeError(f"{operation} of tensors on {', '.join(sorted(map(str, devices)))}")
    device = named.get("device") or (
        given[0].device if operation in _MOVES else next(iter(devices), _CPU)
    )
    inside = {**named, "device": _CPU} if "device" in named else named
    found = operation(*tree_map(_inner, given), **tree_map(_inner, inside))
    if operation._schema.is_mutable:  # in-place operations return the changed tensor itself
        return next((each for each in tensors if _inner(each) is found), found)
    return tree_map(lambda each: _labelled(each, torch.device(device)), found)


def _inner(value: Any) -> Any:
    return value.inner if isinstance(value, OnCard) else value


def _labelled(value: Any, device: torch.device) -> Any:
    return OnCard(value, device) if type(value) is torch.Tensor and device != _CPU else value


class _Computing(TorchDispatchMode):  # type: ignore[misc]
    def __torch_dispatch__(self, operation: Any, _: Any, given: Any = (), named: Any = None) -> Any:
        return computed(operation, given, named or {})


class _Making(TorchFunctionMode):  # type: ignore[misc]
    """torch builds tensors from lists without dispatch, so build them first and then move them."""

    def __torch_function__(
        self, function: Callable[..., Any], _: Any, given: Any = (), named: Any = None
    ) -> Any:
        named = named or {}
        if function is torch.tensor and named.get("device") is not None:
            return function(*given, **{**named, "device": None}).to(named["device"])
        if function is torch.Tensor.__getitem__ and given[0].device != _CPU:
            tensor, index = given
            parts = index if isinstance(index, tuple) else (index,)
            given = (tensor, tuple(_as_tensor(part, tensor.device) for part in parts))
        return function(*given, **named)


def _as_tensor(index: Any, device: torch.device) -> Any:
    return torch.tensor(index).to(device) if isinstance(index, list) else index


@contextmanager
def computing() -> Iterator[None]:
    """A context in which tensors can be on cards."""
    with _Making(), _Computing():
        yield


def split(model: Any, places: Mapping[str, torch.device]) -> Any:
    """A copy of a frozen model with its parts on cards, using accelerate's hooks."""
    from copy import deepcopy

    from accelerate import dispatch_model

    return dispatch_model(deepcopy(model), dict(places))
