"""What NVIDIA GPUs this machine has, asked of the driver's own tool, without importing torch."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import ParseError, fromstring

ORDER: Mapping[str, str] = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
"""Has CUDA count GPUs as the driver's tool does. By itself it puts the fastest first, so that the
same number means two cards on a machine with different ones."""

_QUERY = "uuid,name,memory.total,memory.free,compute_cap,mig.mode.current"
_SLICE = re.compile(r"^\s+(MIG \S+)\s+Device\s+(\d+):\s+\(UUID: (MIG-[^)\s]+)\)")
_CARD = re.compile(r"^GPU \d+: .*\(UUID: (GPU-[^)\s]+)\)")


@dataclass(frozen=True)
class Gpu:
    """One GPU, or one slice of a divided one (MIG).

    Attributes:
        id: What `CUDA_VISIBLE_DEVICES` calls it: its whole UUID. vLLM knows no shortened ones.
        name: What its maker calls it.
        memory_gib, free_gib: Memory in GiB, and what of it nobody uses now.
        slice: Whether it is a MIG slice. A process computes on one such slice at most.
        capability: What CUDA calls compute capability; newer and faster cards have a larger one.
    """

    id: str
    name: str
    memory_gib: float
    free_gib: float
    slice: bool = False
    capability: float = 0.0

    def __str__(self) -> str:
        """Its name and size, for people."""
        return f"{self.name}, {self.memory_gib:.0f} GiB"


def visible() -> list[Gpu] | None:
    """The GPUs that this process may use, in CUDA's order; None where they cannot be asked for.

    Without `CUDA_VISIBLE_DEVICES` they are all, in the order of the PCI bus.
    """
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None if Path("/dev/nvidiactl").exists() else []
    try:
        cards = _cards(tool)
    except (OSError, subprocess.SubprocessError, ValueError, ParseError):
        return []
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    return [one for card in cards for one in card] if chosen is None else _chosen(chosen, cards)


def any_gpu() -> bool:
    """Whether this machine seems to have a GPU that this process may use."""
    gpus = visible()
    return gpus is None or bool(gpus)


def driver() -> str | None:
    """The version of the NVIDIA driver, e.g. "580.95.05"; None where its tool does not tell."""
    try:
        said = _ask("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
    except (OSError, subprocess.SubprocessError):
        return None
    version = re.search(r"^\d+\.[\d.]+$", said, re.MULTILINE)
    return version and version[0]


def _cards(tool: str) -> list[list[Gpu]]:
    """What can be computed on, card by card: the card itself, or the slices it is divided into."""
    cards: list[list[Gpu]] = []
    slices: dict[str, list[Gpu]] | None = None
    for line in _ask(tool, f"--query-gpu={_QUERY}", "--format=csv,noheader,nounits").splitlines():
        uuid, name, total, free, newness, divided = map(str.strip, line.split(","))
        if divided == "Enabled":
            slices = _slices(tool) if slices is None else slices
            cards.append(slices.get(uuid, []))
        else:
            cards.append([Gpu(uuid, name, _gib(total), _gib(free), capability=float(newness))])
    return cards


def _slices(tool: str) -> dict[str, list[Gpu]]:
    """The slices of each divided card, by the card's UUID.

    The list has their UUIDs, the report their memory; the number within the card joins them.
    """
    memory: dict[tuple[str, str], list[float]] = {}
    for card in fromstring(_ask(tool, "-q", "-x")).iter("gpu"):  # noqa: S314 - the driver's own
        for each in card.iter("mig_device"):
            slice_ = (card.findtext("uuid", ""), each.findtext("index", ""))
            used = [each.findtext(f"fb_memory_usage/{one}", "") for one in ("total", "free")]
            memory[slice_] = [_gib(one) for one in used]
    found: dict[str, list[Gpu]] = {}
    uuid = ""
    for line in _ask(tool, "-L").splitlines():
        if card_line := _CARD.match(line):
            uuid = card_line[1]
        elif slice_line := _SLICE.match(line):
            name, number, own = slice_line.groups()
            total, free = memory[uuid, number]
            found.setdefault(uuid, []).append(Gpu(own, name, total, free, slice=True))
    return found


def _gib(mib: str) -> float:
    """From "19968" or "19968 MiB"; infinite where a card shares the machine's memory ("[N/A]")."""
    return float("inf") if "N/A" in mib else float(mib.split(maxsplit=1)[0]) / 1024


def _ask(tool: str, *words: str) -> str:
    done = subprocess.run([tool, *words], capture_output=True, text=True, timeout=30, check=True)  # noqa: S603 - fixed argv
    return done.stdout


def _chosen(wanted: str, cards: Sequence[Sequence[Gpu]]) -> list[Gpu]:
    """What a value of `CUDA_VISIBLE_DEVICES` leaves, read as CUDA reads it.

    It names cards by number, or cards and slices by the beginning of a UUID; what comes after the
    first name that fits none is hidden.
    """
    every = [one for card in cards for one in card]
    found: list[Gpu] = []
    for name in wanted.replace(" ", "").split(","):
        if name.isdecimal():
            same = list(cards[int(name)][:1]) if int(name) < len(cards) else []
        else:
            same = [one for one in every if name and one.id.startswith(name)]
        if len(same) != 1:
            break
        found += same
    return found
