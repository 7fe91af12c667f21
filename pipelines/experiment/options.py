"""Options that every experiment takes: where results go, which models are asked, and how."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
)

from pydantic import AfterValidator, BaseModel, Field, model_validator

from pipelines.errors import InputError
from pipelines.judge.settings import PANEL as METRIC_PANEL
from pipelines.judge.settings import JudgeName, JudgeSettings
from pipelines.option import OnError, Only, Option, Options, WithPresets, nested
from serving.home import default_models_dir

if TYPE_CHECKING:  # other imports wait until they are needed, so that help is quick
    from pipelines.judge.tagger import TaggerFolder
    from serving.connect import Source
    from serving.profile import LocalRole, Role

MODEL_PANEL = "Model and server"
CLUSTER_PANEL = "Cluster"

JudgeSettingsT = TypeVar("JudgeSettingsT", bound=JudgeSettings)

Overflow = Annotated[
    Literal["error", "cut"],
    Option("What to do with a text that is too long for the context. Cuts are recorded."),
]
"""For the field `on_overflow`."""


AsInPaper = Annotated[
    bool,
    Option(
        "Use the paper's settings where our defaults differ; docs/differences.md lists them.",
        name="--as-in-paper",
    ),
]
"""For the field `as_in_paper`."""


Cache = Annotated[Path | None, Option("The SQLite file of completions.", panel=MODEL_PANEL)]
"""For the field `cache`; the tagger's judgements are stored beside the file."""


def judge_model_option(panel: str, only: Only | None = None) -> Option:
    """The option that names the judging model."""
    return Option(
        "The model that judges: a registered name or a folder.",
        shown="the profile's judge, or what --model names",
        panel=panel,
        only=only,
    )


JudgeModel = Annotated[str | None, judge_model_option(METRIC_PANEL)]
"""For the field `judge_model`."""


class ProfileOptions(Options):
    """The profile, and the folder of its models."""

    profile: Annotated[
        str | None,
        Option(
            "Models for the roles, and how to serve them: a bundled name or a TOML file. The "
            "default without a GPU is cpu-small.",
            panel=MODEL_PANEL,
        ),
    ] = None
    models_dir: Annotated[
        Path | None, Option("Folder of the registered models.", panel=MODEL_PANEL)
    ] = None


class ModelOptions(ProfileOptions):
    """The profile, and replacements for its models."""

    model: Annotated[
        str | None,
        Option(
            "Use this model instead of the profile's: a registered name or a folder.",
            panel=MODEL_PANEL,
        ),
    ] = None


class TaggerOptions(Options):
    """The NLI tagger, if not the profile's."""

    tagger: Annotated[
        str | None,
        Option(
            "Folder or registered name of the NLI tagger, a cross-encoder.",
            shown="the profile's, or the bundled one",
            panel=METRIC_PANEL,
        ),
    ] = None


class EndpointOptions(ModelOptions):
    """A language model, which may already be served."""

    endpoint: Annotated[
        list[str] | None,
        Option(
            "URL of a running server (http://HOST:PORT/v1); its key is read from "
            "CONTESTED_API_KEY. Repeat it to spread the load.",
            panel=MODEL_PANEL,
        ),
    ] = None


class ServedOptions(EndpointOptions):
    """The language model, how it is served, and the cache of its answers."""

    strict: Annotated[
        bool,
        Option(
            "fp32, one sequence at a time, no prefix cache: equal requests give equal answers. "
            "Slow.",
            panel=MODEL_PANEL,
        ),
    ] = False
    cache: Cache = None
    concurrency: Annotated[
        int | None,
        Field(ge=1),
        Option(
            "Maximum requests in flight; by default the engine's batch size.", panel=MODEL_PANEL
        ),
    ] = None


class LlmOptions(ServedOptions):
    """The language model, how it is asked, and its prompts."""

    prompts: Annotated[
        Path | None,
        Option(
            "Folder with your own prompts; missing ones are taken from ours. See docs/prompts.md.",
            panel=METRIC_PANEL,
        ),
    ] = None


class ServerOptions(TaggerOptions, LlmOptions):
    """The models of experiments that may ask a language model and the NLI tagger."""


class Usual(NamedTuple):
    """The default judge and way to make claims, and the reason."""

    judge: JudgeName
    claims: str
    why: str


