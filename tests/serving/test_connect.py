"""Which model a client asks, and what its answers are filed under."""

from pathlib import Path

import pytest
from scripted import MODEL, Scripted

from serving import profile
from serving.backend import OnDemand
from serving.calls import Sampling, ServedIdentity
from serving.connect import RoleModel, Source, backend, connect, resolve
from serving.models import Model
from serving.profile import EngineOptions

ASK = [{"role": "user", "content": "What is it?"}]


def at(models_dir: Path, *endpoints: Scripted) -> Source:
    urls = tuple(endpoint.url for endpoint in endpoints)
    return Source(profile.load("cpu-small"), "judge", models_dir, endpoints=urls)


async def test_two_servers_of_one_name_never_share_an_answer(
    endpoint: Scripted, tmp_path: Path
) -> None:
    with Scripted() as other:
        for server, answer in ((endpoint, "one"), (other, "two")):
            server.reply = lambda _, answer=answer: answer  # type: ignore[misc]
            async with connect(at(tmp_path, server), cache=tmp_path / "c.sqlite") as client:
                assert (await client.chat(ASK, Sampling(4))).text == answer


async def test_the_order_of_endpoints_changes_nothing(endpoint: Scripted, tmp_path: Path) -> None:
    with Scripted() as other:
        one = await resolve(at(tmp_path, endpoint, other))
        two = await resolve(at(tmp_path, other, endpoint))
    assert one.identity == two.identity


async def test_a_name_lends_no_digest(endpoint: Scripted, tmp_path: Path) -> None:
    resolved = await resolve(at(tmp_path, endpoint))
    assert resolved.identity.name == MODEL
    assert resolved.identity.digest.startswith("unverified-")
    assert resolved.tokenizer is None


async def test_a_served_folder_on_this_machine_gives_digest_and_tokenizer(
    endpoint: Scripted, smollm2: Model, models_dir: Path
) -> None:
    endpoint.root = str(smollm2.path)
    resolved = await resolve(at(models_dir, endpoint))
    assert resolved.identity.digest == smollm2.digest
    assert resolved.tokenizer is not None


async def test_a_model_takes_its_own_engine_options_where_the_profile_has_some() -> None:
    chosen = profile.load("cpu-small")
    own = chosen.engine("smollm2-135m-instruct").model_copy(update={"max_model_len": 1024})
    chosen = chosen.model_copy(update={"engines": {**chosen.engines, "big": own}})
    source = Source(chosen, "judge", Path("unused"))
    assert source.options("big").max_model_len == 1024
    assert source.options("another").max_model_len == 8192
    strict = Source(chosen, "judge", Path("unused"), strict=True)
    assert strict.options("big").dtype == "float32"


@pytest.mark.parametrize("role", ["judge", "generator"])
async def test_roles_name_their_model(role: str) -> None:
    chosen = profile.load("cpu-small")
    roles = chosen.roles.model_copy(update={role: "special"})
    source = Source(chosen.model_copy(update={"roles": roles}), role, Path("unused"))  # type: ignore[arg-type]
    assert source.profiled == "special"


@pytest.mark.parametrize(
    ("options", "beside"),
    [
        (EngineOptions(), True),
        (EngineOptions(gpu_memory_gib=22), False),
        (EngineOptions(gpu_memory_gib=22, kv_cache_gib=4), True),
    ],
)
def test_a_server_that_measures_its_gpu_starts_alone(options: EngineOptions, beside: bool) -> None:
    model = Model("m", Path("m"), "d")
    found = RoleModel(ServedIdentity("m", "d", "e", None), None, model, ())
    together: list[OnDemand] = []
    made = backend(found, options, Path("logs"), lambda _: None, together)
    assert together == ([made] if beside else [])
