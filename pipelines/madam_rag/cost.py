"""What a question of MADAM-RAG takes, by formula."""

from dataclasses import replace

from pipelines.experiment.bounds import Cost, Tokens, call
from pipelines.madam_rag.astute_rag import CONTEXT_TOKENS, GROUP_TOKENS, INTERNAL
from pipelines.madam_rag.methods import (
    ASTUTE,
    CONCATENATED,
    NO_RAG,
    WITH_RELIABILITY,
    WITHOUT_AGGREGATOR,
)
from pipelines.madam_rag.question import Question
from pipelines.madam_rag.settings import DebateSettings


def cost(
    question: Question,
    tokens: Tokens,
    names: tuple[str, ...],
    settings: DebateSettings,
    consolidations: int,
) -> Cost:
    """The sum over methods, each of which reads the question.

    No RAG takes one call, a concatenated prompt one that reads all documents, Astute RAG two and
    one for each consolidation, which read documents, recalled passages and the last context. A
    debate of n documents takes n calls and one of the aggregator a round, for two rounds to T: an
    agent reads its document and what it hears, the aggregator all replies. Where answers are
    compared with other documents, it takes n(n-1) pairs a round, and as many for the data's
    answers. Debates begin with the same calls.
    """
    form, asked = {"question": "", "form": settings.form}, tokens(question.question)
    texts = [each.document.as_read() for each in question.documents]
    read, blank = asked + tokens(*texts), [""] * len(texts)
    total, least = Cost(), 0
    for name in names:
        if name == NO_RAG:
            own = tokens.prompt("madam_rag/no_rag", **form)
            total += call(own + asked, settings.conclusion_tokens)
        elif name == CONCATENATED:
            own = tokens.prompt("madam_rag/concatenated", **form, documents=blank)
            total += call(own + read, settings.conclusion_tokens)
        elif name == ASTUTE:
            total += _astute(question, tokens, settings, consolidations)
        else:
            held = settings.without_aggregator() if name == WITHOUT_AGGREGATOR else settings
            told = name == WITH_RELIABILITY
            debate = _debate(question, tokens, held, told=told)
            least = max(least, debate.calls[0])
            total += debate.times(1, 0)
    return total + Cost((least, 0))


def _astute(
    question: Question, tokens: Tokens, settings: DebateSettings, consolidations: int
) -> Cost:
    asked = tokens(question.question)
    shown = asked + tokens(*(each.document.as_read() for each in question.documents))
    shown += 2 * CONTEXT_TOKENS
    form = {"question": "", "form": settings.form}
    row = {"number": 10, "source": "external", "text": ""}
    given = {
        "context": [row] * (len(question.documents) + INTERNAL),
        "consolidated": [{"text": "", "source": "external", "documents": []}] * 4,
    }
    recalled = call(tokens.prompt("madam_rag/recall", **form) + asked, CONTEXT_TOKENS)
    own = tokens.prompt("madam_rag/consolidate", **form, **given)
    # A reply that cannot be read is asked for in the same words.
    smaller = call(own + shown, CONTEXT_TOKENS).times(consolidations, min(consolidations, 1))
    own = tokens.prompt("madam_rag/finalise", **form, **given)
    reply = settings.conclusion_tokens + GROUP_TOKENS
    return recalled + smaller + call(own + shown, reply)


def _debate(question: Question, tokens: Tokens, settings: DebateSettings, *, told: bool) -> Cost:
    released = settings.replies == "released"
    kind, form = ("_released", {}) if released else ("", {"form": settings.form})
    texts = [
        each.document.text if released else each.document.as_read() for each in question.documents
    ]
    count, asked, reply = len(texts), tokens(question.question), settings.agent_tokens
    said = {"speaker": "AGENT 10", "answer": "(could not be read)", "explanation": "", "raw": ""}
    agent = tokens.prompt(
        f"madam_rag/agent{kind}", question="", document="", heard=[said] * count, **form
    )
    heard = max(settings.conclusion_tokens, (count - 1) * reply)
    others = {"support": 10, "refute": 10, "others": 10} if told else None
    aggregator = tokens.prompt(
        f"madam_rag/aggregator{kind}",
        question="",
        responses=[said | {"reliability": others}] * count,
        **form,
    )
    every, least = count * settings.rounds, len({*texts}) * min(2, settings.rounds)
    agents = call(agent + asked + heard, reply).times(every)
    total = replace(agents, calls=(least, every))
    total += Cost(prompt_tokens=settings.rounds * tokens(*texts))
    if settings.aggregator:  # which is asked nothing new where all agents repeat themselves
        concluded = call(aggregator + asked + count * reply, settings.conclusion_tokens)
        total += concluded.times(settings.rounds, 1)
    if told:
        total += Cost(pairs=(settings.rounds + 1) * count * (count - 1))
    return total