class JudgedOptions(ServerOptions):
    """Who judges claims, by default as in the profile.

    A model named by --endpoint or --model judges in place of the profile's choice.
    """

    anyway: Annotated[
        bool,
        Option(
            "Accept a model that is too weak to judge or to split texts into claims, and "
            "verdicts of a model that puts little probability on the labels.",
            name="--anyway",
            panel=METRIC_PANEL,
        ),
    ] = False

    @classmethod
    def usual(cls, given: Mapping[str, Any]) -> Usual:
        """The defaults, given the other options; ServingError if the profile cannot be read."""
        if given.get("as_in_paper"):
            return Usual("model", "statements", "as in the paper")
        for name in ("endpoint", "model"):
            if given.get(name):
                return Usual("model", "atomic", f"--{name} names a model")
        from serving import profile as profiles

        profile = profiles.load(given.get("profile"))
        return Usual(profile.judge, profile.claims, f"profile {profile.name}")

    @model_validator(mode="before")
    @classmethod
    def _as_usual(cls, given: dict[str, Any]) -> dict[str, Any]:
        made: dict[str, JudgeSettings] = {}
        for name, kind in _by_profile(cls):
            settings = kind.model_validate(given.get(name, cls.model_fields[name].default))
            usual = cls.usual(given)._asdict()
            made[name] = settings.model_copy(
                update={field: usual[field] for field in settings.unsaid}
            )
            made[name].model_fields_set.intersection_update(settings.model_fields_set)
        return given | made


def anyway(options: BaseModel) -> bool:
    """Whether verdicts of any judge are accepted."""
    return not isinstance(options, JudgedOptions) or options.anyway


def judged_by(options: BaseModel) -> str:
    """Who judges, how claims are made, and why, in a line; empty if the profile does not decide."""
    if not isinstance(options, JudgedOptions):
        return ""
    for name, _ in _by_profile(type(options)):
        settings = getattr(options, name)
        unsaid = " and ".join(f"--{option}" for option in settings.unsaid)
        why = f" ({unsaid}: {options.usual(dict(options)).why})" if unsaid else ""
        return f"judge: {settings.named}{why}"
    return ""


def _by_profile(options: type[JudgedOptions]) -> Iterator[tuple[str, type[JudgeSettings]]]:
    """The fields of options that say who judges and can take their default from the profile."""
    for name, kind in nested(options):
        if issubclass(kind, JudgeSettings) and kind.BY_PROFILE:
            yield name, kind


def _of_ray(address: str | None) -> str | None:
    if address is not None and not re.fullmatch(r"local|auto|[^\s/]+:\d{1,5}", address):
        raise ValueError("it must be local, auto, or HOST:PORT of a Ray cluster")
    return address


class RunOptions(WithPresets, ModelOptions):
    """Where results go, how many are made, and on which machines.

    The docstring of an experiment's options is the help of its command, with examples.
    """

    ITEMS: ClassVar[str]
    """Plural noun for the experiment's items: "questions"."""

    as_in_paper: AsInPaper = False

    out: Annotated[Path, Option("Run folder; created, or resumed.")] = Path("results")
    limit: Annotated[
        int | None, Field(ge=1), Option("Take only the first N {items}.", metavar="N")
    ] = None
    dry_run: Annotated[bool, Option("Only count the calls and pairs that a run needs at most.")] = (
        False
    )
    probe: Annotated[
        bool,
        Option(
            "With --dry-run: run up to five {items}, keep their answers, and estimate hours and "
            "tokens.",
            name="--probe",
            only=Only(lambda options: options.dry_run, "a run without --dry-run"),
        ),
    ] = False
    on_error: Annotated[
        OnError,
        Option("At {items} that cannot be read, asked or judged: stop, or skip and count them."),
    ] = "stop"
    ray: Annotated[
        str | None,
        AfterValidator(_of_ray),
        Option(
            "Run on a Ray cluster: HOST:PORT, `auto` for this machine's, or `local` to start "
            "one. See docs/serving.md.",
            metavar="ADDRESS",
            panel=CLUSTER_PANEL,
        ),
    ] = None
    ray_workers: Annotated[
        int | None,
        Field(ge=1),
        Option(
            "Workers on the cluster; each loads its own models.",
            shown="as many as fit; two for `local` without GPUs",
            panel=CLUSTER_PANEL,
            only=Only(lambda options: options.ray is not None, "a run without --ray"),
        ),
    ] = None

    @model_validator(mode="after")
    def _has_a_paper(self) -> Self:
        if self.as_in_paper and "as_in_paper" not in self.PRESETS:
            raise InputError("this experiment has no settings of a paper; leave --as-in-paper out")
        return self


