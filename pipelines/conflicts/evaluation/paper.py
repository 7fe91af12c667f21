"""Figures of the paper, as shares from 0 to 1, which stand beside ours (CONFLICTS).

Those of Tables 2 and 7, counts of its data, are in `statistics`.
"""

from typing import Final

from pipelines.conflicts.evaluation.result import Strategy

TABLE_4: Final = (
    ("Gemma 3 27B", 0.539),
    ("Qwen 2.5 72B", 0.531),
    ("GPT-4o", 0.592),
    ("Gemini 2.0 Flash", 0.605),
    ("Gemini 2.5 Flash", 0.653),
)
"""Model, accuracy of the type that it predicts."""

JUDGE: Final = "Gemini 2.5 Flash"
"""Who judged the answers of Tables 5 and 6 (section 5.2)."""

THINKING: Final = "Gemini 2.5 Flash Thinking"
"""The model of Table 6."""

TABLE_5: Final[tuple[tuple[str, Strategy, float, float, float], ...]] = (
    ("Gemma 3 27B", "vanilla", 0.594, 0.890, 0.944),
    ("Gemma 3 27B", "pipeline", 0.716, 0.899, 0.919),
    ("Gemma 3 27B", "taxonomy-aware", 0.762, 0.860, 0.929),
    ("Gemma 3 27B", "oracle", 0.876, 0.886, 0.933),
    ("Qwen 2.5 72B", "vanilla", 0.642, 0.877, 0.905),
    ("Qwen 2.5 72B", "pipeline", 0.675, 0.890, 0.882),
    ("Qwen 2.5 72B", "taxonomy-aware", 0.683, 0.882, 0.894),
    ("Qwen 2.5 72B", "oracle", 0.906, 0.873, 0.893),
    ("GPT-4o", "vanilla", 0.672, 0.873, 0.912),
    ("GPT-4o", "pipeline", 0.749, 0.873, 0.920),
    ("GPT-4o", "taxonomy-aware", 0.700, 0.886, 0.940),
    ("GPT-4o", "oracle", 0.886, 0.873, 0.914),
    ("Gemini 2.0 Flash", "vanilla", 0.620, 0.908, 0.985),
    ("Gemini 2.0 Flash", "pipeline", 0.753, 0.895, 0.966),
    ("Gemini 2.0 Flash", "taxonomy-aware", 0.694, 0.890, 0.968),
    ("Gemini 2.0 Flash", "oracle", 0.878, 0.904, 0.968),
    ("Gemini 2.5 Flash", "vanilla", 0.657, 0.921, 0.968),
    ("Gemini 2.5 Flash", "pipeline", 0.751, 0.908, 0.969),
    ("Gemini 2.5 Flash", "taxonomy-aware", 0.699, 0.943, 0.962),
    ("Gemini 2.5 Flash", "oracle", 0.880, 0.917, 0.968),
    (THINKING, "vanilla", 0.683, 0.908, 0.962),
    (THINKING, "pipeline", 0.766, 0.890, 0.961),
    (THINKING, "taxonomy-aware", 0.736, 0.917, 0.970),
    (THINKING, "oracle", 0.893, 0.899, 0.968),
)
"""Model, strategy, expected behaviour, answer recall, factual grounding."""

TABLE_6: Final[tuple[tuple[str, dict[Strategy, float]], ...]] = (
    (
        "No conflict",
        {"vanilla": 0.784, "pipeline": 0.747, "taxonomy-aware": 0.710, "oracle": 0.901},
    ),
    (
        "Complementary",
        {"vanilla": 0.833, "pipeline": 0.833, "taxonomy-aware": 0.781, "oracle": 0.947},
    ),
    (
        "Freshness and misinformation",
        {"vanilla": 0.742, "pipeline": 0.758, "taxonomy-aware": 0.788, "oracle": 0.803},
    ),
    (
        "Conflicting opinions",
        {"vanilla": 0.362, "pipeline": 0.733, "taxonomy-aware": 0.698, "oracle": 0.879},
    ),
)
"""Category, named as `scores.MERGED` names it; expected behaviour of each strategy."""
