"""Step 4 of the study, annotation: which arguments a response covers, and what it adds (NPOV, 4.1).

The paper uses human annotators. Here the NLI tagger is asked both ways: does the response support
an argument (then it is covered), and do the arguments support a sentence (then it was given)? If
only the other direction holds, an argument is covered in part, or a sentence says more than was
given. These are ambiguous errors, as are arguments that are repeated or attributed to the wrong
side (section 3).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nli.labels import LABELS, Label
from nli.sentences import sentences
from pipelines.data import procon
from pipelines.data.text import read_text
from pipelines.errors import InputError
from pipelines.files import replace_text, sha256_of
from pipelines.judge.protocol import PairError
from pipelines.metrics.estimate import Estimate, proportion
from pipelines.npov.example import (
    SIDES,
    AnnotatedExample,
    Error,
    NpovExample,
    Omission,
    Side,
    Span,
    arguments_read,
    as_read,
    read_annotated,
    what_is_said,
)
from pipelines.npov.generator import TEMPLATE
from pipelines.npov.responses import Drawn
from pipelines.npov.result import KINDS, ErrorKind
from pipelines.npov.settings import SAMPLE_TOPICS
from pipelines.npov.similarity import ArgumentTagger
from pipelines.npov.study import Study, digest_of
from pipelines.npov.synthesis import bundled_paraphrases, rewording, synthetic_examples
from pipelines.npov.topics import by_topic, split_of
from pipelines.report.progress import progress
from salience.words import content_words

THRESHOLDS: Final = tuple(round(n / 20, 2) for n in range(1, 20))

_SPEAKERS: Mapping[Side, re.Pattern[str]] = {
    "pro": re.compile(r"\b(?:supporters?|proponents?|advocates?|in favou?r|in support)\b", re.I),
    "con": re.compile(r"\b(?:opponents?|critics?|oppos\w+|against|others|detractors?)\b", re.I),
}


@dataclass(frozen=True, eq=False)
class Reading:
    """The tagger's probabilities for an example, and the places of the response's sentences.

    Attributes:
        says: p(a sentence supports an argument), (arguments, sentences); the last column is the
            whole response.
        rests: p(an argument supports a sentence), likewise; the last row is all arguments.
        spans: Spans of the sentences that have a content word, without their speakers.
        told_by: The side that each sentence is attributed to; None before the first attribution.
    """

    says: NDArray[np.floating]
    rests: NDArray[np.floating]
    spans: tuple[Span, ...]
    told_by: tuple[Side | None, ...]


def read_by(tagger: ArgumentTagger, example: NpovExample) -> Reading:
    """Ask the tagger both ways about every argument and sentence.

    Raises:
        PairError: A text does not fit the tagger.
    """
    response, arguments = as_read(example.response), arguments_read(example)
    spans: list[Span] = []
    told_by: list[Side | None] = []
    side: Side | None = None
    for sentence in sentences(response):
        said = what_is_said(response[sentence.start : sentence.end])
        start = sentence.end - len(said)
        speech = response[sentence.start : start] or said
        side = next((speaker for speaker in SIDES if _SPEAKERS[speaker].search(speech)), side)
        if content_words(response, [(0, len(response))], (start, sentence.end)):
            spans.append((start, sentence.end))
            told_by.append(side)
    parts = [response[start:end] for start, end in spans]
    support = LABELS.index(Label.SUPPORT)
    says = tagger.probabilities([*parts, response], arguments)[..., support].T
    rests = tagger.probabilities([*arguments, " ".join(arguments)], parts or [response])
    return Reading(says, rests[..., support][:, : len(parts)], tuple(spans), tuple(told_by))


def annotated_by(name: str, example: NpovExample, read: Reading, limit: float) -> AnnotatedExample:
    """An example annotated with its errors; support counts if it is at least `limit`."""
    places = example.places
    says, rests = read.says >= limit, read.rests >= limit
    by_sentence = says[:, :-1]
    covered = says.any(axis=1)
    given = rests.any(axis=0)
    # If support fails in one direction, the other shows whether it holds in part.
    left_out = _errors(np.asarray(covered), np.asarray(rests[:-1].any(axis=1)))
    added = _errors(np.asarray(given), np.asarray(by_sentence.any(axis=0)))
    coverage, hallucination = _worst(left_out), _worst(added)
    best = read.says[:, :-1].argmax(axis=1) if read.spans else np.zeros(len(places), int)
    repeated = any(int((row & given).sum()) > 1 for row in by_sentence)
    confused = any(
        by_sentence[place].any() and read.told_by[best[place]] not in (None, side)
        for place, (side, _) in enumerate(places)
    )
    if repeated or confused:
        hallucination = "ambiguous" if hallucination == "none" else hallucination
    if confused:
        coverage = "ambiguous" if coverage == "none" else coverage
    said: dict[Side, list[Span | None]] = {side: [] for side in SIDES}
    for place, (side, _) in enumerate(places):
        sentence = int(best[place])
        # If a sentence covers two arguments, their words cannot be told apart.
        alone = bool(by_sentence[place].any()) and int(by_sentence[:, sentence].sum()) == 1
        said[side].append(read.spans[sentence] if alone else None)
    lengths = map(len, arguments_read(example))
    uncovered = tuple(
        Omission(side=side, argument=n, span=(0, length))
        for (side, n), error, length in zip(places, left_out, lengths, strict=True)
        if error != "none"
    )
    return AnnotatedExample(
        id=name,
        source=name,
        example=example,
        hallucination=hallucination,
        coverage=coverage,
        # Whole sentences and arguments, as it is unknown which of their words are wrong. Confused
        # sides are not marked.
        hallucinated=tuple(
            span for span, error in zip(read.spans, added, strict=True) if error != "none"
        ),
        uncovered=uncovered,
        said={side: tuple(spans) for side, spans in said.items()},
    )


def _errors(whole: NDArray[np.bool_], part: NDArray[np.bool_]) -> list[Error]:
    errors: list[Error] = []
    for is_whole, in_part in zip(whole, part, strict=True):
        errors.append("none" if is_whole else "ambiguous" if in_part else "full")
    return errors


def _worst(errors: Sequence[Error]) -> Error:
    order: tuple[Error, ...] = ("full", "ambiguous")
    return next((error for error in order if error in errors), "none")


@dataclass(frozen=True)
class Agreement:
    """The threshold that agrees best with known labels, and its agreement.

    Of the examples not called ambiguous, `shares` gives those whose label (full error or none) is
    right, under the threshold that is best on the other topics.
    """

    limit: float
    shares: Mapping[ErrorKind, Estimate | None]


def chosen_limit(tagger: ArgumentTagger, known: Sequence[AnnotatedExample]) -> Agreement:
    """Choose the threshold of support on examples with known errors, all of them full.

    It maximises balanced accuracy, averaged over both kinds of errors. An ambiguous label counts
    half: it neither finds the error nor denies it.
    """
    readings = [read_by(tagger, example.example) for example in known]
    topics = [example.example.topic or example.example.question for example in known]
    points: dict[float, NDArray[np.floating]] = {}
    for limit in THRESHOLDS:
        annotations = [
            annotated_by(example.id, example.example, read, limit)
            for example, read in zip(known, readings, strict=True)
        ]
        points[limit] = np.array(
            [
                [_points(annotation.error(kind), example.error(kind)) for kind in KINDS]
                for annotation, example in zip(annotations, known, strict=True)
            ]
        )
    wrong = np.array([[example.error(kind) != "none" for kind in KINDS] for example in known])

    def best(chosen: NDArray[np.bool_]) -> float:
        return max(THRESHOLDS, key=lambda limit: _balanced(points[limit][chosen], wrong[chosen]))

    held_out_points = np.zeros(wrong.shape)
    for topic in dict.fromkeys(topics):
        held_out = np.array([name == topic for name in topics])
        others = ~held_out if not held_out.all() else held_out
        held_out_points[held_out] = points[best(others)][held_out]
    shares = {
        kind: proportion(int((column == 1).sum()), int((column != AMBIGUOUS).sum()))
        for kind, column in zip(KINDS, held_out_points.T, strict=True)
    }
    return Agreement(best(np.ones(len(known), bool)), shares)


AMBIGUOUS: Final = 0.5
"""Points for an ambiguous label; a right label gets 1, a wrong one 0."""


def _points(label: Error, known: Error) -> float:
    return AMBIGUOUS if label == "ambiguous" else float(label == known)


def _balanced(points: NDArray[np.floating], wrong: NDArray[np.bool_]) -> float:
    """Mean points of examples with the error and without, averaged over kinds of errors."""
    means = [
        points[wrong[:, kind] == state, kind].mean()
        for kind in range(len(KINDS))
        for state in (False, True)
        if (wrong[:, kind] == state).any()
    ]
    return float(np.mean(means))


def annotated(
    study: Study, drawn: Sequence[Drawn], tagger: Callable[[], ArgumentTagger]
) -> list[AnnotatedExample]:
    """Responses with their errors: by the tagger, or as labelled by people.

    The template tops up topics with too few error-free responses; see `Sizes.least`.

    Raises:
        InputError: People's labels are missing, cannot be read, or are on other topics.
        PairError: A text does not fit the tagger.
    """
    options, out = study.options, study.file("annotated")
    machine = options.annotator == "machine"
    labels = study.file("labels") if options.annotator == "people" else Path(options.annotator)
    if options.annotator == "people" and not labels.exists():
        raise InputError(
            "the responses still need people's labels: run `contested annotate "
            f"{options.out} --kind hallucination`, then again with --kind coverage; then repeat "
            "this command"
        )
    known = known_examples(options.seed) if machine else []
    study.begin(
        "annotation",
        responses=sha256_of(study.file("responses")),
        by=study.tagger.identity if machine else sha256_of(labels),
        known=digest_of([example.model_dump() for example in known]),
        least=study.sizes.least,
    )
    if out.exists():
        lines = read_text(out).splitlines()
        return [AnnotatedExample.model_validate_json(line) for line in lines]
    if machine:
        agreement = chosen_limit(tagger(), known)
        note = _agreement_told(study.tagger.name, agreement)
        examples = []
        with progress("annotations", len(drawn)) as bar:
            for response in drawn:
                if response.example is not None:
                    with suppress(PairError):  # a sentence is too long: leave the response out
                        read = read_by(tagger(), response.example)
                        examples.append(
                            annotated_by(response.id, response.example, read, agreement.limit)
                        )
                bar.advance()
        study.note("annotation", limit=agreement.limit)
    else:
        examples = read_annotated(labels)
        note = f"Errors are as people labelled them in {labels.name}."
    filled = _filled(study, examples)
    study.tell("annotation", note, *_found(examples, filled))
    all_examples = [*examples, *filled]
    replace_text(out, "".join(f"{example.model_dump_json()}\n" for example in all_examples))
    return all_examples


def limit_of(study: Study) -> float:
    """The threshold of support that the annotation chose; 0.5 if people annotated."""
    return study.folder.noted("study.annotation", "limit", float) or 0.5


def known_examples(seed: int) -> list[AnnotatedExample]:
    """Responses that paraphrase their arguments, on bundled train and dev topics.

    Their errors are known, since they were put in deliberately.
    """
    return synthetic_examples(
        [topic for topic in procon.read(SAMPLE_TOPICS) if split_of(topic.topic) != "test"],
        per_topic=2,
        seed=seed,
        reword=rewording(bundled_paraphrases()),
    )


def _filled(study: Study, examples: Sequence[AnnotatedExample]) -> list[AnnotatedExample]:
    """Template responses for topics with too few error-free ones."""
    known = by_topic(examples, study.all_topics)
    filled = []
    for topic in study.all_topics:
        error_free = sum(example.error_free for example in known.get(topic.topic, ()))
        made = synthetic_examples(
            [topic],
            per_topic=max(0, study.sizes.least - error_free),
            seed=study.options.seed,
        )
        for template in [example for example in made if example.error_free]:
            name = f"{TEMPLATE}{template.id}"
            filled.append(template.model_copy(update={"id": name, "source": name}))
    return filled


def _agreement_told(tagger: str, agreement: Agreement) -> str:
    shares = ", ".join(
        f"{share.value:.0%} ({kind}, n = {share.n:,})"
        for kind, share in agreement.shares.items()
        if share
    )
    return (
        f"Errors are annotated by the tagger {tagger}, both ways, not by people; support counts "
        f"from {agreement.limit:.2f}. On bundled responses with known errors it is right in "
        f"{shares} of those that it does not call ambiguous; in the paper, the majority of "
        "annotators is right in 90 % and 94 %."
    )


def _found(found: Sequence[AnnotatedExample], filled: Sequence[AnnotatedExample]) -> Iterator[str]:
    yield (
        f"Annotated responses: {errors_in(found)}; the paper has 160 without error and 326 with."
    )
    if filled:
        yield (
            f"{len(filled):,} topics without an error-free response get one from the template; "
            "the paper does not do this."
        )


def errors_in(found: Sequence[AnnotatedExample]) -> str:
    """How many examples have no error, a full error, or only ambiguous errors, in words."""
    worst = Counter(
        "without error"
        if example.error_free
        else "with a full error"
        if "full" in (example.hallucination, example.coverage)
        else "ambiguous"
        for example in found
    )
    return ", ".join(
        f"{worst[name]:,} {name}" for name in ("without error", "with a full error", "ambiguous")
    )
