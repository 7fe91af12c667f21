"""Figures of the paper that several tables quote."""

from typing import Final

TABLE_3: Final = (
    ("RAG", "GPT-4.1", 0.5238, 0.1517),
    ("RAG (Balanced)", "GPT-4.1", 0.5230, 0.1516),
    ("RAG (Super-Balanced)", "GPT-4.1", 0.5430, 0.1715),
    ("RAG", "GPT-4.1-Nano", 0.5654, 0.1656),
    ("RAG (Balanced)", "GPT-4.1-Nano", 0.5315, 0.1530),
    ("RAG (Super-Balanced)", "GPT-4.1-Nano", 0.5673, 0.1715),
)
"""Prompt, writer, CS-C and CS-R of 100 reports (section 5)."""
