"""What sources answer, and how their answers stand to each other."""

from pathlib import Path

import pytest
from known_labels import KnownLabels, TooLong

from pipelines.conflicts.classifier import shipped_classifier
from pipelines.conflicts.datasets import SAMPLES, read
from pipelines.conflicts.question import Query, Source
from pipelines.conflicts.structure import (
    ANSWER_CHARACTERS,
    answer_sentence,
    mean_probability,
    structure,
)
from pipelines.conflicts.taxonomy import ConflictType
from pipelines.data.records import Document
from pipelines.evidence.judgement import Relation
from pipelines.evidence.labeller import PairError
from pipelines.evidence.nli import nli_labeller, shipped_tagger
from pipelines.text.question_form import question_form

YES, NO = "Yes, tea is good for sleep.", "No, tea is bad for sleep."
ASIDE = "Stones lie in the old museum."
GOOD = "Is tea good for sleep?"


def stance(document: Document) -> Relation:
    """A text that begins with "Yes" supports everything, one with "No" contradicts everything."""
    sides = {"Yes": Relation.SUPPORTS, "No,": Relation.CONTRADICTS, "???": Relation.INVALID}
    return sides.get(document.text[:3], Relation.IRRELEVANT)


def asked(question: str, *texts: str) -> Query:
    return Query(id="q", query=question, sources=tuple(Source(text=text) for text in texts))


def answered(question: str, text: str) -> str | None:
    return answer_sentence(question, text, question_form(question))


# The sentence that answers.


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        (  # of three that have the question's words, the one with a number
            "How many lanes does the bridge have?",
            "The lanes of the bridge are wide. The bridge has six lanes, or 6. Lanes on a bridge!",
            "The bridge has six lanes, or 6.",
        ),
        (
            "When did the tower open?",
            "The tower will open its doors to all. The tower did open in May. The tower is open.",
            "The tower did open in May.",
        ),
        (  # "may" is no month, and "today" no day of the week
            "When did the tower open?",
            "The tower may open today if it did. The tower did open in 1889.",
            "The tower did open in 1889.",
        ),
        (
            "When did the tower open?",
            "They open the tower every day. They did open the tower in 1889.",
            "They did open the tower in 1889.",
        ),
        (
            "Who built the mill?",
            "The mill was built well. The mill was built by Smith. The mill was built twice.",
            "The mill was built by Smith.",
        ),
        (
            "Where is the mill built?",
            "A mill is built of stone. The mill is built near Leeds.",
            "The mill is built near Leeds.",
        ),
        (  # of equal ones the first
            GOOD,
            "Tea is good for sleep. For sleep tea is good.",
            "Tea is good for sleep.",
        ),
        (  # a number is worth less than the words of the question
            "How many lanes does the bridge have?",
            "There are 40 lanes in town. Lanes of the bridge have not been counted.",
            "Lanes of the bridge have not been counted.",
        ),
        # Every sentence begins with a capital; "Smith" tells nothing there.
        ("Who has a mill?", "Smith mill. Mill of Jones.", "Mill of Jones."),
        # One of four words, however many numbers.
        ("How many lanes does the old bridge over Thames have?", "A bridge costs 40.", None),
        (GOOD, "Stones lie in a museum. It has 40 rooms.", None),
        (GOOD, "", None),
        # Nothing but function words is asked.
        ("Who is it?", "It is who it is.", None),
    ],
)
def test_the_sentence_that_answers(question: str, text: str, answer: str | None) -> None:
    assert answered(question, text) == answer


def test_a_text_without_an_end_is_cut() -> None:
    found = answered(GOOD, "Tea is good for sleep and " + "so on and " * 200)
    assert found is not None
    assert found.startswith("Tea is good for sleep and so on")
    assert ANSWER_CHARACTERS - 1 <= len(found) <= ANSWER_CHARACTERS


# Stances.


async def test_a_question_of_yes_or_no_is_judged_by_every_source() -> None:
    labeller = KnownLabels(stance)
    found = await structure(asked(GOOD, YES, NO, YES, ASIDE), labeller)
    assert found.claim == "Tea is good for sleep."
    assert [each.relation for each in found.stances] == [
        Relation.SUPPORTS, Relation.CONTRADICTS, Relation.SUPPORTS, Relation.IRRELEVANT,
    ]  # fmt: skip
    assert [each.document for each in found.stances] == ["1", "2", "3", "4"]
    # Masses 0.8 + 0.8 and 0.8.
    assert found.kappa == pytest.approx(1 - 0.8 / 2.4, abs=1e-6)
    # Those of the other labels are 0.1 each.
    assert mean_probability(found.stances, Relation.CONTRADICTS) == pytest.approx(1.1 / 4)


