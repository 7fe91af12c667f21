"""Machines with GPUs, as the driver reports them, for tests of placement."""

from serving.gpus import Gpu
from serving.placement import Placement, place
from serving.profile import available, load

A10 = ("NVIDIA A10", 22.5)
A6000 = ("NVIDIA RTX A6000", 48.0)
L40S = ("NVIDIA L40S", 48.0)
H100 = ("NVIDIA H100 80GB HBM3", 79.6)


def cards(*kinds: tuple[str, float], used: tuple[float, ...] = ()) -> list[Gpu]:
    """GPUs of these kinds, free except for the GiB in `used` on the first ones."""
    used += (0.4,) * (len(kinds) - len(used))
    newer = {L40S[0]: 8.9, H100[0]: 9.0}
    return [
        Gpu(f"GPU-{number}", name, gib, gib - taken, newer.get(name, 8.6))
        for number, ((name, gib), taken) in enumerate(zip(kinds, used, strict=True))
    ]


MACHINES: dict[str, list[Gpu]] = {
    "1 x 24 GB": cards(A10),
    "1 x 48 GB": cards(A6000),
    "4 x 48 GB": cards(*[A6000] * 4),
    "1 x 80 GB": cards(H100),
    "8 x 80 GB": cards(*[H100] * 8),
}
"""Machine -> its GPUs, in CUDA's order."""


def table() -> str:
    """Copies of every bundled GPU profile on each machine, as shown in docs/serving.md."""
    profiles = [one for name in available() if (one := load(name)).device == "cuda"]
    rows = ["| profile | " + " | ".join(MACHINES) + " |", "|---|" + "---|" * len(MACHINES)]
    for one in profiles:
        cells = " | ".join(_cell(place(one, gpus), one.roles.judge) for gpus in MACHINES.values())
        rows.append(f"| `{one.name}` | {cells} |")
    return "\n".join(rows)


def _cell(placement: Placement, judge: str) -> str:
    if judge in placement.refused:
        return "no"
    seats = placement.engines[judge]
    told = f"{len(seats)} ({min(seat.gib for seat in seats):.0f})"
    return told if "salience" in placement.local else f"{told}\\*"


if __name__ == "__main__":
    print(table())
