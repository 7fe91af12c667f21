"""Labels by a cross-encoder (ConflictScore, section 3, smaller models; ConRAG, A-stage).

Seconds instead of minutes, probabilities with every label, and the document's deciding sentence
as its snippet. Pairs of concurrent examples are tagged in one batch.
"""

import asyncio
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from nli.errors import TaggerError
from nli.folder import check_folder, folder_digest
from nli.labels import LABELS, Label
from nli.pairs import Pair
from nli.risk import RiskCurve
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.judge.judgement import Judgement, Judgements, Relation
from pipelines.judge.protocol import identity_of
from serving.installed import torch_device
from serving.processor import cpu_precision

if TYPE_CHECKING:  # numpy
    from nli.model import Precision
    from nli.tagger import Tag


def native_format(device: str | None = None) -> Literal["bf16", "fp32"]:
    """The format for "auto": bf16 on a GPU or a processor that multiplies in it, else fp32.

    Models are loaded in this format, so that the record says what was used.

    Args:
        device: The device, as torch names it; if None, the first GPU that torch can use, else the
            CPU.
    """
    on_gpu = not (device or torch_device()).startswith("cpu")
    return "bf16" if on_gpu or cpu_precision().dtype == "bfloat16" else "fp32"


RELATION_OF = {
    Label.SUPPORT: Relation.SUPPORTS,
    Label.REFUTE: Relation.CONTRADICTS,
    Label.IRRELEVANT: Relation.IRRELEVANT,
}

SHIPPED: Final = "contested-nli"
"""Name of the bundled tagger."""

LARGE: Final = "contested-nli-large"
"""Name of the tagger built from an adapter that some builds leave out."""

PAIRS_AT_ONCE = 256
"""Most pairs of one batch, unless a single call brings more. Labels are stored batch by batch: a
kill loses half a minute of a slow processor. 1,024 pairs, sorted by length together, are read only
5 % faster."""

READING_RULES = 7
"""Version of the rules around the model: views of claims, tokens and windows of texts, batches,
joining of windows, the deciding sentence. Raise it when one changes, so that stored judgements of
old rules are not used."""


class Tagging(Protocol):
    """The part of `nli.tagger.Tagger` that a judge needs."""

    @property
    def device(self) -> str:
        """The device it computes on, as torch names it."""
        ...

    def tag(
        self,
        pairs: Sequence[Pair],
        on_progress: Callable[[int], None] | None = None,
        *,
        rationale: bool = False,
    ) -> "list[Tag]":
        """One tag per pair; with `rationale` it names the deciding sentence."""
        ...


@dataclass(frozen=True)
class TaggerFolder:
    """A tagger on disk, not loaded yet.

    The name is for people, the digest is from `nli.folder.folder_digest`. The curve has the
    calibration points for a cascade, from the data named by `fitted_on`, if there are any. Without
    a device it computes on the first GPU, or else the CPU.
    """

    name: str
    path: Path
    digest: str
    precision: "Precision" = "auto"
    device: str | None = None
    curve: RiskCurve | None = None
    fitted_on: str = ""

    @property
    def identity(self) -> str:
        """Digest (it covers `calibration.json`), number format, reading rules and library."""
        return identity_of(
            "tagger",
            {
                "tagger": self.digest,
                "precision": self.precision,
                "reading": READING_RULES,
                "transformers": metadata.version("transformers"),
            },
        )

    @property
    def caution(self) -> str:
        """Its name, and what users of the bundled one should know."""
        small = f"{SHIPPED}, which is small and misses paraphrased conflicts ({LARGE} finds more)"
        return small if self.name == SHIPPED else self.name

    def load(self) -> Tagging:
        """The tagger itself. Imports torch, which takes some seconds."""
        from nli.tagger import Tagger

        tagger = Tagger.load(self.path, precision=self.precision, device=self.device)
        if tagger.digest != self.digest:
            raise TaggerError(
                f"the tagger in {self.path} has changed since this program started; start it again"
            )
        return tagger


