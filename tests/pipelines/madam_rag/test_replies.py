"""How replies in free text are read: the formats of appendix C, and what models make of them."""

import pytest

from pipelines.madam_rag.replies import read_agent, read_conclusion


@pytest.mark.parametrize(
    ("text", "answer", "explanation"),
    [
        ("Answer: 1856. Explanation: It says so.", "1856", "It says so."),
        ("Answer: {1856}. Explanation: {It says so.}", "1856", "{It says so.}"),
        ("answer: 1856\n\nEXPLANATION: It says so.", "1856", "It says so."),
        ("Sure!\nAnswer: Austin, Texas. Explanation: E.", "Austin, Texas", "E."),
        ("Answer: 'unknown'. Explanation: E.", "unknown", "E."),
        ("Answer: 1856.\nThis is what", "1856", ""),  # cut before its explanation
        ("Answer:  Explanation: none", "", "none"),
        ("Answer: 1856. Explanation: Answer: 1902 is wrong.", "1856", "Answer: 1902 is wrong."),
        ("Answer: St. Louis. Explanation: a\nb", "St. Louis", "a\nb"),
        ("Answer: 1856. Because the document says so.", "1856", ""),
        ("Answer: St. Louis", "St. Louis", ""),
        ("Answer: 1856. Step-by-step explanation: It says so.", "1856", "It says so."),
        ("Answer: 1856\nStep by step explanation: E.", "1856", "E."),
        ("Answer: unknown\n\nStep-by-Step Reasoning Explanation:\n1. E.", "unknown", "1. E."),
        ("Answer: 1856. Reasoning: E.", "1856", "E."),
        ("**Answer:** 1856.\n\n**Explanation:** It says so.", "1856", "It says so."),
        ("## Answer: 1856\n## Explanation: It says so.", "1856", "It says so."),
        ("Answer: N/A Explanation: E.", "N/A", "E."),
        ("Answer : 1856. Here's the detailed explanation: E.", "1856", "E."),
        ("Answer: 1856\nExplanation (step by step): E.", "1856", "E."),
        ("unknown", "unknown", ""),
        ("**Unknown.**", "Unknown", ""),
    ],
)
def test_an_agent(text: str, answer: str, explanation: str) -> None:
    reply = read_agent(text)
    assert (reply.answer, reply.explanation, reply.problem) == (answer, explanation, None)


def test_an_agent_that_does_not_answer_is_unreadable() -> None:
    assert read_agent("I think that it is not stated.").answer is None
    reply = read_agent("The mill was built in 1856.")
    assert reply.answer is None
    assert reply.raw == "The mill was built in 1856."
    assert "Answer:" in (reply.problem or "")


@pytest.mark.parametrize(
    ("text", "answers", "explanation"),
    [
        ('All Correct Answers: ["1856", "1902"]. Explanation: E.', ("1856", "1902"), "E."),
        ("All Correct Answers: ['1856', '1902']. Explanation: E.", ("1856", "1902"), "E."),
        ('All Correct Answers: ["1856", "1856."]. Explanation: E.', ("1856",), "E."),
        ('All Correct Answers: ["unknown"]. Explanation: E.', (), "E."),
        ("All Correct Answers: unknown. Explanation: E.", (), "E."),
        ("All Correct Answers: []. Explanation: E.", (), "E."),
        ("unknown", (), ""),
        ("All Correct Answers: [1856]", ("1856",), ""),
        ("All Correct Answers: [1,856]. Explanation: E.", ("1,856",), "E."),
        ("All Correct Answers: [1,856, 1902]", ("1,856", "1902"), ""),
        ("All Correct Answers: [1, 856]", ("1", "856"), ""),
        ("All Correct Answers: [1,856.5]", ("1,856.5",), ""),
        ("All Correct Answers: [“Libya”, “Lebanon”]", ("Libya", "Lebanon"), ""),
        ('All Correct Answers: ["1,856 people", 12,000]', ("1,856 people", "12,000"), ""),
        ("All Correct Answers: [Austin, Texas]. Explanation: E.", ("Austin, Texas",), "E."),
        ("All correct answers: 1856\nand more", ("1856",), ""),
        ('So. All Correct Answers: ["St. Louis"]. Explanation: [2].', ("St. Louis",), "[2]."),
        ('All Correct Answers: ["1856", "19', ("1856",), ""),  # cut within the list
        ("All Correct Answers: ['1856', '1902'", ("1856", "1902"), ""),
        # The list ends with its bracket, whatever is quoted behind it.
        ('All Correct Answers: ["1963"]. The "Chicago Bulls" player', ("1963",), ""),
        ('All Correct Answers: ["1963", "1956"]\n\n"Michael" it is', ("1963", "1956"), ""),
        ("All Correct Answers: ['Libya', 'Lebanon']. The answer is so.", ("Libya", "Lebanon"), ""),
        ("**All Correct Answers:** ['Hawai\\'i [island]']", ("Hawai'i [island]",), ""),
        ("All Correct Answers:\n- Libya\n- Lebanon\nExplanation: E.", ("Libya", "Lebanon"), "E."),
        ("All Correct Answers: 1,856. Step-by-step reasoning: E.", ("1,856",), "E."),
        ("All Correct Answers: 1. Libya\n2. Lebanon", ("Libya", "Lebanon"), ""),
        # Half of a character, which no result could be written with.
        ('All Correct Answers: ["Libya\\ud800"]', ("Libya?",), ""),
    ],
)
def test_a_conclusion(text: str, answers: tuple[str, ...], explanation: str) -> None:
    read = read_conclusion(text)
    assert (read.answers, read.explanation, read.problem) == (answers, explanation, None)


def test_a_conclusion_without_its_list_is_unreadable() -> None:
    read = read_conclusion("1856, I should think.")
    assert read.answers == ()
    assert read.raw == "1856, I should think."
    assert "All Correct Answers:" in (read.problem or "")
