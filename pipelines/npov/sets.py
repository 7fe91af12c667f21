"""Step 5 of the study: arguments in other words, synthetic errors, test sets (NPOV, 4.1 to 4.3)."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter, ValidationError

from nli.labels import LABELS, Label
from pipelines import prompts
from pipelines.data.procon import Topic
from pipelines.data.text import read_text
from pipelines.errors import InputError
from pipelines.files import replace_text, sha256_of
from pipelines.npov.annotation import limit_of
from pipelines.npov.example import AnnotatedExample, Error, as_read, read_annotated
from pipelines.npov.result import ORGANIC, PARAPHRASED, UNPARAPHRASED, Case
from pipelines.npov.similarity import ArgumentTagger
from pipelines.npov.study import Study, asked, digest_of
from pipelines.npov.synthesis import (
    Reword,
    argument_digest,
    bundled_paraphrases,
    family,
    read_paraphrases,
    rewording,
)
from pipelines.npov.topics import by_topic, in_words
from serving.calls import Sampling
from serving.client import Client


class ParaphraseReply(BaseModel):
    """The JSON reply of a model that puts an argument in other words."""

    paraphrase: str


class Reworded(BaseModel, frozen=True):
    """An argument, by its digest, and a model's paraphrase; None if no attempt was accepted."""

    id: str
    argument: str
    paraphrase: str | None


TRIES: Final = (0.0, 0.7, 0.7)
"""Temperatures of a model's attempts at a paraphrase."""

_IN_WORDS = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBERS = {word: str(number) for number, word in enumerate(_IN_WORDS.split())}


def same_meaning(tagger: ArgumentTagger, argument: str, other: str, limit: float) -> bool:
    """Whether a paraphrase is in other words, with the same numbers, and supported both ways."""
    if in_words(argument) == in_words(other) or numbers(argument) != numbers(other):
        return False
    both = tagger.probabilities([argument, other], [other, argument])
    support = both[..., LABELS.index(Label.SUPPORT)]
    return bool(support[0, 0] >= limit and support[1, 1] >= limit)


def numbers(text: str) -> set[str]:
    """The numbers of a text, in digits."""
    tokens = re.findall(r"\d+(?:[.,]\d+)*|[a-z]+", text.lower())
    return {
        _NUMBERS.get(token, token.replace(",", ""))
        for token in tokens
        if token[0].isdigit() or token in _NUMBERS
    } - {"1"}  # "one" is mostly a pronoun


async def paraphrased_arguments(
    study: Study,
    client: Client,
    tagger: Callable[[], ArgumentTagger],
) -> Reword:
    """Put all arguments in other words, for error-free responses (NPOV, section 4.1, stage 3).

    Arguments are reworded; responses stay as they are. Known paraphrases are used; for other
    arguments the model is asked, and its reply is accepted only if `same_meaning` holds.
    """
    options = study.options
    given = options.paraphrases
    known = dict(read_paraphrases(given) if given else bundled_paraphrases())
    prompt = prompts.load("npov/paraphrase", {"argument"}, None)
    limit = limit_of(study)
    study.begin(
        "reworded",
        known=digest_of(sorted(known.items())),
        model=client.model.digest,
        prompt=prompt.digest,
        limit=limit,
    )
    wanted = {
        argument_digest(argument): argument
        for topic in study.all_topics
        for argument in (*topic.pro, *topic.con)
    }
    unknown = {name: argument for name, argument in wanted.items() if name not in known}

    async def put(argument: str) -> Reworded:
        name, kept = argument_digest(argument), None
        for number, temperature in enumerate(TRIES):
            drawn = Sampling(160, temperature, number)
            messages = [*prompt.messages(argument=argument)]
            reply = (await client.structured(messages, ParaphraseReply, drawn)).value
            if reply and same_meaning(tagger(), argument, reply.paraphrase, limit):
                kept = as_read(reply.paraphrase)
                break
        return Reworded(id=name, argument=argument, paraphrase=kept)

    tried = await asked(
        study, "reworded", Reworded, unknown, put, client=client, counted="paraphrases"
    )
    made = {
        reworded.id: reworded.paraphrase for reworded in tried if reworded.paraphrase is not None
    }
    study.tell(
        "reworded",
        f"Paraphrased arguments: {len(wanted.keys() & known.keys()):,} of {len(wanted):,} by "
        f"people, {len(made):,} by {client.model.name}, of {len(unknown):,} that it was asked for. "
        "A model's paraphrase is kept if it has the same numbers and the tagger supports it both "
        "ways. The paper uses QuillBot, checked by people.",
    )
    return rewording(known | made)


