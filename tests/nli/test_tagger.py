import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from nli import calibration
from nli.calibration import Calibration, noisy_or, softmax
from nli.errors import TaggerError
from nli.labels import LABELS, Label
from nli.model import Encoder
from nli.pairs import Pair
from nli.sentences import sentences
from nli.tagger import LEAST_PREMISE, Tagger

SENTENCES = (
    "The lake is deep and cold.",
    "The mayor opened the old bridge in the north.",
    "It was never closed.",
    "They built a new school here.",
    "No rain falls in the south.",
    "The red river is not warm.",
)
CLAIMS = ("The lake is cold.", "The bridge was closed.", "They moved the school.", "It is warm.")


@pytest.fixture(scope="session")
def tagger(encoder: Encoder) -> Tagger:
    """Windows of about two sentences."""
    return Tagger(encoder, Calibration(window_tokens=18, overlap=1))


def documents(count: int, seed: int = 0) -> list[Pair]:
    draw = random.Random(seed)
    return [
        Pair(" ".join(draw.choices(SENTENCES, k=draw.randint(1, 9))), draw.choice(CLAIMS))
        for _ in range(count)
    ]


def test_a_text_of_one_window_is_scored_as_it_stands(tagger: Tagger) -> None:
    pairs = [Pair(text, claim) for text in SENTENCES for claim in CLAIMS]
    for tag, logits in zip(tagger.tag(pairs), tagger.encoder.logits(pairs), strict=True):
        assert tag.windows == 1
        assert tag.probabilities == pytest.approx(softmax(logits), abs=1e-6)
        assert tag.label == LABELS[int(logits.argmax())]
        assert tag.confidence == max(tag.probabilities)


def test_the_temperature_divides_the_logits(tagger: Tagger) -> None:
    pair = Pair(SENTENCES[0], CLAIMS[0])
    means = Calibration(method="temperature", temperature=2.5)
    (tag,) = replace(tagger, calibration=means).tag([pair])
    expected = softmax(tagger.encoder.logits([pair])[0] / 2.5)
    assert tag.probabilities == pytest.approx(expected, abs=1e-6)


def test_order_and_duplicates_change_nothing(tagger: Tagger) -> None:
    pairs = documents(40)
    tags = tagger.tag(pairs)
    order = list(range(40))
    random.Random(1).shuffle(order)
    assert tagger.tag([pairs[place] for place in order]) == [tags[place] for place in order]
    assert tagger.tag(pairs * 2) == tags * 2
    assert sum(tags[0].probabilities) == pytest.approx(1)


def test_long_texts_are_read_whole_and_the_deciding_window_is_named(tagger: Tagger) -> None:
    pairs = documents(60)
    joined = replace(
        tagger, calibration=tagger.calibration.model_copy(update={"aggregation": "noisy-or"})
    )
    decided = 0
    for pair, reading, tag in zip(pairs, joined.read(pairs), joined.tag(pairs), strict=True):
        covered = {place for span in reading.spans for place in range(*span)}
        assert all(pair.premise[n].isspace() for n in set(range(len(pair.premise))) - covered)
        assert tag.windows == len(reading.spans)
        # Each window alone, as a text of its own.
        alone = [Pair(pair.premise[slice(*span)], pair.hypothesis) for span in reading.spans]
        scores = softmax(joined.encoder.logits(alone))
        assert tag.probabilities == pytest.approx(noisy_or(scores), abs=1e-5)
        if tag.label is Label.IRRELEVANT:
            assert tag.rationale is None
        elif tag.windows > 1:
            decided += 1
            column = scores[:, LABELS.index(tag.label)]
            assert tag.rationale is not None
            chosen = column[reading.spans.index(tag.rationale)]
            assert chosen == pytest.approx(column.max(), abs=1e-6)
    assert decided > 5


def test_the_rationale_is_narrowed_to_the_sentence_that_says_it_most(tagger: Tagger) -> None:
    pairs = documents(40)
    wide, narrow = tagger.tag(pairs), tagger.tag(pairs, rationale=True)
    narrowed = 0
    for pair, before, after in zip(pairs, wide, narrow, strict=True):
        assert after.probabilities == before.probabilities
        if before.rationale is None or after.rationale is None:
            assert before.rationale == after.rationale
            continue
        window = pair.premise[slice(*before.rationale)]
        own = [window[slice(*span)] for span in sentences(window)]
        chosen = pair.premise[slice(*after.rationale)]
        assert chosen in own
        narrowed += len(own) > 1
        scores = softmax(tagger.encoder.logits([Pair(text, pair.hypothesis) for text in own]))
        column = scores[:, LABELS.index(after.label)]
        assert column[own.index(chosen)] == pytest.approx(column.max(), abs=1e-6)
    assert narrowed > 5


def test_a_hypothesis_that_does_not_fit_is_an_error(tagger: Tagger) -> None:
    most = tagger.encoder.max_tokens - tagger.encoder.special_tokens - LEAST_PREMISE
    (tag,) = tagger.tag([Pair(" ".join(SENTENCES), "old " * most)])
    assert tag.windows > 2
    with pytest.raises(TaggerError, match=f"has {most + 1} tokens where at most {most} fit"):
        tagger.tag([*documents(3), Pair(SENTENCES[0], "old " * (most + 1))])


@pytest.mark.parametrize(
    ("pair", "what"), [(Pair(" \n", "It is."), "text"), (Pair("It is.", ""), "statement")]
)
def test_an_empty_side_is_an_error(tagger: Tagger, pair: Pair, what: str) -> None:
    with pytest.raises(TaggerError, match=f"empty {what}"):
        tagger.tag([*documents(3), pair])


def test_progress_counts_every_pair_and_no_pairs_are_no_tags(tagger: Tagger) -> None:
    done: list[int] = []
    pairs = documents(30) * 2
    tagger.tag(pairs, done.append)
    assert sum(done) == len(pairs)
    assert tagger.tag([]) == []


def test_the_calibration_beside_the_weights_is_used(
    folder: Path, folders: tuple[Path, ...]
) -> None:
    assert Tagger.load(folder).calibration == Calibration()
    before = Tagger.load(folder).digest
    calibration.write(folder, Calibration(method="temperature", temperature=3))
    tagger = Tagger.load(folder)
    assert tagger.calibration.temperature == 3
    assert tagger.digest != before

    shutil.copy(folders[1] / "model.safetensors", folder)
    with pytest.raises(TaggerError, match="other weights"):
        Tagger.load(folder)
    (folder / "calibration.json").write_text('{"temperature": -1}')
    with pytest.raises(TaggerError, match=r"calibration\.json is damaged \(temperature"):
        Tagger.load(folder)


def test_what_a_text_says_in_so_many_words_it_supports(tagger: Tagger) -> None:
    text = "It closed in 1950.  The bridge was  BUILT of steel. It is red."
    tags = tagger.tag(
        [Pair(text, claim) for claim in ("It closed in 1950", "The bridge was built of steel.")]
    )
    assert [(tag.label, tag.confidence) for tag in tags] == [(Label.SUPPORT, 1.0)] * 2
    spans = [tag.rationale for tag in tags]
    assert [text[slice(*span)] for span in spans if span] == [
        "It closed in 1950.",
        "The bridge was  BUILT of steel.",
    ]
    (part, other) = tagger.tag([Pair(text, "closed in 1950."), Pair(text, "It closed in 1951.")])
    assert part.windows > 0
    assert other.windows > 0
