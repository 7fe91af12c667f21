"""An experiment: options, a plan made from them, and results.

    EXPERIMENT = Experiment(
        name="conflict-detection", title="Conflict Detection", options=DetectionOptions,
        result=DetectionResult, plan=plan, failed=failed)

`contested run NAME` makes its options from the fields of `options`; `execute` opens the models that
the plan needs, resumes, and stores each result as it comes.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from pipelines.judge.protocol import PairError
from serving.errors import RequestError

if TYPE_CHECKING:  # modules that only a run needs are imported there
    from pipelines.experiment.cost import Cost
    from pipelines.experiment.metric import Metric
    from pipelines.experiment.needs import Needs
    from pipelines.experiment.options import RunOptions
    from pipelines.experiment.publish import Publication, Runs
    from pipelines.experiment.summary import Page
    from pipelines.judge.run_judge import RunJudge
    from pipelines.judge.settings import JudgeSettings
    from pipelines.judge.store import JudgementStore
    from pipelines.judge.tagger import TaggerFolder
    from pipelines.runs.folder import RunFolder
    from serving.calls import Usage
    from serving.client import Client


class Item(Protocol):
    """Anything with an id that an experiment works on."""

    @property
    def id(self) -> str:
        """The item's id, distinct among the items."""


ItemT = TypeVar("ItemT", bound=Item)
ResultT = TypeVar("ResultT", bound=BaseModel)


class Counter(Protocol):
    """Shows progress."""

    def begin(self, done: int) -> None:
        """Start with the number of items that an earlier run did."""

    def advance(self, usage: "Usage | None" = None) -> None:
        """Count one more item; `usage` is the cost of calls so far."""

    def status(self, text: str) -> None:
        """Show what is being waited for; an empty text ends it."""


Counting = Callable[[str, int], AbstractContextManager[Counter]]
"""(what is counted, how many) -> a counter, shown while its block runs."""


Result_contra = TypeVar("Result_contra", bound=BaseModel, contravariant=True)
LabelT = TypeVar("LabelT", bound=StrEnum)


@dataclass(frozen=True)
class Labelled:
    """A judge's choice of one of several labels.

    Attributes:
        part: Key of the labelled part, unique within its result: (3, "guide").
        shown: What a person reads, as headings and texts, without the judge's label.
        label: The judge's label; None if its reply could not be read.
        probabilities: Label -> the judge's probability in [0, 1]; None if it gives none.
        groups: Groups that a sample can be drawn by: {"source": "ambigdocs"}.
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
    """A kind of labels, such as how documents relate to claims, or whether answers behave.

    Attributes:
        asked: The question to a person.
        counted: What is labelled: "pairs of claim and document".
        labels: Label -> its text for people, in the order of the keys 1, 2, ...; at most 9.
        given: The labelled parts of a result.
    """

    asked: str
    counted: str
    labels: Mapping[str, str]
    given: Callable[[Result_contra], Iterable[Labelled]]


def by_name(probabilities: Mapping[LabelT, float] | None) -> dict[str, float] | None:
    """Probabilities keyed by the labels' names; None stays None."""
    return None if probabilities is None else {str(label): p for label, p in probabilities.items()}


@dataclass(frozen=True)
class Models:
    """The open models; a model that is not needed is None.

    Attributes:
        store: Stored judgements.
        judging: The language model that judges; `client` by default.
        judge_tagger: As in `Needs`.
        prompts: Folder with the user's prompts.
    """

    store: "JudgementStore"
    profile: str
    client: "Client | None" = None
    judging: "Client | None" = None
    tagger: "TaggerFolder | None" = None
    judge_tagger: "TaggerFolder | None" = None
    prompts: Path | None = None

    @property
    def asked(self) -> "Client":
        """The language model, for a plan that needs one."""
        if self.client is None:
            raise ValueError("the plan needs no language model")
        return self.client

    def judge(self, settings: "JudgeSettings") -> "RunJudge":
        """The judge of claims by documents, ready to be asked; see `judge_of`."""
        from pipelines.judge.run_judge import judge_of

        return judge_of(settings, self.client, self.prompts, tagger=self.tagger, store=self.store)


@dataclass(frozen=True, kw_only=True)
class RunModels(Models):
    """The models of a run, its locked folder, and a progress display for long preparations."""

    folder: "RunFolder"
    counting: Counting


