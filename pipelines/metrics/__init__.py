"""Metrics: one per file, named after the metric, each with its interval."""
