"""What a question of the page shows when it is opened: answers, debates, documents."""

from collections.abc import Mapping, Sequence
from typing import Final

from pipelines.madam_rag.data import GivenDocument, Question
from pipelines.madam_rag.debate import kept
from pipelines.madam_rag.methods import (
    ConsolidatedDocument,
    Consolidation,
    Group,
    Outcome,
    QuestionResult,
)
from pipelines.madam_rag.metrics import Verdict, mark, verdict
from pipelines.madam_rag.replies import Debate, Round, joint_answers
from pipelines.metrics.answers import found, same_answer
from pipelines.report import blocks
from pipelines.report.blocks import Card, Cards, Choice, Fact, Facts, Fold, Source, Sources, Voice
from pipelines.report.glance import count
from pipelines.report.texts import (
    Aside,
    Block,
    Chip,
    Heading,
    Inline,
    Items,
    Note,
    Strong,
    Text,
    Trouble,
    line,
    noted,
    unread,
)
from pipelines.report.views import RIGHT, UNJUDGED, UNREADABLE, WRONG, Mark

_ANSWERS: Final[Mapping[str, Mark]] = {
    "right": RIGHT,
    "wrong": WRONG,
    "both": Mark("both", "±", "right and wrong"),
    "neither": Mark("plain", "○", "neither"),
    "unknown": Mark("outline", "–", "no answer"),
    "unreadable": UNREADABLE,
    "unjudged": Mark("plain", "", "not judged"),
}
NOT_RIGHT = Mark("contradict", "✗", "not right")
VERDICTS: Final[Mapping[Verdict, Mark]] = {
    "right": RIGHT,
    "not right": NOT_RIGHT,
    "unreadable": UNREADABLE,
    "not judged": UNJUDGED,
}

_KINDS: Final[Mapping[str, Chip]] = {
    "correct": Chip("correct", "support", "✓"),
    "misinfo": Chip("misinformation", "contradict", "✗"),
    "noise": Chip("noise", "plain", "○"),
}
_ORIGINS: Final = {
    "memory": "recalled",
    "external": "retrieved",
    "both": "recalled and retrieved",
}


def changed(before: Round | None, now: Round) -> list[bool]:
    """Of each agent, whether its answer is another one than in the round before.

    Answers are compared after normalisation. One that could not be read is not compared.
    """
    if before is None:
        return [False] * len(now.agents)
    return [
        None not in (one.answer, other.answer) and not kept(one.answer, other.answer, "same")
        for one, other in zip(before.agents, now.agents, strict=True)
    ]


def end_of(debate: Debate) -> str:
    """How a debate ended, in a sentence."""
    held = len(debate.rounds)
    before = debate.rounds[-2] if held > 1 else None
    changes = sum(changed(before, debate.rounds[-1]))
    if debate.agreed:
        how = "each answer holds the one before" if changes else "no agent changed its answer"
        return f"Ended after round {held}: {how}."
    said = "One round was held." if held == 1 else f"All {held} rounds were held."
    if changes:
        who = "one agent changed its answer" if changes == 1 else f"{changes} agents changed theirs"
        said += f" In the last, {who}."
    return said


def content(result: QuestionResult) -> list[Block]:
    """What a question shows when it is opened: answers, debates, documents."""
    asked = result.asked
    made: list[Block] = [Trouble("Failed", result.error)] if result.error else []
    if asked.gold or asked.wrong:
        made.append(_known(asked))
    if result.outcomes:
        cards = (
            _card(name, VERDICTS[worth], each, asked)
            for name, each in result.outcomes.items()
            if (worth := verdict(result, name))
        )
        made += [Heading("Answers"), Cards(tuple(cards))]
    debates = tuple(
        Card(name, (_debate(name, outcome.debate, asked),))
        for name, outcome in result.outcomes.items()
        if outcome.debate is not None
    )
    if debates:
        made += [Heading("The debate"), Choice("Which debate", debates)]
    else:
        documents = (_source(*each) for each in enumerate(asked.documents, 1))
        made += [Heading("Documents"), Sources(tuple(documents))]
    passed = (each.consolidation for each in result.outcomes.values() if each.consolidation)
    return made + [_consolidation(each, asked) for each in passed][:1]


def chip(answer: str | None, asked: Question) -> Chip:
    """An answer in the colour of what it is by the data."""
    said = "unreadable" if answer is None else answer or "unknown"
    return _ANSWERS[mark(answer, asked)].on(said)


def _answers(
    answers: Sequence[str], asked: Question, given: Sequence[str] | None = None
) -> list[Block]:
    """Answers as chips; those that are not among the `given` ones are marked."""
    if not answers:
        return [line(Aside("no answer"))]
    own = (Chip("of its own", "outline"),)
    items = (
        (chip(each, asked), *(() if given is None or _among(each, given) else own))
        for each in answers
    )
    return [Items(tuple(items))]


def _among(answer: str, others: Sequence[str]) -> bool:
    return any(same_answer(answer, one) for one in others)


def _known(asked: Question) -> Facts:
    """Right and wrong answers by the data."""
    right: list[tuple[Inline, ...]] = [
        (chip(names[0], asked), *([Aside(f"or {', '.join(names[1:])}")] if names[1:] else []))
        for names in asked.gold
    ]
    wrong: list[tuple[Inline, ...]] = [
        (Chip(each, "contradict", "✗", "wrong"),) for each in asked.wrong
    ]
    if asked.one_answer:
        wrong.append((Aside("every other one"),))
    rights = Fact("Right answers", tuple(right) or ((Aside("not known"),),))
    return Facts((rights, Fact("Wrong answers", tuple(wrong) or ((Aside("none is known"),),))))


