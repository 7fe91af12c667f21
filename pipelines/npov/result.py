"""What detectors said of one example, beside what is known of it."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel

from pipelines.npov.annotation import Error

ErrorKind = Literal["hallucination", "coverage"]
KINDS: tuple[ErrorKind, ErrorKind] = ("hallucination", "coverage")

ROUGE = "ROUGE"
CLASSIFIER = "classifier"


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
        salience: 1 - alpha or 1 - beta, by the maximum.
    """

    wrong: bool
    rouge: bool
    salience: float


class NpovResult(BaseModel, frozen=True):
    """One example of a test set, "SET/EXAMPLE", scored; or the reason why it could not be.

    Attributes:
        source: The id of the example without error that it was made from.
        hallucination, coverage: What is known.
        overlap: Share of the arguments' stems that the response without error has.
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
    detectors: Mapping[str, ErrorScores] = {}
    given: tuple[WordScore, ...] | None = None
    response: tuple[WordScore, ...] | None = None

    @property
    def error_free(self) -> bool:
        """Whether the response has neither error."""
        return self.hallucination == self.coverage == "none"

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
