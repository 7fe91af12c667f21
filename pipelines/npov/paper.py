"""Figures of the paper, which stand beside ours for orientation (NPOV, section 5, appendices)."""

from collections.abc import Sequence
from typing import Any

from pipelines.report.table import Quoted, quote

GENERATOR = "paper, LaMDA 64B"
CLASSIFIER = "paper, FLAN-PaLMChilla 62B"


def _quoted(detectors: Sequence[str], *rows: Sequence[Any]) -> tuple[Quoted, ...]:
    """Per test set, and for each of the detectors, the areas of hallucination and coverage."""
    return quote(
        "test_set detector hallucination coverage",
        *(
            (test_set, detector, *areas)
            for test_set, *found in rows
            for detector, areas in zip(detectors, found, strict=True)
        ),
    )


TABLE_1 = _quoted(
    (f"ROUGE, {GENERATOR}", f"salience, {GENERATOR}", f"classifier, {CLASSIFIER}"),
    ("Full organic", (0.840, 0.795), (0.808, 0.852), (0.953, 0.905)),
    ("Unparaphrased synthetic", (0.772, 0.890), (0.736, 0.875), (0.998, 0.986)),
    ("Paraphrased synthetic", (0.680, 0.746), (0.708, 0.831), (0.977, 0.993)),
    ("Ambiguous organic", (0.814, 0.834), (0.772, 0.755), (0.851, 0.756)),
)

TABLE_2 = _quoted(  # the detectors are what classifiers were tuned on
    (
        f"error-free and synthetic, {CLASSIFIER}",
        f"and paraphrased, {CLASSIFIER}",
        f"and development topics, {CLASSIFIER}",
        f"and organic errors, {CLASSIFIER}",
    ),
    ("Full organic", (0.789, 0.880), (0.828, 0.903), (0.953, 0.905), (0.920, 0.956)),
    ("Ambiguous organic", (0.807, 0.702), (0.820, 0.529), (0.851, 0.756), (0.862, 0.640)),
)

TABLE_5 = _quoted(
    (f"annotation-free, {CLASSIFIER}",),
    ("Full organic", (0.739, 0.896)),
    ("Ambiguous organic", (0.732, 0.804)),
)

TABLE_3 = _quoted(  # of words
    (f"ROUGE, {GENERATOR}", f"salience, {GENERATOR}"),
    ("Full organic", (0.673, 0.669), (0.724, 0.799)),
    ("Unparaphrased synthetic", (0.697, 0.693), (0.710, 0.808)),
    ("Paraphrased synthetic", (0.614, 0.582), (0.673, 0.742)),
    ("Ambiguous organic", (0.542, 0.738), (0.542, 0.740)),
)

AGREEMENT = quote(  # section 4.1.1: 188 responses of step 1, 86 of step 2
    "error alpha majority responses annotators",
    ("hallucination, paper", 0.60, 0.90, 188 + 86, 10),
    ("coverage, paper", 0.73, 0.94, 188 + 86, 10),
)

TABLE_6 = _quoted(
    (f"max, {GENERATOR}", f"sum, {GENERATOR}", f"negative entropy, {GENERATOR}"),
    ("Full organic", (0.808, 0.852), (0.846, 0.809), (0.786, 0.664)),
)
