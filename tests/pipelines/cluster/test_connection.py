"""How many workers fit on a cluster, and addresses where there is none."""

import socket
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from commands import Contested

from pipelines.cluster.workers import room
from serving.errors import ServingError

BIG = {"CPU": 64.0, "GPU": 8.0}
SMALL = {"CPU": 16.0, "GPU": 3.0}
WITHOUT_GPU = {"CPU": 10.0}
HEAD = {"memory": 1e9}


def test_a_worker_has_its_gpus_on_one_node_and_its_part_of_the_cores() -> None:
    # 8 // 2 and 3 // 2; the GPU that is left over on the small node is nobody's.
    assert room([BIG, SMALL, WITHOUT_GPU, HEAD], gpus=2, wanted=None) == (5, 16)
    assert room([BIG, SMALL], gpus=2, wanted=3) == (3, 16)
    assert room([BIG], gpus=8, wanted=None) == (1, 64)


def test_without_gpus_there_is_one_a_node_unless_more_are_wanted() -> None:
    assert room([BIG, WITHOUT_GPU, HEAD], gpus=0, wanted=None) == (2, 10)
    assert room([BIG, WITHOUT_GPU], gpus=0, wanted=3) == (3, 5)
    assert room([{"CPU": 1.0}], gpus=0, wanted=2) == (2, 0)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ServingError, match=r"takes 4 GPUs of one node.*room for 2 of the 3 asked"):
        room([BIG, SMALL], gpus=4, wanted=3)
    with pytest.raises(ServingError, match="room for 0 of the 1"):
        room([WITHOUT_GPU], gpus=1, wanted=None)
    with pytest.raises(ServingError, match="no node with a CPU"):
        room([HEAD], gpus=0, wanted=None)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    return ["run", "conflict-detection", "--judge", "tagger", "--limit", "1"]


@pytest.mark.skipif(find_spec("ray") is None, reason="contested[ray] is not installed")
def test_an_address_where_no_cluster_is_is_said_in_a_line(
    command: list[str], contested: Contested
) -> None:
    address = f"127.0.0.1:{free_port()}"
    contested.refused(*command, "--ray", address, says=[f"no Ray cluster answers at {address}"])


def test_a_missing_ray_is_named_with_its_extra(
    command: list[str], contested: Contested, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    contested.refused(*command, "--ray", "local", says=["--ray needs Ray; install contested[ray]"])
