"""What a question of the report shows when it is opened: answers, debate, documents."""

from collections.abc import Sequence
from typing import Any, Literal

from pipelines.madam_rag.astute_rag import Consolidation
from pipelines.madam_rag.debate import kept
from pipelines.madam_rag.evaluation.result import Outcome, QuestionResult
from pipelines.madam_rag.evaluation.scores import mark
from pipelines.madam_rag.question import GivenDocument, Question
from pipelines.madam_rag.transcript import AgentReply, Conclusion, Debate, Round, joint_answers
from pipelines.metrics.strict_match import found, same_answer, strict_match

CHARACTERS_SHOWN = 20_000
"""Characters of a document or an unreadable reply that the page holds; it says how
many more there are."""

Verdict = Literal["right", "not", "unreadable", "failed", "unjudged", "none"]
"""What became of a question under a method; "unjudged" where no right answer is known, "none" where
the method was not asked."""


def verdict(result: QuestionResult, method: str) -> Verdict:
    """What became of a question under a method (exact match, section 5.1)."""
    if result.status == "failed":
        return "failed"
    outcome = result.outcomes.get(method)
    if outcome is None:
        return "none"
    if outcome.concluded.problem is not None:
        return "unreadable"
    asked = result.asked
    if not asked.gold:
        return "unjudged"
    right = strict_match(
        outcome.concluded.answers, asked.gold, asked.wrong, one_answer=asked.one_answer
    )
    return "right" if right else "not"


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


def content(result: QuestionResult) -> dict[str, Any]:
    """What a question shows when it is opened; the script reads these keys."""
    asked = result.asked
    return {
        "methods": [
            {"name": method, "verdict": verdict(result, method)} | _outcome(outcome, asked)
            for method, outcome in result.outcomes.items()
        ],
        "documents": [_document(given, asked) for given in asked.documents],
        "debates": [
            {"name": method} | _debate(outcome.debate, asked)
            for method, outcome in result.outcomes.items()
            if outcome.debate is not None
        ],
        "consolidation": next(
            (
                _consolidation(outcome.consolidation, asked)
                for outcome in result.outcomes.values()
                if outcome.consolidation is not None
            ),
            None,
        ),
    }


def _outcome(outcome: Outcome, asked: Question) -> dict[str, Any]:
    concluded = outcome.concluded
    named = frozenset[int]().union(*found(concluded.answers, asked.gold, asked.wrong).gold)
    return _conclusion(concluded, asked) | {
        "calls": outcome.calls,
        "missing": [names[0] for number, names in enumerate(asked.gold) if number not in named],
    }


def _conclusion(concluded: Conclusion, asked: Question) -> dict[str, Any]:
    return {
        "answers": _answers(concluded.answers, asked),
        "explanation": concluded.explanation,
        "problem": concluded.problem,
        "raw": _cut(concluded.raw),
    }


def _answers(answers: Sequence[str], asked: Question) -> list[dict[str, Any]]:
    return [{"text": answer, "mark": mark(answer, asked)} for answer in answers]


def _document(given: GivenDocument, asked: Question) -> dict[str, Any]:
    document = given.document
    return {
        "id": document.id,
        "title": document.title,
        "text": _cut(document.text),
        "kind": given.kind,
        "answer": given.answer,
        "mark": mark(given.answer, asked) if given.answer else None,
    }


def _debate(debate: Debate, asked: Question) -> dict[str, Any]:
    befores = (None, *debate.rounds[:-1])
    last = max(
        (number for number, each in enumerate(debate.rounds) if each.aggregate is not None),
        default=len(debate.rounds) - 1,
    )
    return {
        "end": end_of(debate),
        "aggregator": any(each.aggregate is not None for each in debate.rounds),
        "rounds": [
            _round(before, now, asked) | {"final": number == last}
            for number, (before, now) in enumerate(zip(befores, debate.rounds, strict=True))
        ],
    }


def _round(before: Round | None, now: Round, asked: Question) -> dict[str, Any]:
    tallies = now.reliability or (None,) * len(now.agents)
    return {
        "agents": [
            _reply(reply, asked)
            | {"changed": change, "reliability": tally and tally.model_dump(mode="json")}
            for reply, change, tally in zip(now.agents, changed(before, now), tallies, strict=True)
        ],
        "conclusion": _concluded(now, asked),
    }


def _reply(reply: AgentReply, asked: Question) -> dict[str, Any]:
    return {
        "answer": reply.answer,
        "mark": mark(reply.answer, asked),
        "explanation": reply.explanation,
        "problem": reply.problem,
        "raw": _cut(reply.raw),
    }


def _concluded(now: Round, asked: Question) -> dict[str, Any]:
    """The last row of a round: what was concluded, what of the agents' answers was left out."""
    concluded = now.concluded
    given = joint_answers(now.agents)
    left = [each for each in given if not any(same_answer(each, one) for one in concluded.answers)]
    shown = _conclusion(concluded, asked)
    for answer in shown["answers"]:
        answer["own"] = not any(same_answer(answer["text"], one) for one in given)
    read = now.aggregate is not None and concluded.problem is None
    return shown | {
        "asked": now.aggregate is not None,
        "left": _answers(left, asked) if read else [],
    }


def _consolidation(passed: Consolidation, asked: Question) -> dict[str, Any]:
    recalled = len(passed.internal)

    def names(numbers: Sequence[int]) -> list[str]:
        return [
            f"recalled passage {number}" if number <= recalled else f"document {number - recalled}"
            for number in numbers
        ]

    return {
        "internal": list(passed.internal),
        "contexts": [
            [
                {"text": each.text, "source": each.source, "of": names(each.documents)}
                for each in context
            ]
            for context in passed.contexts
        ],
        "groups": [
            {
                "answer": group.answer,
                "mark": mark(group.answer, asked),
                "confidence": group.confidence,
                "of": names(group.documents),
            }
            for group in passed.groups
        ],
        "problems": list(passed.problems),
    }


def _cut(text: str | None) -> str | None:
    if text is None or len(text) <= CHARACTERS_SHOWN:
        return text
    more = len(text) - CHARACTERS_SHOWN
    return f"{text[:CHARACTERS_SHOWN]}… ({more:,} more characters are not shown)"
