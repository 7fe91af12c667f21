"""What a user may choose about ConflictScore."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pipelines.conflictscore.scores import Unevidenced
from pipelines.evidence.llm import Mode

ClaimSource = Literal["atomic", "salient", "whole"]


class Settings(BaseModel):
    """The metric's variants (section 3 and Limitations).

    Attributes:
        claims: `atomic` decomposes the response into all its claims; `salient` asks for the `k`
            most important ones; `whole` takes the response itself as one claim.
        k: How many claims `salient` asks for.
        evidence: How the judge is asked: `choice`, `json` or `together`; see `evidence.llm`.
        unevidenced: What a claim without evidence adds to CS-R: `zero` or `exclude`.
        cut: Whether texts too long for the context may be cut; cuts are recorded.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    claims: ClaimSource = "atomic"
    k: Annotated[int, Field(ge=1, le=20)] = 3
    evidence: Mode = "choice"
    unevidenced: Unevidenced = "zero"
    cut: bool = False
