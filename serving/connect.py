"""From a profile and a role to a client that can be asked."""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from serving import detached, models
from serving.cache import CompletionCache
from serving.calls import ServedIdentity
from serving.client import Backend, Client
from serving.endpoint import Endpoint, ServedModel, ask_endpoint
from serving.errors import ServingError
from serving.home import default_home
from serving.installed import engine_version, torch_device
from serving.offline import LOOPBACK
from serving.placement import Placement, Seat, here
from serving.profile import EngineOptions, LocalRole, Profile, Role
from serving.tokens import ChatTokenizer
from serving.weights import float32_head

DEFAULT_CONCURRENCY = 1024
"""Requests in flight per server if the profile leaves `max_num_seqs` to vLLM: its batch on the
largest GPUs. A smaller GPU batches 256, and the rest waits in its queue."""

UNVERIFIED = "unverified-"
"""Prefix of the digest of a model that is known only by name."""

KEY_VARIABLE = "CONTESTED_API_KEY"
"""Environment variable with the key of `--endpoint` servers."""


@dataclass(frozen=True)
class Source:
    """Where a role's model is and how to reach it.

    Attributes:
        profile: Names the model and its engine options.
        models_dir: Where models are registered.
        model: A registered name or folder in place of the profile's.
        endpoints: Base URLs of running servers, all with the same model; empty to use a detached
            server or start one.
        embeddings: Whether requests carry embeddings, which a server must be started for.
    """

    profile: Profile
    role: Role
    models_dir: Path
    model: str | None = None
    endpoints: tuple[str, ...] = ()
    embeddings: bool = False

    @property
    def profiled(self) -> str:
        """The model that the profile assigns to the role."""
        return self.profile.roles.judge if self.role == "judge" else self.profile.roles.generator

    def options(self, model: str) -> EngineOptions:
        """Engine options for a model: its own in the profile, else those of the role's model."""
        options = self.profile.engines.get(model) or self.profile.engines[self.profiled]
        return options.model_copy(update={"prompt_embeds": True}) if self.embeddings else options

    def seats(self) -> Sequence[Seat]:
        """The GPUs of the role's model; empty on a CPU. ServingError if they do not suffice.

        The placement covers the whole profile, so that each model leaves room for the others.
        """
        return placement(self.profile).seats(self.profiled) if self.on_gpus else ()

    @property
    def on_gpus(self) -> bool:
        """Whether the role's model runs on GPUs."""
        return self.profile.device == "cuda"


_placed: dict[str, Placement] = {}
_users: set[object] = set()


def placement(profile: Profile) -> Placement:
    """The places of a profile's models on this machine.

    Computed once per process, so memory that its own servers use later does not count as taken.
    """
    key = profile.model_dump_json()
    if key not in _placed:
        held: dict[str, list[Seat]] = {}
        for job in (state.job for state in detached.running()):
            if job.seat is not None and profile.engines.get(job.model.name) == job.options:
                held.setdefault(job.model.name, []).append(job.seat)
        _placed[key] = here(profile, held)
    return _placed[key]


@dataclass(frozen=True)
class RoleModel:
    """A role's model, found and named, before any server is started.

    Attributes:
        identity: Part of every cache key and of every table's provenance.
        tokenizer, folder: None if the model's folder is not on this machine.
        served: Endpoints that were given; empty if servers have to be found or started.
    """

    identity: ServedIdentity
    tokenizer: ChatTokenizer | None
    folder: models.Model | None
    served: tuple[Endpoint, ...]


def devices(profile: Profile, role: LocalRole) -> tuple[str, ...]:
    """The devices of a role's model, as torch names them; empty if torch may choose.

    Raises:
        ServingError: The GPUs have no room for it.
    """
    if profile.device == "cpu" or torch_device() == "cpu":
        return ()
    return placement(profile).devices(role)


