"""Sentences with their subject in place of a pronoun, and contrasts with what they answer."""

import pytest

from pipelines.conflictscore.claims import sentence_claims
from pipelines.text.standing import joined, standing

BRIDGE = "The bridge was opened in 1932."
CURIE = "Marie Curie was a chemist."


@pytest.mark.parametrize(
    ("question", "sentences", "resolved"),
    [
        (None, [BRIDGE, "It cost four million."], "The bridge cost four million."),
        (None, [BRIDGE, "Its towers are tall."], "The bridge's towers are tall."),
        (None, [BRIDGE, "It is old.", "It is long."], "The bridge is long."),
        (None, [CURIE, "She won two prizes."], "Marie Curie won two prizes."),
        (None, [CURIE, "Her notes are kept in lead."], "Marie Curie's notes are kept in lead."),
        (None, ["Bananas are yellow.", "They are cheap."], "Bananas are cheap."),
        (None, ["In 1932, the bridge was opened.", "It leaks."], "The bridge leaks."),
        ("When did the dam open?", ["It opened in 1936."], "The dam opened in 1936."),
        ("Is Pluto a planet?", ["No.", "It is too small."], "Pluto is too small."),
        ("Who owns the mill?", ["The mill changed hands.", "It burned."], "The mill burned."),
    ],
)
def test_a_pronoun_gives_way_to_its_subject(
    question: str | None, sentences: list[str], resolved: str
) -> None:
    assert standing(sentences, question) == [
        *standing(sentences[:-1], question),
        resolved,
    ]


@pytest.mark.parametrize(
    ("question", "sentences"),
    [
        (None, ["It was opened in 1932."]),  # by whom nothing is said
        (None, ["The company launched a phone.", "It sold well."]),  # either of two
        (None, [BRIDGE, "It is disputed whether the mayor came."]),  # nothing is meant
        (None, [BRIDGE, "She cut the ribbon."]),  # a bridge is no person
        (None, [CURIE, "They were poor."]),  # one is not many
        (None, ["The guide says that the dam leaks.", "It adds a map."]),  # the guide, or the dam
        (None, [BRIDGE, "The mayor spoke.", "It was long."]),  # the speech
        ("What is it?", ["It is a dam."]),
    ],
)
def test_where_the_rules_are_not_sure_a_sentence_stays(
    question: str | None, sentences: list[str]
) -> None:
    assert standing(sentences, question) == sentences


@pytest.mark.parametrize(
    "contrast",
    [
        "The study, however, says 1936.",
        "But the study says 1936.",
        "Others say that it was 1936.",
        "Another source reports 1936.",
        "The study says 1936.",
        "On the other hand, the study says 1936.",
    ],
)
def test_a_contrast_stays_with_what_it_answers(contrast: str) -> None:
    assert joined(["The guide says 1932.", contrast, "Steel was used."]) == [
        f"The guide says 1932. {contrast}",
        "Steel was used.",
    ]
    assert joined([contrast]) == [contrast]


@pytest.mark.parametrize("sentence", ["Another advantage is its price.", "Other rivers are long."])
def test_what_is_added_is_no_contrast(sentence: str) -> None:
    assert joined([BRIDGE, sentence]) == [BRIDGE, sentence]


def test_claims_of_a_response() -> None:
    response = "The bridge opened in 1932 [1]. It is long. Another study says 1936 [2]."
    assert sentence_claims(response, "When did the bridge open?") == (
        "The bridge opened in 1932.",
        "The bridge is long. Another study says 1936.",
    )


@pytest.mark.parametrize(
    ("question", "response", "claims"),
    [
        ("When did the mill open?", "In 1987.", ["The mill opened in 1987."]),
        ("When did the mill open?", "1987", ["The mill opened in 1987."]),
        ("Which club won the cup?", "Real Velden", ["Real Velden won the cup."]),
        ("Is the pier closed?", "Yes, it is.", ["The pier is closed."]),
        ("Did the mill burn?", "No, it did not.", ["The mill did not burn."]),
        (None, "Yes. The mill opened in 1987.", ["The mill opened in 1987."]),
        (None, "Yes.", []),
        (None, "About 310", []),
        (None, "Cats sleep.", ["Cats sleep."]),
        (None, "Germany won 4.", ["Germany won 4."]),
        ("How many did Ada write?", "She wrote 4 plays.", ["Ada wrote 4 plays."]),
        ("When did the mill open?", "May 1932", ["The mill opened in May 1932."]),
        ("Is the mill open?", "Yes, it isn't.", ["Yes, it isn't."]),
        (None, "Die Brücke brennt.", ["Die Brücke brennt."]),
        (None, "桥在1932年开放。", ["桥在1932年开放。"]),
        ("Why?", "Rome\n\nThe mill burned.", ["Rome", "The mill burned."]),
    ],
)
def test_a_bare_answer_is_a_claim_with_its_question_only(
    question: str | None, response: str, claims: list[str]
) -> None:
    assert list(sentence_claims(response, question)) == claims
