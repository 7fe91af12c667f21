"""Metrics and their intervals.

`confidence` is everywhere the level of the interval, in (0, 1); another one is a ValueError.
"""
