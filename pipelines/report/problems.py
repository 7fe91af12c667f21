"""What of a result failed, could not be read, or was not seen whole: one record for all papers."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from pipelines.judge.judgement import Judgement, Relation, Truncation


class Problem(NamedTuple):
    """What has no value ("failed", "unreadable label"), why, and what a model wrote instead."""

    what: str
    reason: str = ""
    reply: str | None = None


def problems(result: Any) -> Iterator[Problem]:
    """Those that any result may have: it failed, labels were unreadable, texts were cut."""
    if result.status == "failed":
        yield Problem("failed", result.error or "")
    yield from unread_labels(getattr(result, "judgements", ()))
    yield from truncations(getattr(result, "truncations", ()))


def unread_labels(judgements: Iterable[Judgement]) -> Iterator[Problem]:
    """Judgements without a label, each with its reason or reply."""
    for judgement in judgements:
        if judgement.relation is Relation.INVALID:
            where = f"document {judgement.document} on: {judgement.claim}"
            why = f"{judgement.refusal} ({where})" if judgement.refusal else where
            yield Problem("invalid judgement", why, judgement.raw)


def truncations(cuts: Iterable[Truncation]) -> Iterator[Problem]:
    """Texts of which a model saw only the beginning."""
    for cut in cuts:
        seen = f"{cut.text}: the first {cut.kept:,} of {cut.tokens:,} tokens were seen"
        yield Problem("truncation", seen)
