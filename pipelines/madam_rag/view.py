"""MADAM-RAG on the page: tables, figures, and every debate."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from markupsafe import Markup

from pipelines.experiment.metric import Metric
from pipelines.experiment.publish import Runs
from pipelines.experiment.summary import Figure, Page, Section
from pipelines.madam_rag.baselines import CONCATENATED, MADAM, NO_RAG, Outcome, QuestionResult
from pipelines.madam_rag.data import GivenDocument, Question, Statistic
from pipelines.madam_rag.debate import kept
from pipelines.madam_rag.metrics import ALL_METHODS, ANSWERS, EXACT, Verdict, shown_methods, verdict
from pipelines.madam_rag.replies import Debate, Round, joint_answers
from pipelines.madam_rag.tables import all_tables, problems
from pipelines.metrics.answers import found, same_answer
from pipelines.report import blocks, glance
from pipelines.report.blocks import Card, Cards, Choice, Fact, Facts, Source, Sources, Voice
from pipelines.report.explorer import Example, Facet
from pipelines.report.plots import curve, histogram
from pipelines.report.table import Table, estimate_of, grouped
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
    Mark,
    Strong,
    Trouble,
    line,
    noted,
    unread,
    values,
    words,
)
from pipelines.text.refusals import is_unknown

_NAMED: Final[Mapping[tuple[bool, bool], Mark]] = {
    (True, False): RIGHT,
    (False, True): WRONG,
    (True, True): Mark("both", "±", "right and wrong"),
    (False, False): Mark("plain", "○", "neither"),
}
"""Whether an answer names a right one, and a wrong one -> its mark."""
_NO_ANSWER = Mark("outline", "–", "no answer")
_NOT_JUDGED = Mark("plain", "", "not judged")
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


def _example(run: str, result: QuestionResult) -> Example:
    asked, methods = result.asked, shown_methods([result])
    judged = {method: VERDICTS[worth] for method in methods if (worth := verdict(result, method))}
    names = (name for names in asked.gold for name in names)
    return Example(
        id=result.id,
        run=run,
        title=asked.question,
        status=result.status,
        blocks=partial(content, result),
        about=(glance.count(len(asked.documents), "document"),),
        chips=tuple(worth.on(method) for method, worth in judged.items()) or (FAILED,),
        facets={"Verdict": values(judged)},
        words="\n".join((*names, *asked.wrong, result.error or "")),
    )


def line_plots(
    table: Table, group: str, series: str, across: str, metrics: Sequence[Metric[Any]]
) -> Iterator[Markup]:
    """A plot of each metric by `across` per value of the column `group`: a line per `series`."""
    for (name,), rows in grouped(table, group):
        for metric in metrics:
            lines: dict[str, list[tuple[float, float]]] = {}
            for row in rows:
                step, estimate = row[across], estimate_of(row[metric.key])
                if isinstance(step, int) and estimate is not None:
                    lines.setdefault(str(row[series]), []).append((step, estimate.value))
            if lines:
                steps = sorted({int(step) for points in lines.values() for step, _ in points})
                titles = (f"{metric.title}, {name}", across, "share")
                yield curve([*lines.items()], *titles, steps=steps)


def number_plots(statistics: Iterable[Statistic]) -> Iterator[Markup]:
    """Numbers of questions by their documents and answers (Figure 5), beside the averages."""
    for row in statistics:
        if row.distribution and row.estimate is not None:
            marks = [("here", row.estimate.value), ("paper", row.paper)]
            yield histogram(
                row.distribution,
                row.name.capitalize(),
                "per question",
                "questions",
                [(f"{place} {at:.2f}", at) for place, at in marks],
                wide=0.5 if " per " in row.name else 1.0,
            )


# An opened question: answers, debates, documents.


def changed(before: Round | None, now: Round) -> list[bool]:
    """For each agent, whether its answer differs from the one in the round before.

    Answers are compared after normalisation. Unreadable answers are not compared.
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
    if not debate.agreed:
        return "One round was held." if held == 1 else f"All {held} rounds were held."
    changes = any(changed(debate.rounds[-2], debate.rounds[-1]))
    how = (
        "each answer contains the one before, or is contained in it"
        if changes
        else "no agent changed its answer"
    )
    return f"Ended after round {held}: {how}."


