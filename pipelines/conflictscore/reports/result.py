"""What report writing leaves behind for one report: one line of `report-writing.NAME.jsonl`."""

from typing import Literal

from pipelines.conflictscore.result import Result
from pipelines.evidence.judgement import Truncation


class ReportResult(Result):
    """A report with its score.

    Attributes:
        entity: What it is about; None of a document that was copied.
        entity_source: Who named that: the model that wrote, or the rule.
        finished: Whether the report ended by itself, and not for its length.
        unread: Documents that the writer saw only in part; `truncations` are the judge's.
    """

    entity: str | None = None
    entity_source: Literal["model", "rule"] | None = None
    finished: bool = True
    unread: tuple[Truncation, ...] = ()