async def resolve(source: Source) -> RoleModel:
    """Find the model of a role. Starts nothing; asks `endpoints` if there are any.

    Raises:
        ServingError: The model is not registered or was changed, or an endpoint does not answer.
    """
    if source.endpoints:
        return await _resolve_endpoints(source)
    folder = models.find(source.model or source.profiled, source.models_dir)
    options = source.options(folder.name)
    identity = ServedIdentity(
        name=folder.name,
        digest=folder.digest,
        engine=f"{engine_version()} {numerics(options, folder.path)}",
        context=options.max_model_len,
    )
    return RoleModel(identity, ChatTokenizer.from_folder(folder.path), folder, ())


@asynccontextmanager
async def connect(
    source: Source,
    *,
    cache: Path | None = None,
    logs: Path | None = None,
    concurrency: int | None = None,
    on_status: Callable[[str], None] = lambda _: None,
    together: "list[OnDemand] | None" = None,
) -> AsyncIterator[Client]:
    """A client for a role's model; whatever it starts ends with the last client of this process.

    A server is started only if the answer is missing from the cache (by default `default_cache()`);
    its logs go into `logs`, and its progress is passed to `on_status`. At most `concurrency`
    requests are in flight, by default the engine's batch. Servers of clients that share the list
    `together` start at the same time, as soon as one is needed.

    Raises:
        ServingError: As `resolve`, or the cache cannot be opened.
    """
    resolved = await resolve(source)
    options = source.options(resolved.identity.name)
    servers = len(resolved.served or source.seats()) or 1
    places = concurrency or (options.max_num_seqs or DEFAULT_CONCURRENCY) * servers
    with CompletionCache(cache or default_cache()) as store, shared_servers():
        client = Client(
            resolved.identity,
            resolved.tokenizer,
            store,
            backend(resolved, source, logs or default_home() / "logs", on_status, together),
            reasoning_tokens=reasoning_room(resolved, options),
            concurrency=places,
        )
        try:
            yield client
        finally:
            await client.close()


def reasoning_room(resolved: RoleModel, options: EngineOptions) -> int:
    """Extra tokens per reply for the reasoning of a model that always reasons; 0 for others.

    Raises:
        ServingError: A server would have to be started that mistakes the reasoning for the reply.
    """
    shown = resolved.tokenizer is not None and resolved.tokenizer.always_reasons
    if shown and options.reasoning_parser is None and not resolved.served:
        raise ServingError(
            f"{resolved.identity.name} reasons before it answers; set reasoning_parser in the "
            'profile to vLLM\'s name for its format, such as "deepseek_r1" or "openai_gptoss"'
        )
    return options.reasoning_tokens if shown or options.reasoning_parser else 0


def default_cache() -> Path:
    """The completion store that commands share by default."""
    return default_home() / "completions.sqlite"


def numerics(options: EngineOptions, folder: Path) -> str:
    """Serving options that can change an answer, for cache keys and provenance."""
    parser = options.reasoning_parser
    facts = (
        options.dtype,
        "head float32" if float32_head(folder, options) else None,
        options.quantization,
        None if options.kv_cache_dtype == "auto" else f"kv {options.kv_cache_dtype}",
        "strict" if options.max_num_seqs == 1 and not options.prefix_caching else None,
        "batch-invariant" if options.batch_invariant else None,
        f"reasoning {parser} {options.reasoning_tokens}" if parser else None,
    )
    return " ".join(filter(None, facts))


Start = Callable[[], Coroutine[Any, Any, Sequence[Endpoint]]]


