"""ConRAG on the page: an answer, and a claim of an evaluation."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from pipelines.conrag.answer import About, Answer, Statement
from pipelines.conrag.evidence import Cluster, Stance, TaggedPassage
from pipelines.conrag.methods import ABLATIONS
from pipelines.conrag.metrics import shown_methods
from pipelines.conrag.result import ClaimResult
from pipelines.judge.judgement import Relation, Truncation, nearly_tied
from pipelines.report.blocks import Card, Cards, Fact, Facts, Fold, Source, Sources, fact
from pipelines.report.glance import count
from pipelines.report.texts import (
    RIGHT,
    UNJUDGED,
    UNREADABLE,
    WRONG,
    Aside,
    Block,
    Chip,
    Cite,
    Heading,
    Inline,
    Mark,
    Note,
    Sentence,
    Sentences,
    Span,
    Tone,
    Trouble,
    line,
    unread,
)
from pipelines.text.words import locate

SAYS: Final[Mapping[Relation, Chip]] = {
    Relation.SUPPORTS: Chip("supports", "support", "✓"),
    Relation.CONTRADICTS: Chip("contradicts", "contradict", "✗"),
    Relation.IRRELEVANT: Chip("irrelevant", "irrelevant", "○"),
    Relation.INVALID: Chip("unreadable", "invalid", "?"),
}
"""Relation of a passage -> its chip."""


GROUPS: Final = "Passages that agree form a group (S1, R1); its sum adds up their confidences."

CUT: Final = "The model's reply broke off; only its complete sentences are shown."

VERDICTS: Final = (RIGHT, WRONG, UNREADABLE, UNJUDGED)
"""Verdicts on a stance; not judged without a gold stance."""

STANCES: Final[Mapping[Stance, Chip]] = {
    Stance.SUPPORT: Chip("supported", "support", "✓"),
    Stance.REFUTE: Chip("refuted", "contradict", "✗"),
    Stance.NOT_ENOUGH_INFO: Chip("not enough information", "plain", "○"),
}
MORE: Final = {
    Stance.SUPPORT: "more evidence for it than against it",
    Stance.REFUTE: "more evidence against it than for it",
}
"""Stance of a disputed claim, in words."""
_ABOUT: Final[Mapping[About, Tone]] = {"support": "support", "refute": "contradict"}


def answer_blocks(answer: Answer) -> list[Block]:
    """An answer: stance, cited sentences, the clusters of both sides, the passages."""
    made: list[Block] = [line(*_status(answer))]
    if answer.first_answer:
        made.append(Note(" ".join(answer.first_answer), "For and against"))
    facts = (
        _kappa(answer.kappa, answer.unsure, len(answer.tags)),
        fact("For it", f"{answer.support:.2f}"),
        fact("Against it", f"{answer.refute:.2f}"),
    )
    made.append(Facts(facts))
    if answer.sentences:
        numbers = {row.id: row.number for row in answer.evidence}
        made.append(_sentences(answer.sentences, numbers))
    if answer.unsaid:
        made.append(Note(answer.unsaid))
    if answer.cut:
        made.append(Note(CUT))
    if answer.problem:
        made.append(Trouble("No answer was written", answer.problem, answer.raw))
    if answer.model_stance and answer.model_stance is not answer.stance:
        said = f"The model that wrote this takes the stance to be {answer.model_stance.value}"
        made.append(Note(f"{said}; the rule above decides."))
    sides = (
        Card("For it", _side(answer, Relation.SUPPORTS)),
        Card("Against it", _side(answer, Relation.CONTRADICTS)),
    )
    made += [Heading("Both sides"), Cards(sides)]
    if answer.support or answer.refute:
        made.append(Note(GROUPS))
    if not answer.tags:
        made.append(Note("No passage was found."))
    if answer.evidence:
        rows = (_row(row, row.number, Aside(row.cluster)) for row in answer.evidence)
        made += [Heading("Evidence"), Sources(tuple(rows))]
    if answer.unreadable:
        names = ", ".join(answer.unreadable)
        made.append(Note(names, "Label could not be read; counted on neither side"))
    return made + _truncations(answer.truncations)


def _kappa(kappa: float, unsure: int, tags: int) -> Fact:
    """Kappa, which counts unsure tags like others, with their number in a note."""
    note = (f"{unsure} of {tags} tags unsure",) if unsure else ()
    return fact("Conflict score κ", f"{kappa:.2f}", *note)


def members(answer: Answer, relation: Relation) -> list[tuple[Cluster, list[str]]]:
    """Clusters that have passages on a side, with their ids; clusters of that side first."""
    relations = answer.relations
    pairs = [
        (cluster, [name for name in cluster.members if relations[name] is relation])
        for cluster in sorted(answer.clusters, key=lambda cluster: cluster.tag is not relation)
    ]
    return [(cluster, names) for cluster, names in pairs if names]


def decided(text: str, rationale: str | None) -> tuple[Span, ...]:
    """The place of the deciding sentence in its passage, unless it is the whole passage."""
    span = locate(rationale or "", text)
    return (Span(*span, "decided"),) if span and span != (0, len(text)) else ()


def verdict(result: ClaimResult, method: str) -> Mark | None:
    """Whether the stance of a method is right; None if the claim failed."""
    if result.status == "failed":
        return None
    outcome = result.outcomes[method]
    if outcome.undecided or (result.stance is None and outcome.problem is not None):
        return UNREADABLE
    if result.stance is None:
        return UNJUDGED
    return RIGHT if outcome.stance is result.stance else WRONG


def claim_blocks(result: ClaimResult) -> list[Block]:
    """A claim of an evaluation: its facts, every method's answer, the passages."""
    made: list[Block] = [Trouble("Failed", result.error)] if result.error else []
    if result.status == "failed":
        return made
    made.append(_known(result))
    if result.question and result.question.problem:
        made += [line(Aside("No first answer")), *unread(result.question.problem, None)]
    methods = (_card(result, name) for name in shown_methods([result]))
    ablations = (_card(result, name) for name in ABLATIONS if name in result.outcomes)
    made += [
        Heading("Answers"),
        Cards(tuple(methods)),
        Fold("ConRAG with one part removed", (Cards(tuple(ablations)),)),
    ]
    if result.passages:
        rows = (
            _row(passage, number, *_known_of(passage, result))
            for number, passage in enumerate(result.passages, 1)
        )
        made += [Heading("Passages"), Sources(tuple(rows))]
    judged = result.judged.truncations if result.judged else ()
    return made + _truncations((*result.truncations, *judged))


