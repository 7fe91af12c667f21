"""Blind human labels of items that a run's judge labelled, with agreement tables."""
