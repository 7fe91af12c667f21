"""The judges of section 4: rules worked by hand, and the contents of their prompts."""

import re
from pathlib import Path

import pytest
from clients import asking

from pipelines.conflicts.judges import (
    BEHAVIOUR,
    REMARK_CHARACTERS,
    VARIABLES,
    behaviour,
    decided,
    named,
    prompted_model,
    states_a_fact,
)
from pipelines.conflicts.result import Grounding, Grounds, SentenceGrounding
from pipelines.conflicts.taxonomy import CATEGORY, ConflictType
from pipelines.data.jsonl import SAMPLES
from pipelines.judge.judgement import Judgement, Relation
from pipelines.prompts import HERE, load

S, C, I, X = Relation  # noqa: E741


def judgement(relation: Relation, source: int, snippet: str | None = None) -> Judgement:
    return Judgement(
        claim="The dam was built in 1902.",
        document=str(source),
        relation=relation,
        snippet=snippet,
        raw="?" if relation is X else None,
        source="known",
    )


def verdict(*relations: Relation) -> SentenceGrounding:
    judgements = [judgement(each, number) for number, each in enumerate(relations, 1)]
    return decided(judgements, tuple(range(1, len(relations) + 1)))


@pytest.mark.parametrize(
    ("relations", "grounds"),
    [
        ((S,), Grounds.SUPPORTED),
        ((C, I, S), Grounds.SUPPORTED),  # one supporting source is enough
        ((X, S), Grounds.SUPPORTED),
        ((I, C), Grounds.CONTRADICTORY),
        ((C, X), Grounds.CONTRADICTORY),
        ((I, I), Grounds.UNSUPPORTED),
        ((I, X), None),  # the unreadable one might have supported it
    ],
)
def test_what_several_sources_make(
    relations: tuple[Relation, ...], grounds: Grounds | None
) -> None:
    assert verdict(*relations).grounds is grounds


def test_the_share_of_an_answer_worked_by_hand() -> None:
    # Two supported, one unsupported, one contradictory, one without facts, one not judged: 2 / 4.
    grounds = [*[Grounds.SUPPORTED] * 2, Grounds.UNSUPPORTED, Grounds.CONTRADICTORY]
    parts = [SentenceGrounding(grounds=each) for each in [*grounds, Grounds.NO_FACT, None]]
    assert Grounding(sentences=tuple(parts)).share == 0.5


@pytest.mark.parametrize(
    "sentence",
    [
        "", "...", "What is known about the dam?", "**Arguments for uniforms:**", "## Summary",
        "The sources disagree.", "In summary, the sources disagree on this.",
        "The search results give different answers.", "Most of the sources do not agree.",
        "Here is a summary.", "Here is a brief overview of the sources:", "It depends.",
        "Search results vary widely.", "The results do not answer the query.",
        # The answer's own opinions, disclaimers, advice.
        "I think it is worth a visit.", "In my opinion, it is overrated.",
        "Please ask an engineer.", "It is best to consult a doctor before fasting.",
    ],
)  # fmt: skip
def test_remarks_state_no_fact(sentence: str) -> None:
    assert not states_a_fact(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The dam was built in 1902.",
        "The sources disagree whether the dam, built in 1902, is safe.",
        "The sources agree that the dam is safe.", "Sources of the Nile are in Rwanda.",
        "Here is where the river ends.",
        "I could not find an answer, but the dam was built in 1902.",
        "There is no scientific consensus on the question.", "Opinions differ on the dam.",
        "According to the sources, the dam was built in 1902.",
        "It depends on the height above the sea.", "The documents are kept in Vienna.",
        "The results of the 2019 election varied widely by region.",
        "The documents do not mention slavery.", "There is no information on the gravestone.",
        "The sources do not say when the dam was built, but it has three towers.",
        "The sources mention the mayor.", "The answer is 42.",
        "The exact origin of the dish is unclear to historians, who name Vienna.",
        "Pleased visitors are known to return.",
        "Doctors think that it helps.", "Consultants advise the town.",
        "I think it opened in 1932.", "We recommend 400 mg a day.",
        "Please note that the bridge, opened in 1932, is closed.",
    ],
)  # fmt: skip
def test_everything_else_does(sentence: str) -> None:
    assert states_a_fact(sentence)


def test_a_long_text_takes_no_long_time() -> None:
    long = "I could not find " + "the sources " * 20_000
    assert states_a_fact(long)
    assert states_a_fact("the " * 50_000 + "x")
    assert states_a_fact("I could not find " + "the sources " * 14 + "x")
    for words in ("no information in ", "the results do not say when in sources ", "of the "):
        assert states_a_fact((words * 20)[: REMARK_CHARACTERS - 3] + ", x")


@pytest.mark.parametrize(
    ("gold", "answer", "there"),
    [
        ("The Hague", "The court sits in the Hague.", True),
        ("J. R. R. Tolkien", "It was J.R.R. Tolkien.", False),  # left to the tagger
        ("1902", "It was built in 1902, not in 1856.", True),
        ("19", "It was built in 1902.", False),
        ("no", "There is no doubt that it was.", False),
        ("Yes", "Yes, it was.", False),
        ("the", "The dam.", False),  # it normalises to nothing
    ],
)
def test_what_is_named_word_for_word(gold: str, answer: str, there: bool) -> None:
    assert named(gold, answer) is there


def template(of: ConflictType) -> str:
    return load(f"conflicts/{BEHAVIOUR[of]}", VARIABLES[BEHAVIOUR[of]]).source


@pytest.mark.parametrize("of", ConflictType)
def test_a_template_has_as_many_examples_that_adhere_as_that_do_not(of: ConflictType) -> None:
    verdicts = re.findall(r"^Reason: .+\nVerdict: (YES|NO)$", template(of), re.MULTILINE)
    assert verdicts.count("YES") == verdicts.count("NO")
    assert 2 <= verdicts.count("YES") <= 3


def shown_examples() -> set[str]:
    """Questions of all examples in prompts."""
    return {
        each
        for path in HERE.glob("conflicts/prompts/*.j2")
        for each in re.findall(r"^Question: (.+)$", path.read_text("utf-8"), re.MULTILINE)
    }


def test_no_example_of_a_prompt_stands_among_the_samples() -> None:
    """Otherwise models would be evaluated on examples from their prompts."""
    shown = shown_examples()
    assert len(shown) >= 15
    asked = {
        line
        for name in ("conflicts.jsonl", "contested.jsonl", "ramdocs.jsonl")
        for line in re.findall(
            r'"question": "(.+?)", "', (SAMPLES.parent / name).read_text("utf-8")
        )
    }
    assert not shown & asked


@pytest.mark.parametrize("of", ConflictType)
async def test_what_the_judge_of_behaviour_is_told(of: ConflictType, tmp_path: Path) -> None:
    """Type, expected behaviour, examples, query and answer; prompts differ only in the last two."""
    reply = '{"reason": "So it does.", "adheres": true}'
    async with asking(tmp_path, lambda _: reply) as (client, requests):
        by = prompted_model(client)
        found = await behaviour("Who built it?", of, "Ann Li built it [1].", by)
        await behaviour("When was that?", of, "In 1902 [2].", by)
    assert (found.adheres, found.type, found.reason) == (True, of, "So it does.")
    assert found.problem is None
    one, other = (request["messages"][-1]["content"] for request in requests)
    before = one[: one.index("<<QUESTION")]
    assert CATEGORY[of].definition in before
    assert CATEGORY[of].expected in before
    assert before.count("Verdict: YES") >= 2
    assert other.startswith(before)
    assert one.index("<<QUESTION") < one.index("<<ANSWER")
