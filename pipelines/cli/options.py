"""Options that several commands share, so that they are called the same everywhere."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from pipelines.conflictscore.scores import Unevidenced
from pipelines.errors import InputError
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
SalientClaims = Annotated[
    int,
    typer.Option(
        "--k",
        min=1,
        max=20,
        help="How many claims `--claims salient` asks for.",
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
