"""The paper's study: its options, its size, and its folder.

Topics, generator, responses, annotation, test sets, detectors, tables (NPOV, sections 2 to 5); the
steps are in `pipelines.npov.steps`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, Field, TypeAdapter

from pipelines.data.procon import Topic
from pipelines.experiment.execute import run_examples
from pipelines.experiment.options import AsInPaper, ServedOptions, TaggerOptions, source_of
from pipelines.files import read_bytes
from pipelines.judge.tagger import TaggerFolder
from pipelines.npov.decoder import DecoderFolder, DecoderOptions
from pipelines.npov.topics import SAMPLE_TOPICS, Split, TopicsFile
from pipelines.option import Choice, Option, Seed, WithPresets
from pipelines.report.progress import progress
from pipelines.runs.folder import RunFolder
from pipelines.runs.provenance import provenance
from serving.client import Client

ItemT = TypeVar("ItemT")
ReplyT = TypeVar("ReplyT", bound=BaseModel)

AS_IN_PAPER: Final = (
    Choice("generator", "soft-prompt", "section 2.1"),
    Choice("steps", 20_000, "section 2.1, appendix B", "hours on a CPU"),
    Choice("batch", 16, "appendix B", "minutes for a few updates on a CPU"),
    Choice("draws", 18, "section 4.1", "hours on a CPU"),
    Choice("limit", None, "section 4.3", "gradients take half a minute a response on a CPU"),
)

_size_option = partial(Option, panel="Size: small on a CPU, the paper's on a GPU")


class StudyOptions(WithPresets, TaggerOptions, ServedOptions, DecoderOptions):
    """Options of the study."""

    PRESETS: ClassVar = {"as_in_paper": AS_IN_PAPER}

    as_in_paper: AsInPaper = False
    data: TopicsFile = SAMPLE_TOPICS
    out: Annotated[Path, Option("Run folder; made, or continued.")] = Path("results-salience")
    generator: Annotated[
        Literal["soft-prompt", "prompt"],
        Option("Who writes: the model with a soft prompt that is tuned here, or told by a prompt."),
    ] = "soft-prompt"
    responses: Annotated[
        Path | None,
        Option(
            "Responses of people to train and dev topics, to tune the generator on; lines as for "
            "`contested run npov --data`.",
            shown="by a template",
        ),
    ] = None
    annotator: Annotated[
        str,
        Option(
            "Who finds the errors of responses: `machine` (the NLI tagger, both ways), or a file "
            "of people's labels, lines as for `contested run npov --data`.",
            metavar="NAME",
        ),
    ] = "machine"
    paraphrases: Annotated[
        Path | None,
        Option(
            "Arguments in other words; the model is asked for those that it lacks.",
            shown="bundled ones",
        ),
    ] = None
    until: Annotated[
        Literal["generator", "responses"] | None,
        Option("Stop after this step."),
    ] = None
    steps: Annotated[
        int | None, Field(ge=1), _size_option("Updates of each soft prompt.", shown="8; 20000")
    ] = None
    batch: Annotated[
        int | None, Field(ge=1), _size_option("Examples of an update.", shown="4; 16")
    ] = None
    draws: Annotated[
        int | None,
        Field(ge=1, le=18),
        _size_option("Draws of arguments for each topic.", shown="2; 18"),
    ] = None
    limit: Annotated[
        int | None,
        Field(ge=1),
        _size_option("Measure on the first N of each test set.", metavar="N", shown="12; all"),
    ] = None
    seed: Seed = 0
    dry_run: Annotated[bool, Option("Say what there is to do; do nothing.", name="--dry-run")] = (
        False
    )


class Sizes(NamedTuple):
    """The size of a study.

    Attributes:
        template: Template responses to each topic that the generator learns from.
        watched: Examples that watch a tuning; None takes all.
        least: Fewest error-free responses of a topic, filled up by the template.
    """

    steps: int
    batch: int
    draws: int
    limit: int | None
    template: int
    watched: int | None
    least: int


SMALL: Final = Sizes(8, 4, 2, 12, 9, 8, 1)
"""For two cores and a model of 135M: about half an hour."""

PAPER: Final = Sizes(20_000, 16, 18, None, 9, None, 0)
"""As many template responses to the 9 train topics as the paper has from people: about 80."""


def sizes(options: StudyOptions) -> Sizes:
    """The size of a study: small if the profile computes on the CPU, with the options' changes.

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
        return [topic for own in self.topics.values() for topic in own]

    def file(self, name: str) -> Path:
        """The path of a step's file."""
        return self.folder.path / f"study.{name}.jsonl"

    def begin(self, step: str, **config: Any) -> None:
        """Record everything that decides a step; InputError if the folder has it otherwise."""
        self.folder.begin(f"study.{step}", config, provenance())

    def prompt(self, name: str) -> Path:
        """The path of a soft prompt."""
        return self.folder.path / "prompts" / f"{name}.safetensors"

    def note(self, step: str, **facts: Any) -> None:
        """Add facts on a step to `run.json`."""
        self.folder.note(f"study.{step}", facts)

    def tell(self, step: str, *sentences: str) -> None:
        """Note sentences on a step for the report."""
        self.note(step, told=sentences)


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return sha256(read_bytes(path)).hexdigest()


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
    """A server's replies on items, in their order; stored in the step's file as they come.

    Args:
        study: Its folder has the replies of earlier calls.
        step: Names the file.
        kind: Type of its lines, whose ids are those of the items.
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
