"""Questions of every source in one form, and the two examples that ConflictBench makes of each.

ConflictScore, appendix A: an example with a conflict is a claim with the documents of all answers;
an example without is a claim with its supporting documents and two documents of other questions.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pipelines.data.records import Document
from pipelines.data.released import half
from pipelines.errors import InputError
from pipelines.evidence.examples import ContestedClaim
from pipelines.evidence.judgement import Relation, conflicting
from pipelines.text.declarative import as_claim

RANDOM_DOCUMENTS = 2
"""Documents of other questions in an example without conflict (appendix A)."""

QuestionAnswer = tuple[str, str]
"""A question and the answer that its claim states."""


@dataclass(frozen=True)
class Passage:
    """A document before it has a place in an example, and its relation to the claim.

    It is not borne out where only the release says so, and no rule of `stances` does.
    """

    text: str
    relation: Relation
    title: str | None = None
    url: str | None = None
    borne_out: bool = True


@dataclass(frozen=True)
class Question:
    """A question with an answer, and all its documents.

    The key decides its half. Its claim is made from what is `asked`, or is the release's own; then
    `question` is what was asked, if anything. Its name is an id, or its number in the release from
    1, so that ids of examples stay when a part is left out.
    """

    key: str
    passages: tuple[Passage, ...]
    asked: QuestionAnswer | None = None
    claim: str | None = None
    question: str | None = None
    name: str = ""

    def of(self, relation: Relation) -> tuple[Passage, ...]:
        """The documents with this relation to the claim."""
        return tuple(passage for passage in self.passages if passage.relation is relation)


def as_released(
    source: str, questions: Sequence[Question], claims: Mapping[QuestionAnswer, str]
) -> list[ContestedClaim]:
    """One example per question, with its documents and their relations as the release has them."""
    return [_example(each.name, source, each, each.passages, claims) for each in questions]


def constructed(
    source: str,
    questions: Sequence[Question],
    pool: Sequence[Question],
    seed: int,
    claims: Mapping[QuestionAnswer, str],
    *,
    own_irrelevant: bool = False,
    random_documents: int = RANDOM_DOCUMENTS,
) -> list[ContestedClaim]:
    """The examples of appendix A: up to one with and one without conflict per question.

    A question makes an example with conflict where its documents do conflict, with all of them, and
    one without where some document supports its claim. Random documents come from other questions
    of the pool that are in the same half, each of another question; what is drawn depends on
    the seed, the question and the pool alone. Documents are shuffled, so that their order tells
    nothing.

    The pool is all of the release, however few questions are made examples of. Rules make the
    claims that `claims` lacks. With `own_irrelevant`, the question's own irrelevant documents take
    the place of random ones; where there are none, the example without conflict is left out.
    """
    halves: dict[str, list[Question]] = {"train": [], "test": []}
    for question in pool:
        halves[half(question.key)].append(question)
    found = []
    for question in questions:
        supporting = question.of(Relation.SUPPORTS)
        if not supporting:
            continue
        # S311: nothing is secret here, and anybody can draw the same again.
        draw = random.Random(f"{seed}/{source}/{question.key}")  # noqa: S311
        if question.of(Relation.CONTRADICTS):
            passages = draw.sample(question.passages, len(question.passages))
            name = f"{question.name}/conflict"
            found.append(_example(name, source, question, passages, claims))
        if own_irrelevant:
            rest = question.of(Relation.IRRELEVANT)
        else:
            same_half = halves[half(question.key)]
            rest = _others(question, same_half, draw, source, random_documents)
        if rest:
            passages = draw.sample((*supporting, *rest), len(supporting) + len(rest))
            found.append(_example(f"{question.name}/none", source, question, passages, claims))
    return found


def _others(
    question: Question, questions: Sequence[Question], draw: random.Random, source: str, number: int
) -> tuple[Passage, ...]:
    """So many documents, each of another question, taken to be irrelevant."""
    taken = {passage.text for passage in question.passages}
    chosen: list[Passage] = []
    used = {question.key.strip()}
    for index in _every_index(len(questions), draw):
        other = questions[index]
        passage = draw.choice(other.passages)
        if other.key.strip() in used or passage.text in taken:
            continue
        used.add(other.key.strip())
        taken.add(passage.text)
        chosen.append(replace(passage, relation=Relation.IRRELEVANT))
        if len(chosen) == number:
            return tuple(chosen)
    raise InputError(
        f"{source}: too few questions to draw {number} documents of others from; name a larger file"
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


def _example(
    name: str,
    source: str,
    question: Question,
    passages: Sequence[Passage],
    claims: Mapping[QuestionAnswer, str],
) -> ContestedClaim:
    relations = tuple(passage.relation for passage in passages)
    asked, answer = question.asked or (question.question, None)
    claim = question.claim
    if claim is None and question.asked is not None:
        claim = claims.get(question.asked) or as_claim(*question.asked)
    return ContestedClaim(
        id=f"{source}/{name}",
        source=source,
        claim=claim or "",
        question=asked,
        answer=answer,
        documents=tuple(
            Document(id=f"d{number}", text=passage.text, title=passage.title, url=passage.url)
            for number, passage in enumerate(passages, start=1)
        ),
        relations=relations,
        conflict=conflicting(relations),
    )
