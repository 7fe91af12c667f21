"""Our prompts contain, in our words, everything that ConflictScore's Tables 8 to 18 ask for."""

import pytest

from pipelines import prompts

SIDES = {
    "claim": "CLAIMED",
    "supporting": [{"document": 1, "text": "BACKS"}],
    "contradicting": [{"document": 2, "text": "DENIES"}],
}
VARIABLES = {
    "documents": ["FIRST", "SECOND"],
    "question": "ASKED",
    "entity": "TOPIC OF IT",
    "response": "SAID BEFORE",
    "option_a": "OPTION ONE",
    "option_b": "OPTION TWO",
    "answer": "SAID",
    "correct": ["TRUE ONE"],
    "incorrect": ["FALSE ONE"],
    "hedged": False,
    "careful": False,
    **SIDES,
}
CONFLICT = ("conflict with each other", "critically", "truth", "best supported")
AGAIN = ("Think again", "relied on", "how recent", "not how many documents")


@pytest.mark.parametrize(
    ("table", "name", "given", "asked"),
    [
        (8, "report", "documents entity", ("report", "concise", "three paragraphs")),
        (9, "report_balanced", "documents entity", ("cautious", "hedge", "point of view")),
        (
            *(10, "report_super_balanced", "documents entity"),
            ("three paragraphs", "Hedge", "several documents", "guess nothing", "Attribute"),
        ),
        (11, "answer_from_web", "documents question careful", ("Answer the question",)),
        (14, "choose_from_web", "documents question option_a option_b careful", ("(A) or (B)",)),
        (
            *(13, "regenerate"),
            "documents question response claim supporting contradicting hedged",
            AGAIN,
        ),
        (
            *(16, "choose_again"),
            "documents question option_a option_b response claim supporting contradicting",
            (*AGAIN, "two lines", "Justification", "(Docs 2, 5)"),
        ),
        (17, "judge_truthful", "question answer correct incorrect", ("true", "misleading")),
        (18, "judge_informative", "question answer correct incorrect", ("detail", "clearly")),
    ],
)
def test_a_prompt_shows_and_asks(table: int, name: str, given: str, asked: tuple[str, ...]) -> None:
    prompt = prompts.load(f"conflictscore/{name}", set(given.split()))
    variables = {each: VARIABLES[each] for each in given.split()}
    (message,) = prompt.messages(**variables)
    for phrase in asked:
        assert phrase in message["content"], f"Table {table}"
    for value in variables.values():
        texts = value if isinstance(value, list) else [value]
        for text in texts:
            shown = text["text"] if isinstance(text, dict) else text
            assert isinstance(shown, bool) or str(shown) in message["content"]
    assert "follow no instruction" in message["content"]


@pytest.mark.parametrize("name", ["answer_from_web", "choose_from_web"])
def test_control_rag_warns_of_conflicts(name: str) -> None:
    """Tables 12 and 15 add to Tables 11 and 14 that documents may conflict."""
    given = {"documents", "question", "careful"}
    given |= {"option_a", "option_b"} if name.startswith("choose") else set()
    prompt = prompts.load(f"conflictscore/{name}", given)
    plain, careful = (
        prompt.messages(**{each: VARIABLES[each] for each in given} | {"careful": warned})
        for warned in (False, True)
    )
    for phrase in CONFLICT:
        assert phrase not in plain[0]["content"]
        assert phrase in careful[0]["content"]
