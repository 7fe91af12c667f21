"""What an experiment is: options, a plan made from them, and results.

    EXPERIMENT = Experiment(
        name="conflict-detection", title="Conflict Detection", counted="examples",
        options=DetectionOptions, result=DetectionResult, plan=plan, failed=failed, help=HELP)

`contested run NAME` makes its options from the fields of `options`; `execute` opens the models that
the plan needs, resumes, and keeps each result as it comes.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from pipelines.experiment.cost import Cost
from pipelines.experiment.metric import Metric
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import RunOptions
from pipelines.experiment.publish import Publication, Runs
from pipelines.experiment.summary import Page, publication
from pipelines.judge.judge import PairError
from pipelines.judge.run_judge import RunJudge, judge_of
from pipelines.judge.settings import JudgeSettings
from pipelines.judge.store import JudgementStore
from pipelines.judge.tagger import TaggerFolder
from pipelines.runs.folder import RunFolder
from serving.calls import Usage
from serving.client import Client
from serving.errors import RequestError


class Item(Protocol):
    """What something is done to: has an id."""

    @property
    def id(self) -> str:
        """Its name."""


ItemT = TypeVar("ItemT", bound=Item)
ResultT = TypeVar("ResultT", bound=BaseModel)


class Counter(Protocol):
    """Shows how far something is."""

    def begin(self, done: int) -> None:
        """So many were done by an earlier run."""

    def advance(self, usage: Usage | None = None) -> None:
        """One more is done; with what calls have cost so far."""

    def status(self, text: str) -> None:
        """What is being waited for; an empty text ends it."""


Counting = Callable[[str, int], AbstractContextManager[Counter]]
"""(what is counted, how many) -> a counter, shown while its block runs."""


Result_contra = TypeVar("Result_contra", bound=BaseModel, contravariant=True)
LabelT = TypeVar("LabelT", bound=StrEnum)


@dataclass(frozen=True)
class Labelled:
    """Something that a judge gave one of several labels.

    Attributes:
        part: What of its result it is, as nothing else of that: (3, "guide").
        shown: What a person reads, as headings and texts; nothing of what the judge says.
        label: The judge's; None where its reply could not be read.
        probabilities: Label -> the judge's probability in [0, 1]; None where it gives none.
        groups: What it belongs to, by names that a sample can be drawn by: {"source": "ambigdocs"}.
    """

    part: tuple[str | int, ...]
    shown: tuple[tuple[str, str], ...]
    label: str | None
    probabilities: Mapping[str, float] | None = None
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def confidence(self) -> float | None:
        """The probability of the judge's label; None if unknown."""
        return None if self.label is None else (self.probabilities or {}).get(self.label)


@dataclass(frozen=True)
class Labelling(Generic[Result_contra]):
    """A kind of labels: how documents relate to claims, whether answers behave.

    Attributes:
        asked: What a person is asked.
        counted: What is labelled: "pairs of claim and document".
        labels: Label -> how a person reads it, in the order of the keys 1, 2, ...; at most 9.
        given: What of a result was labelled.
    """

    asked: str
    counted: str
    labels: Mapping[str, str]
    given: Callable[[Result_contra], Iterable[Labelled]]


def by_name(probabilities: Mapping[LabelT, float] | None) -> dict[str, float] | None:
    """Probabilities of labels by the labels' names; None stays None."""
    return None if probabilities is None else {str(each): p for each, p in probabilities.items()}


@dataclass(frozen=True)
class Models:
    """What is open while something is asked; a model that is not needed is None.

    Attributes:
        store: Of judgements.
        judging: The language model that judges; `client` unless another one does.
        judge_tagger: As in `Needs`.
        prompts: Folder with prompts of the user's own.
    """

    store: JudgementStore
    profile: str
    client: Client | None = None
    judging: Client | None = None
    tagger: TaggerFolder | None = None
    judge_tagger: TaggerFolder | None = None
    prompts: Path | None = None

    @property
    def asked(self) -> Client:
        """The language model of a plan that needs one."""
        if self.client is None:
            raise ValueError("the plan needs no language model")
        return self.client

    def judge(self, settings: JudgeSettings) -> RunJudge:
        """Who judges claims by documents, ready to be asked; see `judge_of`."""
        return judge_of(settings, self.client, self.prompts, tagger=self.tagger, store=self.store)


@dataclass(frozen=True, kw_only=True)
class RunModels(Models):
    """The models of a run, its locked folder, and a display for what takes long beforehand."""

    folder: RunFolder
    counting: Counting


