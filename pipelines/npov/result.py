"""What detectors said of one example, beside what is known of it."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel

from pipelines.npov.annotation import Error, Vote
from pipelines.npov.example import NpovExample
from salience.variants import Aggregation

ErrorKind = Literal["hallucination", "coverage"]
KINDS: tuple[ErrorKind, ErrorKind] = ("hallucination", "coverage")

ROUGE = "ROUGE"
BERT_SCORE = "BERTScore"
LENGTH = "response length"
COUNT = "argument count"
UNEQUAL = "unequal sides"
EMBEDDINGS = "sentence embeddings"
READS_NOTHING = (LENGTH, COUNT, UNEQUAL)

CLASSIFIER = "classifier"
ABLATION = "ablation"
SUPPORT = "tagger's support"
RELEVANCE = "tagger's relevance"
LESS_OTHER = "salience less another topic's"

SHOWN = {
    EMBEDDINGS: f"{EMBEDDINGS}, least",
    SUPPORT: f"{SUPPORT}, mean",
    RELEVANCE: f"{RELEVANCE}, least",
    ABLATION: f"{ABLATION}, least",
}
"""With which pool (see `use.Pool`) detectors stand in tables beside others: those with the larger
areas on training and development topics, lightly reworded, and on paraphrased bundled ones."""

BASELINES = (*READS_NOTHING, ROUGE, BERT_SCORE, SHOWN[EMBEDDINGS])
"""Detectors that are of no run, since they are the same in all."""


def salience_detector(aggregation: Aggregation) -> str:
    """What salience under an aggregation is called."""
    return f"salience, {aggregation.replace('_', ' ')}"


class ErrorScores(BaseModel, frozen=True):
    """How likely a detector takes the two errors to be; the higher, the likelier.

    A hallucination was added, a coverage error was left out; None where the detector cannot say.
    """

    hallucination: float | None = None
    coverage: float | None = None


class WordScore(BaseModel, frozen=True):
    """A content word: whether it is an error, and what detectors of words say.

    Attributes:
        wrong: Of an argument's word, whether it was left out; of the response's, whether added.
        rouge: Whether the other side lacks its stem.
        salience: 1 - alpha or 1 - beta, by the maximum; None without gradients.
        bert_score: 1 - the cosine with the other side's most similar; None without an encoder.
        errors: How wrong it is to other detectors, by what tables call them; those of sentences and
            arguments say the same of all their words.
    """

    wrong: bool
    rouge: bool
    salience: float | None = None
    bert_score: float | None = None
    errors: Mapping[str, float] = {}


class NpovResult(BaseModel, frozen=True):
    """One example of a test set, "SET/EXAMPLE", scored; or the reason why it could not be.

    Attributes:
        source: The id of the example without error that it was made from.
        hallucination, coverage: What is known.
        overlap: Share of the arguments' stems that the response without error has.
        topic: What its question is on, by which intervals are clustered; None in results from
            before it was kept.
        votes: What each annotator said, by name, where there are several.
        example: The arguments and the response; None in results from before they were kept.
        given, response: Content words of the arguments and of the response; None where words were
            not scored or not annotated.
    """

    id: str
    test_set: str
    source: str
    status: Literal["scored", "failed"] = "scored"
    reason: str | None = None
    hallucination: Error
    coverage: Error
    overlap: float | None = None
    topic: str | None = None
    votes: Mapping[str, Vote] = {}
    example: NpovExample | None = None
    detectors: Mapping[str, ErrorScores] = {}
    given: tuple[WordScore, ...] | None = None
    response: tuple[WordScore, ...] | None = None

    @property
    def error_free(self) -> bool:
        """Whether the response has neither error."""
        return self.hallucination == self.coverage == "none"

    @property
    def exchanged(self) -> bool:
        """Whether it has both errors, so that as many arguments are given as without."""
        return self.hallucination == self.coverage == "full"

    @property
    def cluster(self) -> str:
        """Its topic, or what else it shares with others."""
        return self.topic or self.source

    def known(self, kind: ErrorKind) -> Error:
        """What is known of an error."""
        return self.hallucination if kind == "hallucination" else self.coverage

    def score(self, detector: str, kind: ErrorKind) -> float | None:
        """What a detector says of an error; None where it says nothing."""
        found = self.detectors.get(detector, ErrorScores())
        return found.hallucination if kind == "hallucination" else found.coverage

    def words(self, kind: ErrorKind) -> tuple[WordScore, ...] | None:
        """The words that can be such an error: the response's can be added, arguments' left out."""
        return self.response if kind == "hallucination" else self.given