def decided_by(options: RunOptions) -> dict[str, Any]:
    """The options that decide results, apart from models, data and prompts, for `run.json`.

    These are all fields that an experiment adds to the options of every run, except the data file
    and presets, since the fields that a preset sets show its choices.
    """
    general = {"data", *options.PRESETS}
    for kind in type(options).__mro__:
        if kind.__module__ == __name__ and issubclass(kind, BaseModel):
            general |= kind.model_fields.keys()
    return options.model_dump(mode="json", exclude=general)


def source_of(options: ProfileOptions, role: "Role") -> "Source":
    """The model that the options name for a role.

    Raises:
        InputError: Options exclude each other.
        ServingError: The profile is missing.
    """
    from serving import profile as profiles
    from serving import weights
    from serving.connect import Source

    endpoints = options.endpoint or () if isinstance(options, EndpointOptions) else ()
    strict = isinstance(options, ServedOptions) and options.strict
    if endpoints and strict:
        raise InputError(
            "--strict says how a server is started, so it has no effect on --endpoint; "
            "leave one of them out"
        )
    profile = profiles.load(options.profile)
    model = options.model if isinstance(options, ModelOptions) else None
    models_dir = options.models_dir or default_models_dir()
    if model is not None and not endpoints:
        other: Role = "judge" if role == "generator" else "generator"
        profile = weights.with_model(profile, model, models_dir, role, other)
    return Source(
        profile=weights.strict(profile, models_dir) if strict else profile,
        role=role,
        models_dir=models_dir,
        model=model,
        endpoints=tuple(endpoints),
    )


def device_of(role: "LocalRole", where: "Source") -> str | None:
    """The GPU that the placement assigns to a role's model; None if torch may choose.

    Raises:
        ServingError: No GPU has room for it.
    """
    from serving.connect import devices

    return next(iter(devices(where.profile, role)), None)


def tagger_named(name: str | None, where: "Source") -> "TaggerFolder":
    """The tagger of that folder or registered name; by default the profile's.

    Raises:
        InputError: The folder is not a tagger's, or the name is not registered.
        ServingError: No GPU has room for the tagger.
    """
    from pipelines.judge.tagger import LARGE, SHIPPED, shipped_tagger, tagger_folder
    from serving import models

    name = name or where.profile.roles.tagger
    if name is None:
        folder = profile_tagger(where)
    elif Path(name).expanduser().is_dir() or "/" in name:
        folder = tagger_folder(Path(name).expanduser())
    elif models.read_manifest(name, where.models_dir) is not None:
        folder = tagger_folder(models.find(name, where.models_dir).path, name=name)
    elif name == SHIPPED:
        folder = shipped_tagger()
    else:
        known = [model.name for model in models.registered(where.models_dir) if model.classifies]
        near = get_close_matches(name, [SHIPPED, LARGE, *known], n=1)
        hint = f" (did you mean '{near[0]}'?)" if near and near != [name] else ""
        raise InputError(
            f"tagger '{name}' not found{hint}: it is neither a folder nor registered; fetch one "
            f"with scripts/fetch_models.sh --tagger {LARGE}, or name a folder"
        )
    device = device_of("tagger", where)
    return folder if device is None else replace(folder, device=device)


def profile_tagger(where: "Source") -> "TaggerFolder":
    """The first of a profile's taggers that is registered, else the bundled one.

    Raises:
        ServingError: It has changed since it was registered.
    """
    from nli.adapter import shipped_adapter  # imports numpy
    from pipelines.judge.tagger import LARGE, shipped_tagger, tagger_folder
    from serving import models

    for name in where.profile.taggers:
        if models.read_manifest(name, where.models_dir) is not None:
            return tagger_folder(models.find(name, where.models_dir).path, name=name)
    lacking = () if shipped_adapter().is_dir() else (LARGE,)
    if names := tuple(name for name in where.profile.taggers if name not in lacking):
        _say_small(where.profile.name, names)
    return shipped_tagger()


@cache
def _say_small(profile: str, names: tuple[str, ...]) -> None:
    """Warn, once, that the small tagger judges in place of the profile's taggers."""
    import logging

    logging.getLogger(__name__).warning(
        "contested: using the small tagger: profile %s names %s, not registered here;"
        " scripts/fetch_models.sh --tagger %s fetches it",
        profile,
        ", ".join(names),
        names[0],
    )


def judging(settings: JudgeSettingsT, overflow: Literal["error", "cut"]) -> JudgeSettingsT:
    """The settings with the rule for texts that are too long."""
    return settings.model_copy(update={"cut": overflow == "cut"})
