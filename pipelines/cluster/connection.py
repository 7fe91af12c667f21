"""The Ray cluster of a run: reached or started, and how many workers fit on it."""

import os
import secrets
import socket
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pipelines.errors import InputError
from serving.errors import ServingError

CONNECT_S = 5.0
"""Seconds that an address has to answer."""


@contextmanager
def connected(address: str, cores: int) -> Iterator[None]:
    """Connect to the cluster at an address, as long as the block runs.

    Args:
        address: HOST:PORT, "auto", or "local" for one that lives as long as the block.
        cores: That this one has to offer.

    Raises:
        InputError: There is no such cluster, or it does not take this process.
    """
    if address == "local":
        # Ray reads these as it is imported. The first one keeps all its ports on loopback; a key of
        # its own keeps other users of the machine out, and none in the home folder.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:
            yield from _initialised(
                num_cpus=cores,
                include_dashboard=False,
                _temp_dir=folder,
                _node_ip_address="127.0.0.1",
            )
        return
    if address != "auto":
        _refuse_silent(address)
    yield from _initialised(address=address)


def _initialised(**how: Any) -> Iterator[None]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray

    try:
        ray.init(log_to_driver=False, logging_level="error", **how)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        why = str(error).strip().splitlines()[0]
        raise InputError(
            f"--ray {how.get('address', 'local')}: {why}; all nodes need the same versions of "
            "Python and Ray, and the cluster's token, where it has one, in RAY_AUTH_TOKEN"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _refuse_silent(address: str) -> None:
    """Refuse an address where nothing listens. Ray itself would wait two minutes and then exit."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_S).close()
    except OSError as error:
        raise InputError(
            f"no Ray cluster answers at {address} ({error.strerror or error}); start one there "
            "(ray start --head), or take --ray local"
        ) from error


def room(nodes: Sequence[Mapping[str, float]], gpus: int, wanted: int | None) -> tuple[int, int]:
    """How many workers there are to be, and the CPUs of each.

    Args:
        nodes: What each has of "CPU" and "GPU".
        gpus: That a worker takes; all of one node. Without any, the workers share the nodes evenly.
        wanted: Workers that were asked for; by default as many as there is room for, or one a node
            without GPUs.

    Raises:
        ServingError: They do not fit.
    """
    cores = [int(node.get("CPU", 0)) for node in nodes if node.get("CPU", 0) >= 1]
    if gpus:
        fitting = [(int(node.get("GPU", 0)) // gpus, int(node.get("CPU", 0))) for node in nodes]
        most = sum(places for places, _ in fitting)
        if (wanted or 1) > most:
            raise ServingError(
                f"a worker of this profile takes {gpus} GPUs of one node, and the Ray cluster has "
                f"room for {most} of the {wanted or 1} asked for; choose a smaller --ray-workers, "
                "or another --profile"
            )
        return wanted or most, min(cpus // places for places, cpus in fitting if places)
    if not cores:
        raise ServingError("the Ray cluster has no node with a CPU to offer; start one: ray start")
    count = wanted or len(cores)
    return count, min(cores) // -(-count // len(cores))
