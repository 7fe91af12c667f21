"""Metrics and their 95 % intervals."""
