"""How many labels would be kept from a confidence on, and how many of them are wrong."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]


class RiskPoint(BaseModel):
    """How many labels of at least this confidence there are, and how many of them are wrong."""

    model_config = ConfigDict(frozen=True)

    threshold: Share
    kept: Annotated[int, Field(ge=0)]
    wrong: Annotated[int, Field(ge=0)]


class RiskCurve(BaseModel):
    """Kept and wrong labels at some hundred rising thresholds, on n pairs none was fitted on."""

    model_config = ConfigDict(frozen=True)

    pairs: Annotated[int, Field(ge=0)]
    points: tuple[RiskPoint, ...]
