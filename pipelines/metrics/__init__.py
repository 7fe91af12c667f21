"""Metrics, each with its interval where there is one to give.

`confidence` is everywhere the level of the interval, in (0, 1); another one is a ValueError.
"""
