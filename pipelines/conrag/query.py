"""A claim to be checked or a question to be answered, and what is known of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipelines.conrag.hallucination import ResponseSentence
from pipelines.conrag.question import MOST
from pipelines.conrag.stance import Stance
from pipelines.data.records import Document
from pipelines.data.released import Half
from pipelines.evidence.judgement import Relation
from pipelines.metrics.answer_recall import named_answers
from pipelines.retrieval.index import Retrieved
from pipelines.text.declarative import as_claim


@dataclass(frozen=True)
class GoldAnswer:
    """What is known of a question's answer.

    Attributes:
        answers: Aliases of each short answer that is to be named.
        claims: What the answer is to entail.
        listed: Whether the answer is a list, of short answers.
    """

    answers: tuple[tuple[str, ...], ...] = ()
    claims: tuple[str, ...] = ()
    listed: bool = False

    def statements(self, question: str, found: Sequence[Retrieved]) -> tuple[str, ...]:
        """The answer in statements, as `pipelines.conrag.question` makes them.

        Of short answers, the first ones that the passages found name are taken.
        """
        text = " ".join(each.passage.as_read() for each in found)
        named = [
            as_claim(question, aliases[0])
            for aliases, there in zip(self.answers, named_answers(self.answers, text), strict=True)
            if there
        ]
        return tuple(dict.fromkeys((*named, *self.claims)))[:MOST]


@dataclass(frozen=True)
class Query:
    """A claim to be checked, or a question to be answered.

    Attributes:
        id: Unique within its source, the data set.
        passages: What there is to retrieve from for this claim.
        stance: The gold stance; None where the data have none.
        disputed: Whether its evidence is known to disagree; None where the data do not say.
        evidence: Alternative sets of passage ids, each enough by itself.
        relations: Passage id -> what it says of the claim, as far as the data say.
        response: Where the claim stands, if it is a sentence of a response.
        split: The part of the release that it is in, where the release says so.
        gold_answer: What is known of the answer, if it is a question; then relations are to that.
    """

    id: str
    source: str
    claim: str
    passages: tuple[Document, ...]
    stance: Stance | None = None
    disputed: bool | None = None
    evidence: tuple[frozenset[str], ...] = ()
    relations: Mapping[str, Relation] = field(default_factory=dict)
    response: ResponseSentence | None = None
    split: Half | None = None
    gold_answer: GoldAnswer | None = None