def _status(answer: Answer) -> tuple[Inline, ...]:
    disputed = Chip("disputed", "both", "±")
    if answer.status == "disputed":
        return (disputed,)
    chip = STANCES[answer.stance]
    if answer.disputed:
        return disputed, replace(chip, text=MORE[answer.stance])
    return (replace(chip, text=answer.status),)


def _sentences(said: Iterable[Statement], passages: Mapping[str, int]) -> Sentences:
    """Sentences with their citations, dropped citations, and problems."""

    def shown(one: Statement) -> Sentence:
        after: list[Inline] = [Cite(passages[name]) for name in one.cites]
        if one.dropped:
            dropped = " ".join(f"[{passages[name]}]" for name in one.dropped)
            after.append(Aside(f"dropped: {dropped}"))
        after += [Chip(problem, "invalid", "!") for problem in one.problems]
        tone = "invalid" if one.problems else _ABOUT.get(one.about, "plain")
        return Sentence(one.text, tuple(after), tone)

    return Sentences(tuple(map(shown, said)))


def _side(answer: Answer, relation: Relation) -> tuple[Block, ...]:
    """The clusters of a side, with the deciding sentences of their passages."""
    made: list[Block] = []
    evidence = {row.id: row for row in answer.evidence}
    for cluster, names in members(answer, relation):
        size = len(cluster.members)
        chip: Inline = replace(SAYS[relation], text=cluster.name)
        mixed = f"{len(names)} of " if len(names) < size else ""
        sure = f", sum {cluster.confidence:.2f}" if cluster.tag is relation else ""
        made.append(line(chip, Aside(f"{mixed}{count(size, 'passage')}{sure}")))
        shown = [evidence[name] for name in names if name in evidence]
        made.append(Sentences(tuple(map(_quoted, shown))))
        if left := len(names) - len(shown):
            made.append(line(Aside(f"{count(left, 'more passage')}, not in the evidence.")))
    return tuple(made) or (line(Aside("No passage.")),)


