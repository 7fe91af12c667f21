"""Devices of a decoder's layers: one, or several in proportion to their free memory."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from salience.errors import SalienceError
from salience.limits import free_memory

if TYPE_CHECKING:
    import torch

WEIGHTS_SHARE = 0.9
"""Share of a device's free memory that weights may take; gradients need some as well."""

GIB = 2**30

Block = tuple[str, int]
"""The name of a module that is not split, and the bytes of its weights."""


def placed(
    folder: Path, dtype: "torch.dtype", devices: Sequence["torch.device"]
) -> dict[str, "torch.device"]:
    """The device of each part of a model, in the form of `from_pretrained`'s `device_map`.

    The folder is a checked model folder. Weights are not read.

    Raises:
        SalienceError: The weights do not fit the devices. Nothing is offloaded to a CPU or disk.
    """
    if len(devices) == 1 and devices[0].type == "cpu":
        return {"": devices[0]}
    model, blocks = _empty(folder, dtype)
    free = {device: free_memory(device) for device in devices}
    needed = sum(size for _, size in blocks)
    if getattr(model.config, "quantization_config", None):  # its files are smaller than its blocks
        needed = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    if needed > WEIGHTS_SHARE * sum(free.values()):
        raise SalienceError(_too_large(folder, needed, free))
    if len(devices) == 1:
        return {"": devices[0]}
    return dealt(blocks, free, _tied(model))


def dealt(
    blocks: Sequence[Block], free: Mapping["torch.device", int], tied: Mapping[str, str]
) -> dict[str, "torch.device"]:
    """Blocks in their order, each on the device whose share of the memory contains its middle.

    A block that is tied to an earlier one, by name, goes on the same device.
    """
    total, room = sum(size for _, size in blocks), sum(free.values())
    bounds = [total * bound / room for bound in accumulate(free.values())]
    devices: dict[str, torch.device] = {}
    before = 0
    for name, size in blocks:
        number = min(bisect_left(bounds, before + size / 2), len(bounds) - 1)
        devices[name] = devices.get(tied.get(name, ""), list(free)[number])
        before += size
    return devices


def blocks_of(model: Any) -> Iterator[Block]:
    """The layers of a model, and its other modules, in their order.

    Tied weights count where they occur first.
    """
    import torch

    counted: set[int] = set()

    def size(module: Any) -> int:
        new = [parameter for parameter in module.parameters() if id(parameter) not in counted]
        counted.update(map(id, new))
        return sum(parameter.numel() * parameter.element_size() for parameter in new)

    def walk(module: Any, path: str) -> Iterator[Block]:
        for name, child in module.named_children():
            weights = [*child.parameters(recurse=False), *child.buffers(recurse=False)]
            if weights or isinstance(module, torch.nn.ModuleList) or not list(child.children()):
                yield path + name, size(child)
            else:
                yield from walk(child, f"{path}{name}.")

    yield from walk(model, "")


def _empty(folder: Path, dtype: "torch.dtype") -> tuple[Any, list[Block]]:
    """A folder's model without its weights, and its blocks."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=dtype, trust_remote_code=False)
    return model, list(blocks_of(model))


def _tied(model: Any) -> dict[str, str]:
    """Modules that share the weights of others: the head often shares the embeddings'."""
    ties: Mapping[str, str] = getattr(model, "all_tied_weights_keys", None) or {}
    return {tied.rpartition(".")[0]: other.rpartition(".")[0] for tied, other in ties.items()}


def _too_large(folder: Path, needed: int, free: Mapping["torch.device", int]) -> str:
    available = ", ".join(f"{room / GIB:.1f} GiB on {device}" for device, room in free.items())
    return (
        f"the weights of {folder.name} need {needed / GIB:.1f} GiB of free memory, and gradients a "
        f"tenth more; there are {available}; name more devices, or use a smaller model"
    )
