"""Metrics: one per file, named after the metric, each with its interval.

`confidence` is everywhere the level of the interval, in (0, 1); another one is a ValueError.
"""
