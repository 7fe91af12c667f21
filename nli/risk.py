"""Numbers of kept and wrong labels by threshold of confidence."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]


class RiskPoint(BaseModel):
    """Number of labels of at least this confidence, and of wrong ones among them."""

    model_config = ConfigDict(frozen=True)

    threshold: Share
    kept: Annotated[int, Field(ge=0)]
    wrong: Annotated[int, Field(ge=0)]


class RiskCurve(BaseModel):
    """Kept and wrong labels at up to 500 rising thresholds, on pairs not used in fitting."""

    model_config = ConfigDict(frozen=True)

    pairs: Annotated[int, Field(ge=0)]
    points: tuple[RiskPoint, ...]
