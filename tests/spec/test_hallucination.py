"""Hallucinated tokens and responses: worked by hand, and on real responses."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from nli.sentences import Span
from pipelines.conrag.data import Query, ResponseSentence, from_ragtruth, tokens, touched
from pipelines.conrag.evidence import Stance
from pipelines.conrag.metrics import CheckedSentence, passage_auc, token_f1
from pipelines.data import ragtruth
from pipelines.data.ragtruth import Source
from pipelines.metrics.estimate import Estimate

YES, NO, OPEN = Stance


def sentence(
    gold: Stance,
    stance: Stance,
    *,
    hallucinated: int = 0,
    length: int = 10,
    support: float = 0.0,
    response: str = "r1",
    source: str = "s1",
) -> CheckedSentence:
    return CheckedSentence(
        ResponseSentence(
            response=response, source=source, tokens=length, hallucinated=hallucinated
        ),
        gold,
        stance,
        support,
    )


def scored(*responses: tuple[str, Sequence[tuple[float, Stance]]]) -> list[CheckedSentence]:
    """Sentences with these hallucination scores; responses are named by number."""
    return [
        sentence(gold, OPEN, support=1 - score, response=str(number), source=source)
        for number, (source, own) in enumerate(responses)
        for score, gold in own
    ]


def known(found: Estimate | None) -> Estimate:
    assert found is not None
    return found


# Tokens


def test_tokens_are_words_with_their_places() -> None:
    text = "Tolls:  2.50 pounds -\nnot more."
    whole = tokens(text, Span(0, len(text)))
    assert [text[slice(*token)] for token in whole] == [
        "Tolls:", "2.50", "pounds", "-", "not", "more.",
    ]  # fmt: skip
    assert whole[1] == (8, 12)
    assert tokens(text, Span(8, 19)) == whole[1:3]
    assert tokens(" \n", Span(0, 2)) == ()


def test_a_token_is_marked_as_soon_as_a_character_of_it_is() -> None:
    words = tokens("in 1936. It", Span(0, 11))
    assert touched(words, [Span(5, 7)]) == 1  # "36", a part of "1936."
    assert touched(words, [Span(0, 3)]) == 1  # "in ", which ends where the next mark begins
    assert touched(words, [Span(8, 9)]) == 0  # the space
    assert touched(words, [Span(0, 8), Span(3, 11)]) == 3  # one of them is in both
    assert touched(words, []) == 0


def test_token_f1_worked_by_hand() -> None:
    # Flagged with 3 of 10 marked: 3 found, 7 false. Flagged without a mark: 5 false. Not flagged
    # with 2 marked: 2 missed. 2 * 3 / (2 * 3 + 12 + 2) = 6/20. The mean over responses would
    # differ: (6/13 + 0 + 0) / 3.
    own = [
        sentence(NO, NO, hallucinated=3, response="a", source="one"),
        sentence(YES, OPEN, length=5, response="b", source="two"),
        sentence(OPEN, YES, hallucinated=2, response="c", source="three"),
        sentence(YES, YES, response="c", source="three"),
    ]
    found = known(token_f1(own))
    assert (found.value, found.n) == (0.3, 35)
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= 0.3 <= found.high <= 6 / 13


def test_an_f1_of_one_source_has_no_interval_nor_has_a_perfect_one() -> None:
    half = [sentence(NO, NO, hallucinated=5), sentence(YES, YES, response="r2")]
    right = [sentence(NO, NO, hallucinated=10, source=name) for name in ("s1", "s2")]
    for own, value in ((half, 2 / 3), (right, 1)):
        found = known(token_f1(own))
        assert found.value == pytest.approx(value)
        assert found.low is None


def test_the_bootstrap_draws_sources_and_not_sentences() -> None:
    # One of two sources has F1 1, the other 0. A resample has either one twice, with probability
    # 1/4 each, or both, so the interval is [0, 1], however many sentences they have.
    own = [sentence(NO, NO, hallucinated=10, source="s1")] * 40
    own += [sentence(YES, NO, source="s2")] * 40
    found = known(token_f1(own))
    assert (found.low, found.high) == (0, 1)
    assert found == token_f1(own)


# Responses


def test_passage_auc_worked_by_hand() -> None:
    # Worst sentences: 0.9 and 0.4 in the hallucinated responses, 0.4 and 0.2 in the faithful ones.
    # Three of four pairs are in order and one is tied: 3.5 / 4.
    responses = [
        ("s1", [(0.1, NO), (0.9, YES)]),
        ("s2", [(0.4, OPEN), (0.0, YES)]),
        ("s1", [(0.4, YES), (0.4, YES)]),
        ("s2", [(0.2, YES)]),
    ]
    found = known(passage_auc(scored(*responses)))
    assert (found.value, found.n) == (0.875, 4)
    assert passage_auc(scored(*responses[:2])) is None
    assert passage_auc([]) is None


# Real responses


def test_real_responses_with_stand_ins_for_their_sources(released_data: Path) -> None:
    path = released_data / "ragtruth" / "ragtruth_sample_50_responses.jsonl"
    responses = ragtruth.read(path).responses
    sources = {
        each.source_id: Source(
            source_id=each.source_id, task_type="Summary", source_info="Stands for the source."
        )
        for each in responses
    }
    queries = list(from_ragtruth(responses, sources))
    good = [each for each in responses if each.quality == "good"]
    for response in good:
        own = [each for each in queries if place(each).response == response.id]
        words = tokens(response.response, Span(0, len(response.response)))
        marks = [Span(each.start, each.end) for each in response.labels]
        # Every word, marked or not, is in exactly one sentence.
        assert sum(place(each).tokens for each in own) == len(words)
        assert sum(place(each).hallucinated for each in own) == touched(words, marks)
        conflict = any(each.label_type in ragtruth.CONFLICTS for each in response.labels)
        assert any(each.stance is NO for each in own) == conflict
        assert any(each.stance is not YES for each in own) == bool(response.labels)
    assert len({place(each).response for each in queries}) == len(good)


def place(query: Query) -> ResponseSentence:
    assert query.response is not None
    return query.response