def content(result: QuestionResult) -> list[Block]:
    """An opened question: answers, debates, documents."""
    asked = result.asked
    made: list[Block] = [Trouble("Failed", result.error)] if result.error else []
    if asked.gold or asked.wrong:
        made.append(_known(asked))
    if result.outcomes:
        cards = (
            _card(name, VERDICTS[worth], outcome, asked)
            for name, outcome in result.outcomes.items()
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
        documents = (_source(*numbered) for numbered in enumerate(asked.documents, 1))
        made += [Heading("Documents"), Sources(tuple(documents))]
    return made


def chip(answer: str | None, asked: Question) -> Chip:
    """An answer, coloured by whether it is right by the data."""
    if answer is None:
        return UNREADABLE.on("unreadable")
    if is_unknown(answer):
        return _NO_ANSWER.on(answer or "unknown")
    if not asked.gold and not asked.wrong:
        return _NOT_JUDGED.on(answer)
    named = found([answer], asked.gold, asked.wrong)
    right = any(named.gold)
    wrong = any(named.wrong) or (asked.one_answer and not right and bool(asked.gold))
    return _NAMED[right, wrong].on(answer)


def _answers(
    answers: Sequence[str], asked: Question, given: Sequence[str] | None = None
) -> list[Block]:
    """Answers as chips; those not among the `given` ones of agents are marked."""
    if not answers:
        return [line(Aside("no answer"))]
    mark = (Chip("from no agent", "outline"),)
    items = (
        (chip(answer, asked), *(() if given is None or _among(answer, given) else mark))
        for answer in answers
    )
    return [Items(tuple(items))]


def _among(answer: str, others: Sequence[str]) -> bool:
    return any(same_answer(answer, other) for other in others)


def _known(asked: Question) -> Facts:
    """Right and wrong answers by the data."""
    right: list[tuple[Inline, ...]] = [
        (chip(names[0], asked), *([Aside(f"or {', '.join(names[1:])}")] if names[1:] else []))
        for names in asked.gold
    ]
    wrong: list[tuple[Inline, ...]] = [
        (Chip(answer, "contradict", "✗", "wrong"),) for answer in asked.wrong
    ]
    if asked.one_answer:
        wrong.append((Aside("any other answer"),))
    rights = Fact("Right answers", tuple(right) or ((Aside("not known"),),))
    return Facts((rights, Fact("Wrong answers", tuple(wrong) or ((Aside("none known"),),))))


def _card(name: str, worth: Mark, outcome: Outcome, asked: Question) -> Card:
    concluded = outcome.concluded
    replies = Aside(glance.count(outcome.calls, "reply", "replies"))
    # Without a known right answer, an answer has no verdict.
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
    aggregator = any(round_.aggregate is not None for round_ in debate.rounds)
    last = max(
        (number for number, round_ in enumerate(debate.rounds) if round_.aggregate is not None),
        default=len(debate.rounds) - 1,
    )
    closing = "Its conclusion from the round" if aggregator else "The agents' answers, combined"
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
                    _reply(round_, number, asked, change=of_round[number])
                    for round_, of_round in zip(debate.rounds, changes, strict=True)
                ),
            )
            for number, given in enumerate(asked.documents)
        ),
        closing=(
            line(Strong("Aggregator" if aggregator else "Joint answer")),
            line(Aside(closing)),
        ),
        conclusions=tuple(
            (line(Aside("Not asked: the conclusion is that of the round before.")),)
            if aggregator and round_.aggregate is None
            else _concluded(round_, asked, final=number == last and debate.problem is None)
            for number, round_ in enumerate(debate.rounds)
        ),
        end=end_of(debate),
    )


