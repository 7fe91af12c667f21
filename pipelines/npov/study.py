"""The paper's study: its options, its size, and its folder.

Topics, generator, responses, annotation, test sets, detectors, tables (NPOV, sections 2 to 5); the
steps are in `pipelines.npov.steps`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from pydantic import BaseModel, TypeAdapter

from pipelines.data.procon import Topic
from pipelines.experiment.execute import run_examples
from pipelines.experiment.options import source_of
from pipelines.judge.tagger import TaggerFolder
from pipelines.npov.decoder import DecoderFolder
from pipelines.npov.settings import StudyOptions
from pipelines.npov.topics import Split
from pipelines.report.progress import progress
from pipelines.runs.folder import RunFolder
from pipelines.runs.provenance import provenance
from serving.client import Client

ItemT = TypeVar("ItemT")
ReplyT = TypeVar("ReplyT", bound=BaseModel)


class Sizes(NamedTuple):
    """The size of a study.

    Attributes:
        template: Template responses to each topic that the generator learns from.
        watched: Dev examples that a tuning is measured on; None takes all.
        least: Fewest error-free responses per topic; the template supplies missing ones.
    """

    steps: int
    batch: int
    draws: int
    limit: int | None
    template: int
    watched: int | None
    least: int


SMALL: Final = Sizes(8, 4, 3, 12, 9, 8, 1)
"""For two cores and a model of 135M: about 20 minutes."""

PAPER: Final = Sizes(20_000, 16, 18, None, 9, None, 0)
"""As many template responses to the 9 train topics as the paper has from people: about 80."""


def sizes(options: StudyOptions) -> Sizes:
    """The size of a study: small if the profile computes on the CPU, and changed by options.

    Raises:
        ServingError: The profile is missing.
    """
    small = not options.as_in_paper and source_of(options, "generator").profile.device == "cpu"
    usual = SMALL if small else PAPER
    names = ("steps", "batch", "draws", "limit")
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    return usual._replace(**given)


@dataclass(frozen=True)
class Study:
    """A study with its topics by split, and its models, not loaded yet."""

    options: StudyOptions
    folder: RunFolder
    sizes: Sizes
    topics: Mapping[Split, Sequence[Topic]]
    model: DecoderFolder
    tagger: TaggerFolder

    @property
    def all_topics(self) -> list[Topic]:
        """Topics of train, dev and test."""
        return [topic for topics in self.topics.values() for topic in topics]

    def file(self, name: str) -> Path:
        """The path of a step's file."""
        return self.folder.path / f"study.{name}.jsonl"

    def begin(self, step: str, **config: Any) -> None:
        """Record everything that decides a step; InputError if the folder records another."""
        self.folder.begin(f"study.{step}", config, provenance())

    def prompt(self, name: str) -> Path:
        """The path of a soft prompt."""
        return self.folder.path / "prompts" / f"{name}.safetensors"

    def note(self, step: str, **facts: Any) -> None:
        """Add facts about a step to `run.json`."""
        self.folder.note(f"study.{step}", facts)

    def tell(self, step: str, *sentences: str) -> None:
        """Note sentences about a step for the report."""
        self.note(step, told=sentences)


def digest_of(value: Any) -> str:
    """SHA-256 of values, as JSON."""
    return sha256(TypeAdapter(Any).dump_json(value)).hexdigest()


async def asked(
    study: Study,
    step: str,
    kind: type[ReplyT],
    wanted: Mapping[str, ItemT],
    ask: Callable[[ItemT], Awaitable[ReplyT]],
    *,
    client: Client,
    counted: str,
) -> list[ReplyT]:
    """A server's replies to items, in the items' order; each is stored in the step's file at once.

    Args:
        study: Its folder has the replies of earlier calls.
        step: Names the file.
        kind: Type of the file's lines, whose ids are those of the items.
        wanted: Items by id.
        ask: Called for each item that is missing from the file.
        client: Decides how many run at a time.
        counted: Plural noun for the items.
    """
    log = study.folder.log(f"study.{step}", kind)
    log.mend()
    done = log.read()
    if left := [item for name, item in wanted.items() if name not in done]:
        with progress(counted, len(wanted)) as bar:
            bar.begin(len(wanted) - len(left))

            def keep(reply: ReplyT) -> None:
                log.append(reply)
                bar.advance(client.usage)

            await run_examples(
                left, ask, in_flight=client.concurrency, room=client.room, on_result=keep
            )
    return log.settle([*wanted])
