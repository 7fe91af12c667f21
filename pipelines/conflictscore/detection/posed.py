"""Questions of every source in one form, and the two examples that ConflictBench makes of each.

ConflictScore, appendix A: an example with a conflict is a claim with the documents of all answers;
an example without is a claim with its supporting documents and two documents of other questions.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipelines.data.records import Document
from pipelines.data.released import half
from pipelines.errors import InputError
from pipelines.evidence.examples import ContestedClaim
from pipelines.evidence.judgement import Relation, conflicting
from pipelines.text.declarative import declarative

RANDOM_DOCUMENTS = 2
"""Documents of other questions in an example without conflict (appendix A)."""

Asked = tuple[str, str]
"""A question and the answer that its claim states."""


@dataclass(frozen=True)
class Passage:
    """A document before it has a place in an example.

    Attributes:
        text: What it says.
        relation: What it says of the claim.
        title, url: As in `Document`.
    """

    text: str
    relation: Relation
    title: str | None = None
    url: str | None = None


@dataclass(frozen=True)
class Posed:
    """A question with an answer, and all its documents.

    Attributes:
        name: Its number in the release, from 1, so that ids stay when a part is left out.
        key: The text that decides its half.
        passages: All documents of the question.
        asked: Question and answer; the claim is made from them.
        claim: The claim, where the release has it.
        question: The question, where the claim is not made from it.
    """

    name: str
    key: str
    passages: tuple[Passage, ...]
    asked: Asked | None = None
    claim: str | None = None
    question: str | None = None

    def of(self, relation: Relation) -> tuple[Passage, ...]:
        """The documents with this relation to the claim."""
        return tuple(passage for passage in self.passages if passage.relation is relation)


def as_released(
    source: str, questions: Sequence[Posed], claims: Mapping[Asked, str]
) -> list[ContestedClaim]:
    """One example per question, with its documents as the release has them.

    Whether there is a conflict follows from what the release says of each document.
    """
    return [
        _example(f"{source}/{posed.name}", source, posed, posed.passages, claims)
        for posed in questions
    ]


def constructed(
    source: str,
    questions: Sequence[Posed],
    pool: Sequence[Posed],
    seed: int,
    claims: Mapping[Asked, str],
    *,
    own_irrelevant: bool = False,
) -> list[ContestedClaim]:
    """The examples of appendix A: up to one with and one without conflict per question.

    A question makes an example with conflict where its documents do conflict, with all of them, and
    one without where some document supports its claim. Random documents come from other questions
    of the pool that are in the same half, two questions for two documents; what is drawn depends on
    the seed, the question and the pool alone. Documents are shuffled, so that their order tells
    nothing.

    Args:
        source: Name of the source, also in ids.
        questions: Those to make examples of.
        pool: Those to draw random documents from: all of the release, however few are made
            examples of.
        seed: Decides random documents and order.
        claims: (question, answer) -> claim; rules make those that are missing.
        own_irrelevant: Take the question's own irrelevant documents in place of random ones, and
            leave the example without conflict out where there are none.

    Raises:
        InputError: There are too few questions to draw random documents from.
    """
    halves: dict[str, list[Posed]] = {"train": [], "test": []}
    for posed in pool:
        halves[half(posed.key)].append(posed)
    found = []
    for posed in questions:
        # S311: nothing is secret here, and anybody can draw the same again.
        draw = random.Random(f"{seed}/{source}/{posed.key}")  # noqa: S311
        supporting = posed.of(Relation.SUPPORTS)
        if supporting and posed.of(Relation.CONTRADICTS):
            name = f"{source}/{posed.name}/conflict"
            found.append(_example(name, source, posed, _shuffled(posed.passages, draw), claims))
        if not supporting:
            continue
        if own_irrelevant:
            rest = posed.of(Relation.IRRELEVANT)
        else:
            rest = others(posed, halves[half(posed.key)], draw, source)
        if rest:
            name = f"{source}/{posed.name}/none"
            passages = _shuffled((*supporting, *rest), draw)
            found.append(_example(name, source, posed, passages, claims))
    return found


def others(
    posed: Posed, questions: Sequence[Posed], draw: random.Random, source: str
) -> tuple[Passage, ...]:
    """`RANDOM_DOCUMENTS` documents, each of another question, taken to be irrelevant.

    Raises:
        InputError: There are too few other questions.
    """
    taken = {passage.text for passage in posed.passages}
    chosen: list[Passage] = []
    used = {posed.key.strip()}
    for index in _every_index(len(questions), draw):
        other = questions[index]
        passage = draw.choice(other.passages)
        if other.key.strip() in used or passage.text in taken:
            continue
        used.add(other.key.strip())
        taken.add(passage.text)
        chosen.append(Passage(passage.text, Relation.IRRELEVANT, passage.title, passage.url))
        if len(chosen) == RANDOM_DOCUMENTS:
            return tuple(chosen)
    raise InputError(
        f"{source}: too few questions to draw {RANDOM_DOCUMENTS} documents of others from; "
        "name a larger file"
    )


def _every_index(n: int, draw: random.Random) -> Iterator[int]:
    """The numbers below n in random order; cheap where only a few of many are looked at."""
    seen: set[int] = set()
    while len(seen) < n // 2:
        index = draw.randrange(n)
        if index not in seen:
            seen.add(index)
            yield index
    rest = [index for index in range(n) if index not in seen]
    draw.shuffle(rest)
    yield from rest


def _shuffled(passages: Sequence[Passage], draw: random.Random) -> tuple[Passage, ...]:
    return tuple(draw.sample(passages, len(passages)))


def _example(
    name: str,
    source: str,
    posed: Posed,
    passages: Sequence[Passage],
    claims: Mapping[Asked, str],
) -> ContestedClaim:
    relations = tuple(passage.relation for passage in passages)
    question, answer = posed.asked or (posed.question, None)
    claim = posed.claim
    if claim is None and posed.asked is not None:
        claim = claims.get(posed.asked) or declarative(*posed.asked)
    return ContestedClaim(
        id=name,
        source=source,
        claim=claim or "",
        question=question,
        answer=answer,
        documents=tuple(
            Document(id=f"d{number}", text=passage.text, title=passage.title, url=passage.url)
            for number, passage in enumerate(passages, start=1)
        ),
        relations=relations,
        conflict=conflicting(relations),
    )