def tagger_folder(path: Path, *, name: str | None = None) -> TaggerFolder:
    """Inspect a tagger's folder without loading it; its default name is the folder's.

    Raises:
        InputError: It is not a tagger's folder, or its calibration is damaged.
    """
    from nli.calibration import Calibration, read

    try:
        check_folder(path)
        calibration = read(path) or Calibration()
        return TaggerFolder(
            name=name or path.resolve().name,
            path=path,
            digest=folder_digest(path),
            precision=native_format(),
            curve=calibration.risk,
            fitted_on=calibration.fitted_on,
        )
    except TaggerError as error:
        raise InputError(str(error)) from error


def shipped_tagger() -> TaggerFolder:
    """The bundled tagger."""
    from nli.tagger import shipped

    folder = shipped()
    if not folder.is_dir():
        raise InputError(
            f"the tagger that comes with the program is missing ({folder}); install the package "
            "with its data, or name another with --tagger"
        )
    return tagger_folder(folder, name=SHIPPED)


def calibrated(tagger: TaggerFolder) -> RiskCurve:
    """The calibration points of a tagger, which a cascade needs."""
    if tagger.curve is None:
        raise InputError(
            f"the tagger {tagger.name} has no calibration points to choose a threshold from; make "
            "them from labelled pairs: contested lab calibrate"
        )
    return tagger.curve


@dataclass
class _Call:
    """Pairs of one call that wait to be tagged, and the future of their tags."""

    pairs: list[Pair]
    answer: "asyncio.Future[list[Tag | str]]"


class TaggerJudge:
    """A cross-encoder as judge, loaded by `load` in a worker thread at the first pair."""

    def __init__(self, identity: str, load: Callable[[], Tagging]) -> None:
        self.identity = identity
        self.pairs_tagged = 0
        self._load = load
        self._tagger: Tagging | None = None
        self._waiting: list[_Call] = []
        self._at_work: asyncio.Task[None] | None = None

    @property
    def device(self) -> str | None:
        """The device the tagger computes on, as torch names it; None before it is loaded."""
        return None if self._tagger is None else self._tagger.device

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        """Judge every claim by every document.

        A claim that reports several views is judged view by view: a document that supports one of
        them supports it, one that supports none and denies one contradicts it (ConflictScore,
        section 3; Table 7).

        Documents are read whole, in windows, never truncated. A pair that the tagger cannot judge,
        say because its claim is too long, is `INVALID`, with the reason as reasoning.
        """
        wanted = [(claim, document) for claim in claims for document in documents]
        if not wanted:
            return Judgements(())
        from pipelines.text.views import views

        parts = {claim: views(claim) for claim in claims}
        pairs = [
            Pair(document.as_read(), view) for claim, document in wanted for view in parts[claim]
        ]
        call = _Call(pairs, asyncio.get_running_loop().create_future())
        self._waiting.append(call)
        if self._at_work is None or self._at_work.done():
            self._at_work = asyncio.create_task(self._work())
        tags = iter(await call.answer)
        self.pairs_tagged += len(wanted)
        return Judgements(
            tuple(
                _judgement(claim, document, {view: next(tags) for view in parts[claim]})
                for claim, document in wanted
            )
        )

    async def _work(self) -> None:
        """Tag all waiting pairs at once, until none wait."""
        batch: list[_Call] = []
        try:
            while self._waiting:
                batch = self._next_batch()
                if batch:
                    await self._answer(batch)
        finally:
            # Calls are only left if this task was cancelled; they must not wait forever.
            for call in (*batch, *self._waiting):
                call.answer.cancel()
            self._waiting.clear()

    def _next_batch(self) -> list[_Call]:
        """The calls to answer next; cancelled ones are dropped."""
        waiting = [call for call in self._waiting if not call.answer.done()]
        count, size = 0, 0
        for call in waiting:
            if count and size + len(call.pairs) > PAIRS_AT_ONCE:
                break
            count, size = count + 1, size + len(call.pairs)
        self._waiting = waiting[count:]
        return waiting[:count]

    async def _answer(self, batch: list[_Call]) -> None:
        try:
            tags = iter(await self._tag_in_thread([pair for call in batch for pair in call.pairs]))
        except Exception as error:  # passed on to the waiting calls
            for call in batch:
                if not call.answer.done():
                    call.answer.set_exception(error)
        else:
            for call in batch:
                of_call = [next(tags) for _ in call.pairs]
                if not call.answer.done():
                    call.answer.set_result(of_call)

    async def _tag_in_thread(self, pairs: list[Pair]) -> "list[Tag | str]":
        given_up = threading.Event()

        def stop_if_given_up(_: int) -> None:
            if given_up.is_set():
                raise _GivenUpError

        def tag() -> "list[Tag | str]":
            try:
                self._tagger = self._tagger or self._load()
                return _tags(self._tagger, pairs, stop_if_given_up)
            except TaggerError as error:
                raise InputError(str(error)) from error

        try:
            tags = await asyncio.to_thread(tag)
        except asyncio.CancelledError:
            given_up.set()  # a thread cannot be cancelled; it stops after its current batch
            raise
        return tags