@pytest.mark.parametrize(
    ("texts", "kappa"),
    [
        *[((YES, NO), 1.0), ((YES, YES, NO), 2 / 3), ((YES, NO, NO, NO), 1 / 2)],
        *[((YES, YES), 0.0), ((ASIDE,), 0.0), ((YES, "??? broken"), 0.0)],
    ],
)
async def test_kappa_of_labels_without_probabilities(texts: tuple[str, ...], kappa: float) -> None:
    """Each counts as 1."""
    found = await structure(asked(GOOD, *texts), KnownLabels(stance, probability=None))
    assert found.kappa == pytest.approx(kappa, abs=1e-5)


async def test_other_questions_have_no_claim() -> None:
    labeller = KnownLabels(stance)
    found = await structure(asked("When did tea come to Europe?", YES, ASIDE), labeller)
    assert (found.claim, found.stances, found.kappa) == (None, (), 0)
    assert mean_probability(found.stances, Relation.SUPPORTS) is None
    assert labeller.asked == []


# Relations.


async def test_every_ordered_pair_of_answers_is_judged() -> None:
    """One answers with its second sentence, one does not answer at all."""
    labeller = KnownLabels(stance)
    question = "How does tea act on sleep?"
    one, two = "Yes, tea does act on sleep.", "No, tea does not act on sleep."
    three = "Tea may act on sleep."
    found = await structure(asked(question, one, f"Hello. {two}", ASIDE, three), labeller)
    assert found.answers == (one, two, None, three)
    pairs = [(each.claim, each.document, each.relation) for each in found.relations]
    assert sorted(pairs) == sorted(
        [
            (two, "1", Relation.SUPPORTS), (three, "1", Relation.SUPPORTS),
            (one, "2", Relation.CONTRADICTS), (three, "2", Relation.CONTRADICTS),
            (one, "4", Relation.IRRELEVANT), (two, "4", Relation.IRRELEVANT),
        ]
    )  # fmt: skip
    # Answers are judged by answers, not by whole sources.
    assert {text for _, text in labeller.asked} == {one, two, three}


async def test_equal_answers_support_each_other_unasked() -> None:
    labeller = KnownLabels(stance)
    found = await structure(asked("How does tea act?", "Tea does act.", "Tea does act."), labeller)
    assert found.answers == ("Tea does act.",) * 2
    assert [each.relation for each in found.relations] == [Relation.SUPPORTS] * 2
    assert mean_probability(found.relations, Relation.SUPPORTS) == 1
    assert labeller.asked == []


async def test_an_answer_that_two_give_is_asked_for_once() -> None:
    """It counts for each pair of sources all the same."""
    labeller = KnownLabels(stance)
    one, other = "Tea does act.", "Tea may act."
    found = await structure(asked("How does tea act?", one, one, other), labeller)
    assert sorted((each.claim, each.document) for each in found.relations) == [
        (one, "1"), (one, "2"), (one, "3"), (one, "3"), (other, "1"), (other, "2"),
    ]  # fmt: skip
    assert len(labeller.asked) == 3


async def test_one_source_has_nobody_to_stand_to() -> None:
    found = await structure(asked(GOOD, YES), KnownLabels(stance))
    assert (found.relations, len(found.stances)) == ((), 1)


async def test_a_question_that_does_not_fit() -> None:
    with pytest.raises(PairError, match="too long"):
        await structure(asked(GOOD, YES), TooLong())


# The real thing.


async def test_real_queries_with_the_shipped_tagger(released_data: Path) -> None:
    """A query of each type, of its first sources; each is judged by the fold that never saw it."""
    data = read(released_data / "conflicts/conflicts_partial.jsonl.gz")
    queries = [
        next(each for each in data.queries if each.conflict_type is type_ and len(each.sources) > 2)
        for type_ in ConflictType
    ]
    folder, classifier = shipped_tagger(), shipped_classifier()
    assert classifier.tagger == folder.digest, "features are by the tagger that comes along"
    labeller = nli_labeller(folder)
    for query in queries:
        few = query.model_copy(update={"sources": query.sources[:3]})
        found = await structure(few, labeller)
        assert len(found.answers) == 3
        assert len(found.stances) == (0 if found.claim is None else 3)
        assert len(found.relations) <= 6
        assert not [each for each in found.relations if each.relation is Relation.INVALID]
        assert classifier.linear_for(query.query) is not classifier.whole
        prediction = classifier.predict(few, found, {})
        assert prediction.type is not None
        assert prediction.probabilities is not None
        assert sum(prediction.probabilities.values()) == pytest.approx(1)
        assert prediction.explanation.count(";") == 2


async def test_the_bundled_queries_with_the_shipped_classifier() -> None:
    """It never saw them, and names the type of five; two of ten would be chance."""
    labeller, classifier = nli_labeller(shipped_tagger()), shipped_classifier()
    right = 0
    for query in read(SAMPLES).queries:
        found = classifier.predict(query, await structure(query, labeller), {})
        right += found.type is query.conflict_type
    assert right >= 4  # a processor may decide a close one otherwise
