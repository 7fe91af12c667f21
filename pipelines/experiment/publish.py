"""From the results in a run folder to its tables and its page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from pipelines.judge.correction import correction_in
from pipelines.report import explorer, table
from pipelines.report.explorer import SEVERAL, ExperimentView
from pipelines.report.table import Table
from pipelines.runs.folder import RunFolder

ResultT = TypeVar("ResultT", bound=BaseModel)
FactT = TypeVar("FactT")


@dataclass(frozen=True)
class Runs(Generic[ResultT]):
    """A folder's runs of an experiment.

    Entries in `run.json` and results are keyed by run, in the order in which the runs began.
    """

    experiment: str
    folder: RunFolder
    entries: Mapping[str, Mapping[str, Any]]
    results: Mapping[str, Sequence[ResultT]]

    def noted(self, fact: str, kind: type[FactT]) -> dict[str, FactT]:
        """A fact noted in entries beside their configuration: name of the data file -> fact."""
        return {
            config["data"]["name"]: value
            for name, config in self.configs.items()
            if (value := self.folder.noted(self.entry_name(name), fact, kind))
        }

    def entry_name(self, run: str) -> str:
        """Name of a run's entry in `run.json`."""
        return f"{self.experiment}.{run}".rstrip(".")

    @property
    def configs(self) -> dict[str, dict[str, Any]]:
        """Name of a run -> everything that decided its results."""
        return {name: entry["config"] for name, entry in self.entries.items()}


@dataclass(frozen=True)
class Publication:
    """The outcome of an experiment: its part of the page, and its tables.

    A sentence on models, data and preset is added to each table. The terminal shows the table
    `glance`, and the lines `told` below it.
    """

    view: ExperimentView
    tables: Sequence[Table]
    glance: Table | None = None
    told: Sequence[str] = ()


def made_with(entry: Mapping[str, Any]) -> str:
    """The sentence under every table: the models, data and preset that an entry was made with."""
    config = entry["config"]
    data = config["data"]
    preset = f", --{entry['preset']}" if entry.get("preset") else ""
    named = dict.fromkeys(
        f"{model['name']} (digest {model['digest'][:12]}, {model['engine']})"
        for model in models_of(config)
    )
    return (
        f"Made with {' and '.join(named) or 'no model'} on "
        f"{data['name']} (sha256 {data['sha256'][:12]}){preset}; run.json has the rest."
        f"{_corrected(config)}"
    )


def _corrected(config: Mapping[str, Any]) -> str:
    """How label probabilities were corrected, as another sentence; "" if they were not."""
    correction = correction_in(config)
    return f" Labels use corrected probabilities: {correction.in_words()}." if correction else ""


def _with_judges(view: ExperimentView, runs: Runs[Any]) -> ExperimentView:
    """The view, with the correction of label probabilities among its facts."""
    corrections = dict.fromkeys(
        ("correction", correction.in_words())
        for config in runs.configs.values()
        if (correction := correction_in(config))
    )
    return replace(view, facts=(*view.facts, *corrections))


def models_of(config: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The models of a run's configuration, the tagger first; one may occur twice."""
    named = (config.get(key) for key in ("model", "writer", "splitter", "judge"))
    models = [model for model in named if model and model.get("digest")]  # "no model" has no digest
    # A tagger that is the only model is named once.
    tagger = config.get("tagger")
    if tagger and tagger["digest"] != config.get("model", {}).get("digest"):
        models.insert(0, tagger)
    return models


def write(folder: RunFolder, published: Sequence[tuple[Publication, Runs[Any]]]) -> None:
    """Write `tables/` and `report.html` of a folder that the caller has locked.

    `published` holds the outcome of each experiment, at least one, and the runs it was made from.
    """
    for made, runs in published:
        note = " ".join(dict.fromkeys(map(made_with, runs.entries.values())))
        for written in made.tables:
            table.write(replace(written, notes=(*written.notes, note)), folder.tables)
    views = [_with_judges(made.view, runs) for made, runs in published]
    title = views[0].title if len(views) == 1 else SEVERAL
    about = folder.about()
    entries = about["pipelines"].values()
    # Shared by all experiments of a folder: the profile, and the earliest start.
    profiles = dict.fromkeys(str(entry["profile"]) for entry in entries if "profile" in entry)
    started = min((str(entry["started"]) for entry in entries if "started" in entry), default="")
    known = (("profile", ", ".join(profiles)), ("started", started))
    explorer.write(folder.report, title, views, about, [fact for fact in known if fact[1]])