@dataclass(frozen=True)
class Work(Generic[ItemT, ResultT]):
    """A plan with its models: the job for each item, and everything that decides the result.

    Attributes:
        entry: Name in `run.json` and of the results: "madam-rag.ramdocs".
        config: Everything that decides a result, for `run.json`; not the number of items.
        result_of: Makes the result of an item.
        facts: Noted in `run.json` beside the configuration.
        judge: Judges claims, for the cost line; None if no claims are judged.
        second: Judges what was written, if that is another judge; for the cost line.
        client: This work's language model, if not the plan's.
        items: The plan's items as changed by the models beforehand; by default unchanged.
        places: Starts the processes that do the work side by side and returns their number; called
            once there is something to do.
    """

    entry: str
    config: Mapping[str, Any]
    result_of: Callable[[ItemT], Awaitable[ResultT]]
    facts: Mapping[str, Any] = field(default_factory=dict)
    judge: "RunJudge | None" = None
    second: "RunJudge | None" = None
    client: "Client | None" = None
    items: Sequence[ItemT] | None = None
    places: Callable[[], int] = lambda: 1


@dataclass(frozen=True)
class Plan(Generic[ItemT, ResultT]):
    """A run before any model is open.

    Attributes:
        items: In the order of the data, with distinct ids.
        needs: The models.
        work: Makes the works, which are done one after another.
        summary: What `--dry-run` prints before it counts calls and pairs.
        cost: Bounds for the cost of an item, by formula; None if unknown beforehand.
        entries: Names of its works in `run.json`, given the name of the language model.
        remarks: Printed at the end.
    """

    items: Sequence[ItemT]
    needs: "Needs"
    work: Callable[[RunModels], Sequence[Work[ItemT, ResultT]]]
    summary: str = ""
    remarks: Sequence[str] = ()
    cost: "Callable[[ItemT], Cost] | None" = None
    entries: Callable[[str], Sequence[str]] = lambda _: ()


@dataclass(frozen=True)
class Experiment(Generic[ItemT, ResultT]):
    """An experiment of a paper.

    Attributes:
        name: Name of the command and prefix of its entries in `run.json`: "madam-rag".
        title: For people: "MADAM-RAG".
        options: The user's options; include `RunOptions` and `ModelOptions`.
        result: Record of an item; it has an `id` and a `status`.
        plan: Reads the data and plans the run.
        failed: Makes the record of an item that failed, given the reason.
        page: Content of its page; by default a table of `metrics`.
        refusals: Exceptions that mean that one item failed.
        in_flight: Items at a time; by default enough to keep a server or the tagger busy.
        common: Keys of the configuration that all entries of a folder must share.
        metrics: Figures of the results, the headline first.
        verdict: Conclusion on an example, in a word or two; None without verdicts.
        cluster: What dependent examples share; None if examples are independent.
        labellings: Labels by judges that people can give too, by short names.
        label_masses: Label masses of the judgements that a result rests on (see `Judgement`); by
            default those of its `judgements`.
    """

    name: str
    title: str
    options: "type[RunOptions]"
    result: type[ResultT]
    plan: Callable[[Any], Plan[ItemT, ResultT]]
    failed: Callable[[ItemT, str], ResultT]
    page: "Page | None" = None
    refusals: tuple[type[Exception], ...] = (RequestError, PairError)
    in_flight: int | None = None
    common: tuple[str, ...] = ()
    metrics: "Sequence[Metric[ResultT]]" = ()
    verdict: Callable[[ResultT], str] | None = None
    cluster: Callable[[ResultT], str] | None = None
    labellings: Mapping[str, Labelling[ResultT]] = field(default_factory=dict)
    label_masses: Callable[[ResultT], Iterable[float | None]] = lambda result: (
        judgement.label_mass for judgement in getattr(result, "judgements", ())
    )

    @property
    def counted(self) -> str:
        """Plural noun for its items: "questions"."""
        return self.options.ITEMS

    def verdict_on(self, result: Any) -> str:
        """The verdict on a result; its status if it failed, or if there are no verdicts."""
        if result.status == "failed" or self.verdict is None:
            return str(result.status)
        return self.verdict(result)

    def publication(self, runs: "Runs[ResultT]") -> "Publication":
        """Tables and page of the runs in a folder."""
        from pipelines.experiment.summary import publication

        return publication(self, runs)

    def runs(self, folder: "RunFolder") -> "Runs[ResultT]":
        """Its runs in a folder; InputError if `run.json` or a result is damaged."""
        from pipelines.experiment.publish import Runs

        return Runs(self.name, folder, folder.entries(self.name), self.results(folder))

    def results(self, folder: "RunFolder") -> dict[str, list[ResultT]]:
        """Its results in a folder, by the names of its runs, in the order in which they began."""
        return {
            run: list(folder.log(f"{self.name}.{run}".rstrip("."), self.result).read().values())
            for run in folder.entries(self.name)
        }
