"""Our prompts contain, in our words, everything that ConflictScore's Tables 6 and 7 ask for."""

import pytest

from pipelines import prompts


@pytest.mark.parametrize(("name", "given"), [("atomic", {}), ("salient", {"k": 3})])
def test_hedged_sentences_stay_one_claim(name: str, given: dict[str, object]) -> None:
    """Otherwise no response could be rewarded for hedging (section 3, step 2; Figure 1)."""
    prompt = prompts.load(f"conflictscore/{name}", {"response", *given})
    (message,) = prompt.messages(response="SAID", **given)
    for kept in ("contrast", "exception", '"some ... others ..."', "who says what", '"may"'):
        assert kept in message["content"]
    assert "The guide says 1932, the study 1936" in message["content"]
    assert "one claim" in message["content"]
    assert "SAID" in message["content"]


def test_statements_keep_lists_dates_and_roles_together_as_table_6_does() -> None:
    (message,) = prompts.load("conflictscore/statements", {"response"}).messages(response="SAID")
    assert "stays together in one claim" in message["content"]
    assert '"In 1903 Marie Curie, a physicist born in Warsaw, shared' in message["content"]
    assert "SAID" in message["content"]


@pytest.mark.parametrize("name", ["relation", "relation_json", "relation_together"])
def test_the_judge_is_told_what_each_label_covers(name: str) -> None:
    together = name == "relation_together"
    variable = "documents" if together else "document"
    prompt = prompts.load(f"judge/{name}", {variable, "claim"})
    (message,) = prompt.messages(
        claim="CLAIMED", **{variable: ["FIRST", "SECOND"] if together else "FIRST"}
    )
    text = message["content"]
    # Partial support, including support of one of several views (SUPPORTS).
    assert "for any part of it" in text
    assert "backs just one of them" in text
    # A namesake of another profession (CONTRADICTS).
    assert "A name means the same in both" in text
    assert "role, profession or direction" in text
    # A claim that asserts all its parts: Table 7 has no such exception to partial support.
    assert ("asserts all its parts at once" in text) == (name != "relation_json")
    assert ("says only what another document says" in text) == together
    # A mere mention is not enough (IRRELEVANT).
    assert "Mentioning the same people or things is not enough" in text
    assert text.index("FIRST") < text.index("CLAIMED")
    if name == "relation_json":
        assert "or for any part of it, even if it denies another part" in text
        # Order as in Table 7: reason before label
        assert text.index('"snippet"') < text.index('"reasoning"') < text.index('"answer"')