@dataclass(frozen=True)
class Work(Generic[ItemT, ResultT]):
    """A plan with its models: what is done to each item, and what decides the result.

    Attributes:
        entry: Name in `run.json`, and of the results: "madam-rag.ramdocs".
        config: Everything that decides a result, for `run.json`; not how many there are.
        each: Makes the result of an item.
        facts: Noted in `run.json` beside it.
        judge: Who judges claims, to tell what that took; None where nobody does.
        second: Who judges what was written, where that is another one; likewise.
        client: The language model of this draw, where it is not the plan's.
        items: Those of the plan, as the models change them beforehand; as they are unless given.
        places: Makes ready the processes that do it side by side, and says how many they are;
            called once there is something to do.
    """

    entry: str
    config: Mapping[str, Any]
    each: Callable[[ItemT], Awaitable[ResultT]]
    facts: Mapping[str, Any] = field(default_factory=dict)
    judge: RunJudge | None = None
    second: RunJudge | None = None
    client: Client | None = None
    items: Sequence[ItemT] | None = None
    places: Callable[[], int] = lambda: 1


@dataclass(frozen=True)
class Plan(Generic[ItemT, ResultT]):
    """What a run is to do, before any model is there.

    Attributes:
        items: In the order of the data, with distinct ids.
        needs: The models.
        work: Makes it ready; several are done one after the other.
        summary: What `--dry-run` says before it counts calls and pairs.
        cost: Bounds of what an item takes, by formula; None where they are not known beforehand.
        entries: Those of its works in `run.json`, by the name of the language model that is asked.
        remarks: What is said at the end.
    """

    items: Sequence[ItemT]
    needs: Needs
    work: Callable[[RunModels], Sequence[Work[ItemT, ResultT]]]
    summary: str = ""
    remarks: Sequence[str] = ()
    cost: Callable[[ItemT], Cost] | None = None
    entries: Callable[[str], Sequence[str]] = lambda _: ()


@dataclass(frozen=True)
class Experiment(Generic[ItemT, ResultT]):
    """An experiment of a paper.

    Attributes:
        name: Of the command, and the beginning of its entries in `run.json`: "madam-rag".
        title: For people: "MADAM-RAG".
        help: Of the command: what it does, what it leaves, examples.
        counted: What its items are: "questions".
        options: What a user may choose; `RunOptions` and `ModelOptions` among them.
        result: Record of an item; it has an `id` and a `status`.
        plan: Reads the data and says what is to be done.
        failed: The record of an item that cannot be done; told the reason.
        page: What its page shows; a table of `metrics` unless given.
        refusals: What is raised where one item cannot be done.
        in_flight: Items at a time; by default as many as keep a server or the tagger busy.
        common: Names in the configuration that all entries of a folder share.
        metrics: Figures of the results, the headline first.
        verdict: What is concluded of an example, in a word or two; None where nothing is.
        cluster: What an example shares with those that it is not independent of; None where
            examples are independent.
        labellings: What judges label in it, by short names, for people to label it too.
        label_masses: Of judgements of claims that a result rests on; see `Judgement`. Those of its
            `judgements` unless given.
    """

    name: str
    title: str
    help: str
    counted: str
    options: type[RunOptions]
    result: type[ResultT]
    plan: Callable[[Any], Plan[ItemT, ResultT]]
    failed: Callable[[ItemT, str], ResultT]
    page: Page | None = None
    refusals: tuple[type[Exception], ...] = (RequestError, PairError)
    in_flight: int | None = None
    common: tuple[str, ...] = ()
    metrics: Sequence[Metric[ResultT]] = ()
    verdict: Callable[[ResultT], str] | None = None
    cluster: Callable[[ResultT], str] | None = None
    labellings: Mapping[str, Labelling[ResultT]] = field(default_factory=dict)
    label_masses: Callable[[ResultT], Iterable[float | None]] = lambda result: (
        judgement.label_mass for judgement in getattr(result, "judgements", ())
    )

    def verdict_on(self, result: Any) -> str:
        """The verdict on a result; its status where it failed, or where there are no verdicts."""
        if result.status == "failed" or self.verdict is None:
            return str(result.status)
        return self.verdict(result)

    def publication(self, runs: Runs[ResultT]) -> Publication:
        """Tables and view of what a folder has."""
        return publication(self, runs)

    def runs(self, folder: RunFolder) -> Runs[ResultT]:
        """What a folder has of it; InputError if `run.json` or a result is damaged."""
        return Runs(self.name, folder, self.entries(folder), self.results(folder))

    def entries(self, folder: RunFolder) -> dict[str, dict[str, Any]]:
        """Its runs in a folder, in order of their beginning: name -> entry in `run.json`."""
        return folder.entries(self.name)

    def results(self, folder: RunFolder) -> dict[str, list[ResultT]]:
        """What a folder has, by the names of `entries`."""
        return {
            run: list(folder.log(f"{self.name}.{run}".rstrip("."), self.result).read().values())
            for run in self.entries(folder)
        }
