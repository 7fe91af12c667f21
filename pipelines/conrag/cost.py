"""What a claim or a question of ConRAG takes, by formula."""

from collections.abc import Iterable, Sequence

from pipelines.conrag.citations import CitationJudgeSettings
from pipelines.conrag.generation import ANSWER_TOKENS as FIRST_TOKENS
from pipelines.conrag.generation import (
    MOST,
    REPLY_TOKENS,
    SENTENCES,
    TOKENS_OF_A_PASSAGE,
)
from pipelines.conrag.query import IN_LISTS, GoldAnswer, Query
from pipelines.conrag.settings import ConragSettings
from pipelines.data.records import Document
from pipelines.experiment.cost import Cost, Tokens, call, judging
from pipelines.judge.settings import JudgeSettings
from pipelines.metrics.alce import AT_MOST

PACKETS, TABLES = 2, 3
"""Packets of passages and evidence tables that are written from; CiteRAG has the first's again."""


def cost(
    query: Query,
    tokens: Tokens,
    passages: Iterable[Document],
    *,
    settings: ConragSettings,
    tagging: JudgeSettings,
    citing: CitationJudgeSettings | None,
    writes: bool,
) -> Cost:
    """Tags of k passages, and texts from packets of at most k'.

    The template has two packets tagged as one text each. A language model writes each text in one
    call, and may sort two of the tables in one each; all read claim and packet. A question is first
    answered, in up to five claims. Where answers are judged (`citing`), a judge is asked of each
    sentence about each passage of its packet and groups of those that it cites, of gold claims
    about the passages and the answers. Passages are the longest of those that may be found.
    """
    sizes = sorted((tokens(passage.as_read()) for passage in passages), reverse=True)[
        : settings.depth
    ]
    packet = sizes[: settings.packet.size]
    shown, claim = sum(packet), tokens(query.claim)
    claims, claim_tokens = 1, claim
    total = Cost()
    if query.gold_answer is not None:
        claims, claim_tokens = MOST, MOST * claim + FIRST_TOKENS
        evidence = [{"number": 10, "text": ""}] * len(packet)
        own = tokens.prompt("conrag/first_answer", query="", evidence=evidence)
        total += call(own + shown + claim, FIRST_TOKENS).times(1, min(1, len(packet)))
    if citing is not None:
        total += _worth(query, tokens, sizes, packet, citing)
    total += judging(tagging, tokens, sizes, claims=claims, claim_tokens=claim_tokens, least=0)
    if writes:
        return total + _written(query, tokens, packet, claim_tokens, settings)
    texts = [shown] * PACKETS
    return total + judging(tagging, tokens, texts, claims=1, claim_tokens=claim, least=0)


def _written(
    query: Query, tokens: Tokens, packet: Sequence[int], first: int, settings: ConragSettings
) -> Cost:
    """The six texts by a language model; `first` are tokens of a question's first answer."""
    read = sum(packet) + tokens(query.claim)
    question = query.gold_answer is not None
    listed = query.gold_answer is not None and query.gold_answer.listed
    known = {"claims": ["?"] if question else []}

    def asked(prompt: str, reply: int, **more: object) -> Cost:
        name = IN_LISTS.get(prompt, prompt) if listed else prompt
        row = {"number": 10, "cluster": "S10", "text": ""}
        tables = (
            [row | {"relation": said}] * len(packet) for said in ("CONTRADICTS", "IRRELEVANT")
        )
        filled = [tokens.prompt(f"conrag/{name}", query="", evidence=e, **more) for e in tables]
        return call(max(filled) + read + (first if "claims" in more else 0), reply)

    end = "_question" if question else ""
    numbers = settings.policy.numbers == "cited"
    bound = known if question else {}
    total = (
        asked(f"plain{end}", REPLY_TOKENS).times(PACKETS, 0)
        + asked(f"cite{end}", REPLY_TOKENS).times(1, 0)
        + asked(end[1:] or "answer", REPLY_TOKENS, **bound, numbers=numbers).times(TABLES, 0)
    )
    if settings.sort == "model":
        sort = asked("sort", TOKENS_OF_A_PASSAGE * (len(packet) + 1), **known)
        total += sort.times(TABLES - 1, 0)
    return total


def _worth(
    query: Query,
    tokens: Tokens,
    sizes: Sequence[int],
    packet: Sequence[int],
    citing: CitationJudgeSettings,
) -> Cost:
    """What the judge of answers is asked."""
    by_model = citing.judged_by == "model"
    judge = JudgeSettings(judge="model" if by_model else "tagger", evidence="json")
    gold = query.gold_answer or GoldAnswer()
    texts = PACKETS + 1 + TABLES
    # An item of a list, which stands behind the question, has a comma after it.
    each = REPLY_TOKENS // 2 if gold.listed else SENTENCES
    said = texts * REPLY_TOKENS + (texts * each * tokens(query.claim) if gold.listed else 0)
    # All that a sentence cites, and all but one; of three methods that cite otherwise.
    groups = [*packet, *[sum(packet[:AT_MOST])] * (3 * (AT_MOST + 1))]
    wanted, answers = tokens(*gold.claims), [REPLY_TOKENS] * texts
    return (
        judging(judge, tokens, groups, claims=texts * each, claim_tokens=said, least=0)
        + judging(judge, tokens, sizes, claims=len(gold.claims), claim_tokens=wanted, least=0)
        + judging(judge, tokens, answers, claims=len(gold.claims), claim_tokens=wanted, least=0)
    )
