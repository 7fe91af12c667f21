"""Cost of a run in calls and pairs: estimated beforehand, and reported in one line at the end."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.judge.settings import JudgeSettings
from pipelines.report import glance

if TYPE_CHECKING:
    from pipelines.judge.run_judge import RunJudge
    from serving.client import Client


@dataclass(frozen=True)
class Cost:
    """Cost of an item.

    Attributes:
        calls: Calls to a language model, least and most. A choice between labels is one call.
        pairs: Most pairs of claim and document for the tagger.
    """

    calls: tuple[int, int] = (0, 0)
    pairs: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        """The sum."""
        (least, most), (other_least, other_most) = self.calls, other.calls
        return Cost((least + other_least, most + other_most), self.pairs + other.pairs)

    def times(self, most: int) -> "Cost":
        """The cost of `most` items."""
        return Cost((self.calls[0] * most, self.calls[1] * most), self.pairs * most)


def calls(most: int, least: int | None = None) -> Cost:
    """The cost of calls to a language model; `least` defaults to `most`."""
    return Cost((most if least is None else least, most))


def judging(
    settings: JudgeSettings, documents: int, *, claims: int, least: int | None = None
) -> Cost:
    """Cost of judging claims by documents.

    The tagger reads claims x documents pairs. A language model is called as often, or once per
    claim with `together`. In a cascade the model may be asked about every pair, or about none.

    Args:
        settings: Who judges.
        documents: Number of documents.
        claims: Number of claims, at most.
        least: Number of claims, at least; `claims` by default.
    """
    total = Cost(pairs=claims * documents if settings.by_tagger else 0)
    if settings.by_model:
        per_claim = 1 if settings.evidence == "together" else documents
        fewest = 0 if settings.by_tagger else claims if least is None else least
        total += calls(claims * per_claim, fewest * per_claim)
    return total


def cost_line(client: "Client") -> str:
    """Cost of a client's calls, in one line."""
    usage = client.usage
    if usage.calls == 0:
        saved = glance.count(usage.saved_calls, "call")
        return f"{saved}, all answered from the cache; no model was asked"
    cached = usage.cached_prefix_tokens / usage.prompt_tokens if usage.prompt_tokens else 0
    asked = glance.count(usage.calls, "call")
    return (
        f"{asked} to {client.model.name}, {usage.saved_calls:,} saved by the cache; "
        f"{usage.prompt_tokens:,} tokens read ({cached:.0%} from the prefix cache), "
        f"{usage.completion_tokens:,} written"
        + (f"; {usage.retries} retries" if usage.retries else "")
        + (f"; answered as {', '.join(client.answered_as)}" if client.answered_as else "")
    )


def spent(client: "Client | None", judge: "RunJudge | None" = None) -> str:
    """Requests to a language model and a judge of claims, in one line."""
    parts = [cost_line(client)] if client else ["no language model was needed"]
    return "; ".join([*parts, *(asked_of(judge) if judge else [])])


def asked_of(judge: "RunJudge") -> list[str]:
    """Requests to a judge of claims, apart from the calls to its language model."""
    parts = []
    if judge.threshold and judge.threshold.reason:
        parts.append(f"the cascade asked about every pair: {judge.threshold.reason}")
    kept = judge.from_store()
    if judge.tagger:
        device = judge.tagging and judge.tagging.device
        where = f" on {device}" if device else ""
        parts.append(f"{judge.pairs_tagged:,} pairs tagged{where} by {judge.tagger.caution}")
    if kept["found"]:
        parts.append(f"{kept['found']:,} of {kept['pairs']:,} judgements from the store")
    return parts