def _quoted(row: TaggedPassage) -> Sentence:
    """The deciding sentence of a passage with its title, or the title alone."""
    title = row.passage.title or row.id
    if row.rationale is None:
        return Sentence(title, (Cite(row.number), *_reason(row)))
    return Sentence(row.rationale, (Cite(row.number), Aside(title)))


def _reason(row: TaggedPassage) -> tuple[Inline, ...]:
    """The language model's reason for the relation."""
    return (Aside(f"the model's reason: {row.reason}"),) if row.reason else ()


def _sorted(row: TaggedPassage) -> tuple[Inline, ...]:
    """The relation of a passage to the query, and who decided it."""
    says = SAYS[row.relation]
    if row.tag is None:
        sure = f"{row.confidence:.2f}{', unsure' if nearly_tied(row.probabilities) else ''}"
        return (replace(says, text=f"{says.text} {sure}"),)
    by = "the tag; the model did not sort it" if row.reason is None else "the model"
    tagged = f"tagged {SAYS[row.tag].text} {row.confidence:.2f}"
    return (says, Aside(f"by {by}; {tagged}"), *_reason(row))


def _row(row: TaggedPassage, number: int, *more: Inline) -> Source:
    """A passage under its number, with its relation to the query and further facts."""
    return Source(
        number,
        row.passage.title or row.id,
        row.passage.text,
        (*_sorted(row), *more),
        spans=decided(row.passage.text, row.rationale),
        tone=SAYS[row.relation].tone,
    )


def _truncations(truncations: Iterable[Truncation]) -> list[Block]:
    said = "{}: {:,} of {:,} tokens were read."
    return [Note(said.format(cut.text, cut.kept, cut.tokens)) for cut in truncations]


def _known(result: ClaimResult) -> Facts:
    facts = [fact("Gold stance", STANCES[result.stance])] if result.stance is not None else []
    unsure = sum(nearly_tied(passage.probabilities) for passage in result.passages)
    facts.append(_kappa(result.kappa, unsure, len(result.passages)))
    if result.disputed is not None:
        said = "it disagrees" if result.disputed else "it does not disagree"
        facts.append(fact("Evidence, by the data", said))
    if (sentence := result.response) is not None:
        marked = f"{sentence.hallucinated:,} of {sentence.tokens:,} tokens marked by people"
        where = f"response {sentence.response}, source {sentence.source}"
        facts.append(fact("Sentence of a response", where, marked))
    if result.question and result.question.first_answer:
        label = "First answer, against which passages are labelled"
        facts.append(fact(label, *result.question.first_answer))
    return Facts(tuple(facts))


def _card(result: ClaimResult, method: str) -> Card:
    outcome = result.outcomes[method]
    verdict_line: list[Inline] = []
    mark = verdict(result, method)
    if mark and (result.stance is not None or outcome.undecided):
        verdict_line.append(mark.chip)
    if not outcome.undecided:
        verdict_line.append(STANCES[outcome.stance])
    made: list[Block] = [line(*verdict_line)]
    if worth := result.judged.worth.get(method) if result.judged else None:
        said = (
            f"{worth.contradicting_strict:,} of {worth.statements:,} sentences contradict the "
            f"packet, {worth.contradicting:,} undisclosed"
        )
        if worth.recall is not None:
            said = f"answer recall {worth.recall:.2f}; {said}"
        made.append(line(Aside(said)))
    if outcome.statements:
        numbers = {passage.id: number for number, passage in enumerate(result.passages, 1)}
        made.append(_sentences(outcome.statements, numbers))
    if outcome.cut:
        made.append(line(Aside(CUT)))
    return Card(method, (*made, *unread(outcome.problem, outcome.raw)))


def _known_of(passage: TaggedPassage, result: ClaimResult) -> Iterator[Inline]:
    """The gold relation of a passage, and its relevance."""
    if passage.id in result.truth:
        gold = SAYS[result.truth[passage.id]]
        yield Chip(f"gold: {gold.text}", "outline", gold.sign)
    if any(passage.id in units for units in result.evidence):
        yield Aside("gold evidence")
    yield Aside(f"relevance {passage.relevance:.2f}")
