"""Figures of the paper, as shares from 0 to 1, which stand beside ours (CONFLICTS).

Those of Tables 2 and 7, counts of its data, are in `statistics`.
"""

from typing import Final

from pipelines.conflicts.pipeline import CLASSIFIERS
from pipelines.report.table import quote

JUDGE: Final = "Gemini 2.5 Flash"
"""Who judged the answers of Tables 5 and 6 (section 5.2)."""

THINKING: Final = "Gemini 2.5 Flash Thinking"
"""The model of Table 6."""

TABLE_4: Final = quote(
    "writer accuracy",
    ("Gemma 3 27B", 0.539),
    ("Qwen 2.5 72B", 0.531),
    ("GPT-4o", 0.592),
    ("Gemini 2.0 Flash", 0.605),
    ("Gemini 2.5 Flash", 0.653),
    run="CONFLICTS",
    classifier=CLASSIFIERS["json"],
    figures="paper, Table 4",
)

TABLE_5: Final = quote(
    "writer strategy behaviour recall grounding",
    ("Gemma 3 27B", "Vanilla", 0.594, 0.890, 0.944),
    ("Gemma 3 27B", "Pipeline", 0.716, 0.899, 0.919),
    ("Gemma 3 27B", "Taxonomy-aware", 0.762, 0.860, 0.929),
    ("Gemma 3 27B", "Oracle", 0.876, 0.886, 0.933),
    ("Qwen 2.5 72B", "Vanilla", 0.642, 0.877, 0.905),
    ("Qwen 2.5 72B", "Pipeline", 0.675, 0.890, 0.882),
    ("Qwen 2.5 72B", "Taxonomy-aware", 0.683, 0.882, 0.894),
    ("Qwen 2.5 72B", "Oracle", 0.906, 0.873, 0.893),
    ("GPT-4o", "Vanilla", 0.672, 0.873, 0.912),
    ("GPT-4o", "Pipeline", 0.749, 0.873, 0.920),
    ("GPT-4o", "Taxonomy-aware", 0.700, 0.886, 0.940),
    ("GPT-4o", "Oracle", 0.886, 0.873, 0.914),
    ("Gemini 2.0 Flash", "Vanilla", 0.620, 0.908, 0.985),
    ("Gemini 2.0 Flash", "Pipeline", 0.753, 0.895, 0.966),
    ("Gemini 2.0 Flash", "Taxonomy-aware", 0.694, 0.890, 0.968),
    ("Gemini 2.0 Flash", "Oracle", 0.878, 0.904, 0.968),
    ("Gemini 2.5 Flash", "Vanilla", 0.657, 0.921, 0.968),
    ("Gemini 2.5 Flash", "Pipeline", 0.751, 0.908, 0.969),
    ("Gemini 2.5 Flash", "Taxonomy-aware", 0.699, 0.943, 0.962),
    ("Gemini 2.5 Flash", "Oracle", 0.880, 0.917, 0.968),
    (THINKING, "Vanilla", 0.683, 0.908, 0.962),
    (THINKING, "Pipeline", 0.766, 0.890, 0.961),
    (THINKING, "Taxonomy-aware", 0.736, 0.917, 0.970),
    (THINKING, "Oracle", 0.893, 0.899, 0.968),
    run="CONFLICTS",
    judge=JUDGE,
    figures="paper, Table 5",
)

TABLE_6: Final = quote(
    "category vanilla pipeline taxonomy-aware oracle",
    ("No conflict", 0.784, 0.747, 0.710, 0.901),
    ("Complementary", 0.833, 0.833, 0.781, 0.947),
    ("Freshness and misinformation", 0.742, 0.758, 0.788, 0.803),
    ("Conflicting opinions", 0.362, 0.733, 0.698, 0.879),
    run="CONFLICTS",
    writer=THINKING,
    judge=JUDGE,
    figures="paper, Table 6",
)
"""Expected behaviour of each strategy, in categories named as `scores.MERGED` names them."""
