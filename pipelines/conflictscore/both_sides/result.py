"""An answer that people judged, scored."""

from pipelines.conflictscore.result import Result
from pipelines.data.wikicontradict import Verdict


class JudgedResult(Result):
    """The ConflictScore of an answer, which model wrote it how, and what people say of it.

    Its group is the question. `prompt` is one of `wikicontradict.FROM_BOTH`.
    """

    model: str
    prompt: str
    people: Verdict

    @property
    def correct(self) -> bool:
        """Whether people say that it gives the answers of both passages."""
        return self.people == "Correct"
