"""What a query of CONFLICTS takes, by formula."""

from pipelines.conflicts.classification import NUMBERS
from pipelines.conflicts.dates import told_order
from pipelines.conflicts.judges.behaviour import NO, YES
from pipelines.conflicts.judges.grounding import REPLY_TOKENS as GROUNDING
from pipelines.conflicts.judges.model import BEHAVIOUR
from pipelines.conflicts.judges.model import REPLY_TOKENS as VERDICT
from pipelines.conflicts.pipeline import Methods
from pipelines.conflicts.question import Query
from pipelines.conflicts.taxonomy import CATEGORY, TAXONOMY
from pipelines.conflicts.writer import EXPLANATION_TOKENS
from pipelines.experiment.bounds import CHARACTERS_PER_TOKEN, Cost, Tokens, call

CHARACTERS_OF_A_SENTENCE = 10
"""Few sentences are as short."""


def cost(query: Query, tokens: Tokens, methods: Methods) -> Cost:
    """A call for each type that a model predicts, one for each answer, and verdicts on each.

    These read query and sources as released. An answer is judged in a call on its behaviour, one
    on the gold answer, and one (or a pair for each source) for each of its sentences, of at least
    ten characters; each reads the answer, the last also the sources. Pipeline may ask what another
    strategy asks, and an answer that cannot be read is not judged.
    """
    settings, strategies = methods.settings, methods.strategies_for(query)
    given = {"query": "", "results": [""] * len(query.sources)}
    read = tokens(query.query, *(each.as_read() for each in query.sources))
    total = Cost()
    if "json" in methods.asked:
        own = tokens.prompt("conflicts/classify", **given, taxonomy=TAXONOMY)
        total += call(own + read, EXPLANATION_TOKENS)
    if "choice" in methods.asked:
        own = tokens.prompt("conflicts/classify_choice", **given, taxonomy=TAXONOMY)
        total += call(own + read, 1).times(tokens.choosing(NUMBERS))
    if "taxonomy-aware" in strategies:
        guided = settings.guided
        own = tokens.prompt("conflicts/taxonomy_aware", **given, taxonomy=TAXONOMY, guided=guided)
        reply = EXPLANATION_TOKENS + settings.answer_tokens
        total += call(own + read, reply) + _judged(query, tokens, methods, read, reply)
    if plain := {*strategies} - {"taxonomy-aware"}:
        order = told_order(query.sources) if settings.dates else []
        dated = [{"number": number, "date": date} for number, date in order]
        own = max(
            tokens.prompt("conflicts/answer", **given, conflict=category, dated=dated)
            for category in TAXONOMY
        )
        reply, distinct = settings.answer_tokens, len(plain - {"pipeline"}) or 1
        total += call(own + read, reply).times(len(plain), distinct)
        total += _judged(query, tokens, methods, read, reply).times(len(plain))
    return total


def _judged(query: Query, tokens: Tokens, methods: Methods, read: int, answer: int) -> Cost:
    """Verdicts on an answer of at most so many tokens; `read` are those of query and sources."""
    settings = methods.settings
    own = max(
        tokens.prompt(
            f"conflicts/{name}",
            definition=CATEGORY[kind].definition,
            expected=CATEGORY[kind].expected,
            query="",
            answer="",
            form=settings.behaviour,
        )
        for kind, name in BEHAVIOUR.items()
    )
    by_choice = settings.behaviour == "choice"
    calls, reply = (tokens.choosing((YES, NO)), 1) if by_choice else (1, VERDICT)
    total = call(own + tokens(query.query) + answer, reply).times(calls, 0)
    gold, sentences = query.gold_answer, answer * CHARACTERS_PER_TOKEN // CHARACTERS_OF_A_SENTENCE
    sentences += 1
    if settings.judge == "nli":
        return total + Cost(pairs=sentences * len(query.sources) + (gold is not None))
    if gold is not None:
        own = tokens.prompt("conflicts/recall", query="", gold="", answer="")
        total += call(own + tokens(query.query, gold) + answer, VERDICT).times(1, 0)
    evidence = [{"number": 10, "text": ""}] * len(query.sources)
    own = tokens.prompt("conflicts/grounding", evidence=evidence, query="", answer="", sentence="")
    every = call(own + read + answer, GROUNDING).times(sentences, 0)
    return total + every + Cost(prompt_tokens=answer)
