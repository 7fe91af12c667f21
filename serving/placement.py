"""The GPUs of each model of a profile, and its share of their memory.

Models get GPUs of their own if there are enough, and share them otherwise. A server's place is a
*seat*: some GPUs, and the same share of the memory of each.
"""

import math
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from pydantic import BaseModel, ConfigDict

from serving.errors import ServingError
from serving.gpus import ORDER, Gpu, visible
from serving.profile import EngineOptions, LocalRole, Profile, available, load

MOST = 0.92
"""Share of a GPU's memory that is given out; the rest is for CUDA itself."""

LOCAL_GIB: Mapping[LocalRole, float] = {"salience": 20, "tagger": 2, "embedder": 1}
"""Memory of a decoder of 8B parameters for gradients in bf16, and of small encoders."""

ENCODERS: Collection[LocalRole | None] = ("tagger", "embedder")
"""Roles of small models, which are asked while servers run."""

CONTEXT_GIB = 1.0
"""Most GPU memory that CUDA itself takes for a process. vLLM counts it as used by others."""

WORKING_GIB = 4.0
"""Memory of a decoder for salience on each of its GPUs, on top of its part of the weights."""


class Seat(BaseModel):
    """The place of a server, or of a model that this program loads itself.

    Attributes:
        gpus: Their ids, as `CUDA_VISIBLE_DEVICES` takes them.
        gib: Memory that it may take on each of them, in GiB, or more on larger ones.
        share: Share of the memory of each, in (0, 1], as given to vLLM.
    """

    model_config = ConfigDict(frozen=True)

    gpus: tuple[str, ...]
    gib: float
    share: float


@dataclass(frozen=True)
class Placement:
    """The places of a profile's models on a machine.

    Attributes:
        gpus: The machine's GPUs.
        engines: Model -> a seat for each of its servers.
        local: Role -> the seat of its model.
        alone: Role -> the seat of a model that fits only while no server of ours runs.
        refused: Model or role -> why it has no seat, and what would help.
    """

    gpus: tuple[Gpu, ...]
    engines: Mapping[str, tuple[Seat, ...]]
    local: Mapping[LocalRole, Seat]
    alone: Mapping[LocalRole, Seat]
    refused: Mapping[str, str]

    def seats(self, model: str) -> tuple[Seat, ...]:
        """The seats of a served model.

        Raises:
            ServingError: It has none; the message says what it needs, what there is, and which
                profiles fit.
        """
        if model in self.refused:
            fit = ", ".join(fitting(self.gpus))
            raise ServingError(f"{self.refused[model]}; or use a profile that fits: {fit}")
        return self.engines[model]

    def devices(self, role: LocalRole) -> tuple[str, ...]:
        """The GPUs of a role's model, as torch names them ("cuda:1"); empty without a model.

        Raises:
            ServingError: It fits on none.
        """
        if role in self.refused:
            raise ServingError(self.refused[role])
        seat = self.local.get(role) or self.alone.get(role)
        if seat is None:
            return ()
        order = [gpu.id for gpu in self.gpus]
        return tuple(f"cuda:{order.index(gpu)}" for gpu in seat.gpus)


class _Rooms:
    """Free memory of each GPU while seats are given out, and the GPUs that have servers."""

    def __init__(self, gpus: Sequence[Gpu], most: float, running: Iterable[Seat]) -> None:
        held: Counter[str] = Counter()
        for seat in running:
            held.update(dict.fromkeys(seat.gpus, seat.gib))
        self.gpus = gpus
        self.free = {
            gpu.id: min(gpu.free_gib - CONTEXT_GIB, most * gpu.memory_gib - held[gpu.id])
            for gpu in gpus
        }
        self.servers = {*held}

    def group(
        self, need: float, count: int, role: LocalRole | None = None, without: Collection[str] = ()
    ) -> tuple[Gpu, ...]:
        """Take GPUs of one kind with `need` GiB free on each; none if there are too few.

        Among GPUs without a server, a server (no role) takes the largest and then the newest, and a
        decoder for salience the smallest; small encoders go beside servers. If such GPUs do not
        suffice, those with the most free memory are taken.
        """
        able = [gpu for gpu in self.gpus if self.free[gpu.id] >= need and gpu.id not in without]
        able.sort(key=lambda gpu: -self.free[gpu.id])
        first = [gpu for gpu in able if (gpu.id in self.servers) == (role in ENCODERS)]
        if role is None:
            first.sort(key=lambda gpu: (-gpu.memory_gib, -gpu.capability))
        elif role not in ENCODERS:
            first.sort(key=lambda gpu: (gpu.memory_gib, self.free[gpu.id]))
        for pool in (first, able):
            for kind in dict.fromkeys(gpu.name for gpu in pool):
                chosen = tuple(gpu for gpu in pool if gpu.name == kind)[:count]
                if len(chosen) == count:
                    for gpu in chosen:
                        self.free[gpu.id] -= need
                    self.servers |= {gpu.id for gpu in chosen if role is None}
                    return chosen
        return ()


