"""The calling side of a run on a Ray cluster: it sends items, stores results and reports.

It uses actors rather than `ray.data`: `map_batches` returns results only when a whole block is
done, so every item would need a block of its own. An actor is called like a pipeline, item by item.
"""

import os
import secrets
import socket
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pipelines.cluster.worker import Reply, Worker, as_sent, counters, mendable
from pipelines.errors import InputError
from pipelines.experiment.execute import Placing
from pipelines.experiment.experiment import Experiment, Item, Models, Work
from pipelines.experiment.options import EndpointOptions, ModelOptions, RunOptions
from serving import profile as profiles
from serving.errors import ServingError
from serving.profile import Profile

ON_THIS_MACHINE = 2
"""Workers of `--ray local` by default, if GPUs do not determine the number."""

DEATHS = 3
"""How often a worker may die on the same item; after one more death the run stops."""

START_S, CLOSE_S = 120.0, 30.0
"""Seconds for workers to start, and for their servers to stop."""


@contextmanager
def workers(experiment: Experiment[Any, Any], options: RunOptions) -> Iterator[Placing]:
    """Workers on the cluster named by `--ray`, from the first item to the end of the block.

    A worker that dies is restarted, and its item is repeated; answers it already had are in the
    cache. Workers end with this process.

    Yields:
        A function that sends a work to the workers; without `--ray`, it returns the work unchanged.
            On the first item it raises ServingError if the workers do not fit, and InputError if
            the cluster does not exist.

    Raises:
        InputError: Ray is not installed.
    """
    if options.ray is None:
        yield lambda work, _: work
        return
    if find_spec("ray") is None:
        raise InputError("--ray needs Ray; install contested[ray]")
    with ExitStack() as stack:
        yield _placing(experiment, cache(lambda: stack.enter_context(_actors(experiment, options))))


@contextmanager
def _actors(experiment: Experiment[Any, Any], options: RunOptions) -> Iterator[Sequence[Any]]:
    profile = profiles.load(options.profile)
    cores = max(os.cpu_count() or 1, options.ray_workers or ON_THIS_MACHINE)
    with connected(str(options.ray), cores):
        import ray

        actors = _started(experiment, options, profile)
        try:
            yield actors
        finally:
            with suppress(ray.exceptions.RayError):
                ray.get([actor.close.remote() for actor in actors], timeout=CLOSE_S)


def announced(options: RunOptions) -> str:
    """Where the run would execute, for `--dry-run`."""
    gpus = _gpus(options, profiles.load(options.profile))
    place = "started on this machine" if options.ray == "local" else f"at {options.ray}"
    count = _wanted(options, gpus)
    size = f"{count:,} worker{'s' if count > 1 else ''}" if count else "as many workers as fit"
    with_gpus = f", each with {gpus} GPU{'s' if gpus > 1 else ''}" if gpus else ""
    return f"on Ray, {place}: {size}{with_gpus}"


def _placing(experiment: Experiment[Any, Any], actors: Callable[[], Sequence[Any]]) -> Placing:
    """Send a work to actors: every item goes to the least busy one."""
    busy: Counter[int] = Counter()
    known = mendable(experiment)

    def place(work: Work[Any, Any], models: Models) -> Work[Any, Any]:
        config, counting = as_sent(work), counters(work, models)

        async def result_of(item: Item) -> Any:
            from ray.exceptions import RayActorError

            number = min(range(len(actors())), key=busy.__getitem__)
            busy[number] += 1
            try:
                text = await actors()[number].answer.remote(work.entry, config, item.id)
            except RayActorError as error:
                raise ServingError(
                    f"a worker died {DEATHS + 1} times while working on '{item.id}'; Ray's logs "
                    "on its node say why; run the same command again to resume"
                ) from error
            finally:
                busy[number] -= 1
            reply = Reply.model_validate_json(text)
            for (who, name), more in zip(counting, reply.counts, strict=False):
                setattr(who, name, getattr(who, name) + more)
            if reply.result is None:
                raise known[reply.error](reply.reason)
            return experiment.result.model_validate_json(reply.result)

        return replace(work, result_of=result_of, places=lambda: len(actors()))

    return place


def _started(
    experiment: Experiment[Any, Any], options: RunOptions, profile: Profile
) -> Sequence[Any]:
    """Actors on the connected cluster, once all of them are ready."""
    import ray

    gpus = _gpus(options, profile)
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    count, cpus = room(nodes, gpus, _wanted(options, gpus))
    kind = ray.remote(Worker).options(
        num_cpus=cpus,
        num_gpus=gpus,
        max_restarts=-1,
        max_task_retries=DEATHS,
        scheduling_strategy="SPREAD",
    )
    # The same profile everywhere: the calling machine may have no GPU.
    chosen = options.model_copy(update={"profile": options.profile or profile.name})
    given = chosen.model_dump_json(exclude_unset=True)
    actors = [
        kind.remote(experiment.name, given, str(Path.cwd()), number)
        for number in range(1, count + 1)
    ]
    starting = [actor.__ray_ready__.remote() for actor in actors]
    ready, missing = ray.wait(starting, num_returns=count, timeout=START_S)
    if missing:
        raise ServingError(
            f"only {len(ready)} of {count} workers started on Ray within {START_S:g} s; wait until "
            "other jobs there have ended, or ask for fewer with --ray-workers"
        )
    try:
        ray.get(ready)
    except ray.exceptions.RayError as error:
        why = str(error).strip().splitlines()[-1]
        raise ServingError(
            f"a worker did not start ({why}); install contested[ray] in this version on all nodes"
        ) from error
    return actors


def _wanted(options: RunOptions, gpus: int) -> int | None:
    """Number of workers; None for as many as fit."""
    few = options.ray == "local" and not gpus
    return options.ray_workers or (ON_THIS_MACHINE if few else None)


def _gpus(options: ModelOptions, profile: Profile) -> int:
    """GPUs of a replica group: the profile's, or 0 if servers already run elsewhere."""
    served = isinstance(options, EndpointOptions) and options.endpoint
    return 0 if served else profile.gpus


CONNECT_S = 5.0
"""Timeout, in seconds, for an address to answer."""


@contextmanager
def connected(address: str, cores: int) -> Iterator[None]:
    """Connect to the cluster at an address for the duration of the block.

    Args:
        address: HOST:PORT, "auto", or "local" for a cluster that lives as long as the block.
        cores: CPUs of the local cluster.

    Raises:
        InputError: The cluster does not exist or rejects this process.
    """
    if address == "local":
        # Ray reads these on import. The first keeps all its ports on loopback. The token keeps
        # other users of the machine out, and is not stored in the home folder.
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
    """Refuse an address where nothing listens; Ray itself would wait two minutes and then exit."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_S).close()
    except OSError as error:
        raise InputError(
            f"no Ray cluster answers at {address} ({error.strerror or error}); start one there "
            "(ray start --head), or use --ray local"
        ) from error


def room(nodes: Sequence[Mapping[str, float]], gpus: int, wanted: int | None) -> tuple[int, int]:
    """Number of workers, and the CPUs of each.

    Args:
        nodes: The "CPU" and "GPU" resources of each node.
        gpus: GPUs per worker, all on one node. With 0, workers are spread evenly over the nodes.
        wanted: Requested number of workers; by default as many as fit, or one per node without
            GPUs.

    Raises:
        ServingError: The workers do not fit.
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
