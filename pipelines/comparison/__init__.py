"""Comparison of run folders: differences in their settings and in their results."""
