"""Which GPU the tagger, the embedder and the decoder of a run are given."""

from dataclasses import replace
from pathlib import Path

import pytest
from serving_machines import A10, H100, cards

from pipelines.experiment.needs import judge_source
from pipelines.experiment.options import ServerOptions, device_of, source_of, tagger_named
from pipelines.npov.decoder import DecoderOptions, decoder_folder
from serving import connect, detached, models, placement
from serving.errors import ServingError
from serving.gpus import Gpu
from serving.models import Model


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> list[Gpu]:
    """A machine with GPUs, to be filled by the test, and a torch that uses them."""
    gpus: list[Gpu] = []
    monkeypatch.setattr(placement, "visible", lambda: gpus)
    monkeypatch.setattr(connect, "torch_device", lambda: "cuda")
    monkeypatch.setattr(detached, "running", lambda: [])
    monkeypatch.setattr(connect, "_placed", {})
    return gpus


def test_tagger_and_embedder_are_beside_the_servers_that_have_room(machine: list[Gpu]) -> None:
    machine += cards(H100, H100)
    where = source_of(ServerOptions(profile="gemma-3-27b"), "judge")
    assert [seat.gpus for seat in where.seats()] == [("GPU-0",), ("GPU-1",)]
    assert tagger_named(None, where).device == "cuda:0"
    assert device_of("embedder", where) == "cuda:1"


def test_a_profile_without_gpus_lets_torch_choose(machine: list[Gpu]) -> None:
    machine += cards(H100)
    where = source_of(ServerOptions(profile="cpu-small"), "judge")
    assert tagger_named(None, where).device is None


def test_the_decoder_is_where_the_placement_has_room(
    machine: list[Gpu], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def find(name: str, _: Path) -> Model:
        return Model(name, tmp_path, "0")

    monkeypatch.setattr(models, "find", find)
    machine += cards(A10, A10, A10)
    folder = decoder_folder(DecoderOptions(profile="one-gpu-7b"))
    assert folder.model.name == "qwen2.5-7b-instruct"
    assert folder.device == ("cuda:0",), "once the servers, one on each, have ended"
    given = decoder_folder(DecoderOptions(profile="one-gpu-7b", device="cuda:0, cuda:2"))
    assert given.device == ("cuda:0", "cuda:2")
    monkeypatch.setattr("serving.weights.weights_gib", lambda *_: 26.0)
    larger = decoder_folder(DecoderOptions(profile="one-gpu-7b", model="larger"))
    assert larger.device == ("cuda:0", "cuda:1"), "26 + 4 GiB do not fit on one card"


def test_a_decoder_without_room_is_said(machine: list[Gpu], smollm2: Model) -> None:
    machine += cards(A10, used=(20.0,))
    options = DecoderOptions(profile="one-gpu-7b", models_dir=smollm2.path.parent)
    with pytest.raises(ServingError, match=r"for salience needs 19 GiB .* with 2 of 22 GiB free"):
        connect.devices(source_of(options, "generator").profile, "salience")


def test_writer_and_judge_are_placed_together_and_one_model_once(machine: list[Gpu]) -> None:
    machine += cards(A10, A10)
    options = ServerOptions(profile="one-gpu-7b", endpoint=None)
    assert judge_source(options, "qwen2.5-7b-instruct") is None, "it is the model that writes"
    judge = judge_source(options, "other")
    assert judge is not None
    assert {seat.gpus for seat in judge.seats()} == {("GPU-1",)}
    writer = replace(source_of(options, "generator"), profile=judge.profile)
    assert {seat.gpus for seat in writer.seats()} == {("GPU-0",)}
    elsewhere = ServerOptions(profile="one-gpu-7b", endpoint=["http://127.0.0.1:9/v1"])
    alone = judge_source(elsewhere, "other")
    assert alone is not None
    assert {*alone.profile.engines} == {"other"}
    assert {seat.gpus for seat in alone.seats()} == {("GPU-0",), ("GPU-1",)}
