"""What soft prompts are tuned on: responses to topics, with and without errors.

No annotation is needed (NPOV, appendix B.1): responses by a template are what a response generator
learns, and those with synthetic errors beside them what a classifier learns. Responses that people
have annotated are learned besides, and with them the errors that they found (NPOV, section 5.2).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Literal

from pipelines.data.procon import Topic
from pipelines.errors import InputError
from pipelines.npov.annotation import AnnotatedExample
from pipelines.npov.classifier import classifier_pairs
from pipelines.npov.example import SIDES, response_pair, unbraced
from pipelines.npov.likelihood import Pair
from pipelines.npov.soft_prompt import Subject, Task, TunedOn
from pipelines.npov.synthesis import (
    Design,
    Reword,
    arguments_of,
    drawn_changes,
    given_instead,
    synthetic_examples,
    verbatim,
    with_errors,
)
from pipelines.npov.topics import in_words, split_of

Organic = Mapping[str, Sequence[AnnotatedExample]]
"""Name of a topic -> annotated responses to its question."""


def subject_of(topic: Topic) -> Subject:
    """A topic by its question and name."""
    return Subject(question=topic.question, topic=topic.topic)


def by_topic(
    organic: Sequence[AnnotatedExample], topics: Sequence[Topic]
) -> dict[str, list[AnnotatedExample]]:
    """Annotated responses by the topics that they are of, by name or question.

    Raises:
        InputError: A response is of none of the topics, so that nobody knows whether it may be
            learned from, nor which of the topic's arguments it leaves unused.
    """
    names = {key: topic.topic for topic in topics for key in subject_of(topic).keys}
    found: dict[str, list[AnnotatedExample]] = {}
    for each in organic:
        subject = Subject(question=each.example.question, topic=each.example.topic)
        name = next((names[key] for key in sorted(subject.keys) if key in names), None)
        if name is None:
            raise InputError(
                f"the annotated response '{each.id}' is of no topic of --data: its question is "
                f"'{each.example.question}'; add the topic, or leave the response out"
            )
        found.setdefault(name, []).append(each)
    return found


def with_synthetic_errors(
    right: AnnotatedExample, topic: Topic, draw: Random, *, design: Design
) -> list[AnnotatedExample]:
    """An annotated response without error, given other arguments of its topic (NPOV, section 4.2).

    It has the arguments that it has, so `matched` cannot balance its sides.
    """
    given = {side: right.example.arguments(side) for side in SIDES}
    known = {in_words(each) for own in given.values() for each in own}
    unused = {
        side: [each for each in arguments if in_words(each) not in known]
        for side, arguments in arguments_of(topic).items()
    }
    return with_errors(right, drawn_changes(given, unused, draw, design=design), draw)


def paraphrased(each: AnnotatedExample, paraphrase: Reword) -> AnnotatedExample | None:
    """Its arguments in other words, the response as it is (NPOV, section 4.1).

    None unless all of them can be put so. What was left out of an argument is all of it then.
    """
    put = {side: [paraphrase(one) for one in each.example.arguments(side)] for side in SIDES}
    changed = {side: [one for one in own if one is not None] for side, own in put.items()}
    if any(len(changed[side]) < len(put[side]) for side in SIDES):
        return None
    uncovered = each.uncovered and tuple(
        part.model_copy(update={"span": (0, len(unbraced(changed[part.side][part.argument])))})
        for part in each.uncovered
    )
    example = given_instead(each.example, changed)
    return each.model_copy(update={"example": example, "uncovered": uncovered})


TrainedOn = Literal["train", "train+dev", "all"]
"""Topics of table 4's training set, watched by its development set; of both; or whatever topics."""

Errors = Literal["synthetic", "organic", "both"]
"""Put into responses without error; as people have found them; both, the paper's "+Org"."""

Origin = Literal["template", "annotated", "synthetic", "organic"]
"""A response without error, by a template or annotated; an error, put in or found."""

TEMPLATE = "template/"
"""With this begin ids of responses by a template among annotated ones."""

HELD_BACK = 5
"""Of topics that no table divides, one in so many is for watching."""


@dataclass(frozen=True)
class Lesson:
    """An example that is learned, and its topic; where it, or its error, comes from."""

    subject: Subject
    annotated: AnnotatedExample
    origin: Origin
    paraphrased: bool = False