def cases_of(study: Study, found: Sequence[AnnotatedExample], reword: Reword) -> list[Case]:
    """Organic responses to test topics, and error-free ones with synthetic errors (section 4.3).

    Topics alternate, as do labels of organic responses, so that the first examples of a set cover
    many of both.
    """
    out = study.file("cases")
    by_name = by_topic(found, study.all_topics)
    test_examples = {topic.topic: by_name.get(topic.topic, []) for topic in study.topics["test"]}

    def made_from(topic: Topic, right: AnnotatedExample) -> list[tuple[AnnotatedExample, bool]]:
        draw = Random(f"{study.options.seed} {right.id}")  # noqa: S311  (a sample, not a secret)
        return family(right, topic, draw, reword)

    families = [
        [
            made_from(topic, response)
            for response in test_examples[topic.topic]
            if response.error_free
        ]
        for topic in study.topics["test"]
    ]
    by_label: dict[tuple[Error, Error], list[AnnotatedExample]] = {("none", "none"): []}
    for example in _in_turn([*test_examples.values()]):
        by_label.setdefault((example.hallucination, example.coverage), []).append(example)
    cases = [Case(ORGANIC, example) for example in _in_turn([*by_label.values()])]
    for name, wanted in ((UNPARAPHRASED, False), (PARAPHRASED, True)):
        for made in _in_turn(families):
            cases += [Case(name, member) for member, paraphrased in made if paraphrased is wanted]
    study.begin(
        "sets",
        annotated=sha256_of(study.file("annotated")),
        reworded=sha256_of(study.file("reworded")),
    )
    limit = study.sizes.limit
    measured = "all" if limit is None else f"the first {limit:,} of each (the paper: all)"
    study.tell("sets", f"Test sets: {', '.join(sizes_of(cases))}; measured: {measured}.")
    write_cases(out, cases)
    return cases


def sizes_of(cases: Sequence[Case]) -> list[str]:
    """Numbers of examples in test sets, in words."""
    counts = Counter((case.test_set, case.annotated.error_free) for case in cases)
    names = dict.fromkeys(case.test_set for case in cases)
    return [
        f"{name} {counts[name, True]:,} error-free and {counts[name, False]:,} with errors"
        for name in names
    ]


def _in_turn(some: Sequence[Sequence[Any]]) -> list[Any]:
    """The first of each sequence, then the second of each, and so on."""
    return [item for turn in zip_longest(*some) for item in turn if item is not None]


_CASE = TypeAdapter(Case)


def write_cases(path: Path, cases: Sequence[Case]) -> None:
    """Write test sets, one example per line, for `read_cases`."""
    replace_text(path, "".join(f"{_CASE.dump_json(case).decode()}\n" for case in cases))


def read_cases(path: Path) -> list[Case]:
    """Read the test sets of a study, or annotated responses, which become one set.

    Raises:
        InputError: The file cannot be read, is empty, or a line has another format.
    """
    lines = read_text(path).splitlines()
    if not lines or '"test_set"' not in lines[0]:
        return [Case(ORGANIC, example) for example in read_annotated(path)]
    cases = []
    for number, line in enumerate(lines, 1):
        try:
            cases.append(_CASE.validate_json(line))
        except ValidationError as error:
            raise InputError(
                f"{path}:{number}: not an example of a test set; name a study's study.cases.jsonl"
            ) from error
    return cases


def limited(cases: Sequence[Case], limit: int | None) -> list[Case]:
    """The first `limit` examples of each set; None takes all."""
    taken: Counter[str] = Counter()
    kept = []
    for case in cases:
        taken[case.test_set] += 1
        if limit is None or taken[case.test_set] <= limit:
            kept.append(case)
    return kept
