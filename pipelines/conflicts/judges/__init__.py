"""Judges of an answer: behaviour, answer recall, factual grounding (CONFLICTS, section 4)."""
