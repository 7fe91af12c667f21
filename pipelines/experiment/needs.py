"""Which models a run needs, and which options for models would have no effect."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.errors import InputError
from pipelines.experiment.options import (
    ModelOptions,
    ProfileOptions,
    ServedOptions,
    ServerOptions,
    anyway,
    source_of,
    tagger_named,
)
from pipelines.judge.settings import JudgeSettings
from pipelines.option import refuse_given, switched

if TYPE_CHECKING:
    from pipelines.judge.tagger import TaggerFolder
    from serving.connect import Source
    from serving.profile import Role

OF_A_SERVER = ("model", "endpoint", "strict", "prompts", "concurrency", "on_overflow")
"""Options that have an effect only if a language model is asked.

Others also concern the tagger, so they are not listed: the profile names it, the folder of models
may hold it, and its judgements are stored beside the cache.
"""

NO_JUDGES = frozenset({"smollm2-135m-instruct"})
"""Models near chance as judges, which return the prompt's examples in place of claims."""


@dataclass(frozen=True)
class Needs:
    """The models that a run loads.

    Attributes:
        role: Role of the language model that is asked; None if none is.
        judge: Another language model that judges; None if it is the same, or none judges.
        tagger: The NLI tagger; None if it is not asked.
        judge_tagger: The tagger that judges what was written, if that is a separate role.
        unasked: Why no language model is asked, for the refusal of its options.
        unused: Options to refuse for that reason.
        untagged: Why no tagger is asked.
    """

    role: "Role | None" = None
    judge: "Source | None" = None
    tagger: "TaggerFolder | None" = None
    judge_tagger: "TaggerFolder | None" = None
    unasked: str = "these options, which ask no language model"
    unused: tuple[str, ...] = OF_A_SERVER
    untagged: str = "these options, which ask no tagger"


def judge_needs(
    options: ServerOptions,
    settings: JudgeSettings,
    *,
    role: "Role" = "judge",
    asks: bool | None = None,
    unasked: str = "",
) -> Needs:
    """Find the models that a judge of claims needs.

    Args:
        options: Which models.
        settings: Who judges.
        role: Role of the language model.
        asks: Whether a language model is asked, if it does more than judge.
        unasked: Why it is not asked, if not because of the judge.

    Raises:
        InputError: The tagger cannot be used, or has no calibration points for a cascade; or the
            model is too weak to judge.
        ServingError: The model is missing.
    """
    needs = _needs(options, settings, role, settings.by_model if asks is None else asks, unasked)
    if settings.by_model or needs.role == "judge":
        refuse_no_judge(options, source_of(options, role), _tagger_of(settings))
    return needs


def _needs(
    options: ServerOptions, settings: JudgeSettings, role: "Role", asks: bool, unasked: str = ""
) -> Needs:
    needs = Needs(
        role=role if asks else None,
        tagger=tagger_named(options.tagger, source_of(options, role))
        if settings.by_tagger
        else None,
        unasked=unasked or f"{settings.named}, which asks no language model",
        untagged=settings.named,
    )
    if settings.judge == "cascade" and needs.tagger is not None:
        from pipelines.judge.tagger import calibrated

        calibrated(needs.tagger)  # check before looking for a server
    return needs


def writer_needs(
    options: ServerOptions, settings: JudgeSettings, judge_model: str | None, *, splits: bool
) -> Needs:
    """Find a language model that writes, and the judge of what it wrote.

    The judge is the tagger, the profile's judge if that is another model, or `judge_model`. The
    model that writes judges only if no other is available.

    Args:
        options: Which models.
        settings: Who judges.
        judge_model: A registered model, or a model folder, in place of the profile's judge.
        splits: Whether a language model splits texts into claims.

    Raises:
        InputError: As `judge_needs`.
        ServingError: The model is missing.
    """
    needs = _needs(options, settings, "generator", asks=True)
    if not (settings.by_model or splits):
        refuse_given(options, ("judge_model",), f"--judge {settings.judge}, which judges alone")
        return needs
    judge = judge_source(options, judge_model)
    refuse_no_judge(options, judge or source_of(options, "generator"), _tagger_of(settings))
    return replace(needs, judge=judge)


def _tagger_of(settings: JudgeSettings) -> str:
    """The options under which no language model judges or splits."""
    claims = " --claims sentences" if "claims" in type(settings).model_fields else ""
    return f"--judge tagger{claims}"


def refuse_no_judge(options: ModelOptions, source: "Source", instead: str) -> None:
    """Raise InputError for a model known to be too weak to judge, unless `--anyway` is set."""
    name = source.model or source.profiled
    if anyway(options) or source.endpoints or name not in NO_JUDGES:
        return
    # The paper's judge is a language model, so --as-in-paper refuses the tagger.
    tagger = "" if switched(options) == "as-in-paper" else f"{instead}, or "
    raise InputError(
        f"{name} is too weak to judge, or to split texts into claims (see docs/results.md); use "
        f"{tagger}a larger model, or add --anyway"
    )


def judge_source(options: ServerOptions, judge_model: str | None) -> "Source | None":
    """The location of the judging model; None if the writing model also judges.

    Raises:
        InputError: Options exclude each other.
        ServingError: The profile is missing.
    """
    from serving.weights import with_model

    source = source_of(options, "generator")
    if judge_model is None and (source.model or source.endpoints):
        return None
    judge = judge_model or source.profile.roles.judge
    if judge == source.profiled and not source.endpoints:
        return None
    # Endpoints write, so the judge has this machine to itself.
    roles: tuple[Role, ...] = ("judge", "generator") if source.endpoints else ("judge",)
    profile = with_model(source.profile, judge, source.models_dir, *roles)
    return replace(source, role="judge", model=judge_model, endpoints=(), profile=profile)


def refuse_unneeded(options: ProfileOptions, needs: Needs) -> None:
    """Raise InputError for options about models that a run does not need."""
    if needs.role is None and isinstance(options, ServedOptions):
        refuse_given(options, needs.unused, needs.unasked)
    if not needs.tagger:
        refuse_given(options, ("tagger",), needs.untagged)


def refuse_missing(options: ModelOptions, needs: Needs) -> None:
    """Refuse language models that were named but are missing, before anything is announced.

    For an unregistered folder only its existence is checked; its weights are read when needed.
    ServingError if a model is missing, InputError if options exclude each other.
    """
    from serving import models
    from serving.folders import check_folder

    asked = () if needs.role is None else (source_of(options, needs.role),)
    for source in (*asked, *((needs.judge,) if needs.judge else ())):
        if source.model is None or source.endpoints:
            continue
        folder = Path(source.model).expanduser()
        registered = {model.name for model in models.registered(source.models_dir)}
        if folder.is_dir() and source.model not in registered:
            check_folder(folder)
        else:
            models.find(source.model, source.models_dir)
