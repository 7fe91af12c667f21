"""Machines with GPUs, as the driver reports them: what placement is tried on."""

from serving.gpus import Gpu
from serving.placement import Placement, Seat, place
from serving.profile import available, load

A10 = ("NVIDIA A10", 22.5)
A6000 = ("NVIDIA RTX A6000", 48.0)
H100 = ("NVIDIA H100 80GB HBM3", 79.6)
T4 = ("Tesla T4", 15.0)
SLICE = ("MIG 3g.40gb", 39.2)
SMALL_SLICE = ("MIG 1g.10gb", 9.5)


def cards(*kinds: tuple[str, float], used: tuple[float, ...] = ()) -> list[Gpu]:
    """GPUs of these kinds, free but for what is used of the first ones, in GiB."""
    used += (0.4,) * (len(kinds) - len(used))
    return [
        Gpu(f"GPU-{number}", name, gib, gib - taken, slice=name.startswith("MIG"))
        for number, ((name, gib), taken) in enumerate(zip(kinds, used, strict=True))
    ]


MACHINES: dict[str, list[Gpu]] = {
    "no GPU": [],
    "1 x 16 GB": cards(T4),
    "1 x 24 GB": cards(A10),
    "2 x 24 GB": cards(A10, A10),
    "4 x 24 GB": cards(*[A10] * 4),
    "1 x 48 GB": cards(A6000),
    "4 x 48 GB": cards(*[A6000] * 4),
    "1 x 80 GB": cards(H100),
    "1 x 80 GB, 40 GiB in use": cards(H100, used=(40.0,)),
    "2 x 80 GB": cards(H100, H100),
    "4 x 80 GB": cards(*[H100] * 4),
    "4 x 80 GB, one in use": cards(*[H100] * 4, used=(60.0,)),
    "8 x 80 GB": cards(*[H100] * 8),
    "24 GB and 80 GB": cards(A10, H100),
    "2 x 24 GB and 4 x 48 GB": cards(A10, A10, *[A6000] * 4),
    "MIG: 2 x 40 GB": cards(SLICE, SLICE),
    "MIG: 10 GB and 40 GB": cards(SMALL_SLICE, SLICE),
}
"""Machine -> its GPUs, in CUDA's order."""


def table() -> str:
    """Where every bundled GPU profile goes on each machine, as docs/serving.md shows it."""
    profiles = [one for name in available() if (one := load(name)).device == "cuda"]
    rows = [
        "| machine | " + " | ".join(f"`{one.name}`" for one in profiles) + " |",
        "|---|" + "---|" * len(profiles),
    ]
    for machine, gpus in MACHINES.items():
        cells = " | ".join(_cell(place(one, gpus), one.roles.judge) for one in profiles)
        rows.append(f"| {machine} | {cells} |")
    return "\n".join(rows)


def _cell(placement: Placement, judge: str) -> str:
    if judge in placement.refused:
        return "no"
    seats = " and ".join(
        f"{_numbers(seat)} ({seat.gib:.0f}{' each' if len(seat.gpus) > 1 else ''})"
        for seat in placement.engines[judge]
    )
    if salience := placement.local.get("salience"):
        return f"{seats}, salience {_numbers(salience)}"
    return f"{seats}, salience {'no' if 'salience' in placement.refused else 'after'}"


def _numbers(seat: Seat) -> str:
    numbers = [gpu.removeprefix("GPU-") for gpu in seat.gpus]
    return "+".join(numbers)


if __name__ == "__main__":
    print(table())
