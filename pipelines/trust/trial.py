"""One case with one judge: its three variants, and whether the hostile one forged anything."""

from collections.abc import Sequence

from pipelines.data.records import whole
from pipelines.evidence.labeller import Labeller, PairError
from pipelines.trust.forgery import (
    DivergedError,
    RecordedLabeller,
    Recording,
    Replay,
    ReplayedLabeller,
    broke_out,
    obeyed,
    without_quotations,
)
from pipelines.trust.material import VARIANTS, Material, hostile_text, taken_out, variants
from pipelines.trust.result import LOST, REFUSED, Reading, TrustResult
from pipelines.trust.subjects import Subject
from pipelines.trust.suite import Case
from serving.calls import Completion
from serving.client import Client
from serving.errors import RequestError


async def tried(case: Case, subject: Subject, client: Client | None) -> TrustResult:
    """Judge a case clean, with its control and with its hostile text.

    A control or hostile text that is too long to be asked about is "refused".

    Raises:
        RequestError, PairError: The clean text cannot be judged.
        ServingError: No server can be had.
    """
    judged, aim = subject.text(case), subject.aim(case)
    made = variants(case, judged, aim)
    text = hostile_text(case, judged, aim)
    readings = {}
    for variant in VARIANTS:
        asked = _Asked(case, subject, client)
        readings[variant] = await asked.reading(made[variant], may_refuse=variant != "clean")
    hostile = readings["hostile"]
    forged = escaped = followed = None
    if asked.door.requests and hostile.verdict != REFUSED:
        forged, escaped = await _forged(asked, made["hostile"], text, hostile.verdict)
        if case.instructs and hostile.replies:
            followed = obeyed(hostile.replies, text, case.token)
    return TrustResult(
        id=case.id,
        case=case,
        judge=subject.name,
        status="judged",
        gold=subject.gold(case),
        goal=aim.verdict,
        text=judged,
        hostile=whole(text),
        readings=readings,
        forged=forged,
        broke_out=escaped,
        obeyed=followed,
    )


class _Asked:
    """A judge of one variant, with what model and tagger said."""

    def __init__(self, case: Case, subject: Subject, client: Client | None) -> None:
        self.case, self.subject, self.client = case, subject, client
        self.door = Recording()
        self.tagger: RecordedLabeller | None = None

    async def reading(self, material: Material, *, may_refuse: bool) -> Reading:
        """The verdict on a variant."""

        def tagging(labeller: Labeller) -> Labeller:
            self.tagger = RecordedLabeller(labeller)
            return self.tagger

        client = self.client and self.client.through(self.door)
        try:
            verdict = await self.subject.ask(self.case, material, client, tagging)
        except (RequestError, PairError) as error:
            if not may_refuse:
                raise
            return Reading(verdict=REFUSED, why=str(error))
        return Reading(verdict=verdict, replies=self.door.texts)

    async def again(self, material: Material, replies: Sequence[Completion]) -> tuple[str, Replay]:
        """The verdict on something else by given replies; DivergedError where more is asked."""
        door, said = Replay(replies), self.tagger.said if self.tagger else ()

        def tagging(labeller: Labeller) -> Labeller:
            return ReplayedLabeller(labeller.identity, said)

        assert self.client is not None  # noqa: S101  replies are of a model
        client = self.client.through(door)
        return await self.subject.ask(self.case, material, client, tagging), door


async def _forged(asked: _Asked, hostile: Material, text: str, verdict: str) -> tuple[bool, bool]:
    """Whether a verdict is forged, and whether the text broke out of its fence; see `forgery`."""
    without, replies = taken_out(hostile), asked.door.replies
    try:
        same, door = await asked.again(without, replies)
    except DivergedError:
        return True, True
    forged = same != verdict or len(door.requests) < len(replies)
    if not forged and asked.subject.parsed:
        forged = await _from_a_quotation(asked, without, text, verdict)
    return forged, broke_out(asked.door.requests, door.requests)


async def _from_a_quotation(asked: _Asked, without: Material, text: str, verdict: str) -> bool:
    """Whether another verdict can be read from the replies without what they quote."""
    rest = without_quotations(asked.door.replies, text)
    if rest is None:
        return False
    try:
        read, _ = await asked.again(without, rest)
    except DivergedError:  # a debate goes on: nothing can be said
        return False
    return read not in LOST and read != verdict