class OnDemand(Backend):
    """Servers on this machine, started once, when the first completion is needed.

    Args:
        start: Finds or starts them, as `detached.start` does.
        together: Backends that start at the same time, as soon as one of them is needed; this one
            is added.
    """

    def __init__(self, start: Start, together: "list[OnDemand] | None" = None) -> None:
        self._start = start
        self._starting: asyncio.Task[Sequence[Endpoint]] | None = None
        self._together = [] if together is None else together
        self._together.append(self)

    async def endpoints(self) -> Sequence[Endpoint]:
        """The endpoints of the servers, which are started at the first call."""
        for backend in self._together:
            backend._begin()
        return await asyncio.shield(self._begin())

    async def recover(self, endpoint: Endpoint) -> None:
        """Wait a little: the process that holds the servers restarts one that crashed."""
        held = await asyncio.to_thread(detached.running)
        if not any(endpoint in state.endpoints for state in held):
            raise ServingError(
                f"the server of {endpoint.model} was stopped or given up (see "
                f"{detached.log_path()}); the same command starts another and resumes"
            )
        await super().recover(endpoint)

    async def close(self) -> None:
        """Stop an unfinished start."""
        if self._starting is not None:
            self._starting.cancel()  # has no effect if it has started
            await asyncio.gather(self._starting, return_exceptions=True)

    def _begin(self) -> "asyncio.Task[Sequence[Endpoint]]":
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        return self._starting


def backend(
    resolved: RoleModel,
    source: Source,
    logs: Path,
    on_status: Callable[[str], None],
    together: list[OnDemand] | None = None,
) -> Backend:
    """The given endpoints, else detached servers of the same model, else new ones for this process.

    Servers are found or started when this or another backend in `together` first needs a
    completion. ServingError if the GPUs do not suffice.
    """
    model = resolved.folder
    if model is None or resolved.served:
        return Backend(resolved.served)
    start = partial(
        detached.start,
        model,
        source.options(model.name),
        seats=source.seats(),
        logs=logs,
        owner=os.getpid(),
        on_status=on_status,
    )
    return OnDemand(start, together)


@contextmanager
def shared_servers() -> Iterator[None]:
    """Keep the servers that this process starts within the block, for all its clients.

    The first client that needs a server starts it. Servers are stopped when the last block ends,
    and with this process however it ends: a killed job leaves no server behind.
    """
    user = object()
    _users.add(user)
    try:
        yield
    finally:
        _users.discard(user)
        if not _users:
            stop_shared()


def stop_shared() -> None:
    """Stop the servers that this process started; the next request starts another."""
    detached.stop(owner=os.getpid())


async def _resolve_endpoints(source: Source) -> RoleModel:
    key = os.environ.get(KEY_VARIABLE, "")
    answers = [await ask_endpoint(url, key, source.model) for url in source.endpoints]
    first = answers[0]
    for url, answer in zip(source.endpoints, answers, strict=True):
        if answer.name != first.name:
            raise ServingError(
                f"{url} serves '{answer.name}' but {source.endpoints[0]} serves '{first.name}'; "
                "endpoints that are used together need the same model"
            )
    served = tuple(Endpoint(url.rstrip("/"), key, first.name) for url in source.endpoints)
    folder, tokenizer = _local_folder(first, source)
    # Weights elsewhere are known only by what the server says, so new weights under the same name
    # and address go unnoticed. Tables therefore give no digest.
    hashed = hashlib.sha256(f"{first.name} {first.root}".encode()).hexdigest()
    identity = ServedIdentity(
        name=first.name,
        digest=folder.digest if folder is not None else f"{UNVERIFIED}{hashed}",
        # A server's numerics (number format, quantised cache) cannot be queried, so an answer
        # counts only for the addresses it came from.
        engine=f"{first.engine} at {', '.join(sorted(endpoint.url for endpoint in served))}",
        context=first.context,
    )
    return RoleModel(identity, tokenizer, folder, served)


def _local_folder(
    served: ServedModel, source: Source
) -> tuple[models.Model | None, ChatTokenizer | None]:
    """The served folder and its tokenizer, if they are on this machine.

    A name proves nothing about weights: a registered model of the same name lends its tokenizer
    but not its digest.
    """
    here = all(urlsplit(url).hostname in LOOPBACK for url in source.endpoints)
    if here and (Path(served.root) / "tokenizer.json").is_file():
        folder = models.find(served.root, source.models_dir)
        return folder, ChatTokenizer.from_folder(folder.path)
    for model in models.registered(source.models_dir):
        if model.name == served.name:
            return None, ChatTokenizer.from_folder(model.path)
    return None, None
