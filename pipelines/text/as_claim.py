"""A question with an answer that may be a word or a sentence, as one statement."""

from pipelines.text.declarative import declarative

SENTENCE_WORDS = 5
"""Words from which an answer with a full stop is a sentence; "Washington, D.C." is none."""


def as_claim(question: str, answer: str) -> str:
    """Question and answer as one statement; an answer that is a sentence stands by itself.

    "When was the dam built?" with "1902" is "The dam was built in 1902."; with "It was built in
    1902." it is just that.
    """
    sentence = answer.endswith(".") and len(answer.split()) >= SENTENCE_WORDS
    return answer if sentence else declarative(question, answer)
