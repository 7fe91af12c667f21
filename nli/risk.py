"""How many labels would be kept from a confidence on, and how many of them are wrong."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]


class RiskPoint(BaseModel):
    """What happens when labels are kept from one confidence on.

    Attributes:
        threshold: A label is kept where its confidence is at least this.
        kept: Calibration pairs whose label is kept.
        wrong: Those of them whose label is wrong.
    """

    model_config = ConfigDict(frozen=True)

    threshold: Share
    kept: Annotated[int, Field(ge=0)]
    wrong: Annotated[int, Field(ge=0)]


class RiskCurve(BaseModel):
    """Kept and wrong labels at rising thresholds, on pairs that nothing was fitted on.

    Attributes:
        pairs: n, the number of these pairs.
        points: By rising threshold, at most some hundred.
    """

    model_config = ConfigDict(frozen=True)

    pairs: Annotated[int, Field(ge=0)]
    points: tuple[RiskPoint, ...]
