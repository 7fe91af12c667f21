"""Responses of a salience study, labelled by people (NPOV, section 4.1).

No judge labels them. Each person answers two questions about a response, one after the other: does
it make an argument that was not given, and does it leave one out? Their labels become a file that
the study reads, with everyone's votes.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from pipelines.annotation.agreement import all_ratings
from pipelines.annotation.sample import Subject
from pipelines.experiment.experiment import Labelled
from pipelines.files import replace_text
from pipelines.npov.example import NpovExample
from pipelines.npov.experiment import LABELLINGS, as_shown
from pipelines.npov.responses import Drawn
from pipelines.npov.result import KINDS
from pipelines.runs.folder import RunFolder

ENTRY = "study.responses"


def to_label(folder: RunFolder) -> list[Subject]:
    """A study's readable responses, by kind of error; empty until all are written."""
    if folder.noted(ENTRY, "told", list) is None:
        return []
    items = {
        name: Labelled((), as_shown(example), None) for name, example in _written(folder).items()
    }
    return [Subject(folder, ENTRY, kind, LABELLINGS[kind], items) for kind in KINDS]


def write_labels(folder: RunFolder) -> None:
    """Write `study.labels.jsonl`: responses that have labels of both kinds, with all votes.

    Nothing is written until somebody has labelled a response.

    Raises:
        InputError: A sample or a file of labels is damaged, or belongs to other responses.
    """
    ratings = all_ratings(to_label(folder))
    if not ratings:
        return
    votes: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for person in ratings:
        for response, label in person.given.items():
            votes[response][person.annotator][person.subject.kind] = label
    lines = []
    for name, example in _written(folder).items():
        line: dict[str, Any] = {"id": name, **example.model_dump(), "votes": votes[name]}
        for kind in KINDS:
            labels = [vote[kind] for vote in votes[name].values() if kind in vote]
            if not labels:
                break
            line[kind] = by_majority(labels)
        else:
            lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    replace_text(folder.path / "study.labels.jsonl", "".join(lines))


def by_majority(labels: Sequence[str]) -> str:
    """The most frequent label; "ambiguous" in a tie."""
    (label, count), *others = Counter(labels).most_common()
    return "ambiguous" if others and others[0][1] == count else label


def _written(folder: RunFolder) -> dict[str, NpovExample]:
    drawn = folder.log(ENTRY, Drawn).read().values()
    return {response.id: response.example for response in drawn if response.example is not None}
