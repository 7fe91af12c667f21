"""Settings as options of a command."""

from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from pydantic import BaseModel, Field, model_validator
from typer.testing import CliRunner

from pipelines.cli.flat import flat
from pipelines.errors import InputError
from pipelines.option import Only, Option, words


class Judge(BaseModel):
    """Settings inside others; a tenth of the steps warm up unless said otherwise."""

    who: Annotated[str, Option("Who judges.")] = "llm"
    risk: Annotated[
        float,
        Field(gt=0, lt=1),
        Option("How sure.", only=Only(lambda own: own.who == "both", lambda own: own.who)),
    ] = 0.05
    steps: Annotated[int, Field(ge=1), Option("How many {items}.")] = 100
    warmup: Annotated[int, Option("Of them.")] = 50

    @model_validator(mode="before")
    @classmethod
    def _scaled(cls, given: dict[str, Any]) -> dict[str, Any]:
        return {"warmup": min(50, given.get("steps", 100) // 2), **given}


class Options(BaseModel):
    """A command's settings."""

    judge: Judge = Judge(who="nli")
    names: Annotated[list[str] | None, Option("Repeatable.", name="--name")] = None
    dry: Annotated[bool, Option("Only say it.", name="--dry")] = False
    unseen: int = 3


def called(*arguments: str) -> Options:
    """The settings that the command is called with."""
    seen: list[Options] = []

    def command(options: Options) -> None:
        seen.append(options)

    app = typer.Typer()
    app.command()(flat(command, "questions"))
    app(list(arguments), standalone_mode=False)
    return seen[0]


def test_without_options_settings_are_their_defaults() -> None:
    options = called()
    assert options == Options()
    assert (options.judge.who, options.judge.warmup) == ("nli", 50)
    assert options.judge.model_fields_set == set()


def test_what_is_given_is_known_and_decides_what_follows_from_it() -> None:
    options = called("--steps", "4", "--name", "a", "--name", "b", "--dry")
    assert (options.judge.steps, options.judge.warmup, options.judge.who) == (4, 2, "nli")
    assert options.judge.model_fields_set == {"steps"}
    assert (options.names, options.dry, options.unseen) == (["a", "b"], True, 3)
    assert words(options, "dry", "names") == ("--dry", "--name", "a", "--name", "b")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--risk", "0.1"], "--risk has no effect with nli; leave it out"),
        (["--who", "both", "--risk", "2"], "--risk: Input should be less than 1"),
    ],
)
def test_idle_and_wrong_values_are_refused(arguments: list[str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        called(*arguments)


class Texts(BaseModel):
    """What a command is asked: by its place, in a file, and in all files that follow."""

    query: Annotated[str, Option("What is asked.", argument=True)]
    response: Annotated[str, Option("A file.", typed=Path, read=Path.read_text)]
    documents: Annotated[
        tuple[str, ...],
        Option("Files.", typed=list[Path], read=lambda paths: tuple(map(str, paths)), greedy=True),
    ]


def test_texts_are_given_by_place_and_by_files(tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_text("It did.")
    seen: list[Texts] = []

    def command(asked: Texts, options: Options) -> None:
        seen.append(asked)

    app = typer.Typer()
    app.command()(flat(command))
    files = ["--response", str(tmp_path / "r.txt"), "--documents", "a", "b", "--steps", "3", "c"]
    app(["Did it?", *files], standalone_mode=False)
    assert seen == [Texts(query="Did it?", response="It did.", documents=("a", "b", "c"))]


def test_help_shows_the_defaults_that_hold_and_names_what_is_counted() -> None:
    def command(options: Options) -> None:
        """Do it."""

    app = typer.Typer()
    app.command()(flat(command, "questions"))
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).output
    assert "(default: nli)" in shown
    assert "How many questions." in shown
    assert "unseen" not in shown
