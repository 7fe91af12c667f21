"""TruthfulQA on a scripted endpoint and a scripted tagger: every outcome worked out by hand."""

from dataclasses import replace
from typing import Any

import pytest
from scripted import Scripted, fenced_text, prompt_of
from tagging import REFUTE, SUPPORT, UNSURE, ScriptedTagger, folder_of

from nli.pairs import Pair
from pipelines.conflictscore.pipeline import prepare as prepare_scorer
from pipelines.conflictscore.settings import Settings
from pipelines.conflictscore.truthfulqa.pipeline import (
    Methods,
    answer_question,
    prepare,
    truth_judge,
)
from pipelines.conflictscore.truthfulqa.result import Item, Options, TruthResult, items_of
from pipelines.data.records import Document
from pipelines.data.truthfulqa import TruthfulQuestion
from pipelines.errors import InputError
from serving.client import Client

TRUE, FALSE = "The wall cannot be seen.", "The wall can be seen."
SAYS, DENIES, ELSE = "It is seen.", "It is not seen.", "It is long."
ASKED = TruthfulQuestion(
    id="wall",
    question="Can the wall be seen?",
    best_answer=TRUE,
    best_incorrect_answer=FALSE,
    documents=tuple(
        Document(id=f"d{n}", text=text) for n, text in enumerate((SAYS, DENIES, ELSE), 1)
    ),
)
HEDGED = "Some say that the wall is seen, others deny it."


def says(pair: Pair) -> tuple[float, float, float]:
    """Of what is said plainly one document is for it and one against; both support the hedge."""
    if pair.hypothesis == HEDGED:
        return SUPPORT if pair.premise in (SAYS, DENIES) else UNSURE
    for claim, backing, denying in ((TRUE, DENIES, SAYS), (FALSE, SAYS, DENIES)):
        if pair.hypothesis == claim:
            return {backing: SUPPORT, denying: REFUTE}.get(pair.premise, UNSURE)
    return UNSURE


@pytest.fixture
def methods(client: Client) -> Methods:
    scorer = prepare_scorer(
        Settings(judge="tagger", claims="sentences"), tagger=folder_of(ScriptedTagger(says))
    )
    return prepare(client, scorer, truth_judge(client))


def item(setting: str, correct: str = "A") -> Item:
    (free, binary), _ = items_of([ASKED], documents=10)
    both = (TRUE, FALSE) if correct == "A" else (FALSE, TRUE)
    options = Options(*both, correct)  # type: ignore[arg-type]
    return free if setting == "free-form" else replace(binary, options=options)


def kind(request: dict[str, Any]) -> str:
    """What a request asks for."""
    text = prompt_of(request)
    if "response_format" in request:
        return "informative" if "helps the person" in text else "truthful"
    again = "Think again" in text
    told = "disagree" in text
    if again:
        return "regenerated" if told else "rewritten"
    return "control" if "Look out for points" in text else "rag"


def replies(endpoint: Scripted, **by: str) -> None:
    """What the model replies to each kind of request; verdicts are true but of `FALSE`."""

    def reply(request: dict[str, Any]) -> str:
        name = kind(request)
        if name in by:
            return by[name]
        right = fenced_text(request, "ANSWER") != FALSE
        return f'{{"verdict": {str(right).lower()}, "explanation": "so"}}'

    endpoint.reply = reply


def kinds(endpoint: Scripted) -> list[str]:
    return sorted(kind(each) for each in endpoint.requests if "response_format" not in each)


def seen(result: TruthResult) -> dict[str, tuple[float | None, bool | None]]:
    """Condition -> CS-C, and whether the answer is right."""
    return {
        name: (outcome.score.cs_c if outcome.score else None, result.right(name))
        for name, outcome in result.outcomes.items()
    }


async def test_a_free_form_answer_under_all_conditions(
    methods: Methods, endpoint: Scripted
) -> None:
    """RAG is wrong and in conflict; told of it, the model hedges; untold, it repeats itself."""
    replies(endpoint, rag=FALSE, control=TRUE, rewritten=FALSE, regenerated=HEDGED)
    result = await answer_question(item("free-form"), methods)
    assert seen(result) == {
        "rag": (1.0, False),
        "control": (1.0, True),
        "rewritten": (1.0, False),
        "regenerated": (0.0, True),
    }
    assert kinds(endpoint) == ["control", "rag", "regenerated", "rewritten"]
    assert [result.outcomes[name].ignored for name in ("rewritten", "regenerated")] == [True, False]
    assert result.feedback is not None
    assert result.feedback.claim == FALSE
    (told,) = [each for each in endpoint.requests if kind(each) == "regenerated"]
    assert "document 1" in prompt_of(told)
    assert "document 2" in prompt_of(told)
    assert "both sides" not in prompt_of(told)
    (untold,) = [each for each in endpoint.requests if kind(each) == "rewritten"]
    assert "CLAIM" not in prompt_of(untold)
    assert "PASSAGE" not in prompt_of(untold)


async def test_a_choice_under_all_conditions(methods: Methods, endpoint: Scripted) -> None:
    """(A) is right. RAG chooses (B); told of the conflict the model chooses (A)."""
    replies(
        endpoint,
        rag="(B)",
        control="(A)",
        rewritten=f"B – {FALSE}\nJustification: it is said (Doc 1).",
        regenerated="(A) it is",
    )
    result = await answer_question(item("binary"), methods)
    assert seen(result) == {
        "rag": (1.0, False),
        "control": (1.0, True),
        "rewritten": (1.0, False),
        "regenerated": (1.0, True),
    }
    rewritten, regenerated = (result.outcomes[name] for name in ("rewritten", "regenerated"))
    assert rewritten.justification == "it is said (Doc 1)."
    assert (rewritten.ignored, regenerated.ignored) == (True, False)
    (told,) = [each for each in endpoint.requests if kind(each) == "regenerated"]
    assert fenced_text(told, "YOUR CHOICE") == FALSE
    assert fenced_text(told, "CLAIM") == FALSE
    assert fenced_text(told, "ANSWER A") == TRUE


def test_what_has_no_documents_or_no_second_option_is_counted() -> None:
    bare = ASKED.model_copy(update={"id": "bare", "documents": ()})
    single = ASKED.model_copy(update={"id": "single", "best_incorrect_answer": None})
    items, left_out = items_of([bare, single, ASKED], documents=2)
    assert [item.id for item in items] == ["single/free-form", "wall/free-form", "wall/binary"]
    assert left_out == (3, 1, 1)
    assert all(len(item.documents) == 2 for item in items)
    with pytest.raises(InputError, match="none of the questions has documents"):
        items_of([bare], documents=2)
    first, _ = items_of([bare, ASKED, single], documents=2, limit=1)
    assert [item.id for item in first] == ["wall/free-form", "wall/binary"]
