"""Stand-ins for the models of a run: a client, a tagger and a store that keep nothing."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from nli.labels import LABELS, Label
from nli.pairs import Pair
from pipelines.evidence.nli import TaggerFolder
from pipelines.evidence.store import JudgementStore, StoredJudgement, default_store
from pipelines.experiment.experiment import RunModels
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import LlmOptions, ModelOptions, source_of
from pipelines.runs.folder import RunFolder
from serving.calls import Usage
from serving.connect import Source
from serving.rehearsal import Rehearsal, rehearsal

if TYPE_CHECKING:
    from nli.tagger import Tag


@asynccontextmanager
async def stand_ins(
    needs: Needs, options: ModelOptions, folder: RunFolder, *, full: bool, recall: bool = False
) -> AsyncIterator[RunModels]:
    """The models of a run, none of which is loaded or asked.

    Replies and tags are as brief and agreed as can be, or as long and varied (`full`). To `recall`
    what was asked before, judgements of a language model are not taken from the store.

    Raises:
        ServingError: An endpoint does not answer, or the cache cannot be opened.
        InputError: The store of judgements cannot be opened.
    """
    cache = options.cache if isinstance(options, LlmOptions) else None
    async with AsyncExitStack() as stack:

        async def client_of(source: Source) -> Rehearsal:
            client = await rehearsal(source, cache=cache, full=full)
            stack.callback(client.recalled.close)
            return client

        where = source_of(options, needs.role or "generator")
        client = None if needs.role is None else await client_of(where)
        store = stack.enter_context(RecalledStore(default_store(cache), by_model=not recall))

        def stand_in(tagger: TaggerFolder | None) -> TaggerFolder | None:
            return tagger and StandInFolder(
                **{each.name: getattr(tagger, each.name) for each in fields(TaggerFolder)},
                tagging=StandIn(full=full),
            )

        yield RunModels(
            store=store,
            profile=where.profile.name,
            client=client,
            judging=client if needs.judge is None else await client_of(needs.judge),
            tagger=stand_in(needs.tagger),
            judge_tagger=stand_in(needs.judge_tagger),
            prompts=options.prompts if isinstance(options, LlmOptions) else None,
            folder=folder,
            counting=lambda *_: nullcontext(_Quiet()),
            rehearsed=True,
        )


class StandIn:
    """A tagger that reads nothing: sure of one label, or (`full`) unsure and of three minds."""

    device = "cpu"

    def __init__(self, *, full: bool, agreed: Label = Label.SUPPORT) -> None:
        self.pairs = 0
        self._full = full
        self._agreed = LABELS.index(agreed)

    def tag(
        self,
        pairs: Sequence[Pair],
        on_progress: Callable[[int], None] | None = None,
        *,
        rationale: bool = False,
    ) -> "list[Tag]":
        """A tag for each pair."""
        from nli.tagger import Tag

        tags = []
        for number, _ in enumerate(pairs, start=self.pairs):
            liked = number % len(LABELS) if self._full else self._agreed
            sure, rest = (0.36, 0.32) if self._full else (1.0, 0.0)
            shares = [sure if place == liked else rest for place in range(len(LABELS))]
            tags.append(Tag((shares[0], shares[1], shares[2]), LABELS[liked], sure, None, 1))
        self.pairs += len(pairs)
        return tags


@dataclass(frozen=True, kw_only=True)
class StandInFolder(TaggerFolder):
    """A tagger's folder that gives a stand-in, so that its judgements are found in the store."""

    tagging: StandIn

    def load(self) -> StandIn:
        """The stand-in."""
        return self.tagging


class RecalledStore(JudgementStore):
    """A store that is read and not written; judgements of a language model only `by_model`."""

    def __init__(self, path: Path, *, by_model: bool) -> None:
        super().__init__(path)
        self._by_model = by_model
        self._made: dict[str, StoredJudgement] = {}

    def get(self, key: str) -> StoredJudgement | None:
        """What was put there since, or what the file has."""
        if key in self._made:
            return self._made[key]
        found = super().get(key)
        if found and not self._by_model and found.judgement.source.startswith("llm"):
            return None
        return found

    def put(self, labeller: str, kept: Mapping[str, StoredJudgement]) -> None:
        """Keep judgements in memory."""
        self._made |= kept


class _Quiet:
    """Shows nothing."""

    def begin(self, done: int) -> None:
        """Show nothing."""

    def advance(self, usage: Usage | None = None) -> None:
        """Show nothing."""

    def status(self, text: str) -> None:
        """Show nothing."""