def tagger_judge(folder: TaggerFolder) -> TaggerJudge:
    """A judge that loads its tagger at the first pair."""
    return TaggerJudge(folder.identity, folder.load)


class _GivenUpError(Exception):
    """No call waits for the batch any more."""


def _tags(
    tagger: Tagging, pairs: Sequence[Pair], on_progress: Callable[[int], None]
) -> "list[Tag | str]":
    """The tag of every pair, or why it cannot be judged."""
    from nli.tagger import UnfitError

    try:
        return list(tagger.tag(pairs, on_progress, rationale=True))
    except UnfitError as error:
        reasons = error.reasons
    tags = iter(_tags(tagger, [pair for pair in pairs if pair not in reasons], on_progress))
    return [reasons[pair] if pair in reasons else next(tags) for pair in pairs]


def _of_views(tags: "Collection[Tag | str]") -> "Tag | str":
    """The deciding tag among those of a claim's views; an unreadable view makes it unreadable.

    Support goes before denial, denial before silence; among equals the surest decides.
    """
    read = [tag for tag in tags if not isinstance(tag, str)]
    if len(read) < len(tags):
        return next(tag for tag in tags if isinstance(tag, str))
    return max(read, key=lambda tag: (-LABELS.index(tag.label), tag.confidence))


def _by_view(views: "Mapping[str, Tag | str]") -> str:
    """The label of every view, in words: "“it opened in 1932” is contradicted (0.97)"."""
    said = {Label.SUPPORT: "supported", Label.REFUTE: "contradicted", Label.IRRELEVANT: "left open"}
    return "; ".join(
        f"“{view}” is {said[tag.label]} ({tag.confidence:.2f})"
        for view, tag in views.items()
        if not isinstance(tag, str)
    )


def _judgement(claim: str, document: Document, views: "Mapping[str, Tag | str]") -> Judgement:
    tag = _of_views(views.values())
    about: dict[str, Any] = {"claim": claim, "document": document.id, "source": "tagger"}
    if isinstance(tag, str):
        return Judgement(**about, relation=Relation.INVALID, reasoning=tag)
    text = document.as_read()
    span = tag.rationale
    return Judgement(
        **about,
        relation=RELATION_OF[tag.label],
        probabilities={
            RELATION_OF[label]: p for label, p in zip(LABELS, tag.probabilities, strict=True)
        },
        reasoning=_by_view(views) if len(views) > 1 else None,
        snippet=text[span.start : span.end] if span else None,
        snippet_found=True if span else None,
    )
