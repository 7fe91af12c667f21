"""Placement of models on GPUs: by hand, on the machines of the docs, and on random machines."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serving_machines import A10, A6000, H100, cards, table

from serving.detached import turn
from serving.errors import ServingError
from serving.gpus import Gpu
from serving.models import Model
from serving.placement import CONTEXT_GIB, MOST, Seat, place
from serving.profile import EngineOptions, Profile
from serving.server import Job

DOCS = Path(__file__).parents[2] / "docs/serving.md"


def lab(*engines: tuple[int, float], salience: float | None = None) -> Profile:
    """A profile with one or two models: GPUs per copy, GiB on each GPU."""
    names = ["writer", "judge"][: len(engines)]
    content: dict[str, Any] = {
        "name": "lab",
        "device": "cuda",
        "roles": {"generator": names[0], "judge": names[-1]},
        "engines": {
            name: {"tensor_parallel": gpus, "gpu_memory_gib": gib}
            for name, (gpus, gib) in zip(names, engines, strict=True)
        },
    }
    if salience is not None:
        content["roles"]["salience"] = "decoder"
        content["local_gib"] = {"salience": salience}
    return Profile.model_validate(content)


def given_to(seats: Sequence[Seat]) -> list[str]:
    return ["+".join(gpu.removeprefix("GPU-") for gpu in seat.gpus) for seat in seats]


def test_the_docs_show_where_every_profile_goes_on_every_machine() -> None:
    assert table() in DOCS.read_text(), table()


def test_two_models_get_gpus_of_their_own_where_there_are_enough() -> None:
    two = lab((4, 40.0), (4, 60.0))
    eight = place(two, cards(*[H100] * 8))
    assert given_to(eight.engines["judge"]) == ["0+1+2+3"], "the larger one chooses first"
    assert given_to(eight.engines["writer"]) == ["4+5+6+7"]
    four = place(two, cards(*[H100] * 4))
    assert "writer" in four.refused, "40 + 60 GiB do not fit on one card"
    with pytest.raises(
        ServingError,
        match=r"writer needs 4 GPUs of one kind with 40 GiB free on each beside judge, this "
        r"machine has 4 x NVIDIA H100 80GB HBM3 with 79 of 80 GiB free; .* use a profile that "
        r"fits: cpu-0.5b, cpu-1.5b, cpu-small, gemma-3-27b, gemma-4-31b, llama-3.3-70b, llama-4",
    ):
        four.seats("writer")


def test_models_that_must_share_divide_what_is_left_by_what_they_need() -> None:
    both = place(lab((1, 20.0), (1, 40.0)), cards(H100))
    # 0.92 x 79.6 = 73.232 are allotted: 3 to tagger and embedder, 60 as needed, 10.232 shared.
    judge, writer = both.engines["judge"][0], both.engines["writer"][0]
    assert judge.gpus == writer.gpus == ("GPU-0",)
    assert judge.gib == pytest.approx(40 + 10.232 * 40 / 60, abs=0.1)
    assert writer.gib == pytest.approx(20 + 10.232 * 20 / 60, abs=0.1)
    assert judge.share == pytest.approx(judge.gib / 79.6, abs=0.001)


def test_a_decoder_that_no_card_holds_is_split_over_the_fewest() -> None:
    found = place(lab((4, 2.0), salience=40.0), cards(*[A10] * 4))
    # (40 - 4) / 3 + 4 = 16 GiB on each of three; on two it would be 22.
    assert found.devices("salience") == ("cuda:2", "cuda:3", "cuda:1")
    assert found.local["salience"].gib == pytest.approx(16)
    waits = place(lab((1, 18.0), salience=20.0), cards(A10))
    assert {*waits.local} == {"tagger"}
    assert {*waits.alone} == {"embedder", "salience"}
    with pytest.raises(ServingError, match=r"model for salience needs 90 GiB .* 1 x NVIDIA A10"):
        place(lab((1, 18.0), salience=90.0), cards(A10)).devices("salience")


def test_running_servers_keep_their_seats_and_memory_in_use_is_not_given() -> None:
    profile = lab((1, 18.0), (1, 18.0))
    before = Seat(gpus=("GPU-1",), gib=20.0, share=0.9)
    after = place(profile, cards(A10, A10, used=(0.4, 20.5)), {"judge": [before]})
    assert after.engines["judge"] == (before,)
    assert given_to(after.engines["writer"]) == ["0"]
    # A server that has just started has not allocated its memory yet.
    early = place(profile, cards(A10, A10), {"judge": [before]})
    assert given_to(early.engines["writer"]) == ["0"]
    assert "judge" in place(profile, cards(A10, A10, used=(0.4, 20.5))).refused


@st.composite
def machines(draw: st.DrawFn) -> list[Gpu]:
    kinds = draw(st.lists(st.sampled_from([A10, A6000, H100]), max_size=8))
    used = tuple(draw(st.floats(0.3, gib)) for _, gib in kinds)
    return cards(*kinds, used=used)


@settings(deadline=None, max_examples=150)
@given(
    machines(),
    st.lists(st.tuples(st.integers(1, 4), st.floats(1, 70)), min_size=1, max_size=2),
    st.one_of(st.none(), st.floats(5, 120)),
)
def test_nothing_is_given_twice_and_everyone_has_what_it_needs(
    gpus: list[Gpu], engines: list[tuple[int, float]], salience: float | None
) -> None:
    profile = lab(*engines, salience=salience)
    found = place(profile, gpus)
    assert found == place(profile, gpus)
    assert {*found.engines} | {*found.refused} >= {*profile.engines}
    taken: dict[str, float] = dict.fromkeys((one.id for one in gpus), 0.0)
    by_id = {one.id: one for one in gpus}
    for model, seats in found.engines.items():
        options = profile.engines[model]
        assert len({gpu for seat in seats for gpu in seat.gpus}) == len(seats) * len(seats[0].gpus)
        for seat in seats:
            assert len(seat.gpus) == options.tensor_parallel
            for gpu in seat.gpus:
                given = seat.share * by_id[gpu].memory_gib
                assert given >= (options.gpu_memory_gib or 0) - 0.1
                taken[gpu] += given
    for seat in found.local.values():
        for gpu in seat.gpus:
            taken[gpu] += seat.gib
    for gpu, gib in taken.items():
        one = by_id[gpu]
        assert gib <= max(0, min(MOST * one.memory_gib, one.free_gib - CONTEXT_GIB)) + 0.01


# --- passing it to a server --------------------------------------------------------------------


async def test_of_servers_that_share_a_gpu_only_one_starts(home: Path) -> None:
    def job(*gpus: str) -> Job:
        seat = Seat(gpus=gpus, gib=20, share=0.5)
        model, options = Model("m", home, "0"), EngineOptions()
        return Job(model=model, options=options, engine="e", home=home, logs=home, seat=seat)

    waiting = threading.Event()
    first = turn(job("GPU-0", "GPU-1"), waiting.set)
    turn(job("GPU-2"), waiting.set).close()
    assert not waiting.is_set()
    second = asyncio.create_task(asyncio.to_thread(turn, job("GPU-1", "GPU-2"), waiting.set))
    assert await asyncio.to_thread(waiting.wait, 10)
    assert not second.done()
    first.close()
    (await asyncio.wait_for(second, 10)).close()
