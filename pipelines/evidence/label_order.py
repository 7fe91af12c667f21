"""A prompt that names its labels in the reverse order: a judge that reads should not mind."""

import re
from collections.abc import Sequence
from dataclasses import replace

from pipelines.evidence.judgement import RELATIONS
from pipelines.prompts import Prompt


def reversed_labels(prompt: Prompt, labels: Sequence[str] = RELATIONS) -> Prompt | None:
    """The prompt with its labels in reverse order, wherever it lists them.

    That is in lines that begin with "- LABEL:", and in "A, B or C". None where it has neither.
    """
    lines = prompt.source.split("\n")
    told = re.compile(rf"\s*- ({'|'.join(map(re.escape, labels))}):")
    places = [place for place, line in enumerate(lines) if told.match(line)]
    moved = [lines[place] for place in reversed(places)]
    for place, line in zip(places, moved, strict=True):
        lines[place] = line
    *first, last = labels
    named = re.compile(rf"{', '.join(map(re.escape, first))},? (or|and) {re.escape(last)}")
    *others, end = reversed(labels)
    source = named.sub(lambda found: f"{', '.join(others)} {found[1]} {end}", "\n".join(lines))
    return None if source == prompt.source else replace(prompt, source=source)
