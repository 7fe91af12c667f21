"""Reads ConflictQA (Xie et al. 2024, "Adaptive Chameleon or Stubborn Sloth").

Format of `conflictQA-strategyQA-*.json` and `conflictQA-popQA-*.json` in
github.com/OSU-NLP-Group/LLM-Knowledge-Conflict: one object per line (the name says `.json`) with
`question`, `popularity`, `ground_truth`, `memory_answer`, `parametric_memory`, `counter_answer`,
`counter_memory`, `parametric_memory_aligned_evidence`, `counter_memory_aligned_evidence`.

This is not ConflictingQA (Wan et al. 2024), which `conflictingqa` reads.
"""

import re
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from pipelines.data.records import Text
from pipelines.data.released import read_records

_NOTE = re.compile(
    r"\s*\((?:Note:|This (?:claim|answer|statement) is)[^()]*(?:\)|$)", re.IGNORECASE
)

Stripped = Annotated[str, StringConstraints(strip_whitespace=True)]


class KnowledgeConflict(BaseModel, frozen=True):
    """A question of StrategyQA (yes/no) or PopQA, with two opposite claims and evidence for both.

    The first claim is a model's answer from memory, with the model's evidence. Aligned evidence
    comes from the data set if its answer agrees, and from a model otherwise.
    """

    question: Text
    memory_answer: Text
    parametric_memory: Text
    counter_answer: Text
    counter_memory: Text
    parametric_memory_aligned_evidence: Stripped = ""
    counter_memory_aligned_evidence: Stripped = ""


def read(path: Path) -> list[KnowledgeConflict]:
    """The questions of a ConflictQA file, in its order; raises as `read_records`."""
    return read_records(path, KnowledgeConflict, "ConflictQA")


def without_note(text: str) -> str:
    """The answer without the bracketed remark that the writing model added.

    "Viruses can survive on Venus. (Note: This claim is not accurate ...)" gives away which side is
    true. Other brackets, "(2005 film)", are part of a name and stay.
    """
    return " ".join(_NOTE.sub("", text).split())
