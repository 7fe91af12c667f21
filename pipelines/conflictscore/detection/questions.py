"""Released records as questions with documents and relations, and the examples made from them."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pipelines.data.ambigdocs import AmbiguousQuestion
from pipelines.data.climate_fever import ClimateClaim
from pipelines.data.conflictingqa import ContentiousQuestion
from pipelines.data.conflictqa import KnowledgeConflict, without_note
from pipelines.data.contraqa import ContraQuestion
from pipelines.data.macnoise import NoisyQuestion, passage
from pipelines.data.ramdocs import UNKNOWN, RamQuestion
from pipelines.data.records import Document
from pipelines.data.released import half
from pipelines.data.wikicontradict import Side
from pipelines.errors import InputError
from pipelines.judge.examples import ContestedClaim
from pipelines.judge.judgement import RELATIONS, Relation, conflicting
from pipelines.metrics.answers import canonical, same_answer
from pipelines.supervision.questions import evidence
from pipelines.text.declarative import as_claim

RANDOM_DOCUMENTS = 2
"""Documents from other questions in an example without conflict (appendix A)."""

QuestionAnswer = tuple[str, str]
"""A question and the answer that its claim states."""


@dataclass(frozen=True)
class Passage:
    """A document that is not yet in an example, and its relation to the claim."""

    text: str
    relation: Relation
    title: str | None = None
    url: str | None = None


@dataclass(frozen=True)
class Question:
    """A question with an answer, and all its documents.

    The key decides its half. Its claim is made from `asked`, or comes with the release; then
    `question` is the question behind it, if any. Its name is an id, or its number in the release,
    from 1, so that ids of examples stay the same if a part is left out.
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
    """One example per question, with its documents and relations as released."""
    return [
        _example(question.name, source, question, question.passages, claims)
        for question in questions
    ]


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

    Only questions with a document that supports the claim are used. Each makes an example without
    conflict and, if its documents conflict, one with conflict from all of them. Random documents
    come from other questions of the pool in the same half, each from a different question; the draw
    depends only on the seed, the question and the pool. Documents are shuffled, so that their order
    reveals nothing.

    The pool is the whole release, even if few questions become examples. Rules make the claims that
    are missing from `claims`. With `own_irrelevant`, the question's irrelevant documents take the
    place of random ones; if it has no such documents, the example without conflict is left out.
    """
    halves: dict[str, list[Question]] = {"train": [], "test": []}
    for question in pool:
        halves[half(question.key)].append(question)
    examples = []
    for question in questions:
        supporting = question.of(Relation.SUPPORTS)
        if not supporting:
            continue
        # S311: nothing here is secret, and anybody can repeat the draw.
        draw = random.Random(f"{seed}/{source}/{question.key}")  # noqa: S311
        if question.of(Relation.CONTRADICTS):
            passages = draw.sample(question.passages, len(question.passages))
            name = f"{question.name}/conflict"
            examples.append(_example(name, source, question, passages, claims))
        if own_irrelevant:
            rest = question.of(Relation.IRRELEVANT)
        else:
            same_half = halves[half(question.key)]
            rest = _others(question, same_half, draw, source, random_documents)
        if rest:
            passages = draw.sample((*supporting, *rest), len(supporting) + len(rest))
            examples.append(_example(f"{question.name}/none", source, question, passages, claims))
    return examples


def _others(
    question: Question, questions: Sequence[Question], draw: random.Random, source: str, number: int
) -> tuple[Passage, ...]:
    """`number` documents, each of a different question, taken to be irrelevant."""
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
        f"{source}: too few other questions to draw {number} documents from; name a larger file"
    )


def _every_index(n: int, draw: random.Random) -> Iterator[int]:
    """The numbers below n in random order; cheap if only a few of them are used."""
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


SUPPORTS, CONTRADICTS, IRRELEVANT = RELATIONS
_CLIMATE = {"SUPPORTS": SUPPORTS, "REFUTES": CONTRADICTS, "NOT_ENOUGH_INFO": IRRELEVANT}


def ambigdocs(record: AmbiguousQuestion) -> Question:
    """AmbigDocs: the claim gives the first document's answer; other answers contradict it.

    Each document is about a different thing of the same name, so an answer that contains another
    ("Paris", "Paris, Texas") is a different answer.
    """
    answer = record.documents[0].answer
    passages = [
        Passage(
            document.text, _side(canonical(document.answer) == canonical(answer)), document.title
        )
        for document in record.documents
    ]
    return Question(record.question, tuple(passages), (record.question, answer))


def contraqa(record: ContraQuestion) -> Question:
    """ContraQA: the claim gives SQuAD's answer; the true paragraph supports, the false contradicts.

    A false paragraph was made for one of several questions on its true paragraph, so it need not
    contradict the answer to the others. Neither the release nor the paper says so.
    """
    title = record.title or None
    true = Passage(record.context, SUPPORTS, title)
    false = Passage(record.fake, CONTRADICTS, title)
    return Question(record.question, (true, false), (record.question, record.answers[0]))


def macnoise(record: NoisyQuestion) -> Question | None:
    """MacNoise: passages with the true answer support, their rewritings contradict.

    Passages without an answer are irrelevant. A passage may contain the answer's words and say
    something else, and a rewriting may avoid the point: the release's sides are kept as gold.
    """
    passages = []
    for context, answering in record.contexts:
        title, original = passage(context.text)
        title = title or context.title or None
        passages.append(Passage(original, SUPPORTS if answering else IRRELEVANT, title))
        if answering and context.text_pert != context.text:
            new_title, rewriting = passage(context.text_pert)
            if rewriting.strip():
                passages.append(Passage(rewriting, CONTRADICTS, new_title or title))
    asked = (record.question, record.answers[0])
    return Question(record.question, tuple(passages), asked) if passages else None


def conflictingqa(record: ContentiousQuestion) -> Question:
    """ConflictingQA: the claim affirms the question; pages with "yes" support it."""
    passages = [
        Passage(
            page.text_window,
            _side(page.stance == "yes"),
            (page.title or "").strip() or None,
            page.url,
        )
        for page in record.pages
    ]
    return Question(record.question, tuple(passages), (record.question, "yes"))


def ramdocs(record: RamQuestion) -> Question | None:
    """RAMDocs: the claim gives the first gold answer that a document has.

    Documents with that answer support it; those with another answer contradict it, whether that
    answer is right for another entity of the same name or is misinformation; noise is irrelevant.
    Answers are the same if one names the other ("Football", "American football"; `same_answer`). A
    question without a document for any gold answer is left out.
    """
    given = [document.answer for document in record.documents if document.type == "correct"]
    answers = (
        gold for gold in record.gold_answers if any(same_answer(known, gold) for known in given)
    )
    answer = next(answers, None)
    if answer is None:
        return None
    passages = [
        Passage(
            document.text,
            IRRELEVANT
            if document.type == "noise" or document.answer == UNKNOWN
            else _side(same_answer(document.answer, answer)),
        )
        for document in record.documents
    ]
    return Question(record.question, _distinct(passages), (record.question, answer))


def conflictqa(record: KnowledgeConflict) -> Question:
    """ConflictQA: the claim is the model's own answer, as released.

    All four pieces of evidence are used: `parametric_memory` and its aligned evidence support,
    `counter_memory` and its aligned evidence contradict, as in the data set. So an example with
    conflict has as many documents as one without, and their number reveals nothing. One of the two
    aligned pieces is a short list of facts from StrategyQA, from which the answer follows only with
    one more inference ("Genghis Khan had sixteen children."); the other is written by a model and
    states outright what it argues for. Some model-written evidence argues for the other side or for
    neither. The release's sides are kept as gold, so no judge can be perfect here.
    """
    passages = _distinct(Passage(text, _side(side)) for text, side in evidence(record))
    claim = without_note(record.memory_answer)
    return Question(record.question, passages, claim=claim, question=record.question)


def climate_fever(record: ClimateClaim) -> Question:
    """CLIMATE-FEVER: claims with their five sentences; a disputed claim has a conflict."""
    passages = [
        Passage(sentence.evidence, _CLIMATE[sentence.evidence_label], sentence.article or None)
        for sentence in record.evidences
    ]
    return Question(record.claim, tuple(passages), claim=record.claim, name=record.claim_id)


def wikicontradict(record: Side) -> Question:
    """WikiContradict: people's statement of one passage's answer; the other one contradicts it."""
    passages = (Passage(record.supporting, SUPPORTS), Passage(record.contradicting, CONTRADICTS))
    return Question(record.question, passages, claim=record.claim, question=record.question)


def _side(supporting: bool) -> Relation:
    return SUPPORTS if supporting else CONTRADICTS


def _distinct(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Passages without repeated texts; the relation of the first is kept."""
    by_text: dict[str, Passage] = {}
    for piece in passages:
        by_text.setdefault(piece.text, piece)
    return tuple(by_text.values())
