"""The structure of the evidence: what each source answers, and how the answers stand to each other.

No language model is asked. A source's answer is the sentence of it that fits the question best; the
tagger says which of these sentences support or contradict which. A question of yes or no is a
statement as well, which the tagger judges by every source.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nli.windows import sentences
from pipelines.conflicts.question import Query
from pipelines.data.records import Document
from pipelines.evidence.judgement import RELATIONS, Judgement, Relation
from pipelines.evidence.labeller import Labeller, label_pairs
from pipelines.metrics.kappa import kappa
from pipelines.text.declarative import affirmed
from pipelines.text.question_form import QuestionForm, question_form
from pipelines.text.words import content_words

ANSWER_CHARACTERS = 400
"""Characters of an answer, at most: what has no full stop may be a menu, or a table."""

LEAST_OVERLAP = 0.3
"""Share of a question's words that a sentence must have to be an answer to it."""

_NUMBER = re.compile(r"\d")
# A capital tells the months from the verbs "may" and "march".
_TIME = re.compile(
    r"\b(?:1\d{3}|20\d{2}|(?:Jan|Febr)uary|March|April|May|June|July|August|"
    r"(?:Sept|Nov|Dec)ember|October|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b"
)
_NAME = re.compile(r"(?<=\w )[A-Z]\w+")

_FITS_THE_FORM = 0.3
"""What a number is worth to a question of how many, in shares of the question's words."""


@dataclass(frozen=True)
class Structure:
    """What the sources of a query say.

    Attributes:
        claim: The statement that a question of yes or no asks about; None of other questions.
        stances: How each source relates to it; empty without a claim.
        answers: The sentence with which each source answers; None where none has to do with it.
        relations: How the answer of one source (as document) relates to that of another (as
            claim), for every ordered pair. Equal answers support each other, unasked.
    """

    claim: str | None
    stances: tuple[Judgement, ...]
    answers: tuple[str | None, ...]
    relations: tuple[Judgement, ...]

    @property
    def kappa(self) -> float:
        """ConRAG's conflict score of the stances, in [0, 1]; 0 without a claim."""
        return kappa(
            *(
                sum(probability(each, side) for each in self.stances if each.relation is side)
                for side in (Relation.SUPPORTS, Relation.CONTRADICTS)
            )
        )


async def structure(query: Query, labeller: Labeller) -> Structure:
    """What the sources of a query say, by the tagger or any other labeller.

    Raises:
        PairError: The question, as a statement, does not fit the labeller.
    """
    claim = affirmed(query.query)
    documents = query.documents()
    form = question_form(query.query)
    answers = tuple(answer_sentence(query.query, each.text, form) for each in documents)
    said = [
        Document(id=document.id, text=answer)
        for document, answer in zip(documents, answers, strict=True)
        if answer is not None
    ]
    pairs = [(other.text, one) for one in said for other in said if other is not one]
    asked = [(claim, one) for claim, one in dict.fromkeys(pairs) if claim != one.text]
    judged, _ = await label_pairs(labeller, asked)
    relations = [judged.get((other, one.id)) or _same(one) for other, one in pairs]
    stances, _ = await label_pairs(labeller, [(claim, each) for each in documents] if claim else [])
    return Structure(claim, tuple(stances.values()), answers, tuple(relations))


def answer_sentence(query: str, text: str, form: QuestionForm) -> str | None:
    """The sentence of a text that answers a question best, by their words.

    The share of the question's content words that a sentence has decides, and whether it has what
    the question asks for: a number, a time, a name. Of equal sentences the first is taken.
    It is cut to `ANSWER_CHARACTERS`; None where no sentence has enough of the words.
    """
    wanted = content_words(query)
    if not wanted:
        return None
    best, most = None, LEAST_OVERLAP
    for span in sentences(text):
        sentence = text[slice(*span)]
        shared = len(wanted & content_words(sentence)) / len(wanted)
        score = shared + _FITS_THE_FORM * _fits(sentence, form)
        if shared >= LEAST_OVERLAP and score > most:
            best, most = sentence, score
    return None if best is None else best[:ANSWER_CHARACTERS].strip()


def probability(judgement: Judgement, relation: Relation) -> float:
    """A labeller's probability of a relation; of one that gives none, 1 or 0."""
    if judgement.probabilities is None:
        return float(judgement.relation is relation)
    return judgement.probabilities[relation]


def mean_probability(judgements: Sequence[Judgement], relation: Relation) -> float | None:
    """The mean probability of a relation over judgements; None without one."""
    shares = [probability(each, relation) for each in judgements]
    return sum(shares) / len(shares) if shares else None


def _same(answer: Document) -> Judgement:
    """How an answer relates to one in the same words."""
    return Judgement(
        claim=answer.text,
        document=answer.id,
        relation=Relation.SUPPORTS,
        probabilities={each: float(each is Relation.SUPPORTS) for each in RELATIONS},
        source="same words",
    )


def _fits(sentence: str, form: QuestionForm) -> bool:
    if form.quantity:
        return bool(_NUMBER.search(sentence))
    if form.time:
        return bool(_TIME.search(sentence))
    return (form.person or form.place) and bool(_NAME.search(sentence))
