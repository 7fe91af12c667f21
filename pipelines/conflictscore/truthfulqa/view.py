"""TruthfulQA on the page: shares, flips, and every question with its pair of answers."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from pipelines.conflictscore import view as of_responses
from pipelines.conflictscore.regeneration import new_words, told
from pipelines.conflictscore.result import Result
from pipelines.conflictscore.truthfulqa.result import CONDITIONS, Condition, Outcome, TruthResult
from pipelines.conflictscore.truthfulqa.tables import BASELINES, BECAME, UNTOUCHED, all_tables, flip
from pipelines.experiment.summary import Figure, Page, Problem, truncations, unread_labels
from pipelines.report.blocks import Card, Cards, Fold
from pipelines.report.explorer import Example, Facet
from pipelines.report.texts import (
    FAILED,
    RIGHT,
    UNJUDGED,
    UNREADABLE,
    WRONG,
    Aside,
    Block,
    Chip,
    Heading,
    Inline,
    Items,
    Line,
    Mark,
    Note,
    Text,
    Trouble,
    values,
    words,
)

_MARKS: Final = (RIGHT, WRONG, UNREADABLE, UNJUDGED)


def _mark(result: TruthResult, condition: Condition) -> Mark:
    right = result.right(condition)
    if right is not None:
        return RIGHT if right else WRONG
    outcome = result.outcomes[condition]
    unjudged = result.setting == "free-form" and outcome.truthful is None
    return UNJUDGED if unjudged else UNREADABLE


def _example(run: str, result: TruthResult) -> Example:
    marks = {CONDITIONS[name]: _mark(result, name) for name in result.outcomes}
    became = [flip(result, "regenerated")] if result.outcomes else []
    chips: list[Inline] = [mark.on(name) for name, mark in marks.items()]
    chips += [Chip(name, "outline") for name in became if name != UNTOUCHED]
    if result.status == "failed":
        chips.append(FAILED)
    return Example(
        id=result.id,
        run=run,
        title=result.question,
        status=result.status,
        blocks=partial(content, result),
        about=(result.category,) if result.category else (),
        chips=tuple(chips),
        facets={
            "Setting": [result.setting],
            "Told of the conflict": became,
            "Answer": values(marks),
        },
        words="\n".join(
            (*(outcome.response for outcome in result.outcomes.values()), result.error or "")
        ),
    )


def content(result: TruthResult) -> list[Block]:
    """An opened question: answers, feedback, claims, documents."""
    blocks: list[Block] = []
    if result.error:
        blocks.append(Trouble("Failed", result.error))
    if result.options:
        options = tuple(
            (Chip(letter, "support" if letter == result.correct else "plain"), text)
            for letter, text in result.options.items()
        )
        blocks += [Heading("Options"), Items(options)]
    else:
        blocks.append(
            Fold(
                "Known answers",
                (
                    Items(tuple((RIGHT.chip, answer) for answer in result.correct_answers)),
                    Items(tuple((WRONG.chip, answer) for answer in result.incorrect_answers)),
                ),
            )
        )
    if result.outcomes:
        cards = tuple(Card(CONDITIONS[name], tuple(_answer(result, name))) for name in CONDITIONS)
        blocks += [Heading("Answers"), Cards(cards)]
    if result.feedback is not None:
        blocks += [Heading("What the writer was told"), *told(result.feedback)]
    rag = result.outcomes.get("rag")
    if rag is not None and rag.score is not None and rag.score.judgements:
        blocks += [
            Heading("Claims of RAG's answer against documents"),
            of_responses.matrix(_as_result(result, rag)),
        ]
    cuts = rag.truncations if rag else ()
    return blocks + of_responses.document_blocks(result.documents, cuts)


def _answer(result: TruthResult, condition: Condition) -> list[Block]:
    """An answer with its verdict, and new words marked if it was rewritten."""
    outcome = result.outcomes[condition]
    if not outcome.asked:
        return [Note("RAG's answer is kept: the documents do not disagree about it.")]
    first: list[Inline] = [_mark(result, condition).chip]
    if outcome.informative is not None and outcome.informative.verdict is not None:
        first.append(Aside("informative" if outcome.informative.verdict else "not informative"))
    if outcome.score is not None and outcome.score.error is None:
        first.append(Aside(", ".join(_as_result(result, outcome).figures())))
    made: list[Block] = [Line(tuple(first))]
    text = outcome.response or outcome.reply
    if text:
        again = condition in ("rewritten", "regenerated") and result.setting == "free-form"
        before = result.outcomes["rag"].response
        made.append(Text(text, CONDITIONS[condition], new_words(before, text) if again else ()))
    if outcome.letter:
        made.insert(1, Line((Chip(f"({outcome.letter})", "strong"),)))
    if outcome.justification:
        made.append(Note(outcome.justification, "Justification"))
    if outcome.ignored:
        made.append(Note("The disputed claim is unchanged."))
    for what, verdict in (("Truth", outcome.truthful), ("Information", outcome.informative)):
        if verdict is not None and (verdict.explanation or verdict.problem):
            made.append(Note(verdict.explanation or verdict.problem or "", what))
    return made


def _as_result(result: TruthResult, outcome: Outcome) -> Result:
    """An answer as a scored response, to be drawn like one."""
    score = outcome.score
    return Result(
        id=result.id,
        group=result.group,
        response=outcome.response,
        documents=result.documents,
        status="scored",
        **(dict(score) if score else {}),
    )


def problems(result: TruthResult) -> Iterator[Problem]:
    """Parts of a question that failed, could not be read, or were cut, by condition."""
    if result.status == "failed":
        yield Problem("failed", result.error or "")
    for condition, outcome in result.outcomes.items():
        if outcome.asked:
            for problem in _of_outcome(result, outcome):
                yield problem._replace(what=f"{problem.what}, {CONDITIONS[condition]}")


def _of_outcome(result: TruthResult, outcome: Outcome) -> Iterator[Problem]:
    if result.setting == "binary" and outcome.letter is None:
        yield Problem("unreadable choice", "the reply chooses neither", outcome.reply)
    if outcome.score is not None and outcome.score.error:
        yield Problem("no score", outcome.score.error)
    for what, verdict in (("truthful", outcome.truthful), ("informative", outcome.informative)):
        if verdict is not None and verdict.verdict is None:
            yield Problem(f"unreadable verdict ({what})", verdict.problem or "", verdict.raw)
    yield from unread_labels(outcome.score.judgements if outcome.score else ())
    yield from truncations(outcome.truncations)


_AGAIN: Final = (CONDITIONS["rag"], CONDITIONS["regenerated"])

PAGE: Final = Page(
    question="Do answers become truer when a model is told where its documents disagree?",
    tables=lambda runs: all_tables(runs.results, runs.configs),
    figures=(
        Figure(
            *("truthfulqa_free_form", "truthful", "condition"),
            said="Truthful answers",
            group=("run",),
            ours=_AGAIN,
        ),
        Figure(
            *("truthfulqa_binary", "accuracy", "condition"),
            said="Right choices of two",
            group=("run",),
            ours=_AGAIN,
            trivial=BASELINES,
        ),
    ),
    example=_example,
    problems=problems,
    failures="truthfulqa_failures",
    facets=(
        Facet("Setting", ("free-form", "binary")),
        Facet("Told of the conflict", BECAME),
        Facet("Answer", words(_MARKS), tuple(CONDITIONS.values())),
    ),
    roles={"writer": "answers", "model": "scores", "judge": "judges truth", "tagger": "tagger"},
)
