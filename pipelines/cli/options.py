"""Options that several commands share, so that they are called the same everywhere."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic import ValidationError

from pipelines.conflictscore.scores import Unevidenced
from pipelines.conflictscore.settings import ClaimSource, Judge, Settings
from pipelines.errors import InputError
from pipelines.evidence.llm import Mode
from pipelines.evidence.nli import TaggerFolder, calibrated, shipped_tagger, tagger_folder
from serving import models
from serving import profile as profiles
from serving.connect import Role, Source
from serving.home import default_models_dir

MODEL_PANEL = "Model and server"
METRIC_PANEL = "Metric"

Profile = Annotated[
    str | None,
    typer.Option(
        help="Which models play which role, and how they are served: a bundled name or a TOML "
        "file. By default cpu-small where no GPU is found.",
        rich_help_panel=MODEL_PANEL,
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="A registered model, or a model folder, in place of the profile's.",
        rich_help_panel=MODEL_PANEL,
    ),
]
ModelsDir = Annotated[
    Path | None,
    typer.Option(help="Where registered models are.", rich_help_panel=MODEL_PANEL),
]
Endpoint = Annotated[
    list[str] | None,
    typer.Option(
        "--endpoint",
        help="URL of a server that is already there (http://HOST:PORT/v1); its key is read from "
        "CONTESTED_API_KEY. Give it several times to spread the load.",
        rich_help_panel=MODEL_PANEL,
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="fp32, one sequence at a time, no prefix cache: equal requests give equal answers. "
        "Slow.",
        rich_help_panel=MODEL_PANEL,
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(help="The SQLite file of completions.", rich_help_panel=MODEL_PANEL),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Most requests in flight; by default what the engine batches.",
        rich_help_panel=MODEL_PANEL,
    ),
]
Claims = Annotated[
    ClaimSource | None,
    typer.Option(
        "--claims",
        help="Judge all claims of a response (`atomic`), the k most `salient`, each of its "
        "`sentences`, or it as a `whole`. The last two ask no model.",
        show_default="atomic",
        rich_help_panel=METRIC_PANEL,
    ),
]
Labeller = Annotated[
    Judge | None,
    typer.Option(
        "--labeller",
        help="Who judges claims by documents: a language model (`llm`), the NLI tagger (`nli`), or "
        "the tagger where it is sure and the language model for the rest (`cascade`).",
        show_default="llm",
        rich_help_panel=METRIC_PANEL,
    ),
]
Tagger = Annotated[
    str | None,
    typer.Option(
        "--tagger",
        help="Folder or registered name of the NLI tagger, a cross-encoder.",
        show_default="the profile's, else the one that comes with the program",
        rich_help_panel=METRIC_PANEL,
    ),
]
Risk = Annotated[
    float | None,
    typer.Option(
        "--risk",
        help="Of `--labeller cascade`: the largest share of all pairs that may keep a wrong label "
        "of the tagger; the threshold follows from it.",
        show_default="0.05",
        rich_help_panel=METRIC_PANEL,
    ),
]
SalientClaims = Annotated[
    int | None,
    typer.Option(
        "--k",
        min=1,
        max=20,
        help="How many claims `--claims salient` asks for.",
        show_default="3",
        rich_help_panel=METRIC_PANEL,
    ),
]
UnevidencedClaims = Annotated[
    Unevidenced,
    typer.Option(
        "--unevidenced",
        help="What a claim without any evidence adds to CS-R: `zero`, or nothing (`exclude`).",
        rich_help_panel=METRIC_PANEL,
    ),
]
Overflow = Literal["error", "cut"]
OnOverflow = Annotated[
    Overflow,
    typer.Option(help="What to do with a text too long for the context; cuts are recorded."),
]
EvidenceMode = Annotated[
    Mode | None,
    typer.Option(
        "--evidence",
        help="How a language model is asked. `choice` costs one token and gives probabilities; "
        "`json` explains each label with a snippet; `together` reads all documents in one "
        "call.",
        show_default="choice",
        rich_help_panel=METRIC_PANEL,
    ),
]
Prompts = Annotated[
    Path | None,
    typer.Option(
        help="Folder with prompts of your own; those it lacks are ours. See docs/prompts.md.",
        rich_help_panel=METRIC_PANEL,
    ),
]


def source(
    role: Role,
    *,
    profile: str | None,
    model: str | None,
    models_dir: Path | None,
    endpoint: list[str] | None,
    strict: bool,
) -> Source:
    """The model that the options name.

    Raises:
        InputError: Options that exclude each other.
        ServingError: No such profile.
    """
    if endpoint and strict:
        raise InputError(
            "--strict says how a server is started, so it has no effect on --endpoint; "
            "leave one of them away"
        )
    return Source(
        profile=profiles.load(profile or profiles.default_name()),
        role=role,
        models_dir=models_dir or default_models_dir(),
        model=model,
        endpoints=tuple(endpoint or ()),
        strict=strict,
    )


def settings(
    *,
    claims: ClaimSource | None,
    k: int | None = None,
    labeller: Judge | None,
    risk: float | None,
    evidence: Mode | None,
    default_evidence: Mode,
    unevidenced: Unevidenced,
    on_overflow: Overflow,
) -> Settings:
    """The variant of the metric that the options name.

    Raises:
        InputError: Values that exclude each other or are out of range.
    """
    given: dict[str, Any] = {"k": k, "risk": risk}
    try:
        return Settings(
            claims=claims or "atomic",
            labeller=labeller or "llm",
            evidence=evidence or default_evidence,
            unevidenced=unevidenced,
            cut=on_overflow == "cut",
            **{name: value for name, value in given.items() if value is not None},
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = f"--{first['loc'][0]}: " if first["loc"] else ""
        raise InputError(f"{field}{first['msg'].removeprefix('Value error, ')}") from error


def refuse_idle(
    chosen: Settings,
    given: dict[str, object],
    *,
    called: str | None = None,
    asks: bool | None = None,
) -> None:
    """Refuse options that have no effect: who names one expects that it does something.

    Args:
        chosen: The variant of the metric.
        given: Option -> what the user gave; None, False and an empty list say nothing.
        called: How the user chose the variant, where not by `--labeller` and `--claims`.
        asks: Whether a language model is asked at all, where more than the variant decides it.

    Raises:
        InputError: One has no effect.
    """
    labeller = f"--labeller {chosen.labeller}"
    idle: dict[str, str] = {}
    if chosen.labeller == "llm":
        idle["--tagger"] = labeller
    if chosen.labeller != "cascade":
        idle["--risk"] = called or labeller
    if chosen.labeller == "nli":
        idle["--evidence"] = called or labeller
    if chosen.claims != "salient":
        idle["--k"] = called or f"--claims {chosen.claims}"
    if not chosen.asks_model or asks is False:
        why = called or f"{labeller} --claims {chosen.claims}"
        if chosen.asks_model:
            why = f"{labeller} on responses that bring their claims along"
        idle |= dict.fromkeys(
            ("--model", "--endpoint", "--strict", "--prompts", "--concurrency", "--on-overflow"),
            f"{why}, which asks no language model",
        )
    for option, value in given.items():
        if value not in (None, False, []) and option in idle:
            raise InputError(f"{option} has no effect with {idle[option]}; leave it away")


def tagger(name: str | None, chosen: Settings, where: Source) -> TaggerFolder | None:
    """The tagger that the options name, or else the profile, or else the shipped one.

    Args:
        name: Folder or registered name.
        chosen: The variant of the metric; None is returned where it asks no tagger.
        where: Its profile and folder of models.

    Raises:
        InputError: The folder is no tagger, or has no calibration points for a cascade.
        ServingError: No model of that name.
    """
    if chosen.labeller == "llm":
        return None
    name = name or where.profile.roles.tagger
    if name is None:
        found = shipped_tagger()
    elif Path(name).expanduser().is_dir() or "/" in name:
        found = tagger_folder(Path(name).expanduser())
    else:
        found = tagger_folder(models.find(name, where.models_dir).path, name=name)
    if chosen.labeller == "cascade":
        calibrated(found)  # said before a server is looked for
    return found