def _head(name: str, given: GivenDocument, asked: Question) -> tuple[Block, ...]:
    first = line(Strong(name), *([_KINDS[given.kind]] if given.kind else []))
    if given.answer:
        return first, line("Its document says", chip(given.answer, asked))
    return (first, line("Its document gives no answer")) if given.kind == "noise" else (first,)


def _reply(now: Round, agent: int, asked: Question, *, change: bool) -> tuple[Block, ...]:
    """An agent's reply in a round."""
    reply = now.agents[agent]
    said: list[Block] = [
        line(chip(reply.answer, asked), *([Chip("changed", "outline", "↻")] if change else [])),
        *unread(reply.problem, reply.raw),
    ]
    return (*said, *noted(reply.explanation))


def _concluded(now: Round, asked: Question, *, final: bool) -> tuple[Block, ...]:
    """The last row of a round: the conclusion, and the agents' answers that it leaves out."""
    concluded = now.concluded
    given = joint_answers(now.agents)
    made: list[Block] = [line(Chip("final answer", "strong"))] if final else []
    if concluded.problem is not None:
        made += [line(chip(None, asked)), *unread(concluded.problem, concluded.raw)]
    else:
        made += _answers(concluded.answers, asked, given)
    left = [answer for answer in given if not _among(answer, concluded.answers)]
    if left and now.aggregate is not None and concluded.problem is None:
        made += [line(Aside("Left out:")), *_answers(left, asked)]
    return (*made, *noted(concluded.explanation))


def _source(number: int, given: GivenDocument) -> Source:
    document = given.document
    kind: Inline = _KINDS[given.kind] if given.kind else Aside("kind not known")
    return Source(number, document.title or document.id, document.text, (kind,))


# The page.


def _counted(runs: Runs[QuestionResult]) -> tuple[str, Sequence[Statistic]]:
    """The first data file whose questions were counted, and its averages."""
    return next(iter(runs.noted("statistics", tuple[Statistic, ...]).items()), ("", ()))


def _tables(runs: Runs[QuestionResult]) -> list[Table]:
    models = {run: config["model"]["name"] for run, config in runs.configs.items()}
    file, averages = _counted(runs)
    return all_tables(runs.results, models, averages, file)


PAGE: Final = Page(
    question="Do agents that debate their documents find every right answer and no wrong one?",
    tables=_tables,
    figures=(
        Figure(
            *("madam_methods", "exact_match", "method"),
            said="Questions answered exactly",
            group=("data",),
            ours=(MADAM,),
            trivial=(NO_RAG, CONCATENATED),
        ),
    ),
    example=_example,
    problems=problems,
    failures="madam_failures",
    sections=(
        Section(
            "Results",
            ("madam_methods", "madam_comparisons"),
            "A question has one right answer or several, and documents may spread wrong ones. It "
            "is answered exactly if the reply gives all right answers and no wrong one.",
        ),
        Section(
            "Rounds and the aggregator",
            ("madam_rounds",),
            "Conclusions of the same debates by round. Without an aggregator, the agents' "
            "answers are combined. One line is with the aggregator, one without.",
            lambda _, tables: line_plots(
                tables["madam_rounds"], "data", "aggregator", "rounds", ANSWERS
            ),
        ),
        Section(
            "Imbalance and misinformation",
            ("madam_levels",),
            "The same questions with ever more documents for one answer, or with ever more "
            "misinformation.",
            lambda _, tables: line_plots(
                tables["madam_levels"], "experiment", "method", "level", [EXACT]
            ),
        ),
        Section(
            "The data",
            ("madam_statistics",),
            "Averages over the file's questions, beside the paper's (Figure 5).",
            lambda runs, _: number_plots(_counted(runs)[1]),
        ),
    ),
    facets=(Facet("Verdict", words(VERDICTS.values()), tuple(ALL_METHODS)),),
    roles={"model": "agents and baselines"},
)
