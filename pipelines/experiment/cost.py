"""What was asked of whom, in one line."""

from pipelines.evidence.judge import Judge
from serving.client import Client


def cost_line(client: Client) -> str:
    """What the calls of a client have cost."""
    usage = client.usage
    if usage.calls == 0:
        return f"{usage.saved_calls:,} calls, all answered from the cache; no model was asked"
    cached = usage.cached_prefix_tokens / usage.prompt_tokens if usage.prompt_tokens else 0
    return (
        f"{usage.calls:,} calls to {client.model.name}, {usage.saved_calls:,} saved by the cache; "
        f"{usage.prompt_tokens:,} tokens read ({cached:.0%} from the prefix cache), "
        f"{usage.completion_tokens:,} written"
        + (f"; {usage.retries} retries" if usage.retries else "")
        + (f"; answered as {', '.join(client.answered_as)}" if client.answered_as else "")
    )


def spent(client: Client | None, judge: Judge | None = None) -> str:
    """What a language model and a judge of claims were asked for."""
    parts = [cost_line(client)] if client else ["no language model was needed"]
    return "; ".join([*parts, *(asked_of(judge) if judge else [])])


def asked_of(judge: Judge) -> list[str]:
    """What a judge of claims was asked for, beside the calls to its language model."""
    parts = []
    if judge.threshold and judge.threshold.reason:
        parts.append(f"the cascade asked for every pair: {judge.threshold.reason}")
    kept = judge.from_store()
    if judge.tagger:
        device = judge.nli and judge.nli.device
        where = f" on {device}" if device else ""
        parts.append(f"{judge.pairs_tagged:,} pairs tagged by {judge.tagger.name}{where}")
    if kept["found"]:
        parts.append(f"{kept['found']:,} of {kept['pairs']:,} judgements from the store")
    return parts
