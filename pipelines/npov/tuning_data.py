"""What soft prompts are tuned on: synthetic responses to topics, with and without errors.

No annotation is needed (NPOV, appendix B.1): responses without error are what a response generator
learns, and those with synthetic errors beside them what a classifier learns.
"""

from collections.abc import Sequence
from random import Random
from typing import Literal

from pipelines.data.procon import Topic
from pipelines.errors import InputError
from pipelines.npov.classifier import classifier_pairs
from pipelines.npov.likelihood import Pair
from pipelines.npov.prompt import response_pair
from pipelines.npov.soft_prompt import Task
from pipelines.npov.splits import split_of
from pipelines.npov.synthesis import Reword, synthetic_examples

TrainedOn = Literal["train", "train+dev", "all"]
"""Topics of table 4's training set, watched by its development set; of both; or whatever topics."""

HELD_BACK = 5
"""Of topics that no table divides, one in so many is for watching."""


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


def pairs_of(
    topics: Sequence[Topic], task: Task, *, per_topic: int, seed: int, rewords: Sequence[Reword]
) -> list[Pair]:
    """Input and target texts of synthetic examples.

    A response generator learns from examples without error alone. Each of `rewords`, ways in which
    responses put arguments, has as many examples; `per_topic` counts those without error.
    """
    made = [
        each
        for reword in rewords
        for each in synthetic_examples(topics, per_topic=per_topic, seed=seed, reword=reword)
    ]
    if task == "response":
        return [response_pair(each.example) for each in made if each.error_free]
    wrong = [
        (each.example, (each.coverage if task == "coverage" else each.hallucination) == "full")
        for each in made
    ]
    return classifier_pairs(wrong, task)