def place(
    profile: Profile, gpus: Sequence[Gpu], running: Mapping[str, Sequence[Seat]] | None = None
) -> Placement:
    """Give each model of a profile its GPUs. Equal arguments give equal placements.

    The largest engine chooses first: GPUs without a server, if enough of them have the memory it
    needs. Once all engines have a copy, they take turns adding copies on GPUs without a server.
    Models that this program loads choose last: first those that are used while servers run, then a
    decoder for salience, which can wait until the servers have ended. The rest of a GPU goes to its
    servers in proportion to their needs.

    Args:
        profile: The models, and their needs.
        gpus: The GPUs to give out; memory used by running servers or anything else is not free.
        running: Model -> seats of its running servers, which stay where they are.
    """
    kept = {model: tuple(seats) for model, seats in (running or {}).items()}
    held = [seat for seats in kept.values() for seat in seats]
    most = min(engine.gpu_memory_share or MOST for engine in profile.engines.values())
    rooms = _Rooms(gpus, most, held)
    engines: dict[str, list[tuple[Gpu, ...]]] = {}
    refused: dict[str, str] = {}

    def size(model: str) -> float:
        return profile.engines[model].tensor_parallel * (profile.engines[model].gpu_memory_gib or 0)

    wanted = [model for model in profile.engines if model not in kept]
    for model in sorted(wanted, key=size, reverse=True):
        options = profile.engines[model]
        if group := rooms.group(options.gpu_memory_gib or 0, options.tensor_parallel):
            engines[model] = [group]
        else:
            refused[model] = _refusal(model, options, gpus, [*engines])
    growing = list(engines)
    while growing:  # a copy beside another server would not help
        for model in growing[:]:
            need, count = profile.engines[model].gpu_memory_gib or 0, len(engines[model][0])
            if group := rooms.group(need, count, without=rooms.servers):
                engines[model].append(group)
            else:
                growing.remove(model)
    needs = {role: profile.local_gib.get(role, LOCAL_GIB[role]) for role in get_args(LocalRole)}
    if profile.roles.salience is None:
        del needs["salience"]
    local: dict[LocalRole, Seat] = {}
    alone: dict[LocalRole, Seat] = {}
    for role, need in needs.items():
        if seat := _local_seat(rooms, role, need):
            local[role] = seat
        elif seat := _local_seat(_Rooms(gpus, most, held), role, need):
            alone[role] = seat
        else:
            refused[role] = (
                f"the model for {role} needs {need:g} GiB of free GPU memory (local_gib in the "
                f"profile), {_have(gpus)}"
            )
    return Placement(tuple(gpus), kept | _divided(rooms, profile, engines), local, alone, refused)


def fitting(gpus: Sequence[Gpu]) -> list[str]:
    """The bundled profiles whose served models all fit on these GPUs."""
    profiles = [load(name) for name in available()]
    return [
        profile.name
        for profile in profiles
        if profile.device == "cpu"
        or not place(profile, gpus).refused.keys() & profile.engines.keys()
    ]


def here(profile: Profile, running: Mapping[str, Sequence[Seat]] | None = None) -> Placement:
    """The placement of a profile on this machine as it is now.

    It also makes CUDA number the GPUs in this process as `Placement.devices` does.
    """
    os.environ.update(ORDER)
    return place(profile, visible(), running)


def _have(gpus: Sequence[Gpu]) -> str:
    """A machine's GPUs, and how to make room, in a clause for people."""
    if not gpus:
        return "but nvidia-smi shows no GPU"
    kinds = Counter(
        f"{gpu.name} with {gpu.free_gib:.0f} of {gpu.memory_gib:.0f} GiB free" for gpu in gpus
    )
    listed = ", ".join(f"{count} x {kind}" for kind, count in kinds.items())
    return (
        f"this machine has {listed}; stop other programs on them (contested serve --stop stops "
        "our servers), or use a smaller model"
    )


def _local_seat(rooms: _Rooms, role: LocalRole, need: float) -> Seat | None:
    """One GPU, or the fewest over which a decoder can be split; None if they do not suffice."""
    for count in range(1, len(rooms.gpus) + 1 if role == "salience" else 2):
        part = need if count == 1 else (need - WORKING_GIB) / count + WORKING_GIB
        if group := rooms.group(part, count, role):
            share = part / min(gpu.memory_gib for gpu in group)
            return Seat(gpus=tuple(gpu.id for gpu in group), gib=part, share=share)
    return None


def _divided(
    rooms: _Rooms, profile: Profile, engines: Mapping[str, list[tuple[Gpu, ...]]]
) -> dict[str, tuple[Seat, ...]]:
    """The seats of engines on their GPUs: what each needs, plus its part of the rest."""
    needs = {model: profile.engines[model].gpu_memory_gib or 0 for model in engines}
    wanted: Counter[str] = Counter()
    for model, groups in engines.items():
        wanted.update({gpu.id: needs[model] for group in groups for gpu in group})

    def seat(need: float, group: tuple[Gpu, ...]) -> Seat:
        size = min(gpu.memory_gib for gpu in group)
        given = min(need + rooms.free[gpu.id] * need / wanted[gpu.id] for gpu in group)
        # Rounded down: vLLM refuses to start if less than its share is free.
        share = math.floor(1000 * given / size) / 1000
        return Seat(gpus=tuple(gpu.id for gpu in group), gib=round(share * size, 1), share=share)

    return {
        model: tuple(seat(needs[model], group) for group in groups)
        for model, groups in engines.items()
    }


def _refusal(model: str, options: EngineOptions, gpus: Sequence[Gpu], others: Sequence[str]) -> str:
    """Why an engine has no place."""
    count = options.tensor_parallel
    beside = f" beside {' and '.join(others)}" if others else ""
    strict = (
        "; --strict computes in float32, batch_invariant = true in the profile repeats answers in "
        "the model's own format"
    )
    return (
        f"{model} needs {count} GPU{'s of one kind' if count > 1 else ''} with "
        f"{options.gpu_memory_gib:g} GiB free{' on each' if count > 1 else ''}{beside}, "
        f"{_have(gpus)}{strict if options.dtype == 'float32' else ''}"
    )
