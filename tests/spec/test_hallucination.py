"""Hallucinated tokens and responses: worked by hand, by property, and on real responses."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nli.windows import Span
from pipelines.conrag.evaluation.hallucination import (
    CheckedResponse,
    TokenCounts,
    flagged_token_counts,
    from_ragtruth,
    passage_auc,
    response_score,
    token_counts,
    token_f1,
    tokens,
)
from pipelines.data import ragtruth
from pipelines.data.ragtruth import CONFLICTS, Response, Source
from pipelines.data.records import Document

TEXT = "It was built in 1936. It is grey. Nobody lives there."
"""Eleven tokens: five, three and three to a sentence."""


def span(part: str, text: str = TEXT) -> Span:
    start = text.index(part)
    return Span(start, start + len(part))


def response(number: int, *labels: tuple[str, str], **fields: Any) -> Response:
    text = fields.get("response", TEXT)
    spans = [
        {"start": span(part, text).start, "end": span(part, text).end, "label_type": kind}
        for part, kind in labels
    ]
    given_fields = {"source_id": "s1", "response": TEXT, "split": "test", "labels": spans}
    return Response.model_validate({"id": str(number)} | given_fields | fields)


def source(name: str, task: str, info: Any) -> Source:
    return Source.model_validate({"source_id": name, "task_type": task, "source_info": info})


SOURCES = {
    "s1": source(
        "s1",
        "QA",
        {"question": "when", "passages": "passage 1:Built in 1932.\n\npassage 2:It is\ngrey."},
    ),
    "s2": source("s2", "Summary", "The mill is old. " * 100),
    "s3": source("s3", "Data2txt", {"name": "Cafe"}),
}


def checked(*labels: tuple[str, str], **fields: Any) -> CheckedResponse:
    (one,) = from_ragtruth([response(1, *labels, **fields)], SOURCES)
    return one


# Responses to be checked


def test_a_response_is_checked_by_sentences_against_the_passages_of_its_source() -> None:
    one = checked(("1936", "Evident Conflict"), ("Nobody", "Subtle Baseless Info"))
    assert one.claims == ("It was built in 1936.", "It is grey.", "Nobody lives there.")
    assert one.passages == (
        Document(id="s1:1", text="Built in 1932."),
        Document(id="s1:2", text="It is\ngrey."),
    )
    assert one.hallucinated == (span("1936"), span("Nobody"))
    assert one.is_hallucinated
    assert one.oracle_flags == (True, False, True)


def test_a_long_source_is_cut_into_passages() -> None:
    one = checked(source_id="s2")
    assert len(one.passages) > 3
    assert {each.id.partition("#")[0] for each in one.passages} == {"s2:1"}
    assert not one.is_hallucinated


def test_contradictions_alone() -> None:
    both = response(1, ("1936", "Evident Conflict"), ("Nobody", "Subtle Baseless Info"))
    beyond = response(2, ("grey", "Evident Baseless Info"))
    one, other = from_ragtruth([both, beyond], SOURCES, types=CONFLICTS)
    assert one.hallucinated == (span("1936"),)
    assert not other.is_hallucinated


def test_what_is_left_out() -> None:
    given_responses = [
        response(1),
        response(2, quality="truncated"),
        response(3, source_id="s3"),
        response(4, source_id="s9"),
        response(5, response=" "),
    ]
    found = from_ragtruth(given_responses, SOURCES)
    assert [one.id for one in found] == ["1", "5"]
    assert found[1].sentences == ()


# Tokens


def test_tokens_are_words_with_their_places() -> None:
    text = "Tolls:  2.50 pounds -\nnot more."
    assert [text[slice(*token)] for token in tokens(text)] == [
        "Tolls:", "2.50", "pounds", "-", "not", "more.",
    ]  # fmt: skip
    assert tokens(text)[1] == (8, 12)
    assert tokens(" \n") == ()


def test_token_counts_worked_by_hand() -> None:
    # Flagged: the first sentence, "It was built in 1936." Marked: "in 1936" and "lives".
    # "in" and "1936." are both, "It", "was" and "built" only flagged, "lives" only marked.
    counts = token_counts(TEXT, [span("It was built in 1936.")], [span("in 1936"), span("lives")])
    assert counts == TokenCounts(2, 3, 1)
    assert counts.precision == pytest.approx(2 / 5)
    assert counts.recall == pytest.approx(2 / 3)
    assert counts.f1 == pytest.approx(2 * 2 / (2 * 2 + 3 + 1))


def test_a_token_is_marked_as_soon_as_a_character_of_it_is() -> None:
    # "36" is a part of "1936."; a mark that ends where a token begins does not touch it.
    assert token_counts(TEXT, [span("1936.")], [span("36")]) == TokenCounts(1, 0, 0)
    assert token_counts(TEXT, [span("grey.")], [span("is ")]) == TokenCounts(0, 1, 1)


def test_marks_that_overlap_count_each_token_once() -> None:
    twice = [span("built in"), span("in 1936")]
    assert token_counts(TEXT, twice, twice) == TokenCounts(3, 0, 0)


def test_flagged_sentences_are_flagged_as_a_whole() -> None:
    one = checked(("1936", "Evident Conflict"), ("there", "Subtle Baseless Info"))
    assert flagged_token_counts(one, [True, True, False]) == TokenCounts(1, 7, 1)
    assert flagged_token_counts(one, one.oracle_flags) == TokenCounts(2, 6, 0)
    assert flagged_token_counts(one, [False] * 3) == TokenCounts(0, 0, 2)
    with pytest.raises(ValueError, match="3 sentences in response '1', but 2 flags"):
        flagged_token_counts(one, [True, False])


def test_token_f1_counts_all_responses_together() -> None:
    # 2 + 0 + 1 hits, 3 + 1 + 0 false alarms, 1 + 0 + 3 missed: 6 / (6 + 4 + 4) = 3/7.
    # The mean of the three responses' own F1 would be (0.5 + 0 + 0.4) / 3 = 0.3.
    counts = [TokenCounts(2, 3, 1), TokenCounts(0, 1, 0), TokenCounts(1, 0, 3)]
    assert [each.f1 for each in counts] == pytest.approx([0.5, 0, 0.4])
    assert token_f1(counts) == pytest.approx(3 / 7)


def test_where_nothing_is_flagged_or_marked_there_is_no_f1() -> None:
    nothing = TokenCounts(0, 0, 0)
    assert (nothing.f1, nothing.precision, nothing.recall) == (None, None, None)
    assert token_f1([nothing, nothing]) is None
    assert token_f1([]) is None
    # A response without either changes nothing.
    assert token_f1([TokenCounts(2, 3, 1), nothing]) == TokenCounts(2, 3, 1).f1


# Responses


def test_the_score_of_a_response_is_that_of_its_worst_sentence() -> None:
    assert response_score([0.1, 0.7, 0.3]) == 0.7
    assert response_score([]) == 0


def test_passage_auc_worked_by_hand() -> None:
    # Worst sentences: 0.9 and 0.4 of the hallucinated, 0.4 and 0.2 of the faithful responses.
    # Of four pairs three are in order and one is tied: 3.5 / 4.
    marked = ("1936", "Evident Conflict")
    found = from_ragtruth(
        [
            response(1, marked),
            response(2, marked, source_id="s2"),
            response(3),
            response(4, source_id="s2"),
        ],
        SOURCES,
    )
    scores = [[0.1, 0.9, 0.2], [0.4, 0.0, 0.3], [0.4, 0.4, 0.1], [0.2, 0.1, 0.0]]
    estimate = passage_auc(found, scores)
    assert estimate is not None
    assert (estimate.value, estimate.n) == (0.875, 4)
    assert passage_auc(found[:2], scores[:2]) is None
    with pytest.raises(ValueError, match="4 responses, but scores of 3"):
        passage_auc(found, scores[:3])
    with pytest.raises(ValueError, match="3 sentences in response '4', but 1 scores"):
        passage_auc(found, [*scores[:3], [0.2]])


# Properties

SPANS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 9)).map(lambda p: Span(p[0], p[0] + p[1])),
    max_size=4,
)


@given(st.text("ab. \n", max_size=40), SPANS, SPANS)
def test_flags_and_marks_change_sides(text: str, one: list[Span], other: list[Span]) -> None:
    counts, swapped = token_counts(text, one, other), token_counts(text, other, one)
    assert (counts.precision, counts.recall) == (swapped.recall, swapped.precision)
    assert counts.f1 == swapped.f1
    total = counts.true_positives + counts.false_positives + counts.false_negatives
    assert total <= len(tokens(text))
    assert token_counts(text, one, one).f1 in (None, 1)


@given(st.lists(st.builds(TokenCounts, *[st.integers(0, 50)] * 3), min_size=1, max_size=8))
def test_the_common_f1_lies_between_those_of_the_responses(counts: list[TokenCounts]) -> None:
    single = [each.f1 for each in counts if each.f1 is not None]
    value = token_f1(counts)
    assert (value is None) == (not single)
    if value is not None:
        assert min(single) - 1e-12 <= value <= max(single) + 1e-12


# Real responses


def test_real_responses_with_stand_ins_for_their_sources(released_data: Path) -> None:
    path = released_data / "ragtruth" / "ragtruth_sample_50_responses.jsonl"
    given_responses = ragtruth.read(path)
    sources = {
        each.source_id: source(each.source_id, "Summary", "Stands for the source.")
        for each in given_responses
    }
    found = from_ragtruth(given_responses, sources)
    assert len(found) == sum(each.quality == "good" for each in given_responses)
    for one in found:
        # Every marked word lies in a sentence, so the oracle misses none.
        counts = flagged_token_counts(one, one.oracle_flags)
        assert counts.false_negatives == 0
        assert (counts.true_positives > 0) == one.is_hallucinated
    scores = [[float(flag) for flag in one.oracle_flags] for one in found]
    estimate = passage_auc(found, scores)
    assert estimate is not None
    assert estimate.value == 1