def _card(name: str, worth: Mark, outcome: Outcome, asked: Question) -> Card:
    concluded = outcome.concluded
    replies = Aside(count(outcome.calls, "reply", "replies"))
    # Where no right answer is known, there is nothing to say of this one.
    made: list[Block] = [line(*([] if worth is UNJUDGED else [worth.chip]), replies)]
    if concluded.problem is None:
        named = frozenset[int]().union(*found(concluded.answers, asked.gold, asked.wrong).gold)
        missing = [names[0] for number, names in enumerate(asked.gold) if number not in named]
        made += _answers(concluded.answers, asked)
        if missing:
            made.append(line(Aside(f"Not named: {'; '.join(missing)}")))
    made += unread(concluded.problem, concluded.raw)
    return Card(name, (*made, *noted(concluded.explanation)))


def _debate(name: str, debate: Debate, asked: Question) -> blocks.Debate:
    befores = (None, *debate.rounds[:-1])
    changes = [changed(*pair) for pair in zip(befores, debate.rounds, strict=True)]
    aggregator = any(each.aggregate is not None for each in debate.rounds)
    last = max(
        (number for number, each in enumerate(debate.rounds) if each.aggregate is not None),
        default=len(debate.rounds) - 1,
    )
    closing = "What it makes of the round" if aggregator else "What the agents answer between them"
    return blocks.Debate(
        name=name,
        corner="Agent and its document",
        voices=tuple(
            Voice(
                name=f"Agent {number + 1}",
                head=_head(f"Agent {number + 1}", given, asked),
                title=given.document.title or f"document {given.document.id}",
                text=given.document.text,
                cells=tuple(
                    _reply(each, number, asked, change=own[number])
                    for each, own in zip(debate.rounds, changes, strict=True)
                ),
            )
            for number, given in enumerate(asked.documents)
        ),
        closing=(
            line(Strong("Aggregator" if aggregator else "Joint answer")),
            line(Aside(closing)),
        ),
        conclusions=tuple(
            (line(Aside("Not asked: the debate closes with the round before.")),)
            if aggregator and each.aggregate is None
            else _concluded(each, asked, final=number == last and debate.problem is None)
            for number, each in enumerate(debate.rounds)
        ),
        end=end_of(debate),
    )


def _head(name: str, given: GivenDocument, asked: Question) -> tuple[Block, ...]:
    first = line(Strong(name), *([_KINDS[given.kind]] if given.kind else []))
    if given.answer:
        return first, line("Its document says", chip(given.answer, asked))
    return (first, line("Its document gives no answer")) if given.kind == "noise" else (first,)


def _reply(now: Round, agent: int, asked: Question, *, change: bool) -> tuple[Block, ...]:
    """What an agent says in a round."""
    reply = now.agents[agent]
    said: list[Block] = [
        line(chip(reply.answer, asked), *([Chip("changed", "outline", "↻")] if change else [])),
        *unread(reply.problem, reply.raw),
    ]
    return (*said, *noted(reply.explanation))


def _concluded(now: Round, asked: Question, *, final: bool) -> tuple[Block, ...]:
    """The last row of a round: what was concluded, what of the agents' answers was left out."""
    concluded = now.concluded
    given = joint_answers(now.agents)
    made: list[Block] = [line(Chip("final answer", "strong"))] if final else []
    if concluded.problem is not None:
        made += [line(chip(None, asked)), *unread(concluded.problem, concluded.raw)]
    else:
        made += _answers(concluded.answers, asked, given)
    left = [each for each in given if not _among(each, concluded.answers)]
    if left and now.aggregate is not None and concluded.problem is None:
        made += [line(Aside("Left out:")), *_answers(left, asked)]
    return (*made, *noted(concluded.explanation))


def _source(number: int, given: GivenDocument) -> Source:
    document = given.document
    kind: Inline = _KINDS[given.kind] if given.kind else Aside("kind not known")
    return Source(number, document.title or document.id, document.text, (kind,))


def _consolidation(passed: Consolidation, asked: Question) -> Fold:
    recalled = len(passed.internal)

    def of(each: ConsolidatedDocument | Group) -> list[Inline]:
        said = [
            f"recalled passage {number}" if number <= recalled else f"document {number - recalled}"
            for number in each.documents
        ]
        return [Aside(f"from {', '.join(said)}")] if said else []

    made: list[Block] = [Heading("Recalled passages")]
    made += [Text(each, "Recalled passage") for each in passed.internal]
    if not passed.internal:
        made.append(line(Aside("None: the model said that it did not know.")))
    for number, context in enumerate(passed.contexts, 1):
        where = f", pass {number}" if len(passed.contexts) > 1 else ""
        made.append(Heading(f"Consolidated documents{where}"))
        for each in context:
            origin = Chip(_ORIGINS.get(each.source, each.source))
            made += [line(origin, *of(each)), Text(each.text, "Document")]
    if passed.groups:
        items = (
            (
                chip(each.answer, asked),
                Aside(f"confidence {each.confidence:.2f}"),
                *of(each),
            )
            for each in passed.groups
        )
        made += [Heading("Groups that agree"), Items(tuple(items))]
    if passed.problems:
        made += [Heading("Steps that could not be read"), *map(Note, passed.problems)]
    return Fold("How Astute RAG came to its answer", tuple(made))
