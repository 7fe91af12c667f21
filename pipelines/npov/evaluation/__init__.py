"""Detectors of hallucination and coverage errors, compared as in the paper (NPOV, section 5)."""