def divided(
    topics: Sequence[Topic], chosen: TrainedOn, seed: int
) -> tuple[list[Topic], list[Topic]]:
    """Topics to learn from, and topics to watch by; an `InputError` where there are none.

    Topics of table 4's test set are taken by "all" only. Where the table does not name the topics
    to watch by, the seed draws them.
    """
    if chosen == "train":
        learned = [topic for topic in topics if split_of(topic.topic) == "train"]
        watched = [topic for topic in topics if split_of(topic.topic) == "dev"]
    else:
        usable = [
            topic
            for topic in topics
            if chosen == "all" or split_of(topic.topic) in ("train", "dev")
        ]
        order = sorted(usable, key=lambda topic: topic.topic)
        Random(seed).shuffle(order)  # noqa: S311  (a sample, not a secret)
        count = -(-len(order) // HELD_BACK)
        watched, learned = order[:count], order[count:]
    if not learned or not watched:
        raise InputError(
            f"of {len(topics):,} topics there are {len(learned):,} to learn from and "
            f"{len(watched):,} to watch by; name more topics"
            + ("" if chosen == "all" else ", or take those of any name: --split all")
        )
    return learned, watched


def lessons(
    topics: Sequence[Topic],
    task: Task,
    *,
    design: Design,
    per_topic: int,
    seed: int,
    paraphrase: Reword | None = None,
    organic: Organic = MappingProxyType({}),
    errors: Errors = "both",
) -> list[Lesson]:
    """The examples that a task is learned from.

    A response generator learns from those without error alone. A classifier learns full errors, as
    in the paper: annotated ones that are ambiguous for its task are left out, as are those with
    ambiguous errors alone. Whoever paraphrases has as many examples again, by a template whose
    responses are in other words, and of annotated ones those whose arguments all can be (NPOV,
    section 4.1).

    Args:
        topics: Those to learn from.
        task: What is learned.
        design: How arguments and synthetic errors are drawn.
        per_topic: Responses without error, by a template, of each topic.
        seed: Decides all that is drawn.
        paraphrase: Puts arguments in other words.
        organic: Annotated responses, from `organic.by_topic`.
        errors: Which errors are learned.
    """
    made: list[Lesson] = []
    for topic in topics:
        draw = Random(f"{seed} {topic.topic}")  # noqa: S311  (a sample, not a secret)
        for reword in (verbatim, paraphrase):
            if reword is not None:
                written = synthetic_examples(
                    [topic], per_topic=per_topic, seed=seed, design=design, reword=reword
                )
                made += _by_template(written, topic, reword)
        for each in organic.get(topic.topic, ()):
            made += of_annotated(each, topic, paraphrase, draw, design)
    unwanted = {"synthetic": "organic", "organic": "synthetic"}.get(errors)
    return [each for each in made if each.origin != unwanted and _teaches(each.annotated, task)]


def pairs_of(learned: Sequence[Lesson], task: Task) -> list[Pair]:
    """Input and target texts."""
    if task == "response":
        return [response_pair(each.annotated.example) for each in learned]
    wrong = [(each.annotated.example, _error(each.annotated, task) == "full") for each in learned]
    return classifier_pairs(wrong, task)


def tuned_on(learned: Sequence[Lesson], watched: Sequence[Lesson], design: Design) -> TunedOn:
    """What a soft prompt's file is to tell of the examples that it is tuned on."""
    counts = Counter(each.origin for each in learned)
    return TunedOn(
        learned=tuple(dict.fromkeys(each.subject for each in learned)),
        watched=tuple(dict.fromkeys(each.subject for each in watched)),
        paraphrased=sum(each.paraphrased for each in learned),
        template=counts["template"],
        annotated=counts["annotated"],
        synthetic=counts["synthetic"],
        organic=counts["organic"],
        design=design,
    )


def _by_template(
    written: Sequence[AnnotatedExample], topic: Topic, reword: Reword
) -> Iterator[Lesson]:
    for each in written:
        origin: Origin = "template" if each.error_free else "synthetic"
        yield Lesson(subject_of(topic), each, origin, paraphrased=reword is not verbatim)


def of_annotated(
    each: AnnotatedExample,
    topic: Topic,
    paraphrase: Reword | None,
    draw: Random,
    design: Design,
) -> Iterator[Lesson]:
    """An annotated response, and those that are made of one without error (NPOV, section 4.2).

    With `paraphrase`, those of them whose arguments can all be put in other words come again.
    """
    subject = subject_of(topic)
    if not each.error_free:
        yield Lesson(subject, each, "organic")
        return
    by_template = each.id.startswith(TEMPLATE)
    family = [Lesson(subject, each, "template" if by_template else "annotated")]
    made = with_synthetic_errors(each, topic, draw, design=design)
    family += [Lesson(subject, one, "synthetic") for one in made]
    yield from family
    if paraphrase is not None:
        for one in family:
            other = paraphrased(one.annotated, paraphrase)
            if other is not None:
                yield Lesson(subject, other, one.origin, paraphrased=True)


def _teaches(each: AnnotatedExample, task: Task) -> bool:
    """Whether it is an example of the task, and clear."""
    if task == "response" or each.error_free:
        return each.error_free
    return "full" in (each.coverage, each.hallucination) and _error(each, task) != "ambiguous"


def _error(each: AnnotatedExample, task: Task) -> str:
    return each.coverage if task == "coverage" else each.hallucination
