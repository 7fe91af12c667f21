"""What passages say for and against one claim (ConRAG)."""

from collections.abc import Sequence
from functools import partial

from pipelines.conrag.answer import Answer
from pipelines.conrag.generation import generator as generator_of
from pipelines.conrag.pipeline import conrag
from pipelines.conrag.settings import AnswerOptions
from pipelines.errors import InputError
from pipelines.experiment.cost import spent
from pipelines.experiment.experiment import Models
from pipelines.experiment.options import judging
from pipelines.inspection.found import Inspection, Tell, models_used, telling
from pipelines.report.explorer import ExperimentView
from pipelines.report.glance import ModelUsed
from pipelines.retrieval.index import Index, Retrieved
from pipelines.text.declarative import affirmed


def claim_of(text: str, options: AnswerOptions) -> str | None:
    """The claim that a query puts; None where a model answers it first.

    Raises:
        InputError: It is a question that no model answers.
    """
    claim = as_claim(text)
    if claim is None and not options.writes:
        raise InputError(
            f"'{text}' cannot be put as a claim; have a language model answer it first with "
            "--generator model, or write the claim that passages are to support or refute"
        )
    return claim


def as_claim(text: str) -> str | None:
    """The claim that a query puts: a claim as it is, a question of yes or no affirmed.

    None of other questions, which need an answer before passages can be for or against it.
    """
    return affirmed(text) if text.endswith("?") else text


def search(index: Index, text: str, options: AnswerOptions) -> list[Retrieved]:
    """The passages of an index that a claim or question is answered from."""
    return index.search(
        text,
        k=options.settings.depth,
        method=options.method or ("hybrid" if index.about.model else "bm25"),
    )


async def ask(
    text: str,
    retrieved: Sequence[Retrieved],
    options: AnswerOptions,
    models: Models,
    tell: Tell,
    *,
    index: str,
) -> Inspection[Answer]:
    """Tag the passages and answer from them; `index` says where they are from.

    It raises what `claim_of` and `conrag` do.
    """
    models = telling(models, tell)
    claim = claim_of(text, options)
    judge = models.judge(judging(options.judging, options.on_overflow))
    writer = generator_of(models.asked, models.prompts) if options.writes else None
    tell("reading the passages")
    answer = await conrag(
        claim or text,
        retrieved,
        judge=judge.label,
        settings=options.settings,
        generator=writer,
        question=claim is None,
    )
    used = models_used(
        tagger=judge.tagger,
        judge=judge.model.client.model if judge.model else None,
        writer=writer.client.model if writer else None,
    )
    return Inspection(
        answer,
        spent(models.client, judge),
        title="What the documents say",
        view=partial(_view, answer, used),
        about={"query": answer.query, "index": index},
    )


def _view(answer: Answer, used: list[ModelUsed]) -> ExperimentView:
    from pipelines.conrag.view import answer_view

    return answer_view(answer, used)
