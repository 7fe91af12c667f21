"""What people said, one JSON line per label; the last line of an item counts."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict

from pipelines.annotation.subject import Subject
from pipelines.errors import InputError
from pipelines.files import hold, open_unfollowed
from pipelines.runs.folder import ResultLog


class Label(BaseModel):
    """A label that a person gave an item; None takes the last one back."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    label: str | None
    annotator: str
    time: datetime


class Labels:
    """One person's labels of a sample, kept in the run folder.

    Raises:
        InputError: A line of the file is damaged, or of another sample.
    """

    def __init__(self, subject: Subject, items: Collection[str], annotator: str) -> None:
        self.annotator = annotator
        self._log = ResultLog(subject.path / f"{annotator}.jsonl", Label)
        self.given: dict[str, str] = {}
        """Item -> label, in the order of the last change."""
        drawn, known = {*items}, subject.labelling.labels
        for each in self._log.read().values():
            if each.id not in drawn or each.label not in (None, *known):
                raise InputError(
                    f"{self._log.path} has the label '{each.label}' of '{each.id}', which is not "
                    "of this sample; remove the line"
                )
            if each.label is not None:
                self.given[each.id] = each.label

    def give(self, item: str, label: str | None) -> None:
        """Keep a label for good."""
        self._log.append(
            Label(id=item, label=label, annotator=self.annotator, time=datetime.now(UTC))
        )
        self.given.pop(item, None)
        if label is not None:
            self.given[item] = label

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes from writing the file, once a half-written line is cut off."""
        path = self._log.path
        with open_unfollowed(path) as file:
            hold(file, f"{path} is open in another `contested annotate`; end that one first")
            self._log.mend()
            yield


def people(subject: Subject) -> list[str]:
    """Who has labels of a sample, by name."""
    return sorted(path.stem for path in subject.path.glob("*.jsonl"))
